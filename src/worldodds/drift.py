"""Ask a judge again what it has answered before: canaries against a model that changes behind its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from worldodds.errors import InputError
from worldodds.keys import reading_keys
from worldodds.protocols import Reader, WaitingReader
from worldodds.reading import ReadTask, read_one
from worldodds.rollout import Reading
from worldodds.statistics.drift import DriftTest, drift_test
from worldodds.store import RunStore, StoredReading
from worldodds.workers import in_parallel

NULL = "null"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What asking again has shown. ``changed`` names clips whose two new answers agree on another than the old one.

    ``failed`` counts canaries that could not be read twice; ``before`` and ``now`` are the versions as served.
    """

    reader: str
    test: DriftTest
    changed: tuple[str, ...]
    failed: int
    before: tuple[str, ...]
    now: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Canary:
    task: ReadTask
    old: StoredReading


def rejudge(store: RunStore, reader: Reader, *, clips: int = 30, workers: int | None = None) -> Drift:
    """Ask a reader twice again about clips of a run that it has read, with the very same question.

    The canaries are always the same clips of a run. The new answers are not stored as readings; what was found is
    noted in the ledger.

    Raises:
        InputError: this reader, with these settings, has answered about no clip of the run.
    """
    canaries = sorted(_canaries(store, reader), key=lambda canary: canary.old.key)[:clips]
    if not canaries:
        raise InputError(f"{store.folder}: {reader.name} with these settings has read nothing here; let it read first")
    if workers is None and isinstance(reader, WaitingReader):
        workers = reader.in_flight
    tasks = [canary.task for canary in canaries for _ in range(2)]
    answers: dict[str, list[Reading]] = {}
    for task, answer in in_parallel(read_one, tasks, reader.cpu_bound, workers):
        answers.setdefault(task.key, []).append(answer)
    found = _compared(reader.name, canaries, answers)
    store.note(f"drift {reader.name}", msgspec.to_builtins(found))
    return found


def _canaries(store: RunStore, reader: Reader) -> Iterator[_Canary]:
    suite, readings = store.suite, store.readings()
    for key, rollout in store.rollouts().items():
        if rollout.clip is None or rollout.status != "done" or not rollout.clip.path.is_file():
            continue
        scene, clip = suite.scene(rollout.scene), rollout.clip
        name = reading_keys(key, clip.sha256, scene, reader.name, reader.settings)[0]
        if name in readings and readings[name].reading.status not in ("failed", "missing"):
            task = ReadTask(key=name, rollout=key, clip=clip, scene=scene, reader=reader, vote=0)
            yield _Canary(task, readings[name])


def _compared(reader: str, canaries: list[_Canary], answers: dict[str, list[Reading]]) -> Drift:
    told: list[tuple[str, str, str]] = []
    changed: list[str] = []
    now: set[str] = set()
    for canary in canaries:
        again = answers[canary.old.key]
        if any(answer.status in ("failed", "missing") for answer in again):
            continue
        old, one, two = (answer.label or NULL for answer in (canary.old.reading, *again))
        told.append((old, one, two))
        now |= {version for answer in again for version in served_by(answer)}
        if one == two != old:
            changed.append(f"{canary.task.scene.id} {canary.task.clip.path.stem}: {old}, now {one}")
    return Drift(
        reader=reader,
        test=drift_test(told),
        changed=tuple(changed),
        failed=len(canaries) - len(told),
        before=tuple(sorted({version for canary in canaries for version in served_by(canary.old.reading)})),
        now=tuple(sorted(now)),
    )


class _Reply(msgspec.Struct):
    model: str | None = None


class _Raw(msgspec.Struct):
    replies: list[_Reply] = []


def served_by(reading: Reading) -> tuple[str, ...]:
    """Return the versions that served a reading, as the endpoint named them; none for readers that keep no record."""
    try:
        raw = msgspec.json.decode(reading.raw or "{}", type=_Raw)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return ()
    return tuple(reply.model for reply in raw.replies if reply.model)
