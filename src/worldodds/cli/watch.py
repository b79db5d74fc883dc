"""How a long run shows itself: live bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from worldodds.engine import Progress as Step
    from worldodds.engine import Watcher

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def watching(title: str) -> Generator[Watcher]:
    """Give a watcher for `worldodds.run`: one bar for filming, one a reader for reading, with the time left."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(title)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[scene]}"), console=console) as bars:
        tasks: dict[str, TaskID] = {}

        def show(step: Step) -> None:
            if step.step not in tasks or bars.tasks[tasks[step.step]].finished:
                tasks[step.step] = bars.add_task(f"{title}: {step.step}", total=step.total, scene="")
            bars.update(tasks[step.step], completed=step.done, scene=step.scene)

        yield show


class _Lines:
    """Plain lines, one every few seconds and one at the end of each step."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._last = time.monotonic()

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        if step.done < step.total and now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        print(f"{self._title}: {step.step} {step.done} of {step.total} ({step.scene})", file=sys.stderr, flush=True)


@contextmanager
def counting(title: str) -> Generator[Callable[[int, int], None]]:
    """Give a watcher that is told how many of how many are done: a bar on a terminal, plain lines elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Counted(title)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bars:
        bar = bars.add_task(title, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


class _Counted:
    """Plain lines, one every few seconds and one at the end."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        print(f"{self._title}: {done} of {total}", file=sys.stderr, flush=True)
