"""A judge for tests: a local server that speaks all three protocols, looks at the pictures, and errs on demand."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import numpy as np

from worldodds.extras import need
from worldodds.testing import shade_to_label


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one request gets. Without ``status`` or ``body`` the answer is good, its text ``text`` or what is seen.

    ``cut`` breaks the connection off half-way; ``refused`` and ``ran_out`` end the reply as the protocol says so.
    """

    text: str | None = None
    status: int = 200
    body: str | None = None
    retry_after: str | None = None
    delay_s: float = 0.0
    cut: bool = False
    refused: bool = False
    ran_out: bool = False


@dataclass(kw_only=True)
class FakeJudge:
    """Answers what the shade of the last picture says (see `worldodds.testing.CannedGenerator`).

    ``labels`` are the scene's, ``script`` the first requests' steps in their order, ``answer`` what all others get,
    from the request's body. ``requests`` keeps path, headers and body of each; ``most_at_once`` how many met.
    """

    labels: Sequence[str]
    script: list[Step] = field(default_factory=list[Step])
    answer: Callable[[Mapping[str, Any]], Step] = field(default=lambda _: Step())
    model: str = "fake-judge-2026-01"
    latency_s: float = 0.0
    keep: bool = True
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    most_at_once: int = 0
    served: int = 0

    def __enter__(self) -> Self:
        self._lock, self._inside = threading.Lock(), 0
        handler = type("Handler", (_Handler,), {"judge": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The endpoint's address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def step(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Step:
        """Note a request and say what it gets."""
        with self._lock:
            self._inside += 1
            self.served += 1
            self.most_at_once = max(self.most_at_once, self._inside)
            if self.keep:
                self.requests.append({"path": path, "headers": headers, "body": body})
            return self.script.pop(0) if self.script else self.answer(body)

    def left(self) -> None:
        """Note that a request is answered."""
        with self._lock:
            self._inside -= 1

    def seen(self, body: Mapping[str, Any]) -> str:
        """Look at the last picture, and reply as asked."""
        picture = pictures_of(body)[-1]
        cv2 = need("cv2", "run")
        image = cv2.imdecode(np.frombuffer(picture, dtype=np.uint8), cv2.IMREAD_COLOR)
        label = shade_to_label(float(image[16:, 16:].mean()), self.labels)
        answer, rule = ("unreadable", "blank") if label is None else (label, "none")
        return json.dumps({"seen": "a grey picture", "answer": answer, "null_rule": rule})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing when a client has gone."""


class _Handler(BaseHTTPRequestHandler):
    judge: FakeJudge
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer one question."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        step = self.judge.step(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        try:
            time.sleep(self.judge.latency_s + step.delay_s)
            self._send(step, body)
        finally:
            self.judge.left()

    def _send(self, step: Step, body: Mapping[str, Any]) -> None:
        text = step.body
        if text is None and step.status == 200:
            said = step.text if step.text is not None else self.judge.seen(body)
            text = json.dumps(wrapped(self.path, body, said, self.judge.model, step))
        data = (text if text is not None else json.dumps({"error": {"message": "scripted"}})).encode()
        self.send_response(step.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if step.retry_after is not None:
            self.send_header("Retry-After", step.retry_after)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if step.cut else data)
        if step.cut:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Log nothing."""


def wrapped(path: str, body: Mapping[str, Any], said: str, model: str, step: Step) -> dict[str, Any]:
    """Put a reply's text into the shape of the protocol that the path belongs to."""
    if path.endswith(":generateContent"):
        ended = "SAFETY" if step.refused else "MAX_TOKENS" if step.ran_out else "STOP"
        candidate = {"content": {"parts": [{"text": said}], "role": "model"}, "finishReason": ended}
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 5}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}
    if path.endswith("/messages"):
        ended = "refusal" if step.refused else "max_tokens" if step.ran_out else "tool_use"
        called = {"type": "tool_use", "id": "t", "name": "reading"}
        bound = "tools" in body and said.startswith("{") and said.endswith("}")
        content = [{**called, "input": json.loads(said)}] if bound else [{"type": "text", "text": said}]
        usage = {"input_tokens": 100, "output_tokens": 15}
        return {"content": content, "model": model, "stop_reason": ended, "usage": usage}
    ended = "length" if step.ran_out else "stop"
    message = {"role": "assistant", "content": None if step.refused else said}
    message |= {"refusal": "I would rather not"} if step.refused else {}
    usage = {"prompt_tokens": 100, "completion_tokens": 15, "cost": 0.0005}
    return {"choices": [{"message": message, "finish_reason": ended}], "model": model, "usage": usage}


def pictures_of(body: Mapping[str, Any]) -> list[bytes]:
    """Return the pictures of a request, in any of the protocols."""
    parts = (body.get("contents") or body["messages"])[0]
    found = [_picture(part) for part in parts.get("parts") or parts["content"]]
    return [base64.b64decode(text) for text in found if text]


def _picture(part: Mapping[str, Any]) -> str | None:
    if "image_url" in part:
        return part["image_url"]["url"].partition("base64,")[2]
    return (part.get("inlineData") or part.get("source") or {}).get("data")
