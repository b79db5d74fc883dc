"""``server/URL``: any world model behind a small HTTP protocol, as `worldodds.serve` speaks it (docs/generators.md)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from worldodds.errors import GoneError, InputError, ProviderError, UnknownNameError, nearest
from worldodds.generators.still import base64_frame
from worldodds.http_client import Client, Reply
from worldodds.job import JobState, JobStatus, Order
from worldodds.rollout import Settings
from worldodds.scene import Scene

PROTOCOL = "worldodds.server/1"
KEY_VARIABLE = "WORLDODDS_SERVER_KEY"
_STATES: Mapping[str, JobStatus] = {"waiting": "waiting", "done": "done", "refused": "refused", "failed": "failed"}


@dataclass(frozen=True, kw_only=True)
class Server:
    """One server; its submit is idempotent by the order's token, so nothing is ever made twice."""

    url: str
    options: Settings = field(default_factory=dict[str, Any])
    in_flight: int = 8
    longest_s: float = 3600.0
    settle_s: float = 0.0

    @property
    def name(self) -> str:
        """The server's address without its scheme."""
        return f"server/{self.url.partition('://')[2]}"

    @property
    def settings(self) -> Settings:
        """What is handed on to the model."""
        return self.options

    def check(self, scenes: Sequence[Scene]) -> None:
        """Refuse a server that does not speak the protocol, or a setting that it does not name."""
        for scene in scenes:
            base64_frame(scene)
        about = self._client.ask("GET", "/")
        if about.text("protocol") != PROTOCOL:
            raise InputError(f"{self.url}: does not speak {PROTOCOL}; see docs/generators.md, or serve with worldodds")
        known = about.at("settings")
        for name in self.options if isinstance(known, list) else ():
            if name not in known:
                raise UnknownNameError(f"{self.url}: has no setting called {name!r}.{nearest(name, known)}")

    def submit(self, order: Order) -> str:
        """Order a clip; the token is the job's id."""
        frame, kind = base64_frame(order.scene)
        body = {
            "scene": order.scene.id,
            "prompt": order.scene.prompt,
            "frame": frame,
            "frame_type": kind,
            "seed": order.seed,
            "settings": dict(self.options),
        }
        self._client.ask("PUT", f"/jobs/{order.token}", body=body, submitting=True)
        return order.token

    def find(self, order: Order, known: Collection[str]) -> str | None:
        """Ask for the order's token."""
        del known
        try:
            self._client.ask("GET", f"/jobs/{order.token}")
        except GoneError:
            return None
        return order.token

    def poll(self, job: str) -> JobState:
        """Ask after a job."""
        return _state(self._client.ask("GET", f"/jobs/{job}"), job)

    def download(self, job: str, state: JobState, into: Path) -> None:
        """Fetch a finished job's clip."""
        self._client.fetch(state.clip or f"/jobs/{job}/clip", into)

    def cancel(self, job: str) -> None:
        """Tell the server to drop a job."""
        self._client.ask("DELETE", f"/jobs/{job}")

    @cached_property
    def _client(self) -> Client:
        import os

        key = KEY_VARIABLE if os.environ.get(KEY_VARIABLE) else None
        return Client(provider=self.name, base_url=self.url, key_variable=key)


def server(address: str = "", **settings: Any) -> Server:
    """Return the generator ``server/ADDRESS``; the address may begin with http:// or https://.

    Raises:
        InputError: no address, or one that is none.
    """
    url = address if "://" in address else f"http://{address}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise InputError(f"server/{address}: write server/HOST:PORT or server/https://HOST, keys in {KEY_VARIABLE}")
    in_flight = settings.pop("in_flight", 8)
    longest_s = settings.pop("longest_s", 3600.0)
    return Server(url=url.rstrip("/"), options=settings, in_flight=int(in_flight), longest_s=float(longest_s))


def _state(reply: Reply, job: str) -> JobState:
    status = _STATES.get(reply.text("status") or "")
    if status is None:
        raise ProviderError(f"the server says {reply.at('status')!r} of job {job}; it may say {', '.join(_STATES)}")
    return JobState(
        status=status,
        message=reply.text("message"),
        served_version=reply.text("version"),
        cost_usd=reply.number("cost_usd"),
        request_id=reply.request_id,
    )
