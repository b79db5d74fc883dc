"""The one clock of the engine. It only ever moves forward: a corrected wall clock neither ends nor prolongs a wait."""

from __future__ import annotations

import queue
import time
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Clock(Protocol):
    """Tells the time and waits; tests give one whose hours pass at once."""

    def now(self) -> float:
        """Return seconds since some fixed moment."""
        ...

    def wait(self, inbox: queue.SimpleQueue[Item], seconds: float | None, *, busy: bool) -> Item | None:
        """Return the next item, or None once the seconds have passed; ``busy`` says that an item is sure to come."""
        ...


class SteadyClock:
    """Real time."""

    def now(self) -> float:
        """Return seconds since some fixed moment."""
        return time.monotonic()

    def wait(self, inbox: queue.SimpleQueue[Item], seconds: float | None, *, busy: bool) -> Item | None:
        """Return the next item, or None once the seconds have passed."""
        del busy
        try:
            return inbox.get(timeout=seconds)
        except queue.Empty:
            return None


class HastyClock:
    """Time for tests: it stands still while somebody works, and jumps to the next appointment when nobody does."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        """Return the seconds that were waited for."""
        return self.time

    def wait(self, inbox: queue.SimpleQueue[Item], seconds: float | None, *, busy: bool) -> Item | None:
        """Return the next item where one is sure to come, else let the seconds pass at once."""
        if busy:
            return inbox.get()
        self.time += seconds or 0.0
        return None
