"""What of a run is open: planned and not here, or here and not read; told from the ledger alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from worldodds.keys import reader_settings, reading_keys, rollout_key
from worldodds.rollout import Reading, Rollout
from worldodds.scene import digest
from worldodds.stopping import Place
from worldodds.store import RunStore, StoredReading
from worldodds.tally import settled

_MISSING = Reading(status="missing")


def planned_rollouts(
    store: RunStore, states: Mapping[str, Rollout], needless: Collection[Place]
) -> Iterator[tuple[str, int, str]]:
    """Yield scene, index and key of all that was planned, from the ledger alone, without what no verdict needs.

    ``states`` are the ledger's rollouts, ``needless`` what `worldodds.stopping.spared` says of them.
    """
    suite, made_by = store.suite, store.about("generator")
    here = {key for key, rollout in states.items() if rollout.status == "done"} if needless else set[str]()
    for scene_id, n in store.planned().items():
        scene = suite.scene(scene_id)
        for index in range(n):
            key = rollout_key(scene, made_by["name"], made_by["settings"], seed=index, index=index)
            if (scene_id, index) not in needless or key in here:
                yield scene_id, index, key


def still_open(
    store: RunStore,
    readers: Collection[str],
    planned: Iterable[tuple[str, int, str]],
    states: Mapping[str, Rollout],
    needless: Collection[Place],
) -> tuple[str, ...]:
    """Name what was planned and is failed or missing, and what these readers failed to read, one line each.

    ``planned`` is what `planned_rollouts` yields of the same ``states`` and ``needless``.
    """
    lines: list[str] = []
    for scene_id, index, key in planned:
        if (rollout := states.get(key)) is None:
            lines.append(f"{scene_id} r{index:03d}: missing")
        elif rollout.status == "failed":
            lines.append(f"{scene_id} r{index:03d}: failed: {rollout.message}")
    for stored in _failed(store.readings().values(), readers):
        rollout = states[stored.rollout_key]
        if (rollout.scene, rollout.index) in needless:
            continue
        if rollout.status == "done" and _is_asked_now(stored, rollout, store):
            lines.append(f"{rollout.scene} r{rollout.index:03d}: {stored.reader}: {stored.reading.reason}")
    return tuple(sorted(lines))


def _is_asked_now(stored: StoredReading, rollout: Rollout, store: RunStore) -> bool:
    """Say whether a reading answers today's question about today's clip with the reader's settings of today."""
    settings = reader_settings(store, stored.reader, stored.settings)
    assert rollout.clip is not None
    scene = store.suite.scene(rollout.scene)
    return stored.key in reading_keys(stored.rollout_key, rollout.clip.sha256, scene, stored.reader, settings)


def _failed(readings: Iterable[StoredReading], readers: Collection[str]) -> Iterator[StoredReading]:
    """Yield what these readers failed to read, but for votes that the others have made needless."""
    asked: dict[tuple[str, str, str], list[StoredReading]] = defaultdict(list)
    for stored in readings:
        if stored.reader in readers:
            asked[stored.rollout_key, stored.reader, digest(dict(stored.settings))].append(stored)
    for votes in asked.values():
        missing = max(0, int(votes[0].settings.get("votes") or 1) - len(votes))
        if not settled([stored.reading for stored in votes] + [_MISSING] * missing):
            yield from (stored for stored in votes if stored.reading.status == "failed")
