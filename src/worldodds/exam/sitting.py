"""One clip after another before a reader: simulate, spoil, encode, read, and compare with what is known."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from worldodds import video
from worldodds.errors import InputError, UnknownNameError, VideoError, nearest
from worldodds.exam.optics import CRF, DEGRADATIONS
from worldodds.generators.simulator import Simulator
from worldodds.protocols import Generator, HostedGenerator, Reader
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.workers import in_parallel
from worldodds.worlds import Motion, endings, load_world

FIRST_SEED = 50_000  # seeds below were used while readers were made
CLEAN = "clean"
SHOWN_FRAMES, SHOWN_WIDTH = 5, 200

Result = Literal["agree", "false_null", "missed_null", "wrong_label", "failed"]
Watch = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a reader said of one clip, and what is true: a label, or None where a null is right.

    ``frames`` are a few JPEG pictures of the clip, first to last, where the answer is wrong.
    """

    scene: str
    condition: str
    seed: int
    truth: str | None
    reading: Reading
    frames: tuple[bytes, ...] = ()

    @property
    def result(self) -> Result:
        """How the answer compares with the truth; either null agrees with any null rule."""
        if self.reading.status == "failed":
            return "failed"
        if self.truth is None:
            return "missed_null" if self.reading.status == "outcome" else "agree"
        if self.reading.status != "outcome":
            return "false_null"
        return "agree" if self.reading.label == self.truth else "wrong_label"


def conditions_of(scene: Scene) -> dict[str, str]:
    """Return the scene's conditions with what each is: clean, degraded, and each null rule that its world can stage."""
    rules = {null.name: null.rule for null in scene.readout.nulls}
    return {
        CLEAN: "as filmed, H.264 crf 18",
        **{name: degradation.what for name, degradation in DEGRADATIONS.items()},
        **{name: rules[name] for name in endings.endings_of(scene)},
    }


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

    Raises:
        InputError: ``n`` below 1, or a generator that is no simulator, whose truth nobody knows.
        UnknownNameError: a condition that none of the scenes has; the message offers the nearest.
    """
    if n < 1:
        raise InputError(f"n: {n} clips tell nothing; give 1 or more")
    if not isinstance(generator, Simulator):
        raise InputError(f"the exam needs clips whose truth is known: simulator/..., not {generator.name}")
    known = {name: None for scene in scenes for name in conditions_of(scene)}
    for name in conditions:
        if name not in known:
            raise UnknownNameError(f"There is no condition called {name!r}.{nearest(name, known)}")
    tasks = [(scene, first_seed + i) for i in range(n) for scene in scenes]
    function = partial(_examine, reader, generator, frozenset(conditions))
    found: dict[tuple[str, int], list[Answer]] = {}
    for done, ((scene, seed), answers) in enumerate(in_parallel(function, tasks, True, workers), start=1):
        found[scene.id, seed] = answers
        if watch:
            watch(done, len(tasks))
    return tuple(a for scene in scenes for i in range(n) for a in found[scene.id, first_seed + i])


def _examine(reader: Reader, maker: Simulator, conditions: frozenset[str], task: tuple[Scene, int]) -> list[Answer]:
    """Film one motion, show it under every condition, and return the reader's answers."""
    scene, seed = task
    motion = maker.plan(scene, load_world(scene.id), seed=seed).motion
    answers: list[Answer] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        for condition, frames, crf in _takes(scene, motion, maker.knobs.size_px, conditions, seed):
            video.encode(frames, path, frame_rate=load_world(scene.id).frame_rate, crf=crf)
            nothing = motion.outcome is None or (condition != CLEAN and condition not in DEGRADATIONS)
            answer = Answer(
                scene=scene.id,
                condition=condition,
                seed=seed,
                truth=None if nothing else motion.outcome,
                reading=_read(reader, path, scene),
            )
            answers.append(answer if answer.result == "agree" else _shown(answer, path))
    return answers


def _takes(
    scene: Scene, motion: Motion, size: tuple[int, int], conditions: frozenset[str], seed: int
) -> Iterator[tuple[str, Iterator[video.Image], int]]:
    """Yield each condition with its frames and the quality of encoding; the motion itself is drawn once."""
    world = load_world(scene.id)
    drawn = list(world.draw(motion, size))

    def draw(wanted: Motion) -> Iterator[video.Image]:
        length = len(wanted.states)
        if np.array_equal(wanted.states, motion.states[:length]):
            return iter(drawn[:length])
        return world.draw(wanted, size)

    for i, condition in enumerate(conditions_of(scene)):
        if conditions and condition not in conditions:
            continue
        rng = np.random.default_rng([seed, i])
        if condition == CLEAN:
            yield condition, iter(drawn), CRF
        elif condition in DEGRADATIONS:
            degradation = DEGRADATIONS[condition]
            yield condition, degradation.change(drawn, rng), degradation.crf
        else:
            yield condition, endings.spoil(condition, scene, world, draw, motion, rng=rng), CRF


def _read(reader: Reader, path: Path, scene: Scene) -> Reading:
    try:
        return reader.read(video.probe(path), scene, vote=0)
    except VideoError as error:
        return Reading(status="failed", reason=str(error))


def _shown(answer: Answer, path: Path) -> Answer:
    import cv2

    frames = video.decode(path).frames
    chosen = np.linspace(0, len(frames) - 1, min(SHOWN_FRAMES, len(frames))).round().astype(int)
    height = round(frames[0].shape[0] * SHOWN_WIDTH / frames[0].shape[1])
    pictures: list[bytes] = []
    for i in chosen:
        small = cv2.resize(frames[i], (SHOWN_WIDTH, height), interpolation=cv2.INTER_AREA)
        _, data = cv2.imencode(".jpg", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 75])
        pictures.append(data.tobytes())
    return Answer(
        scene=answer.scene,
        condition=answer.condition,
        seed=answer.seed,
        truth=answer.truth,
        reading=answer.reading,
        frames=tuple(pictures),
    )
