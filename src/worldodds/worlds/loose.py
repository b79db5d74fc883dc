"""Endings in which something gets loose: a die jumps out of its box, a marble leaves its track, a mass its rod."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from worldodds.worlds.shot import Ending, Frames, Shot

_LEAP_FRAMES = 12


def _over_the_wall(shot: Shot) -> Frames:
    """On its way the die makes a leap over the nearer side wall, and comes to rest beside the box, in the picture."""
    from worldodds.worlds.dice_model import DIE_HALF_M, INNER_HALF_M, WALL_HEIGHT_M, WALL_WIDTH_M

    made = shot.motion.states.copy()
    beside = math.copysign(INNER_HALF_M[0] + WALL_WIDTH_M + 1.1 * DIE_HALF_M, made[-1, 0])
    share = np.clip((np.arange(len(made)) - shot.early) / _LEAP_FRAMES, 0, 1)
    made[:, 0] += share * (beside - made[-1, 0])
    made[:, 2] += 2 * WALL_HEIGHT_M * np.sin(math.pi * share)
    return shot.film(made)


def _through_the_wall(shot: Shot) -> Frames:
    """The outer walls let the marble through, and it rolls down over the bare board, wholly out of the cups."""
    from worldodds.worlds.ball import CENTRE_MM, CUP_MM, outer_wall
    from worldodds.worlds.plane import Start, let_go, mirrored, rails

    world: Any = shot.world
    walls = {"radius_mm": 1.0, "restitution": world.wall_restitution, "friction": world.wall_friction}
    gone = [rail for wall in (outer_wall(), mirrored(outer_wall())) for rail in rails(wall, **walls)[1:]]
    outside_mm = CUP_MM[1] + world.ball_radius_mm
    open_track = replace(world.course, obstacles=tuple(part for part in world.course.obstacles if part not in gone))
    while True:
        seed = int(shot.rng.integers(2**53))
        start = Start.drawn(seed, push_sd_mm_s=world.push_sd_mm_s, spin_sd_rad_s=world.spin_sd_rad_s)
        motion = let_go(open_track, start, world.judge, frames=world.frames, frame_rate=world.frame_rate)
        if abs(motion.states[-1, 0] - CENTRE_MM) > outside_mm:
            return shot.film(motion.states)


def _off_its_rod(shot: Shot) -> Frames:
    """The lower mass comes off, flies on as it flew, and rolls out on the bench; the rods swing on without it."""
    from worldodds.worlds.mixing import GRAVITY_M_S2, INNER_LENGTH_M, OUTER_LENGTH_M
    from worldodds.worlds.pendulum import BENCH_TOP, OUTER_RADIUS, PIVOT, SCALE

    states, rate, steps = shot.motion.states, shot.world.frame_rate, 20
    lengths = np.array([INNER_LENGTH_M, OUTER_LENGTH_M])
    ends = np.stack([np.sin(states) @ lengths, np.cos(states) @ lengths], axis=1)  # of the lower rod: right, down
    bench = (BENCH_TOP - PIVOT[1] - OUTER_RADIUS) / SCALE
    made = np.column_stack([states, ends])
    place, speed = ends[shot.early].copy(), (ends[shot.early] - ends[shot.early - 1]) * rate
    angles, turning = states[shot.early].copy(), (states[shot.early] - states[shot.early - 1]) * rate
    for i in range(shot.early + 1, len(states)):
        for _ in range(steps):
            second = 1 / (rate * steps)
            speed[1] += GRAVITY_M_S2 * second
            place += speed * second
            if place[1] > bench and speed[1] > 0:
                place[1] = bench
                speed *= (0.8, -0.35)
            turning -= (GRAVITY_M_S2 / lengths * np.sin(angles) + 0.8 * turning) * second
            angles += turning * second
        made[i] = *angles, *place
    return shot.film(made)


LOOSE: Mapping[str, Mapping[str, Ending]] = {
    "ball": {"escaped": _through_the_wall},
    "pendulum": {"broken": _off_its_rod},
    "dice": {"escaped": _over_the_wall},
}
