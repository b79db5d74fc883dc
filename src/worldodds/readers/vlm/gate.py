"""How many questions an endpoint gets at once: as many as it bears, learnt from its "too many"."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from worldodds.throttle import Throttle, backoff_s


class Gate:
    """Lets threads through to one endpoint. ``patience`` scales all waits; tests make it short."""

    def __init__(self, in_flight: int, *, patience: float = 1.0) -> None:
        self.in_flight = in_flight
        self._patience = patience
        self._throttle = Throttle(ceiling=in_flight)
        self._inside = 0
        self._changed = threading.Condition()

    @property
    def limit(self) -> int:
        """How many are let through at once now."""
        return int(self._throttle.limit)

    @contextmanager
    def passing(self) -> Generator[None]:
        """Wait for room, and hold it while a question is out."""
        with self._changed:
            while not self._throttle.room(self._inside, time.monotonic()):
                quiet_s = self._throttle.quiet_until - time.monotonic()
                self._changed.wait(quiet_s if quiet_s > 0 else None)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify()

    def answered(self) -> None:
        """Note a good answer: a little more may go out at once."""
        with self._changed:
            self._throttle.accepted()
            self._changed.notify()

    def pushed_back(self, failures: int, retry_after_s: float | None) -> None:
        """Note a "too many" or a fault, and wait; a wait that the endpoint names is one for all threads."""
        wait_s = backoff_s(failures, retry_after_s) * self._patience
        with self._changed:
            self._throttle.pushed_back(time.monotonic(), wait_s if retry_after_s is not None else 0.0)
        time.sleep(wait_s)
