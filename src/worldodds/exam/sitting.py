"""One clip after another before a reader: staged, read with as many votes as it takes, and compared with the truth."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from worldodds import video
from worldodds.errors import InputError, OutOfRangeError, UnknownNameError, VideoError, nearest
from worldodds.exam.staging import CLEAN, Take, conditions_of, stage
from worldodds.generators.simulator import Simulator
from worldodds.protocols import Generator, HostedGenerator, Reader, WaitingReader
from worldodds.rollout import Clip, Reading
from worldodds.scene import Scene
from worldodds.tally import settle, votes_wanted
from worldodds.workers import cores, in_parallel

__all__ = ["CLEAN", "FIRST_SEED", "Answer", "check_sitting", "conditions_of", "sit"]

FIRST_SEED = 50_000  # seeds below were used while readers were made
SHOWN_FRAMES, SHOWN_WIDTH = 5, 200
_NOT_ASKED = Reading(status="missing")

Result = Literal["agree", "false_null", "missed_null", "wrong_label", "failed"]
Watch = Callable[[int, int], None]
_Task = tuple[Scene, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a reader said of one clip, and what is true: a label, or None where a null is right.

    ``votes`` are what ``reading`` was settled from; those that could change nothing were not asked and are missing.
    ``frames`` are a few JPEG pictures of the clip, first to last, where the answer is wrong.
    """

    scene: str
    condition: str
    seed: int
    truth: str | None
    reading: Reading
    votes: tuple[Reading, ...] = ()
    frames: tuple[bytes, ...] = ()

    @property
    def result(self) -> Result:
        """How the answer compares with the truth; either null agrees with any null rule."""
        return compared(self.reading, self.truth)


def compared(reading: Reading, truth: str | None) -> Result:
    """Say how a reading compares with the truth; a failed one is never a null."""
    if reading.status in ("failed", "missing"):
        return "failed"
    if truth is None:
        return "missed_null" if reading.status == "outcome" else "agree"
    if reading.status != "outcome":
        return "false_null"
    return "agree" if reading.label == truth else "wrong_label"


def sit(
    reader: Reader,
    generator: Generator | HostedGenerator,
    scenes: Sequence[Scene],
    n: int,
    *,
    conditions: Sequence[str] = (),
    first_seed: int = FIRST_SEED,
    workers: int | None = None,
    watch: Watch | None = None,
) -> tuple[Answer, ...]:
    """Let a reader read ``n`` clips of every scene under each condition (all by default), in order of scene and seed.

    A reader that computes reads where the clip is filmed, on ``workers`` processes. One that waits for somebody else
    is asked about as many clips at once as it takes, while the next ones are filmed.

    Raises:
        InputError: ``n`` below 1, a generator that is no simulator, whose truth nobody knows, or an endpoint that
            answers no question.
        UnknownNameError: a condition that none of the scenes has; the message offers the nearest.
    """
    maker = check_sitting(generator, scenes, n, conditions)
    tasks = [(scene, first_seed + i) for i in range(n) for scene in scenes]
    examine = partial(_waiting, reader.in_flight) if isinstance(reader, WaitingReader) else _computing
    found: dict[tuple[str, int], list[Answer]] = {}
    for done, ((scene, seed), answers) in enumerate(examine(reader, maker, frozenset(conditions), tasks, workers), 1):
        found[scene.id, seed] = answers
        if watch:
            watch(done, len(tasks))
    return tuple(a for scene in scenes for i in range(n) for a in found[scene.id, first_seed + i])


def check_sitting(
    generator: Generator | HostedGenerator, scenes: Sequence[Scene], n: int, conditions: Sequence[str]
) -> Simulator:
    """Refuse what cannot be sat, and return the generator as the simulator that it is; see `sit`."""
    if n < 1:
        raise InputError(f"n: {n} clips tell nothing; give 1 or more")
    if not isinstance(generator, Simulator):
        raise InputError(f"the exam needs clips whose truth is known: simulator/..., not {generator.name}")
    known = {name: None for scene in scenes for name in conditions_of(scene)}
    for name in conditions:
        if name not in known:
            raise UnknownNameError(f"There is no condition called {name!r}.{nearest(name, known)}")
    return generator


