"""The Messages API of Anthropic: frames in, and the reply as the input of a tool that it must call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from worldodds.http_client import Client, Reply
from worldodds.readers.vlm.said import Asked, Said, base64_text, whole

VERSION = "2023-06-01"
_TOOL = "reading"


@dataclass(frozen=True, kw_only=True)
class Messages:
    """The endpoint."""

    client: Client

    def ask(self, asked: Asked) -> Said:
        """Send one request."""
        reply = self.client.ask("POST", "/messages", body=_body(asked))
        ended = reply.text("stop_reason")
        return Said(
            text=_text(reply),
            model=reply.text("model"),
            refused="the model refused" if ended == "refusal" else None,
            cut=ended in ("max_tokens", "model_context_window_exceeded"),
            input_tokens=whole(reply.number("usage", "input_tokens")),
            output_tokens=whole(reply.number("usage", "output_tokens")),
            request_id=reply.request_id or reply.text("id"),
        )


def _body(asked: Asked) -> dict[str, Any]:
    sources = [{"type": "base64", "media_type": "image/jpeg", "data": base64_text(p)} for p in asked.pictures]
    content: list[dict[str, Any]] = [{"type": "image", "source": source} for source in sources]
    content.append({"type": "text", "text": asked.text})
    body: dict[str, Any] = {"model": asked.model, "messages": [{"role": "user", "content": content}]}
    body["max_tokens"] = asked.max_tokens
    if asked.temperature is not None:
        body["temperature"] = asked.temperature
    if asked.schema is not None:
        tool = {"name": _TOOL, "description": "Record what was seen.", "input_schema": asked.schema}
        body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL}}
    return body


def _text(reply: Reply) -> str:
    """Return the tool's input as JSON, else the text."""
    content = reply.at("content")
    parts = [Reply(part) for part in content] if isinstance(content, list) else []
    called = [part.at("input") for part in parts if part.text("type") == "tool_use"]
    if called:
        return json.dumps(called[0], ensure_ascii=False)
    return "".join(part.text("text") or "" for part in parts)
