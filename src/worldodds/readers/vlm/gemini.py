"""``generateContent`` of the Gemini API: frames, or the whole clip at a rate of frames that is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from worldodds.http_client import Client, Reply
from worldodds.readers.vlm.said import Asked, Said, base64_text, whole

_BLOCKED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE", "OTHER")


@dataclass(frozen=True, kw_only=True)
class GenerateContent:
    """The endpoint."""

    client: Client

    def ask(self, asked: Asked) -> Said:
        """Send one request."""
        reply = self.client.ask("POST", f"/models/{asked.model}:generateContent", body=_body(asked))
        ended = reply.text("candidates", 0, "finishReason")
        blocked = reply.text("promptFeedback", "blockReason") or (ended if ended in _BLOCKED else None)
        thought = whole(reply.number("usageMetadata", "thoughtsTokenCount")) or 0
        written = whole(reply.number("usageMetadata", "candidatesTokenCount"))
        return Said(
            text=_text(reply),
            model=reply.text("modelVersion"),
            refused=f"blocked: {blocked}" if blocked else None,
            cut=ended == "MAX_TOKENS",
            input_tokens=whole(reply.number("usageMetadata", "promptTokenCount")),
            output_tokens=None if written is None else written + thought,
            request_id=reply.request_id or reply.text("responseId"),
        )


def _body(asked: Asked) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": asked.text}]
    if asked.video is not None:
        data, kind, fps = asked.video
        clip = {"mimeType": kind, "data": base64_text(data)}
        parts.append({"inlineData": clip, "videoMetadata": {"fps": fps}})
    parts += [{"inlineData": {"mimeType": "image/jpeg", "data": base64_text(p)}} for p in asked.pictures]
    config: dict[str, Any] = {"maxOutputTokens": asked.max_tokens}
    if asked.temperature is not None:
        config["temperature"] = asked.temperature
    if asked.schema is not None:
        # its schemas are a part of OpenAPI's, which does not know this key
        shape = {name: value for name, value in asked.schema.items() if name != "additionalProperties"}
        config |= {"responseMimeType": "application/json", "responseSchema": shape}
    return {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}


def _text(reply: Reply) -> str:
    """Join the parts of the answer that are not its thoughts."""
    parts = reply.at("candidates", 0, "content", "parts")
    told = [Reply(part) for part in parts] if isinstance(parts, list) else []
    return "".join(part.text("text") or "" for part in told if part.at("thought") is not True)
