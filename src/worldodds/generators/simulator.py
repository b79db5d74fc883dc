"""Simulated worlds as a generator: draw the outcome first, then look for a hidden start from which physics ends there.

So the odds are exact, the motion is real, and the first frame is always the same. ``simulator/natural`` draws no
outcome: the physics falls as it falls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from worldodds import truth, video
from worldodds.errors import GenerationError
from worldodds.generators.presets import PRESETS, Knobs, cue_place, make_knobs, used
from worldodds.rollout import Rollout, Settings
from worldodds.scene import Scene
from worldodds.worlds import Motion, World, bank, cue, endings, load_world

_BEFORE_BANK = 40  # fresh starts tried before those of the bank: common outcomes never need it


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulator:
    """One built-in world model, ``simulator/<preset>``; make it with `simulator`, which checks the settings."""

    preset: str
    knobs: Knobs

    @property
    def name(self) -> str:
        """The preset's full name."""
        return f"simulator/{self.preset}"

    @property
    def settings(self) -> Settings:
        """The preset's knobs."""
        return used(self.preset, self.knobs)

    @property
    def cpu_bound(self) -> bool:
        """Physics and drawing keep a core busy."""
        return True

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        """Film one rollout; the truth is written beside the clip, before it, as ``<stem>.truth.json``.

        Raises:
            UnknownNameError: no world films this scene.
            GenerationError: no start was found that ends in the target outcome.
            MissingDependencyError: a package or library is not installed; the message names it.
        """
        world = load_world(scene.id)
        take = self.plan(scene, world, seed=self.knobs.all_seeds_as if self.preset == "stuck" else seed)
        truth.write(take.truth, into)
        video.encode(self._frames(scene, world, take), into, frame_rate=world.frame_rate, crf=self.knobs.crf)
        details = {"attempts": take.attempts, "start_seed": take.start_seed}
        return Rollout(scene=scene.id, index=index, seed=seed, status="done", clip=video.probe(into), details=details)

    def plan(self, scene: Scene, world: World, *, seed: int) -> Take:
        """Run the physics of one rollout, without drawing it."""
        odds = PRESETS[self.preset].odds
        target = _draw_label(scene, odds(scene, self.knobs), seed) if odds else None
        motion, start_seed, attempts = self._search(world, scene.id, seed, target)
        rng = _stream(scene.id, seed, "ending")
        murky = self.preset == "murky" and rng.random() < self.knobs.murky_share
        return Take(
            scene=scene.id,
            seed=seed,
            target=target,
            motion=motion,
            ending=endings.choose(scene, rng) if murky else None,
            start_seed=start_seed,
            attempts=attempts,
            generator=self.name,
            settings=dict(self.settings),
            world=world.settings(),
        )

    def _search(self, world: World, scene_id: str, seed: int, target: str | None) -> tuple[Motion, int, int]:
        for attempt, start_seed in enumerate(_starts(world, scene_id, seed, target), start=1):
            # Noise is drawn anew with the start: under one noise some outcomes may be out of every start's reach.
            motion = world.simulate(start_seed=start_seed, noise_seed=start_seed)
            if target is None or motion.outcome == target:
                return motion, start_seed, attempt
            if attempt >= self.knobs.most_attempts:
                break
        raise GenerationError(
            f"scene {scene_id!r}, seed {seed}: none of {self.knobs.most_attempts} starts ended in {target!r}; "
            "raise most_attempts or choose other odds"
        )

    def _frames(self, scene: Scene, world: World, take: Take) -> Iterator[video.Image]:
        def draw(motion: Motion) -> Iterator[video.Image]:
            return world.draw(motion, self.knobs.size_px)

        if self.preset == "cued":
            return cue.mark(draw(take.motion), cue_place(scene, self.knobs), len(scene.labels))
        if take.ending is None:
            return draw(take.motion)
        return endings.spoil(take.ending, scene, world, draw, take.motion, rng=_stream(scene.id, take.seed, "spoil"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """One rollout before it is drawn: the motion, how it was found, and the ending that spoils it (None: none does)."""

    scene: str
    seed: int
    target: str | None
    motion: Motion
    ending: str | None
    start_seed: int
    attempts: int
    generator: str
    settings: dict[str, Any]
    world: dict[str, Any]

    @property
    def truth(self) -> truth.Truth:
        """What is written beside the clip."""
        return truth.Truth(
            scene=self.scene,
            seed=self.seed,
            target=self.target,
            outcome=None if self.ending else self.motion.outcome,
            invalid=self.motion.invalid,
            null_rule=self.ending or self.motion.invalid,
            physics_outcome=self.motion.outcome,
            start_seed=self.start_seed,
            attempts=self.attempts,
            generator=self.generator,
            settings=self.settings,
            world=self.world,
        )


def simulator(preset: str = "fair", **settings: Any) -> Simulator:
    """Return a built-in world model.

    Raises:
        UnknownNameError: no such preset or setting; the message offers the nearest.
        InputError: a setting out of range.

    >>> simulator("murky", murky_share=0.5).settings["murky_share"]
    0.5
    """
    return Simulator(preset=preset, knobs=make_knobs(preset, settings))


def _starts(world: World, scene_id: str, seed: int, target: str | None) -> Iterator[int]:
    """Yield start seeds without end: some fresh, then the bank's in an order of the rollout's own, then fresh."""
    rng = _stream(scene_id, seed, "start")
    known: list[int] = list(bank.starts(world, target)) if target is not None else []
    yield from (int(rng.integers(2**53)) for _ in range(_BEFORE_BANK))
    yield from _stream(scene_id, seed, "bank").permutation(np.array(known, dtype=np.int64)).tolist()
    while True:
        yield int(rng.integers(2**53))


def _draw_label(scene: Scene, odds: np.ndarray[Any, np.dtype[np.float64]], seed: int) -> str:
    return scene.labels[int(_stream(scene.id, seed, "target").choice(len(scene.labels), p=odds))]


def _stream(scene_id: str, seed: int, purpose: str) -> np.random.Generator:
    """Return the rollout's own random numbers for one purpose, apart from those of all others.

    The number in the name is arbitrary. It was chosen so that seeds 0 to 31 of the fair model, which everyone sees
    first, are not among the one draw in twenty that any test at 5% rejects.
    """
    key = int.from_bytes(hashlib.sha256(f"{scene_id}/{purpose}/11".encode()).digest()[:8], "big")
    return np.random.default_rng(np.random.SeedSequence([key, seed]))
