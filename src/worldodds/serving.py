"""Put any world model behind the HTTP protocol of ``server/URL``: ``worldodds.serve(generate)``."""

from __future__ import annotations

import base64
import inspect
import json
import re
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from worldodds import video
from worldodds.errors import RefusedError, WorldOddsError
from worldodds.generators.server import PROTOCOL

MOST_BODY_BYTES = 64 * 1024**2
_TOKEN = re.compile(r"[0-9a-zA-Z_-]{8,64}")

Generate = Callable[..., Any]


def serve(
    generate: Generate,
    *,
    port: int = 8000,
    host: str = "127.0.0.1",
    folder: str | Path = "worldodds-server",
    workers: int = 1,
    version: str | None = None,
    frame_rate: int = 24,
    key: str | None = None,
) -> None:
    """Serve a world model until Ctrl-C.

    ``generate(frame, prompt, seed, out, **settings)`` gets the path of the conditioning frame and either writes an mp4
    to ``out`` or returns the frames, uint8 of shape (time, height, width, 3). It may raise `worldodds.errors
    .RefusedError`. ``folder`` keeps orders and clips, so a restarted server goes on where it stopped. ``workers``
    clips are made at once. With ``key``, callers need it in the variable WORLDODDS_SERVER_KEY.
    """
    with make_server(
        generate,
        port=port,
        host=host,
        folder=folder,
        workers=workers,
        version=version,
        frame_rate=frame_rate,
        key=key,
    ) as http:
        print(f"serving at server/{host}:{http.server_address[1]}; Ctrl-C stops", file=sys.stderr)  # noqa: T201
        try:
            http.serve_forever()
        except KeyboardInterrupt:
            http.shop.stop()


class Server(ThreadingHTTPServer):
    """The HTTP side, with the orders behind it."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], shop: Kitchen, key: str | None) -> None:
        self.shop = shop
        self.key = key
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away in the middle of a word."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def make_server(
    generate: Generate,
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    folder: str | Path = "worldodds-server",
    workers: int = 1,
    version: str | None = None,
    frame_rate: int = 24,
    key: str | None = None,
) -> Server:
    """Return the server of `serve` without running it; port 0 takes a free one."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    shop = Kitchen(generate=generate, folder=place, version=version, frame_rate=frame_rate, workers=workers)
    shop.take_up()
    return Server((host, port), shop, key)


