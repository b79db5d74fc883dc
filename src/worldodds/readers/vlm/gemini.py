"""``generateContent`` of the Gemini API: frames, or the whole clip at a rate of frames that is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worldodds.errors import AccountError, ProviderError
from worldodds.http_client import Client, Reply
from worldodds.readers.vlm.said import Asked, Said, base64_text, whole

_WRONG_KEY = "API key not valid"
_BLOCKED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE", "OTHER")


@dataclass(frozen=True, kw_only=True)
class GenerateContent:
    """The endpoint."""

    client: Client

    def ask(self, asked: Asked) -> Said:
        """Send one request."""
        try:
            reply = self.client.ask("POST", f"/models/{asked.model}:generateContent", body=_body(asked))
        except ProviderError as error:
            if _WRONG_KEY in str(error):  # which it says with the status of a bad request
                raise AccountError(str(error), request_id=error.request_id) from None
            raise
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
        config |= {"responseMimeType": "application/json", "responseSchema": _openapi(asked.schema)}
    return {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}


def _openapi(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Write a schema in its part of OpenAPI: types in capitals, fields in a declared order, nothing on others."""
    properties = {name: {**shape, "type": shape["type"].upper()} for name, shape in schema["properties"].items()}
    order = list(properties)
    return {"type": "OBJECT", "properties": properties, "required": order, "propertyOrdering": order}


def _text(reply: Reply) -> str:
    """Join the parts of the answer that are not its thoughts."""
    parts = reply.at("candidates", 0, "content", "parts")
    told = [Reply(part) for part in parts] if isinstance(parts, list) else []
    return "".join(part.text("text") or "" for part in told if part.at("thought") is not True)
