"""A person walks down a path between hedges to a T-junction, turns into one of the two equal passages, and stops there.

Which passage is the walker's hidden intention, drawn by the start seed: no physics decides it, which is one of the two
stated exceptions among the worlds. Process noise is that of a gait: length, width and time of every step. The motion
is kinematic (``gait``), the picture MuJoCo's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds import garden
from worldodds.worlds.filming import first_still
from worldodds.worlds.gait import Curve, Footprint, Walk, poses
from worldodds.worlds.window import Window, follow
from worldodds.worlds.world import Image, Motion

START_Y_M = -2.25
STRAIGHT_M, RADIUS_M, PASSAGE_M = 1.70, 0.75, 1.35  # down the path, round the corner, along the passage
LENGTH_M = STRAIGHT_M + np.pi / 2 * RADIUS_M + PASSAGE_M
ARM_SWING_RAD = 0.42
INSIDE_M = 1.45  # beyond this distance from the middle the walker is inside a passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Walking:
    """A walker at a T-junction; ``states`` (frames, 91) are place and quaternion of each of the 13 body segments."""

    scene: ClassVar[str] = "walking"
    labels: ClassVar[tuple[str, ...]] = ("left", "right")
    has_process_noise: ClassVar[bool] = True
    frames: int = 96
    frame_rate: int = 24
    step_m: float = 0.62
    speed_m_s: float = 1.45
    step_noise: float = 0.04  # standard deviation of a step's length and time, as a share
    width_noise_m: float = 0.012

    def simulate(self, *, start_seed: int, noise_seed: int = 0) -> Motion:
        """Draw the intention and the steps, and carry the body over them."""
        side = int(np.random.default_rng(start_seed).choice((-1, 1)))
        rng = np.random.default_rng(noise_seed)
        walk = _plan(self, side, rng)
        times = np.arange(self.frames) / self.frame_rate
        placed = poses(walk, times, arm_swing_rad=ARM_SWING_RAD)
        placed[0] = self._first_pose()  # smoothing lets later steps shine through by less than a millimetre
        hips = placed[:, 0, :2]
        settled = first_still(hips, 4e-3)
        x = float(hips[-1, 0])
        invalid = None
        if abs(x) < INSIDE_M:
            invalid = "unresolved"
        elif settled > self.frames - self.frame_rate // 2:
            invalid = "not_settled"
        return Motion(
            outcome=None if invalid else ("left" if x < 0 else "right"),
            invalid=invalid,
            states=placed.reshape(self.frames, -1),
            settled_frame=settled,
        )

    def draw(self, motion: Motion, size: tuple[int, int]) -> Iterator[Image]:
        """Yield one picture a frame; the first step is the same in all runs, so the first picture is too."""
        window = (2 * round(0.17 * size[1]), 2 * round(0.27 * size[1]))
        middle = motion.states[:, :3] + (0, 0, -0.03)  # of the walker, a little below the hips
        scene = Window(model=garden.model(size), size=size, window=window)
        yield from follow(scene, motion.states, garden.seen_at(middle, size))

    def settings(self) -> dict[str, Any]:
        """Return the world's knobs with units in their names."""
        return {
            "frames": self.frames,
            "frame_rate": self.frame_rate,
            "step_m": self.step_m,
            "speed_m_s": self.speed_m_s,
            "step_noise": self.step_noise,
            "width_noise_m": self.width_noise_m,
        }

    def _first_pose(self) -> NDArray[np.float64]:
        calm = replace(self, step_noise=0.0, width_noise_m=0.0)
        walk = _plan(calm, 1, np.random.default_rng(0))
        return poses(walk, np.arange(8) / self.frame_rate, arm_swing_rad=ARM_SWING_RAD)[0]


def _plan(world: Walking, side: int, rng: np.random.Generator) -> Walk:
    """Lay the footprints along the way: two that the first frame shows, then noisy ones, then feet together."""
    along, lands = [-world.step_m / 2, world.step_m / 2], [-world.step_m / world.speed_m_s, 0.0]
    while along[-1] < LENGTH_M - 0.25 * world.step_m:
        length, time = np.maximum(1 + world.step_noise * rng.standard_normal(2), 0.5)
        along.append(min(along[-1] + world.step_m * float(length), LENGTH_M))
        lands.append(lands[-1] + world.step_m / world.speed_m_s * float(time))
    along.append(along[-1])
    lands.append(lands[-1] + 0.9 * world.step_m / world.speed_m_s)
    widths = 0.075 + np.where(np.arange(len(along)) < 2, 0, world.width_noise_m) * rng.standard_normal(len(along))
    prints: list[Footprint] = []
    for i, (s, t, width) in enumerate(zip(along, lands, widths.tolist(), strict=True)):
        foot = 1 if i % 2 else -1
        (x, y), heading = _way(s, side)
        place = np.array([x, y, 0.0]) + foot * width * np.array([np.cos(heading), -np.sin(heading), 0.0])
        last = i + 2 >= len(along)
        lifts = np.inf if last else lands[i + 1] + 0.11 * world.step_m / world.speed_m_s
        prints.append(Footprint(side=foot, place=place, heading_rad=heading, lands_s=t, lifts_s=lifts))
    return _carry(tuple(prints), np.array(along), np.array(lands), side)


def _carry(prints: tuple[Footprint, ...], along: NDArray[np.float64], lands: NDArray[np.float64], side: int) -> Walk:
    """Let the body pass over the footprints: at every landing its middle is half way between the two feet."""
    from scipy.interpolate import PchipInterpolator

    middles = np.append((along[1:] + along[:-1]) / 2, along[-1])
    knots = np.append(lands[1:], lands[-1] + 0.35)
    progress = PchipInterpolator(
        np.insert(knots, 0, lands[0]), np.insert(middles, 0, middles[0] - (along[1] - along[0]))
    )
    steps = PchipInterpolator(lands, np.pi * (np.arange(len(lands)) - 0.5))

    def at(t: Any) -> NDArray[np.float64]:
        return np.asarray(progress(np.minimum(t, knots[-1])))

    def fade(t: Any) -> NDArray[np.float64]:
        u = np.clip((np.asarray(t) - lands[-3]) / (lands[-1] - lands[-3]), 0, 1)
        return 1 - u * u * (3 - 2 * u)

    def heading(ahead_m: float) -> Curve:
        return lambda t: np.asarray(_way(at(t) + ahead_m, side)[1])

    return Walk(
        footprints=prints,
        middle=lambda t: np.stack(_way(at(t), side)[0], axis=-1),
        heading_rad=heading(0.06),
        gaze_rad=heading(0.30),
        phase_rad=lambda t: np.asarray(steps(np.minimum(t, lands[-1]))),
        vigour=fade,
    )


def _way(along_m: Any, side: int) -> tuple[tuple[Any, Any], Any]:
    """Return place (x, y) and heading (rad, to the right of straight on) after so many metres of the way."""
    s = np.asarray(along_m, dtype=np.float64)
    turn = np.clip((s - STRAIGHT_M) / RADIUS_M, 0, np.pi / 2)
    straight = np.minimum(s, STRAIGHT_M)
    beyond = np.maximum(s - STRAIGHT_M - np.pi / 2 * RADIUS_M, 0)
    x = RADIUS_M * (1 - np.cos(turn)) + beyond
    y = START_Y_M + straight + RADIUS_M * np.sin(turn)
    return (side * x, y), side * turn
