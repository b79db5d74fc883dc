"""Plan, pending, run: what is still to be done is a set difference, so running again is resuming."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from worldodds import video
from worldodds.errors import StoreError
from worldodds.filming import Job, Terms, buy_clips, film_clips
from worldodds.looks import twins
from worldodds.progress import Watcher, unwatched
from worldodds.protocols import ChoosyReader, Generator, HostedGenerator, Reader
from worldodds.reading import ReadTask, read_in_rounds
from worldodds.rollout import Clip, Reading, Rollout, Settings
from worldodds.scene import Scene, Suite, digest, load_suite
from worldodds.store import RunStore, StoredReading
from worldodds.suite_protocol import MOST_ROLLOUTS
from worldodds.tally import settled, votes_wanted

_MISSING = Reading(status="missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to film and who reads it: every scene of the suite, ``n`` rollouts each, seeds 0 to n - 1."""

    suite: Suite
    generator: Generator | HostedGenerator
    readers: tuple[Reader, ...]
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a run did, how many clips it has now, and what is still open (failed or missing).

    ``stopped`` says why buying ended early. ``twins`` names the scenes where a model ignores its seed.
    """

    filmed: int
    read: int
    clips: int
    open: tuple[str, ...]
    stopped: str | None = None
    twins: tuple[str, ...] = ()


def plan(suite: Suite, generator: Generator | HostedGenerator, readers: Sequence[Reader], n: int | None = None) -> Plan:
    """Make a plan; ``n`` defaults to the suite's protocol.

    Raises:
        StoreError: fewer than one rollout, or a scene that has no frame to film from.
    """
    n = suite.protocol.rollouts if n is None else n
    if not 1 <= n <= MOST_ROLLOUTS:
        raise StoreError(f"n: {n} rollouts asked for; give 1 to {MOST_ROLLOUTS}")
    names = [reader.name for reader in readers]
    if twice := [name for name in names if names.count(name) > 1]:
        raise StoreError(
            f"reader {twice[0]!r} is named twice; a run keeps one set of settings a reader, so name it once"
        )
    if frameless := [scene.id for scene in suite.scenes if scene.frame is None]:
        raise StoreError(f"Scene {frameless[0]!r} has no conditioning frame yet: it can be scored, not filmed")
    return Plan(suite=suite, generator=generator, readers=tuple(readers), n=n)


def rollout_key(scene: Scene, generator: str, settings: Settings, *, seed: int, index: int) -> str:
    """Name a rollout by what the generator sees, and by nothing else."""
    made_by = {"generator": generator, "settings": dict(settings)}
    return digest({**scene.film_identity, **made_by, "seed": seed, "index": index})


def reading_keys(rollout: str, sha256: str, scene: Scene, reader: str, settings: Settings) -> list[str]:
    """Name a rollout's readings, one a vote, by what the reader sees and is asked; twins of a clip are kept apart.

    How many votes there are names none of them: more votes later add to those there are. The scene's geometry is part
    of the question only for a reader whose settings say ``by_geometry``: people and judges never see it.
    """
    asked = {name: value for name, value in settings.items() if name != "votes"}
    seen = {**scene.read_identity, "clip": sha256, "rollout": rollout, "reader": reader, "settings": asked}
    if settings.get("by_geometry"):
        seen["geometry"] = scene.geometry
    return [digest({**seen, "vote": vote}) for vote in range(int(settings.get("votes") or 1))]


def pending(plan: Plan, store: RunStore) -> list[Job]:
    """Return the rollouts that are wanted and neither done nor refused, scene by scene in index order."""
    states = store.rollouts()
    return [job for job in _jobs(plan) if job.key not in states or not _settled(states[job.key])]


def run(
    plan: Plan, store: RunStore, *, workers: int | None = None, watch: Watcher | None = None, terms: Terms | None = None
) -> Summary:
    """Film what is missing, then read what is unread; the same call again resumes, a larger ``n`` extends.

    ``workers`` is how many clips are made at once: processes or threads here, jobs at a provider.

    Raises:
        StoreError: the folder was made with another generator, other settings, or another text of a scene.
        InputError, ProviderError: a provider's key, model, frame or prompt is wrong; nothing was bought.
    """
    _check_same_run(plan, store)
    for reader in plan.readers:
        if isinstance(reader, ChoosyReader):
            reader.check(plan.suite.scenes)
    jobs = pending(plan, store)
    if jobs and isinstance(plan.generator, HostedGenerator):
        plan.generator.check(plan.suite.scenes)
    store.freeze_suite(plan.suite)
    store.note("generator", {"name": plan.generator.name, "settings": dict(plan.generator.settings)})
    for scene in plan.suite.scenes:
        store.plan(scene.id, plan.n)
    watch = watch or unwatched
    if isinstance(plan.generator, HostedGenerator):
        filmed, stopped = buy_clips(plan.generator, jobs, store, workers, watch, terms or Terms())
    else:
        filmed, stopped = film_clips(plan.generator, jobs, store, workers, watch), None
    read = _read(store, plan.readers, plan.suite, workers, watch)
    return replace(_summary(store, plan.readers, filmed, read), stopped=stopped)


def read_clips(store: RunStore, reader: Reader, *, workers: int | None = None, watch: Watcher | None = None) -> Summary:
    """Let a reader read every clip of the run that it has not answered yet."""
    return read_clips_with(store, [reader], workers=workers, watch=watch)


def read_clips_with(
    store: RunStore, readers: Sequence[Reader], *, workers: int | None = None, watch: Watcher | None = None
) -> Summary:
    """Let several readers read every clip of the run that they have not answered yet; those that wait, all at once."""
    read = _read(store, readers, store.suite, workers, watch or unwatched)
    return _summary(store, readers, 0, read)


def _read(store: RunStore, readers: Sequence[Reader], suite: Suite, workers: int | None, watch: Watcher) -> int:
    for reader in readers:
        store.note(f"reader {reader.name}", dict(reader.settings))

    def unread(reader: Reader, asked: Collection[str]) -> list[ReadTask]:
        return list(_unread(store, reader, suite, asked))

    return read_in_rounds(store, readers, unread, workers, watch)


def _unread(store: RunStore, reader: Reader, suite: Suite, asked: Collection[str]) -> Iterator[ReadTask]:
    known = {key: stored.reading for key, stored in store.readings().items()}
    scenes = {scene.id: scene for scene in suite.scenes}
    for key, rollout in store.rollouts().items():
        if rollout.status != "done" or rollout.scene not in scenes:
            continue
        assert rollout.clip is not None
        scene = scenes[rollout.scene]
        if not _is_whole(rollout.clip):
            told = f"{rollout.clip.path.name} is gone or no longer the file that was filmed; run again to film it anew"
            store.add_rollout(key, replace(rollout, status="failed", clip=None, message=told))
            continue
        names = reading_keys(key, rollout.clip.sha256, scene, reader.name, reader.settings)
        for vote in votes_wanted([known.get(name, _MISSING) for name in names]):
            if names[vote] not in asked:
                yield ReadTask(key=names[vote], rollout=key, clip=rollout.clip, scene=scene, reader=reader, vote=vote)


def _jobs(plan: Plan) -> Iterator[Job]:
    made_by = plan.generator
    for scene in plan.suite.scenes:
        for index in range(plan.n):
            key = rollout_key(scene, made_by.name, made_by.settings, seed=index, index=index)
            yield Job(key=key, scene=scene, index=index, seed=index)


def _settled(rollout: Rollout) -> bool:
    if rollout.status == "done":
        assert rollout.clip is not None
        return rollout.clip.path.is_file()
    return rollout.status == "refused"


def _is_whole(clip: Clip) -> bool:
    return clip.path.is_file() and video.sha256(clip.path) == clip.sha256


def _check_same_run(plan: Plan, store: RunStore) -> None:
    before: Mapping[str, Any] | None = store.about("generator")
    if before is None:
        return
    name, settings = plan.generator.name, dict(plan.generator.settings)
    if before["name"] != name or before["settings"] != settings:
        was = before["name"] if before["name"] != name else _changed(before["settings"], settings)
        raise StoreError(f"{store.folder}: this run was made with {was}; name another folder, or ask for the same")
    _check_same_scenes(load_suite(plan.suite.folder), store)


def _check_same_scenes(suite: Suite, store: RunStore) -> None:
    """Refuse a suite in which any scene that the run has planned is gone, or would be filmed from something else."""
    known = {scene.id: scene for scene in store.suite.scenes}
    now = {scene.id: scene for scene in suite.scenes}
    for scene_id in store.planned():
        old, new = known[scene_id], now.get(scene_id)
        if new is None:
            raise StoreError(f"{store.folder}: scene {scene_id!r} was planned here and is gone from suite {suite.id!r}")
        if old.film_identity != new.film_identity:
            part = "prompt" if old.prompt != new.prompt else "frame"
            raise StoreError(f"{store.folder}: scene {scene_id!r} was filmed from another {part}; name another folder")


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    return ", ".join(f"{name} = {before.get(name)}" for name in names)


def _summary(store: RunStore, readers: Iterable[Reader], filmed: int, read: int) -> Summary:
    rollouts = store.rollouts()
    return Summary(
        filmed=filmed,
        read=read,
        clips=sum(rollout.status == "done" for rollout in rollouts.values()),
        open=still_open(store, [reader.name for reader in readers], states=rollouts),
        twins=twins(rollouts, store.looks()),
    )


def planned_rollouts(store: RunStore) -> Iterator[tuple[str, int, str]]:
    """Yield scene, index and key of all that was planned, from the ledger alone."""
    suite, made_by = store.suite, store.about("generator")
    for scene_id, n in store.planned().items():
        scene = suite.scene(scene_id)
        for index in range(n):
            yield scene_id, index, rollout_key(scene, made_by["name"], made_by["settings"], seed=index, index=index)


def still_open(
    store: RunStore,
    readers: Collection[str],
    *,
    states: Mapping[str, Rollout] | None = None,
    planned: Iterable[tuple[str, int, str]] | None = None,
) -> tuple[str, ...]:
    """Name what was planned and is failed or missing, and what these readers failed to read, one line each.

    ``states`` and ``planned`` save reading the ledger again where they are known already.
    """
    states = store.rollouts() if states is None else states
    lines: list[str] = []
    for scene_id, index, key in planned_rollouts(store) if planned is None else planned:
        if (rollout := states.get(key)) is None:
            lines.append(f"{scene_id} r{index:03d}: missing")
        elif rollout.status == "failed":
            lines.append(f"{scene_id} r{index:03d}: failed: {rollout.message}")
    for stored in _failed(store.readings().values(), readers):
        rollout = states[stored.rollout_key]
        if rollout.status == "done" and _is_asked_now(stored, rollout, store):
            lines.append(f"{rollout.scene} r{rollout.index:03d}: {stored.reader}: {stored.reading.reason}")
    return tuple(sorted(lines))


def _is_asked_now(stored: StoredReading, rollout: Rollout, store: RunStore) -> bool:
    """Say whether a reading answers today's question about today's clip with the reader's settings of today."""
    settings = reader_settings(store, stored.reader, stored.settings)
    assert rollout.clip is not None
    scene = store.suite.scene(rollout.scene)
    return stored.key in reading_keys(stored.rollout_key, rollout.clip.sha256, scene, stored.reader, settings)


def reader_settings(store: RunStore, reader: str, known: Settings) -> Settings:
    """Return the settings a reader was last asked with; ``known`` where that was not noted (imported labels)."""
    return store.about(f"reader {reader}") or known


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