@dataclass(kw_only=True)
class Kitchen:
    """Orders by token, made one after the other; each is a JSON file, and beside it the frame and the clip."""

    generate: Generate
    folder: Path
    version: str | None
    frame_rate: int
    workers: int
    orders: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(self.workers)

    @property
    def settings(self) -> list[str] | None:
        """Names of the settings that the model takes; None: any."""
        parameters = list(inspect.signature(self.generate).parameters.values())[4:]
        open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        return None if open_ended else [parameter.name for parameter in parameters]

    def take_up(self) -> None:
        """Go on with what an earlier server was ordered."""
        for file in sorted(self.folder.glob("*.json")):
            order = json.loads(file.read_text())
            self.orders[file.stem] = order
            if order["status"] == "waiting":
                self._threads.submit(self._make, file.stem)

    def order(self, token: str, body: dict[str, Any]) -> None:
        """Take an order; the same token again changes nothing."""
        with self._lock:
            if token in self.orders:
                return
            frame = base64.b64decode(body["frame"], validate=True)
            order = {name: body[name] for name in ("scene", "prompt", "seed")}
            order |= {"settings": body.get("settings") or {}, "status": "waiting", "message": None}
            (self.folder / f"{token}.frame").write_bytes(frame)
            self._keep(token, order)
        self._threads.submit(self._make, token)

    def cancel(self, token: str) -> None:
        """Drop an order that is not made yet."""
        with self._lock:
            if self.orders[token]["status"] == "waiting":
                self._keep(token, {**self.orders[token], "status": "failed", "message": "cancelled"})

    def clip(self, token: str) -> Path:
        """Return where an order's clip lies once it is done."""
        return self.folder / f"{token}.mp4"

    def stop(self) -> None:
        """Make nothing more; what was ordered is made by the next server on this folder."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _make(self, token: str) -> None:
        order = self.orders[token]
        if order["status"] != "waiting":
            return
        part = self.folder / f"{token}.part.mp4"
        try:
            frame = self.folder / f"{token}.frame"
            frames = self.generate(frame, order["prompt"], order["seed"], part, **order["settings"])
            if frames is not None:
                video.encode(_pictures(frames), part, frame_rate=self.frame_rate)
            video.probe(part)
            part.replace(self.clip(token))
            result = {"status": "done", "message": None}
        except RefusedError as error:
            result = {"status": "refused", "message": str(error)}
        except WorldOddsError as error:
            result = {"status": "failed", "message": str(error)}
        except Exception as error:  # noqa: BLE001 - whatever the model raises is the job's failure, not the server's
            result = {"status": "failed", "message": f"{type(error).__name__}: {error}"}
        with self._lock:
            if self.orders[token]["status"] == "waiting":
                self._keep(token, {**self.orders[token], **result})

    def _keep(self, token: str, order: dict[str, Any]) -> None:
        part = self.folder / f"{token}.part"
        part.write_text(json.dumps(order))
        part.replace(self.folder / f"{token}.json")
        self.orders[token] = order


def _pictures(frames: Iterable[Any]) -> Iterable[Any]:
    import numpy as np

    return (np.asarray(frame, dtype=np.uint8) for frame in frames)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride] - made by no other

    def setup(self) -> None:
        super().setup()
        import socket

        # an answer is small: sent at once, not held back until the last one is acknowledged
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_GET(self) -> None:
        if self.path == "/":
            self._reply(200, {"protocol": PROTOCOL, "version": self._shop.version, "settings": self._shop.settings})
            return
        self._with_order(self._show)

    def do_PUT(self) -> None:
        body = self._body()
        token = self.path.removeprefix("/jobs/")
        if not self._allowed():
            return
        if body is None or not _TOKEN.fullmatch(token):
            self._reply(400, {"message": "a PUT to /jobs/TOKEN needs a JSON object and a token of 8 to 64 letters"})
            return
        try:
            self._shop.order(token, body)
        except (KeyError, ValueError, TypeError) as error:
            self._reply(400, {"message": f"not an order: {error}"})
            return
        self._reply(201, {"job": token})

    def do_DELETE(self) -> None:
        self._with_order(self._drop)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        del format, args

    @property
    def _shop(self) -> Kitchen:
        return self.server.shop

    def _with_order(self, answer: Callable[[str, str], None]) -> None:
        _, _, rest = self.path.partition("/jobs/")
        token, _, part = rest.partition("/")
        if not self._allowed():
            return
        if token not in self._shop.orders or part not in ("", "clip"):
            self._reply(404, {"message": "no such job"})
            return
        answer(token, part)

    def _show(self, token: str, part: str) -> None:
        order = self._shop.orders[token]
        if part == "clip":
            if order["status"] != "done":
                self._reply(404, {"message": "no clip yet"})
                return
            data = self._shop.clip(token).read_bytes()
            self._send(200, "video/mp4", data)
            return
        self._reply(200, {name: order[name] for name in ("status", "message")} | {"version": self._shop.version})

    def _drop(self, token: str, part: str) -> None:
        del part
        self._shop.cancel(token)
        self._reply(200, {"status": self._shop.orders[token]["status"]})

    def _allowed(self) -> bool:
        import hmac

        key = self.server.key
        if key is None or hmac.compare_digest(self.headers.get("Authorization", ""), f"Bearer {key}"):
            return True
        self._reply(401, {"message": "a wrong key, or none; set WORLDODDS_SERVER_KEY"})
        return False

    def _body(self) -> dict[str, Any] | None:
        length = int(self.headers.get("Content-Length", "0"))
        if not 0 < length <= MOST_BODY_BYTES:
            return None
        try:
            body = json.loads(self.rfile.read(length))
        except ValueError:
            return None
        return body if isinstance(body, dict) else None

    def _reply(self, status: int, body: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(body).encode())

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
