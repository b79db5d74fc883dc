"""The labelling page over HTTP: this machine only, one secret address, everything it loads from itself."""

from __future__ import annotations

import hmac
import secrets
import sqlite3
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from worldodds.errors import InputError, VideoError, WorldOddsError
from worldodds.labelling import pages
from worldodds.labelling.playable import Projector, content_type
from worldodds.labelling.ranges import Span, parse_range
from worldodds.labelling.session import Session

HOST = "127.0.0.1"
MOST_BODY_BYTES = 64 * 1024
_CHUNK_BYTES = 256 * 1024
_ASSETS = {
    "": ("label.html", "text/html; charset=utf-8"),
    "label.css": ("label.css", "text/css; charset=utf-8"),
    "label.js": ("label.js", "text/javascript; charset=utf-8"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; media-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class LabelServer(ThreadingHTTPServer):
    """Serves one session on the loopback address; ``port`` 0 takes a free one. ``serve_forever`` ends with the page.

    Raises:
        InputError: the port is no port, is taken, or may not be used.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, session: Session, folder: Path, port: int = 0) -> None:
        self.session = session
        self.projector = Projector(folder)
        self.token = secrets.token_urlsafe(24)
        self.assets = {name: files(pages).joinpath(file).read_bytes() for name, (file, _) in _ASSETS.items()}
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(f"port: {port} cannot be used ({error}); leave it out for a free one") from None

    @property
    def url(self) -> str:
        """The page's address, secret included."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which this server may be called; any other is a page that only pretends to be here."""
        return (f"{HOST}:{self.server_port}", f"localhost:{self.server_port}")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep silent where the browser has hung up, as it does whenever a clip is skipped."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    server: LabelServer  # pyright: ignore[reportIncompatibleVariableOverride] - it is only ever made by this one

    def setup(self) -> None:
        super().setup()
        import socket

        # an answer is small: sent at once, not held back until the last one is acknowledged
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_GET(self) -> None:
        path = self._path()
        if path is None:
            return
        if path in _ASSETS:
            self._send(200, _ASSETS[path][1], self.server.assets[path])
            return
        kind, _, place = path.partition("/")
        if path == "sheet":
            self._answer(lambda: pages.sheet(self.server.session))
        elif kind == "task" and place.isdecimal():
            self._answer(lambda: pages.task(self.server.session, int(place[:9])))
        elif kind in ("clip", "copy") and place.isdecimal():
            self._film(int(place[:9]), copy=kind == "copy")
        else:
            self._reply(404, {"message": "there is nothing of that name"})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        path = self._path()
        if path is None:
            return
        body = self._body()
        if body is None:
            self._reply(400, {"message": "a POST needs a JSON object"})
        elif path == "answer":
            self._answer(lambda: pages.answer(self.server.session, body))
        elif path == "undo":
            self._answer(lambda: pages.undo(self.server.session))
        elif path == "finish":
            self._reply(200, {})
            threading.Thread(target=self.server.shutdown, daemon=True).start()
        else:
            self._reply(404, {"message": "there is nothing of that name"})

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        del format, args

    def _path(self) -> str | None:
        """Return what is asked for below the secret, or refuse a request that is not the page's and return None."""
        token, slash, path = self.path.partition("?")[0].lstrip("/").partition("/")
        origin = self.headers.get("Origin")
        known = hmac.compare_digest(token.encode(errors="replace"), self.server.token.encode())
        here = self.headers.get("Host") in self.server.hosts
        own = origin is None or urlsplit(origin).netloc in self.server.hosts
        if known and here and own and slash:
            return path
        self.close_connection = True
        self._reply(403, {"message": "open the address that worldodds printed, secret included"})
        return None

    def _body(self) -> dict[str, Any] | None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BODY_BYTES:
            self.close_connection = True
            return None
        raw = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json":
            return None
        try:
            body = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return body if isinstance(body, dict) else None

    def _answer(self, make: Callable[[], Mapping[str, Any]]) -> None:
        try:
            body = make()
        except InputError as error:
            self._reply(400, {"message": str(error)})
        except VideoError as error:
            self._reply(410, {"message": str(error)})
        except (WorldOddsError, sqlite3.Error, OSError) as error:
            self._reply(503, {"message": f"not saved: {error}; your answer is kept here, try it again"})
        else:
            self._reply(200, body)

    def _film(self, at: int, *, copy: bool) -> None:
        """Send a clip, or the part of it that is asked for, under a name that says nothing."""
        try:
            path = self.server.projector.file(self.server.session.clip(at), copy=copy)
            size = path.stat().st_size
        except (WorldOddsError, OSError) as error:
            self._reply(404 if isinstance(error, InputError) else 410, {"message": str(error)})
            return
        try:
            span = parse_range(self.headers.get("Range"), size)
        except IndexError:
            self._head(416, "text/plain", 0, {"Content-Range": f"bytes */{size}"})
        else:
            part = {"Content-Range": f"bytes {span.first}-{span.last}/{size}"} if span else {}
            sent = span or Span(first=0, last=size - 1)
            keep = {"Accept-Ranges": "bytes", "Cache-Control": "private, max-age=86400"}
            self._head(206 if span else 200, content_type(path), sent.length, part | keep)
            if self.command != "HEAD":
                self._pour(path, sent)

    def _pour(self, path: Path, span: Span) -> None:
        with path.open("rb") as file:
            file.seek(span.first)
            left = span.length
            while left and (chunk := file.read(min(left, _CHUNK_BYTES))):
                self.wfile.write(chunk)
                left -= len(chunk)

    def _reply(self, status: int, body: Mapping[str, Any]) -> None:
        self._send(status, "application/json", msgspec.json.encode(body))

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self._head(status, kind, len(data), {"Cache-Control": "no-store"})
        if self.command != "HEAD":
            self.wfile.write(data)

    def _head(self, status: int, kind: str, length: int, more: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": kind, "Content-Length": str(length)} | _HEADERS | dict(more)).items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def version_string(self) -> str:
        return "worldodds"
