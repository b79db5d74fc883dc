"""Plan, pending, run: what is still to be done is a set difference, so running again is resuming."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from worldodds import video
from worldodds.errors import StoreError
from worldodds.filming import Job, Terms, buy_clips, film_clips
from worldodds.keys import reading_keys, rollout_namer
from worldodds.looks import twins
from worldodds.progress import Watcher, unwatched
from worldodds.protocols import ChoosyReader, Generator, HostedGenerator, Reader
from worldodds.reading import ReadTask, read_in_rounds
from worldodds.rollout import Clip, Reading, Rollout
from worldodds.scene import Suite, load_suite
from worldodds.still_open import planned_rollouts, still_open
from worldodds.stopping import Stop, When, check_planned, choose_stop, decide, keep_stop, spared, stop_of
from worldodds.store import RunStore
from worldodds.suite_protocol import MOST_ROLLOUTS
from worldodds.tally import votes_wanted
from worldodds.workers import kept_processes

_MISSING = Reading(status="missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to film and who reads it: every scene of the suite, ``n`` rollouts each, seeds 0 to n - 1.

    With ``stop = "early"`` a scene's rollouts are bought in waves until its verdict stands, as the first reader reads
    them; ``"never"`` buys all of them; None does as the run was begun, which is never unless it was told otherwise.
    """

    suite: Suite
    generator: Generator | HostedGenerator
    readers: tuple[Reader, ...]
    n: int
    stop: When | None = None


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


