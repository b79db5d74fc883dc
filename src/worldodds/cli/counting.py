"""How many of how many are done: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def counting(title: str) -> Generator[Callable[[int, int], None]]:
    """Give a watcher that is told (done, total)."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(title)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bars:
        bar = bars.add_task(title, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


class _Lines:
    """One line every few seconds and one at the end, with the rate so far and the time that is left at that rate."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._began = self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        pace = f"; {time_words(done, total, now - self._began)}" if done else ""
        print(f"{self._title}: {done} of {total}{pace}", file=sys.stderr, flush=True)


def time_words(done: int, total: int, seconds: float) -> str:
    """Say how long something takes at its rate so far, or took.

    >>> time_words(20, 200, 10.0), time_words(20, 7220, 10.0), time_words(20, 20, 90.0)
    ('2.0 a second, about 90 s left', '2.0 a second, about 60 min left', 'took 90 s')
    """
    if done >= total:
        return f"took {_long(seconds)}"
    rate = done / max(seconds, 1e-9)
    told = f"{rate:.1f} a second" if rate >= 1 else f"{1 / rate:.1f} s each"
    return f"{told}, about {_long((total - done) / rate)} left"


def _long(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )
