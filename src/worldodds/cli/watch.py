"""How a long run shows itself: a live table of cells on a terminal, plain lines elsewhere, JSON lines for machines."""

from __future__ import annotations

import json
import math
import sys
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from worldodds.cli.screen import table
from worldodds.rollout import Reading, ReadingStatus
from worldodds.tally import settle

if TYPE_CHECKING:
    from rich.table import Table

    from worldodds.engine import Watcher
    from worldodds.progress import Progress as Step
    from worldodds.protocols import Reader
    from worldodds.scene import Suite

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def watching(
    title: str, suite: Suite | None = None, json_log: Path | None = None, *, reader: Reader | None = None
) -> Generator[Watcher]:
    """Give a watcher for `worldodds.run`: bars with the time left and a row a cell, or plain lines without a terminal.

    ``suite`` gives the cells their running verdicts, from what ``reader`` alone has read, its votes settled.
    ``json_log`` gets every step as a line of JSON.
    """
    console = Console(stderr=True)
    with _logging(json_log) as log:
        if not console.is_terminal:
            lines = _Lines(title)
            yield lambda step: (log(step), lines(step))[0]
            return
        board = _Board(title, suite, reader)
        with Live(get_renderable=board.draw, console=console, refresh_per_second=4):
            yield lambda step: (log(step), board.note(step))[0]


@contextmanager
def _logging(path: Path | None) -> Generator[Watcher]:
    if path is None:
        yield lambda _: None
        return
    with path.open("a", encoding="utf-8") as file:

        def log(step: Step) -> None:
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            file.write(json.dumps({"at": at, **asdict(step)}) + "\n")
            file.flush()

        yield log


@dataclass(slots=True)
class _Cell:
    """One scene as it fills: what became of rollouts, and what one reader saw in each, votes settled."""

    states: Counter[str] = field(default_factory=Counter[str])
    cost_usd: float = 0.0
    votes: dict[str, list[Reading]] = field(default_factory=dict[str, list[Reading]])
    seen: dict[str, Reading] = field(default_factory=dict[str, Reading])

    def add(self, rollout: str, vote: Reading, of: int) -> None:
        """Take in one vote of so many on a rollout."""
        votes = self.votes.setdefault(rollout, [])
        votes.append(vote)
        self.seen[rollout] = settle([*votes, *([Reading(status="missing")] * (of - len(votes)))])

    @property
    def labels(self) -> Counter[str]:
        """How often each outcome was seen."""
        return Counter(reading.label for reading in self.seen.values() if reading.label is not None)

    @property
    def nulls(self) -> int:
        """How many rollouts are nulls."""
        return sum(reading.status in ("unreadable", "out_of_schema") for reading in self.seen.values())


class _Board:
    """Bars for filming and reading, and what every cell has so far."""

    def __init__(self, title: str, suite: Suite | None, reader: Reader | None = None) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._title = title
        self._suite = suite
        self._reader = reader.name if reader else None
        self._votes = int(reader.settings.get("votes") or 1) if reader else 1
        self._bars = Progress(*columns)
        self._tasks: dict[str, TaskID] = {}
        self._cells: dict[str, _Cell] = {}

    def note(self, step: Step) -> None:
        """Take in one step."""
        if step.step not in self._tasks:
            self._tasks[step.step] = self._bars.add_task(f"{self._title}: {step.step}", total=step.total)
        elif self._bars.tasks[self._tasks[step.step]].finished:
            self._bars.reset(self._tasks[step.step], total=step.total)  # the next wave
        self._bars.update(self._tasks[step.step], completed=step.done)
        cell = self._cells.setdefault(step.scene, _Cell())
        if step.step == "film":
            cell.states[step.status] += 1
            cell.cost_usd += step.cost_usd or 0.0
        elif step.rollout is not None and self._reader in (None, step.reader):
            cell.add(step.rollout, Reading(status=cast("ReadingStatus", step.status), label=step.label), self._votes)

    def draw(self) -> Group:
        """Return what the terminal shows."""
        return Group(self._table(), self._bars)

    def _table(self) -> Table:
        rows = table("scene", ">done", ">failed", ">refused", ">USD", ">null", "seen", "stands at")
        for scene, cell in self._cells.items():
            labels = cell.labels
            seen = ", ".join(f"{label} {n}" for label, n in labels.most_common(4))
            rows.add_row(
                scene,
                str(cell.states["done"]),
                str(cell.states["failed"]),
                str(cell.states["refused"]),
                f"{cell.cost_usd:.2f}" if cell.cost_usd else "",
                str(cell.nulls or ""),
                Text(seen),
                self._stands(scene, labels),
            )
        return rows

    def _stands(self, scene_id: str, labels: Counter[str]) -> str:
        """Say how strongly the outcomes so far speak against the odds; valid whenever one looks."""
        if self._suite is None or scene_id not in self._suite.scene_ids or not labels:
            return ""
        from worldodds.statistics import StoppingRule, log_e_value
        from worldodds.stopping import odds_of, why_not_followed

        scene = self._suite.scene(scene_id)
        if not (odds := odds_of(scene)):
            return why_not_followed(scene) or ""
        log_e = log_e_value([labels[label] for label in scene.labels], odds)
        certain = log_e >= math.log(StoppingRule().early_e)
        return "miscalibrated" if certain else f"e-value {math.exp(log_e):.2g}"


class _Lines:
    """Plain lines, one every few seconds and one at the end of each step."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._last = self._begun = time.monotonic()
        self._step = ""
        self._cost_usd = 0.0
        self._states: Counter[str] = Counter()

    def __call__(self, step: Step) -> None:
        now = time.monotonic()
        if step.step != self._step:
            self._step, self._begun, self._states = step.step, now, Counter()
        self._states[step.status] += 1
        self._cost_usd += step.cost_usd or 0.0
        if step.done < step.total and now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        print(f"{self._title}: {self._line(step, now)}", file=sys.stderr, flush=True)

    def _line(self, step: Step, now: float) -> str:
        line = f"{step.step} {step.done} of {step.total} ({step.scene})"
        trouble = [f"{self._states[name]} {name}" for name in ("failed", "refused") if self._states[name]]
        money = [f"{self._cost_usd:.2f} USD"] if self._cost_usd else []
        left_s = (now - self._begun) / step.done * (step.total - step.done)
        left = [f"about {left_s / 60:.0f} min left"] if step.done >= 5 and left_s > 60 else []
        return ", ".join([line, *trouble, *money, *left])
