"""What of a run is open: planned and not here, or here and not read; told from the ledger alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from worldodds.keys import named, reader_settings, reading_namer
from worldodds.rollout import Reading, RolloutStatus, Settings, State
from worldodds.scene import canonical
from worldodds.store import RunStore, StoredReading
from worldodds.tally import Seen, settled

Place = tuple[str, int]  # a scene's id and a rollout's index
Named = Iterable[tuple[str, int, str]]  # scene, index and key of rollouts
Namer = Callable[[str, str], list[str]]  # see `worldodds.keys.reading_namer`

_MISSING = Reading(status="missing")


def planned_rollouts(store: RunStore, states: Mapping[str, State], needless: Collection[Place]) -> Named:
    """Yield scene, index and key of all that was planned, from the ledger alone, without what no verdict needs.

    ``states`` are the ledger's rollouts, ``needless`` what `worldodds.stopping.spared` says of them.
    """
    for scene, index, key in named(store, store.planned()):
        if (scene, index) not in needless or (key in states and states[key].status == "done"):
            yield scene, index, key


def seen_by(
    store: RunStore, reader: str, settings: Settings, rollouts: Named, states: Mapping[str, State]
) -> dict[str, list[Seen]]:
    """Return what is known of rollouts by scene: what became of each, and a reader's votes with these settings."""
    answers = store.answers(reader)
    names = {scene.id: reading_namer(scene, reader, settings) for scene in store.suite.scenes}
    found: dict[str, list[Seen]] = defaultdict(list)
    for scene, index, key in rollouts:
        state = states.get(key)
        status: RolloutStatus = state.status if state else "missing"
        asked = names[scene](key, state.sha256) if state and status == "done" and state.sha256 else ()
        votes = tuple(answers.get(name, _MISSING) for name in asked)
        found[scene].append(Seen(index=index, seed=index, rollout=status, votes=votes))
    return found


def still_open(
    store: RunStore,
    readers: Collection[str],
    planned: Named,
    states: Mapping[str, State],
    needless: Collection[Place],
) -> tuple[str, ...]:
    """Name what was planned and is failed or missing, and what these readers failed to read, one line each.

    ``planned`` is what `planned_rollouts` yields of the same ``states`` and ``needless``.
    """
    lines: list[str] = []
    for scene, index, key in planned:
        if (state := states.get(key)) is None:
            lines.append(f"{scene} r{index:03d}: missing")
        elif state.status == "failed":
            lines.append(f"{scene} r{index:03d}: failed: {state.message}")
    for stored in _asked_now(store, _failed(store.readings_in_doubt(), readers), states):
        state = states[stored.rollout_key]
        if (state.scene, state.index) not in needless:
            lines.append(f"{state.scene} r{state.index:03d}: {stored.reader}: {stored.reading.reason}")
    return tuple(sorted(lines))


def _asked_now(
    store: RunStore, readings: Iterable[StoredReading], states: Mapping[str, State]
) -> Iterator[StoredReading]:
    """Yield the readings that answer today's question about today's clip with the reader's settings of today."""
    suite = store.suite
    names: dict[tuple[str, str, str], Namer] = {}
    for stored in readings:
        state = states[stored.rollout_key]
        if state.status != "done" or not state.sha256:
            continue
        asked = state.scene, stored.reader, canonical(dict(stored.settings))
        if asked not in names:
            settings = reader_settings(store, stored.reader, stored.settings)
            names[asked] = reading_namer(suite.scene(state.scene), stored.reader, settings)
        if stored.key in names[asked](stored.rollout_key, state.sha256):
            yield stored


def _failed(readings: Iterable[StoredReading], readers: Collection[str]) -> Iterator[StoredReading]:
    """Yield what these readers failed to read, but for votes that the others have made needless."""
    asked: dict[tuple[str, str, str], list[StoredReading]] = defaultdict(list)
    for stored in readings:
        if stored.reader in readers:
            asked[stored.rollout_key, stored.reader, canonical(dict(stored.settings))].append(stored)
    for votes in asked.values():
        missing = max(0, int(votes[0].settings.get("votes") or 1) - len(votes))
        if not settled([stored.reading for stored in votes] + [_MISSING] * missing):
            yield from (stored for stored in votes if stored.reading.status == "failed")