def plan(
    suite: Suite,
    generator: Generator | HostedGenerator,
    readers: Sequence[Reader],
    n: int | None = None,
    *,
    stop: When | None = None,
) -> Plan:
    """Make a plan; ``n`` defaults to the suite's protocol, ``stop`` to how the run was begun.

    Raises:
        StoreError: fewer than one rollout, or a scene that has no frame to film from.
        InputError, StatisticsError: early stopping without a reader, known odds, or enough rollouts.
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
    choose_stop(stop, None, suite=suite, readers=readers, n=n)
    return Plan(suite=suite, generator=generator, readers=tuple(readers), n=n, stop=stop)


def pending(plan: Plan, store: RunStore) -> list[Job]:
    """Return the rollouts that are wanted and neither done nor refused, scene by scene in index order.

    Of a run that stops early: all that may be wanted yet, which is none of a scene whose verdict stands.
    """
    states = store.rollouts()
    needless = frozenset[tuple[str, int]]() if plan.stop == "never" else spared(store)
    jobs = [job for job in _jobs(plan) if job.key not in states or not _settled(states[job.key])]
    return [job for job in jobs if (job.scene.id, job.index) not in needless]


def run(
    plan: Plan,
    store: RunStore,
    *,
    workers: int | None = None,
    watch: Watcher | None = None,
    terms: Terms | None = None,
    stop: When | None = None,
) -> Summary:
    """Film what is missing, then read what is unread; the same call again resumes, a larger ``n`` extends.

    ``workers`` is how many clips are made at once: processes or threads here, jobs at a provider. ``stop`` counts
    instead of the plan's.

    Raises:
        StoreError: the folder was made with another generator, other settings, another text of a scene, or a rule of
            early stopping that this plan would break.
        InputError, ProviderError: a provider's key, model, frame or prompt is wrong; nothing was bought.
        VideoError: a frame is no picture; nothing was made.
    """
    plan = replace(plan, stop=stop or plan.stop)
    store.mend_suite(plan.suite)
    check_same_run(plan, store)
    early = choose_stop(plan.stop, stop_of(store), suite=plan.suite, readers=plan.readers, n=plan.n)
    if early:
        check_planned(store, early)
    for reader in plan.readers:
        if isinstance(reader, ChoosyReader):
            reader.check(plan.suite.scenes)
    if pending(plan, store):
        for scene in plan.suite.scenes:
            assert scene.frame is not None
            video.read_still(scene.frame)
        if isinstance(plan.generator, HostedGenerator):
            plan.generator.check(plan.suite.scenes)
    _begin(plan, store, early)
    at_work = _AtWork(plan=plan, store=store, workers=workers, watch=watch or unwatched, terms=terms or Terms())
    with kept_processes():
        done = _in_waves(at_work, early) if early else _all_at_once(at_work)
    return replace(_summary(store, plan.readers, done.filmed, done.read), stopped=done.stopped)


def _begin(plan: Plan, store: RunStore, early: Stop | None) -> None:
    """Record what the run is before the first clip is made."""
    store.freeze_suite(plan.suite)
    store.note("generator", {"name": plan.generator.name, "settings": dict(plan.generator.settings)})
    if early or plan.stop == "never":
        keep_stop(store, early)
    for scene in plan.suite.scenes:
        store.plan(scene.id, plan.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AtWork:
    """A plan, its ledger, and who watches."""

    plan: Plan
    store: RunStore
    workers: int | None
    watch: Watcher
    terms: Terms

    def film(self, jobs: list[Job]) -> tuple[int, str | None]:
        """Make or buy clips; return how many were tried, and why buying stopped early."""
        generator = self.plan.generator
        if isinstance(generator, HostedGenerator):
            return buy_clips(generator, jobs, self.store, self.workers, self.watch, self.terms)
        return film_clips(generator, jobs, self.store, self.workers, self.watch), None

    def read(self, *, only: Collection[str] | None = None) -> int:
        """Let all readers read what they have not answered; return how many readings there were."""
        return _read(self.store, self.plan.readers, self.plan.suite, self.workers, self.watch, only=only)


@dataclass(slots=True, kw_only=True)
class _Done:
    filmed: int = 0
    read: int = 0
    stopped: str | None = None


def _all_at_once(work: _AtWork) -> _Done:
    filmed, stopped = work.film(pending(work.plan, work.store))
    return _Done(filmed=filmed, read=work.read(), stopped=stopped)


def _in_waves(work: _AtWork, early: Stop) -> _Done:
    """Film and read wave by wave until every verdict stands, or nothing can be tried any more."""
    asked = work.plan.suite.scene_ids
    done = _Done(read=work.read())  # what an earlier run filmed is read before anything is bought
    tried: set[str] = set()
    while not done.stopped:
        found = decide(work.store, early, asked=asked)
        jobs = [
            job
            for job in pending(work.plan, work.store)
            if job.key not in tried and (job.scene.id not in found.steps or (job.scene.id, job.index) in found.wanted)
        ]
        if not jobs:
            break
        tried |= {job.key for job in jobs}
        filmed, done.stopped = work.film(jobs)
        done.filmed += filmed
        done.read += work.read(only={job.key for job in jobs})
    return done


def read_clips(store: RunStore, reader: Reader, *, workers: int | None = None, watch: Watcher | None = None) -> Summary:
    """Let a reader read every clip of the run that it has not answered yet."""
    return read_clips_with(store, [reader], workers=workers, watch=watch)


def read_clips_with(
    store: RunStore, readers: Sequence[Reader], *, workers: int | None = None, watch: Watcher | None = None
) -> Summary:
    """Let several readers read every clip of the run that they have not answered yet; those that wait, all at once."""
    read = _read(store, readers, store.suite, workers, watch or unwatched)
    return _summary(store, readers, 0, read)


def _read(
    store: RunStore,
    readers: Sequence[Reader],
    suite: Suite,
    workers: int | None,
    watch: Watcher,
    *,
    only: Collection[str] | None = None,
) -> int:
    for reader in readers:
        store.note(f"reader {reader.name}", dict(reader.settings))

    def unread(reader: Reader, asked: Collection[str]) -> list[ReadTask]:
        return list(_unread(store, reader, suite, asked, only))

    return read_in_rounds(store, readers, unread, workers, watch)


def _unread(
    store: RunStore, reader: Reader, suite: Suite, asked: Collection[str], only: Collection[str] | None
) -> Iterator[ReadTask]:
    known = {key: stored.reading for key, stored in store.readings().items()}
    scenes = {scene.id: scene for scene in suite.scenes}
    for key, rollout in store.rollouts().items():
        if rollout.status != "done" or rollout.scene not in scenes or (only is not None and key not in only):
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
        name = rollout_namer(scene, made_by.name, made_by.settings)
        for index in range(plan.n):
            yield Job(key=name(index, index), scene=scene, index=index, seed=index)


def _settled(rollout: Rollout) -> bool:
    if rollout.status == "done":
        assert rollout.clip is not None
        return rollout.clip.path.is_file()
    return rollout.status == "refused"


def _is_whole(clip: Clip) -> bool:
    return clip.path.is_file() and video.sha256(clip.path) == clip.sha256


def check_same_run(plan: Plan, store: RunStore) -> None:
    """Refuse a folder that was made with another generator, other settings or another text of a scene: StoreError."""
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
    states, needless = store.states(), spared(store)
    planned = planned_rollouts(store, states, needless)
    return Summary(
        filmed=filmed,
        read=read,
        clips=sum(state.status == "done" for state in states.values()),
        open=still_open(store, [reader.name for reader in readers], planned, states, needless),
        twins=twins(states, store.looks()),
    )
