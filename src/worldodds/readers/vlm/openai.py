"""Chat completions as OpenAI documents them and OpenRouter, vLLM, Ollama, llama.cpp and Gemini's copy serve them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from worldodds.errors import ProviderError, TransientError
from worldodds.http_client import Client, Reply
from worldodds.readers.vlm.said import Asked, Said, base64_text, whole

_BLIND = "image input is not supported"


@dataclass(frozen=True, kw_only=True)
class ChatCompletions:
    """One endpoint; ``limit`` is what it calls the most tokens of a reply."""

    client: Client
    limit: str = "max_tokens"

    def ask(self, asked: Asked) -> Said:
        """Send one request."""
        try:
            reply = self.client.ask("POST", "/chat/completions", body=self._body(asked))
        except TransientError as error:
            if _BLIND in str(error):  # which llama.cpp says with the status of a fault that may pass
                raise ProviderError(str(error), request_id=error.request_id) from None
            raise
        _check(reply, self.client.provider)
        refusal = reply.text("choices", 0, "message", "refusal")
        ended = reply.text("choices", 0, "finish_reason")
        return Said(
            text=_text(reply.at("choices", 0, "message", "content")),
            model=reply.text("model"),
            refused=refusal or ("the provider's filter held the reply back" if ended == "content_filter" else None),
            cut=ended == "length",
            input_tokens=whole(reply.number("usage", "prompt_tokens")),
            output_tokens=whole(reply.number("usage", "completion_tokens")),
            cost_usd=reply.number("usage", "cost"),
            request_id=reply.request_id or reply.text("id"),
        )

    def _body(self, asked: Asked) -> dict[str, Any]:
        urls = [f"data:image/jpeg;base64,{base64_text(picture)}" for picture in asked.pictures]
        content = [{"type": "text", "text": asked.text}]
        content += [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        body: dict[str, Any] = {"model": asked.model, "messages": [{"role": "user", "content": content}]}
        body[self.limit] = asked.max_tokens
        if asked.temperature is not None:
            body["temperature"] = asked.temperature
        if asked.schema is not None:
            named = {"name": "reading", "strict": True, "schema": asked.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        return body


def moderated(status: int, body: Any) -> bool:
    """Tell whether a router's 403 is a filter's "no" to this one input, and not to the key."""
    return status == 403 and Reply(body).at("error", "metadata", "reasons") is not None


def _check(reply: Reply, provider: str) -> None:
    """Raise what an answer of status 200 may still say: routers pass on a provider's error that way."""
    error = reply.at("error") or reply.at("choices", 0, "error")
    if not error:
        return
    found = Reply(error)
    code = found.number("code")
    told = f"{provider}: {found.text('message') or 'an error without a message'}"[:300]
    busy = code is not None and (code in (408, 429) or code >= 500)
    raise (TransientError if busy else ProviderError)(told, request_id=reply.request_id)


def _text(content: Any) -> str:
    """Return the text of a message, which some endpoints give in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(Reply(part).text("text") or "" for part in parts)
