"""A marble rolls down a tilted wooden ramp, meets the tip of a symmetric Y fork, and ends in the left or the right cup.

What decides is a small push and spin that the first frame does not show, drawn from a distribution that is its own
mirror image, as the track is: so the odds are even by symmetry, up to rounding in the physics.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from worldodds.worlds.plane import CENTRE_MM, Course, Disc, Point, Rail, Start, let_go, mirrored, rails
from worldodds.worlds.plane_look import Easel, film
from worldodds.worlds.world import Image, Motion

FLOOR_MM, BRIM_MM = 436.0, 350.0  # the cups' floor, and the height below which a ball is inside a cup
TIP: Point = (CENTRE_MM, 236.0)
TIP_RADIUS_MM = 7.0
MARBLE_BLUE, MARBLE_BAND = (32, 92, 214), (150, 190, 250)


@dataclass(frozen=True)
class Fork:
    """The world of the scene ``ball``; every knob has its unit in its name."""

    gravity_mm_s2: float = 950.0  # along the ramp
    ball_radius_mm: float = 16.0
    wall_restitution: float = 0.35
    wall_friction: float = 0.05
    push_sd_mm_s: float = 18.0
    spin_sd_rad_s: float = 2.0
    frames: int = 72
    frame_rate: int = 24

    scene = "ball"
    labels = ("left", "right")
    has_process_noise = False

    def simulate(self, *, start_seed: int, noise_seed: int = 0) -> Motion:
        """Let the ball go once; ``noise_seed`` has no effect, this track has no process noise."""
        del noise_seed
        start = Start.drawn(start_seed, push_sd_mm_s=self.push_sd_mm_s, spin_sd_rad_s=self.spin_sd_rad_s)
        return let_go(self.course, start, self.judge, frames=self.frames, frame_rate=self.frame_rate)

    def judge(self, x_mm: float, y_mm: float) -> tuple[str | None, str | None]:
        """Return the cup of a ball lying at a point, or why it lies in none."""
        if not self.course.on_felt(y_mm):
            return None, "the ball stopped on the way to a cup"
        for label, side in (("left", -1), ("right", 1)):
            if CUP_MM[0] < side * (x_mm - CENTRE_MM) < CUP_MM[1]:
                return label, None
        return None, "the ball left the track"

    def draw(self, motion: Motion, size: tuple[int, int]) -> Iterator[Image]:
        """Yield one picture a frame."""
        return film(_backdrop(size), motion.states, self.ball_radius_mm, MARBLE_BLUE, MARBLE_BAND)

    def settings(self) -> dict[str, Any]:
        """Return the knobs."""
        return asdict(self)

    @cached_property
    def course(self) -> Course:
        """The track as obstacles."""
        wood = {"radius_mm": 1.0, "restitution": self.wall_restitution, "friction": self.wall_friction}
        walls = [wall for side in (outer_wall(), inner_wall()) for wall in (side, mirrored(side))]
        tip = Disc((TIP[0], TIP[1] + TIP_RADIUS_MM), TIP_RADIUS_MM, self.wall_restitution, self.wall_friction)
        felt = Rail((0.0, FLOOR_MM + 20), (2 * CENTRE_MM, FLOOR_MM + 20), 20.0, 0.05, 1.0)
        return Course(
            obstacles=(*(rail for wall in walls for rail in rails(wall, **wood)), tip, felt),
            ball_at=(CENTRE_MM, 50.0),
            ball_radius_mm=self.ball_radius_mm,
            gravity_mm_s2=self.gravity_mm_s2,
            floor_mm=FLOOR_MM,
        )


CHUTE_MM = 25.0  # half the width of the straight ramp
CUP_MM = (124.0, 196.0)  # where a cup begins and ends, from the middle line


def outer_wall() -> list[Point]:
    """Return the left outer wall, from the top of the ramp to the floor of the cup."""
    c = CENTRE_MM
    bend = _curve((c - CHUTE_MM, 128), (c - CHUTE_MM, 205), (c - CUP_MM[1], 205), (c - CUP_MM[1], 318))
    return [(c - CHUTE_MM, 18.0), *bend, (c - CUP_MM[1], FLOOR_MM)]


def inner_wall() -> list[Point]:
    """Return the left inner wall, from the tip of the fork to the floor of the cup."""
    c = CENTRE_MM
    side = (c - TIP_RADIUS_MM, TIP[1] + TIP_RADIUS_MM)
    bend = _curve(side, (c - 22, 282), (c - CUP_MM[0], 270), (c - CUP_MM[0], 352))
    return [*bend, (c - CUP_MM[0], FLOOR_MM)]


def _curve(a: Point, b: Point, c: Point, d: Point, pieces: int = 18) -> list[Point]:
    """Return points along a cubic Bezier curve."""
    t = np.linspace(0, 1, pieces + 1)[:, None]
    p, q, r, s = (np.array(point, dtype=float) for point in (a, b, c, d))
    path = (1 - t) ** 3 * p + 3 * t * (1 - t) ** 2 * q + 3 * t**2 * (1 - t) * r + t**3 * s
    return [(float(x), float(y)) for x, y in path]


@lru_cache(maxsize=4)
def _backdrop(size: tuple[int, int]) -> Image:
    """Paint the track without its ball: a channel carved into a board."""
    easel = Easel(size, ((214, 222, 228), (168, 180, 190)))
    board = easel.box(CENTRE_MM - 236, 8, CENTRE_MM + 236, 468, 16)
    easel.shade(board, strength=0.5, shift=(5, 8), blur=8)
    easel.fill(board, easel.wood((186, 132, 82), (236, 190, 136), seed=5, upright=True))
    easel.shade((1 - easel.soften(board, shift=(-1.2, -1.6), blur=0.8)) * board, strength=0.4)
    easel.shade((1 - easel.soften(board, shift=(1.2, 1.6), blur=0.8)) * board, strength=-0.35)
    channel = _channel(easel)
    easel.shade(easel.soften(channel, shift=(1.0, 1.3), blur=0.5) * (1 - channel), strength=-0.45)
    easel.fill(channel, easel.wood((112, 72, 44), (168, 116, 74), seed=12, upright=True))
    easel.shade((1 - easel.soften(channel, shift=(7, 10), blur=6)) * channel, strength=0.5)
    easel.shade((1 - easel.soften(channel, shift=(2, 3), blur=1.2)) * channel, strength=0.35)
    for side in (-1, 1):
        middle = CENTRE_MM + side * sum(CUP_MM) / 2
        pad = easel.box(middle - 36, FLOOR_MM - 7, middle + 36, FLOOR_MM) * channel
        easel.fill(pad, (72, 66, 66))
    return easel.done()


def _channel(easel: Easel) -> Any:
    outer, inner = outer_wall(), inner_wall()
    left = [*outer, *reversed(inner)]
    tip = [
        (TIP[0] + TIP_RADIUS_MM * np.sin(a), TIP[1] + TIP_RADIUS_MM * (1 - np.cos(a)))
        for a in np.linspace(-1.5, 1.5, 9)
    ]
    return easel.polygon([*left, *tip, *reversed(mirrored(left))])
