"""Where a run stands: what is open, the command that closes it, and between which scores the truth must lie."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from worldodds.attempts import next_step
from worldodds.keys import choose_reader
from worldodds.looks import twins
from worldodds.purse import Purse
from worldodds.rollout import State
from worldodds.scene import Suite
from worldodds.still_open import Named, planned_rollouts, seen_by, still_open
from worldodds.stopping import spared
from worldodds.store import RunStore
from worldodds.tally import Seen, tally


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
        SourceError: not read by that reader.
    """
    with RunStore(folder, write=False) as store:
        made_by, readers = store.about("generator"), list(store.readers())
        states, needless = store.states(), spared(store)
        planned = list(planned_rollouts(store, states, needless))
        chosen = reader or (readers[0] if len(readers) == 1 else None)
        seen: Mapping[str, Sequence[Seen]] = {}
        if chosen:
            settings = choose_reader(store, chosen)[1]
            seen = seen_by(store, chosen, settings, [one for one in planned if one[:2] not in needless], states)
        lines = still_open(store, readers if reader is None else [reader], planned, states, needless)
        lines = tuple(sorted((*lines, *_unread(seen, chosen))))
        cells = _cells(planned, states, store.planned(), _bounds(seen, store.suite) if seen else {})
        return Status(
            folder=folder,
            generator=made_by["name"] if made_by else "",
            reader=chosen,
            cells=cells,
            open=lines,
            close=_commands(store, readers, states, planned) if lines else (),
            bounds=_mean([cell.bounds for cell in cells]),
            spent_usd=_spent_usd(store),
            twins=twins(states, store.looks()),
        )


_Bounds = tuple[float, float]


def _cells(
    planned: Named, states: Mapping[str, State], asked: Mapping[str, int], bounds: Mapping[str, _Bounds]
) -> tuple[Cell, ...]:
    counts = {scene: Counter[str]() for scene in asked}
    for scene, _, key in planned:
        counts[scene][states[key].status if key in states else "missing"] += 1
    for scene, n in asked.items():
        if needless := n - counts[scene].total():
            counts[scene]["not_needed"] = needless
    return tuple(Cell(scene=scene, rollouts=dict(c), bounds=bounds.get(scene)) for scene, c in counts.items())


def _bounds(seen: Mapping[str, Sequence[Seen]], suite: Suite) -> dict[str, _Bounds]:
    """Bound the score of every scene that has one; statistics are loaded only for a run that was read."""
    from worldodds.bounds import score_bounds

    found = ((name, suite.scene(name)) for name in seen)
    both = {scene.id: score_bounds(tally(seen[name], scene), scene) for name, scene in found}
    return {scene: bounds for scene, bounds in both.items() if bounds}


def _mean(bounds: Sequence[_Bounds | None]) -> _Bounds | None:
    whole = [both for both in bounds if both]
    if not whole or len(whole) < len(bounds):
        return None
    return sum(low for low, _ in whole) / len(whole), sum(high for _, high in whole) / len(whole)


def _unread(seen: Mapping[str, Sequence[Seen]], reader: str | None) -> Iterator[str]:
    """Name the clips that were filmed and not read yet, once a vote."""
    for scene, rollouts in seen.items():
        for one in rollouts:
            for vote in one.votes:
                if vote.status == "missing":
                    yield f"{scene} r{one.index:03d}: {reader}: not read yet"


def _spent_usd(store: RunStore) -> float:
    purse = Purse()
    purse.remember(store.attempt_history(ended=True))
    return purse.spent_usd


def _commands(store: RunStore, readers: list[str], states: Mapping[str, State], planned: Named) -> tuple[str, ...]:
    """Return the commands that close what is open: film on, and buy again where only the user may say so."""
    words = store.about("command")
    run_again = shlex.join(words) if words else "run the same plan again: worldodds.run(plan, store)"
    done = {key for key, state in states.items() if state.status in ("done", "refused")}
    failed = store.attempts_now(failed=True)
    stuck = [key for key, line in failed.items() if key not in done and next_step(line) == "leave"]
    again = [f"{run_again} --rebuy"] if stuck and words else []
    only_stuck = len(stuck) == len(states) - len(done) and all(key in states for *_, key in planned)
    read = [f"worldodds read {shlex.quote(str(store.folder))} --reader {reader}" for reader in readers]
    return (*([] if stuck and only_stuck else [run_again]), *again, *(read if not words else []))
