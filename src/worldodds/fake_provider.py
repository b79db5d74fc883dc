"""A provider on this machine for tests: real HTTP, real clips, faults on demand, and a record of what was sold."""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from worldodds import video
from worldodds.generators.server import PROTOCOL


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What to answer: JSON, or raw bytes; ``cut`` sends only so many of them, ``drop`` hangs up without a word."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: int | None = None
    drop: bool = False


class _Quiet(ThreadingHTTPServer):
    """A client that was killed in the middle of a word is nothing to talk about."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class LocalServer:
    """An HTTP server on a free local port, as a context manager; ``answer`` makes each response."""

    def __init__(self, answer: Callable[[Request], Response]) -> None:
        self.answer = answer
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = _Quiet(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    owner: LocalServer

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        if len(raw) < length:  # the client was killed in the middle of its word: it ordered nothing
            self.close_connection = True
            return
        body = json.loads(raw) if raw else None
        request = Request(method=self.command, path=self.path, headers=dict(self.headers), body=body)
        response = self.owner.answer(request)
        if response.drop:
            self.close_connection = True
            return
        data = response.body if isinstance(response.body, bytes) else json.dumps(response.body).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(data)), **response.headers}
        self.send_response(response.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: response.cut])
        self.close_connection = self.close_connection or response.cut is not None

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - the base class looks for these names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        del format, args


def canned_clip(shade: int, mark: int) -> bytes:
    """Return a small mp4 of one grey shade, with a corner that marks the seed, as `CannedReader` reads it."""
    import numpy as np

    picture = np.full((64, 64, 3), shade, dtype=np.uint8)
    picture[:8, :8] = mark * 37 % 256
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        video.encode([picture] * 6, path, frame_rate=24)
        return path.read_bytes()


Fault = Callable[[str, str, int], Response | None]


def faultless(_: str, __: str, ___: int) -> None:
    """Let every request through."""


@dataclass(kw_only=True)
class FakeProvider:
    """Speaks the protocol of ``server/URL``.

    ``fault(step, token, count)`` may give another answer for the count-th request of a step (submit, poll, clip,
    cancel) about an order; an answer to a submit that is not an error leaves the order accepted. ``outcomes`` is the
    number of labels by scene. ``sold`` lists every accepted order as (scene, seed, token).
    """

    outcomes: Mapping[str, int]
    latency_s: float = 0.0
    fault: Fault = faultless
    refuse: frozenset[int] = frozenset()
    stuck: frozenset[int] = frozenset()
    cost_usd: float | None = None
    all_seeds_as: int | None = None
    sold: list[tuple[str, int, str]] = field(default_factory=list[tuple[str, int, str]])
    cancelled: list[str] = field(default_factory=list[str])
    bodies: list[Any] = field(default_factory=list[Any])

    def __post_init__(self) -> None:
        self.jobs: dict[str, tuple[float, dict[str, Any]]] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._clips: dict[tuple[int, int], bytes] = {}
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Response:
        """Answer one request."""
        if request.path == "/":
            return Response(body={"protocol": PROTOCOL, "version": "fake-1", "settings": ["steps"]})
        token, _, part = request.path.removeprefix("/jobs/").partition("/")
        step = {"PUT": "submit", "DELETE": "cancel"}.get(request.method, "clip" if part else "poll")
        with self._lock:
            count = self._counts[step, token] = self._counts.get((step, token), -1) + 1
            wrong = self.fault(step, token, count)
            if wrong and (step != "submit" or wrong.status >= 400) and not wrong.drop:
                return wrong
            answer = self._answer(step, token, request.body)
        return wrong or answer

    def _answer(self, step: str, token: str, body: Any) -> Response:
        if step == "submit":
            if token not in self.jobs:
                self.jobs[token] = (time.monotonic(), body)
                self.sold.append((body["scene"], body["seed"], token))
                self.bodies.append(body)
            return Response(status=201, body={"job": token})
        if token not in self.jobs:
            return Response(status=404, body={"message": "no such job"})
        begun, order = self.jobs[token]
        if step == "cancel":
            self.cancelled.append(token)
            return Response(body={"status": "failed"})
        if step == "clip":
            return Response(body=self._clip(order), headers={"Content-Type": "video/mp4"})
        waiting = time.monotonic() - begun < self.latency_s or order["seed"] in self.stuck
        status = "waiting" if waiting else "refused" if order["seed"] in self.refuse else "done"
        told = "the picture was found unsafe" if status == "refused" else None
        return Response(body={"status": status, "message": told, "version": "fake-1", "cost_usd": self.cost_usd})

    def _clip(self, order: dict[str, Any]) -> bytes:
        base64.b64decode(order["frame"], validate=True)
        seed = order["seed"] if self.all_seeds_as is None else self.all_seeds_as
        shade = 20 + 10 * (seed % self.outcomes[order["scene"]])
        if (shade, seed) not in self._clips:
            self._clips[shade, seed] = canned_clip(shade, seed)
        return self._clips[shade, seed]
