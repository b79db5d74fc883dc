"""The clips of an exam: one motion, shown under every condition, each with its truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from worldodds import video
from worldodds.exam.optics import CRF, DEGRADATIONS
from worldodds.generators.simulator import Simulator
from worldodds.scene import Scene
from worldodds.worlds import Motion, endings, load_world

CLEAN = "clean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """One clip of the exam: a motion under a condition, and what is true of it (None where a null is right)."""

    scene: str
    condition: str
    seed: int
    truth: str | None
    path: Path


def conditions_of(scene: Scene) -> dict[str, str]:
    """Return the scene's conditions with what each is: clean, degraded, and each null rule that its world can stage."""
    rules = {null.name: null.rule for null in scene.readout.nulls}
    return {
        CLEAN: "as filmed, H.264 crf 18",
        **{name: degradation.what for name, degradation in DEGRADATIONS.items()},
        **{name: rules[name] for name in endings.endings_of(scene)},
    }


def is_null(condition: str) -> bool:
    """Say whether a condition leaves nothing to tell."""
    return condition != CLEAN and condition not in DEGRADATIONS


def stage(maker: Simulator, scene: Scene, seed: int, conditions: frozenset[str], folder: Path) -> Iterator[Take]:
    """Film one motion under the conditions named, all where none is; each clip when it is asked for."""
    world = load_world(scene.id)
    motion = maker.plan(scene, world, seed=seed).motion
    for condition, frames, crf in _shown(scene, motion, maker.knobs.size_px, conditions, seed):
        path = folder / f"{condition}.mp4"
        video.encode(frames, path, frame_rate=world.frame_rate, crf=crf)
        truth = None if is_null(condition) else motion.outcome
        yield Take(scene=scene.id, condition=condition, seed=seed, truth=truth, path=path)


def _shown(
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
