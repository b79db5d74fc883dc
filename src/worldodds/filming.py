"""Film what is wanted: made here, or bought from a provider. A clip counts once it is whole and in its place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from worldodds import video
from worldodds.attempts import next_step
from worldodds.clock import Clock, SteadyClock
from worldodds.errors import GenerationError, VideoError
from worldodds.jobs import buy
from worldodds.looks import look
from worldodds.progress import Progress, Watcher
from worldodds.protocols import Generator, HostedGenerator
from worldodds.purchase import Wanted
from worldodds.purse import Purse
from worldodds.rollout import Rollout
from worldodds.scene import Scene
from worldodds.store import RunStore
from worldodds.workers import in_parallel
from worldodds.working_folder import begin, move_in, working_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One rollout that is wanted and not there yet."""

    key: str
    scene: Scene
    index: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms clips are bought: how much in all, and whether what was perhaps bought is bought again."""

    purse: Purse = field(default_factory=Purse)
    rebuy: bool = False
    clock: Clock = field(default_factory=SteadyClock)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FilmTask:
    job: Job
    generator: Generator
    part: Path


def film_clips(generator: Generator, jobs: list[Job], store: RunStore, workers: int | None, watch: Watcher) -> int:
    """Make clips here, on processes or threads, and return how many were tried."""
    parts = [working_folder(store.scene_folder(job.scene), job.index) for job in jobs]
    tasks = [_FilmTask(job=job, generator=generator, part=part) for job, part in zip(jobs, parts, strict=True)]
    for done, (task, made) in enumerate(in_parallel(_film_one, tasks, generator.cpu_bound, workers), 1):
        rollout, picture = made
        rollout = move_in(task.part, rollout)
        with store.together():
            store.add_rollout(task.job.key, rollout)
            if rollout.clip and picture:
                store.add_look(rollout.clip.sha256, picture)
        watch(_filmed(rollout, done, len(tasks)))
    return len(tasks)


def _film_one(task: _FilmTask) -> tuple[Rollout, bytes | None]:
    """Make one clip in a folder of its own; whatever the generator leaves beside it moves with it."""
    job = task.job
    into = begin(task.part)
    try:
        made = task.generator.generate(job.scene, seed=job.seed, index=job.index, into=into)
        # which rollout it is, the job says: a generator that miscounts must not merge two into one
        rollout = replace(made, scene=job.scene.id, index=job.index, seed=job.seed)
        if rollout.status != "done":
            return rollout, None
        clip = video.probe(into)
        # a simulator is known to heed its seed, and its clips of one outcome may well look alike
        return replace(rollout, clip=clip), None if task.generator.cpu_bound else look(clip)
    except (GenerationError, VideoError, OSError) as error:
        told = f"{type(error).__name__}: {error}"
        return Rollout(scene=job.scene.id, index=job.index, seed=job.seed, status="failed", message=told), None


def buy_clips(
    generator: HostedGenerator, jobs: list[Job], store: RunStore, workers: int | None, watch: Watcher, terms: Terms
) -> tuple[int, str | None]:
    """Buy clips, but leave alone what was perhaps bought; return how many ended, and why buying stopped early."""
    last = store.attempts_now()
    steps = [next_step(last.get(job.key), rebuy=terms.rebuy) for job in jobs]
    wanted = [_wanted(job, store) for job, step in zip(jobs, steps, strict=True) if step != "leave"]
    done = 0

    def tell(rollout: Rollout) -> None:
        nonlocal done
        done += 1
        watch(_filmed(rollout, done, len(wanted)))

    stopped = buy(
        generator,
        wanted,
        store,
        tell=tell,
        purse=terms.purse,
        workers=workers,
        rebuy=terms.rebuy,
        clock=terms.clock,
    )
    return done, stopped


def _wanted(job: Job, store: RunStore) -> Wanted:
    part = working_folder(store.scene_folder(job.scene), job.index)
    return Wanted(key=job.key, scene=job.scene, index=job.index, seed=job.seed, part=part)


def _filmed(rollout: Rollout, done: int, total: int) -> Progress:
    return Progress(
        step="film", scene=rollout.scene, done=done, total=total, status=rollout.status, cost_usd=rollout.cost_usd
    )
