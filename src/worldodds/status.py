"""Where a run stands: what is open, the command that closes it, and between which scores the truth must lie."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from worldodds.attempts import next_step
from worldodds.looks import twins
from worldodds.outcome import Counts
from worldodds.purse import Purse
from worldodds.rollout import Rollout
from worldodds.scene import Scene
from worldodds.still_open import planned_rollouts, still_open
from worldodds.stopping import spared
from worldodds.store import RunStore
from worldodds.tally import Tally

if TYPE_CHECKING:
    from worldodds.sources import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One scene of a run: rollouts by status, and the bounds of its score while some are open.

    ``not_needed`` counts what a run that stops early has not bought, of a scene whose verdict stands.
    """

    scene: str
    rollouts: Mapping[str, int]
    bounds: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A run as its ledger tells it.

    ``close`` are the commands that close what is open, in order. ``bounds`` are the least and the largest mnTV that
    what is open could still make (None: nothing is read yet, or several readers and none chosen).
    """

    folder: Path
    generator: str
    reader: str | None
    cells: tuple[Cell, ...]
    open: tuple[str, ...]
    close: tuple[str, ...]
    bounds: tuple[float, float] | None
    spent_usd: float
    twins: tuple[str, ...]


def run_status(folder: Path, *, reader: str | None = None) -> Status:
    """Tell where a run stands.

    Raises:
        StoreError: no run there.
        UnknownNameError: not read by that reader.
    """
    with RunStore(folder, write=False) as store:
        made_by = store.about("generator")
        readers = sorted({stored.reader for stored in store.readings().values()})
        rollouts, needless = store.rollouts(), spared(store)
        planned = list(planned_rollouts(store, rollouts, needless))
        states: dict[str, Counter[str]] = defaultdict(Counter)
        for scene, _, key in planned:
            states[scene][rollouts[key].status if key in rollouts else "missing"] += 1
        for scene, n in store.planned().items():
            states[scene]["not_needed"] = n - states[scene].total()
        lines = still_open(store, readers if reader is None else [reader], planned, rollouts, needless)
        commands = _commands(store, readers, rollouts, any("missing" in counts for counts in states.values()))
        purse = Purse()
        purse.remember(store.attempt_history())
        same = twins(rollouts, store.looks())
    chosen = reader or (readers[0] if len(readers) == 1 else None)
    source = _source(folder, chosen) if chosen else None
    bounds = _bounds(source) if source else {}
    cells = tuple(
        Cell(scene=s, rollouts={k: n for k, n in c.items() if n}, bounds=bounds.get(s)) for s, c in states.items()
    )
    whole = [bounds[cell.scene] for cell in cells if cell.scene in bounds]
    mean = (sum(b[0] for b in whole) / len(whole), sum(b[1] for b in whole) / len(whole)) if whole else None
    unread = _unread(source) if source else ()
    return Status(
        folder=folder,
        generator=made_by["name"] if made_by else "",
        reader=chosen,
        cells=cells,
        open=tuple(sorted((*lines, *unread))),
        close=commands if lines or unread else (),
        bounds=mean if len(whole) == len(cells) else None,
        spent_usd=purse.spent_usd,
        twins=same,
    )


def score_bounds(tally: Tally, scene: Scene) -> tuple[float, float] | None:
    """Return the least and the largest cell score that the open rollouts of a cell could make.

    At best each has the outcome that the odds lack most; at worst all are nulls, or all have one outcome; and any of
    them may yet be refused, and then counts nowhere. None where the scene has no odds or nothing was asked for.
    """
    counts, reference = tally.counts, scene.reference
    open_now = tally.failed + tally.missing
    if reference is None or reference.odds is None or counts.n_total + open_now == 0:
        return None
    ends = [_filled(counts, scene, kept) for kept in range(0 if counts.n_total else 1, open_now + 1)]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _filled(counts: Counts, scene: Scene, open_now: int) -> tuple[float, float]:
    """Return the least and the largest score if exactly so many open rollouts are read in the end."""
    from worldodds.statistics.robustness import imputed

    reference = scene.reference
    assert reference is not None
    asked = replace(counts, unreadable=open_now, out_of_schema=0)
    ends = [imputed(asked, reference, best=True), imputed(asked, reference, best=False)] if counts.n + open_now else []
    nulls = counts.n_total - counts.n
    filled = [replace(end, unreadable=nulls) for end in ends]
    scores = [_score(end, scene) for end in (*filled, replace(counts, unreadable=counts.unreadable + open_now))]
    return min(scores), max(scores)


def _score(counts: Counts, scene: Scene) -> float:
    from worldodds.statistics.distance import cell_score, null_floor, total_variation

    rho, reference = counts.scorability, scene.reference
    assert reference is not None
    if not counts.n or rho is None:
        return 1.0
    return cell_score(rho, total_variation(counts, reference), null_floor(reference, counts.n))


def _source(folder: Path, reader: str) -> Source:
    """Read the run's outcomes; statistics are loaded only for a run that was read."""
    from worldodds.sources import load

    return load(folder, reader=reader)


def _bounds(source: Source) -> dict[str, tuple[float, float]]:
    found = {
        scene: score_bounds(tally, source.suite.scene(scene))
        for scenes in source.tallies().values()
        for scene, tally in scenes.items()
    }
    return {scene: bounds for scene, bounds in found.items() if bounds is not None}


def _unread(source: Source) -> tuple[str, ...]:
    """Name the clips that were filmed and not read yet."""
    return tuple(
        f"{row.scene} r{row.index:03d}: {source.reader}: not read yet"
        for row in source.rows
        if row.rollout_status == "done" and row.reading.status == "missing"
    )


def _commands(store: RunStore, readers: list[str], rollouts: Mapping[str, Rollout], missing: bool) -> tuple[str, ...]:
    """Return the commands that close what is open: film on, and buy again where only the user may say so."""
    words = store.about("command")
    run_again = shlex.join(words) if words else "run the same plan again: worldodds.run(plan, store)"
    done = {key for key, rollout in rollouts.items() if rollout.status in ("done", "refused")}
    stuck = [key for key, line in store.attempts_now().items() if key not in done and next_step(line) == "leave"]
    again = [f"{run_again} --rebuy"] if stuck and words else []
    only_stuck = len(stuck) == len(rollouts) - len(done) and not missing
    read = [f"worldodds read {shlex.quote(str(store.folder))} --reader {reader}" for reader in readers]
    return (*([] if stuck and only_stuck else [run_again]), *again, *(read if not words else []))