def _computing(
    reader: Reader, maker: Simulator, conditions: frozenset[str], tasks: Sequence[_Task], workers: int | None
) -> Iterator[tuple[_Task, list[Answer]]]:
    yield from in_parallel(partial(_examine, reader, maker, conditions), tasks, True, workers)


def _examine(reader: Reader, maker: Simulator, conditions: frozenset[str], task: _Task) -> list[Answer]:
    """Film one motion under every condition and read it at once."""
    scene, seed = task
    with tempfile.TemporaryDirectory() as folder:
        return [_ask(reader, scene, take) for take in stage(maker, scene, seed, conditions, Path(folder))]


def _waiting(
    in_flight: int,
    reader: Reader,
    maker: Simulator,
    conditions: frozenset[str],
    tasks: Sequence[_Task],
    workers: int | None,
) -> Iterator[tuple[_Task, list[Answer]]]:
    """Film a handful of motions while the clips of the handful before are with the judge, so that no disk fills."""
    handful = max(cores(), -(-2 * in_flight // len(conditions_of(tasks[0][0]))))
    out: deque[tuple[_Task, list[Future[Answer]]]] = deque()
    desk = ThreadPoolExecutor(in_flight)
    try:
        with tempfile.TemporaryDirectory() as home:
            for start in range(0, len(tasks), handful):
                film = partial(_film, maker, conditions, Path(home))
                for task, takes in in_parallel(film, tasks[start : start + handful], True, workers):
                    out.append((task, [desk.submit(_ask, reader, task[0], take) for take in takes]))
                while len(out) > handful:
                    yield _collected(*out.popleft())
            while out:
                yield _collected(*out.popleft())
    finally:
        desk.shutdown(wait=True, cancel_futures=True)


def _film(maker: Simulator, conditions: frozenset[str], home: Path, task: _Task) -> list[Take]:
    scene, seed = task
    folder = home / f"{scene.id}-{seed}"
    folder.mkdir()
    return list(stage(maker, scene, seed, conditions, folder))


def _collected(task: _Task, asked: Sequence[Future[Answer]]) -> tuple[_Task, list[Answer]]:
    return task, [future.result() for future in asked]


def _ask(reader: Reader, scene: Scene, take: Take) -> Answer:
    """Ask for as many votes as could change the answer, then let go of the clip."""
    votes = [_NOT_ASKED] * int(reader.settings.get("votes") or 1)
    try:
        clip = video.probe(take.path)
    except VideoError as error:
        votes[0] = Reading(status="failed", reason=str(error))
    else:
        tried: set[int] = set()
        while wanted := [vote for vote in votes_wanted(votes) if vote not in tried]:
            for vote in wanted:
                votes[vote] = _read(reader, clip, scene, vote)
                tried.add(vote)
    answer = Answer(
        scene=take.scene,
        condition=take.condition,
        seed=take.seed,
        truth=take.truth,
        reading=settle(votes),
        votes=tuple(votes),
    )
    if answer.result != "agree":
        answer = replace(answer, frames=_pictures(take.path))
    take.path.unlink()
    return answer


def _read(reader: Reader, clip: Clip, scene: Scene, vote: int) -> Reading:
    try:
        return reader.read(clip, scene, vote=vote)
    except (OutOfRangeError, VideoError) as error:
        return Reading(status="failed", reason=str(error))


def _pictures(path: Path) -> tuple[bytes, ...]:
    import cv2

    frames = video.decode(path).frames
    chosen = np.linspace(0, len(frames) - 1, min(SHOWN_FRAMES, len(frames))).round().astype(int)
    height = round(frames[0].shape[0] * SHOWN_WIDTH / frames[0].shape[1])
    pictures: list[bytes] = []
    for i in chosen:
        small = cv2.resize(frames[i], (SHOWN_WIDTH, height), interpolation=cv2.INTER_AREA)
        _, data = cv2.imencode(".jpg", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 75])
        pictures.append(data.tobytes())
    return tuple(pictures)
