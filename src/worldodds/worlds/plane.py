"""Rigid bodies in a plane: one ball among fixed obstacles, run with pymunk and sampled at every frame.

Lengths are millimetres in a plane of 640 x 480, x to the right and y downwards, as in the picture.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import MissingDependencyError
from worldodds.worlds.world import Motion

if TYPE_CHECKING:
    import pymunk

Point = tuple[float, float]

WIDTH_MM, HEIGHT_MM = 640.0, 480.0
CENTRE_MM = WIDTH_MM / 2


@dataclass(frozen=True, slots=True)
class Disc:
    """A round obstacle."""

    centre: Point
    radius_mm: float
    restitution: float
    friction: float


@dataclass(frozen=True, slots=True)
class Rail:
    """A straight obstacle with round ends."""

    start: Point
    end: Point
    radius_mm: float
    restitution: float
    friction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What the first frame cannot show of the ball: a sideways push and a spin."""

    push_mm_s: float
    spin_rad_s: float

    @classmethod
    def drawn(cls, start_seed: int, *, push_sd_mm_s: float, spin_sd_rad_s: float) -> Start:
        """Draw both from normal laws about 0, so that no side is preferred."""
        push, spin = np.random.default_rng(start_seed).normal(size=2) * (push_sd_mm_s, spin_sd_rad_s)
        return cls(push_mm_s=float(push), spin_rad_s=float(spin))


Judge = Callable[[float, float], tuple[str | None, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A fixed set of obstacles, where the ball starts, and the felt on which it comes to rest.

    Felt lies along the line y = ``floor_mm`` and takes the share ``felt_loss`` of the ball's motion at each look
    (240 a second); a ball on it slower than ``rest_mm_s`` lies still from then on.
    """

    obstacles: tuple[Disc | Rail, ...]
    ball_at: Point
    ball_radius_mm: float
    gravity_mm_s2: float
    floor_mm: float
    felt_loss: float = 0.12
    rest_mm_s: float = 4.0

    def on_felt(self, y_mm: float) -> bool:
        """Say whether a ball at height ``y_mm`` touches the felt."""
        return y_mm > self.floor_mm - self.ball_radius_mm - 0.8


STEPS_PER_SECOND = 720
LOOKS_PER_SECOND = 240


def let_go(course: Course, start: Start, judge: Judge, *, frames: int, frame_rate: int) -> Motion:
    """Let the ball go and judge where it lies; a ball that does not lie still for the last half second is not settled.

    ``judge`` takes the ball's last place, in mm, and returns the outcome, or why there is none.
    """
    states, settled = roll(course, start, frames=frames, frame_rate=frame_rate)
    outcome, invalid = judge(float(states[-1, 0]), float(states[-1, 1]))
    if settled is None or settled > frames - frame_rate // 2:
        outcome, invalid = None, invalid or "not_settled"
    return Motion(outcome=outcome, invalid=invalid, states=states, settled_frame=settled or frames)


def roll(course: Course, start: Start, *, frames: int, frame_rate: int) -> tuple[NDArray[np.float64], int | None]:
    """Let the ball go and return its states and the first frame at which it lies still (None: not in time).

    States are of shape (frames, 3): x_mm, y_mm, angle_rad. The first is the start itself, whatever the push.

    Raises:
        MissingDependencyError: pymunk is not installed.
    """
    space, ball = _space(course)
    ball.velocity, ball.angular_velocity = (start.push_mm_s, 0.0), start.spin_rad_s
    states = np.empty((frames, 3))
    states[0] = (*course.ball_at, 0.0)
    for frame in range(1, frames):
        at_rest = any(_look(space, ball, course) for _ in range(LOOKS_PER_SECOND // frame_rate))
        states[frame] = (*ball.position, ball.angle)
        if at_rest:
            states[frame:] = states[frame]
            return states, frame
    return states, None


def _look(space: pymunk.Space, ball: pymunk.Body, course: Course) -> bool:
    """Step the physics to the next look; say whether the ball has come to rest."""
    for _ in range(STEPS_PER_SECOND // LOOKS_PER_SECOND):
        space.step(1 / STEPS_PER_SECOND)
    if not course.on_felt(ball.position.y):
        return False
    if ball.velocity.length < course.rest_mm_s:
        return True
    ball.velocity *= 1 - course.felt_loss
    ball.angular_velocity *= 1 - course.felt_loss
    return False


def _space(course: Course) -> tuple[pymunk.Space, pymunk.Body]:
    # A fresh space each time: contacts kept from an earlier run would make a run depend on the one before it.
    try:
        import pymunk
    except ImportError:
        raise MissingDependencyError(
            "plane worlds need the package 'pymunk', which cannot be imported; run: pip install 'worldodds[run]'"
        ) from None
    space = pymunk.Space()
    space.gravity = (0.0, course.gravity_mm_s2)
    shapes: list[pymunk.Shape] = []
    for part in course.obstacles:
        if isinstance(part, Disc):
            shape = pymunk.Circle(space.static_body, part.radius_mm, part.centre)
        else:
            shape = pymunk.Segment(space.static_body, part.start, part.end, part.radius_mm)
        shape.elasticity, shape.friction = part.restitution, part.friction
        shapes.append(shape)
    ball = pymunk.Body(1.0, pymunk.moment_for_circle(1.0, 0.0, course.ball_radius_mm))
    skin = pymunk.Circle(ball, course.ball_radius_mm)
    skin.elasticity = skin.friction = 1.0  # pymunk multiplies the two partners: each obstacle states its own pair
    ball.position = course.ball_at
    space.add(*shapes, ball, skin)
    return space, ball


def rails(points: Iterable[Point], *, radius_mm: float, restitution: float, friction: float) -> tuple[Rail, ...]:
    """Join points by rails, end to end."""
    return tuple(Rail(a, b, radius_mm, restitution, friction) for a, b in itertools.pairwise(points))


def mirrored(points: Iterable[Point]) -> list[Point]:
    """Reflect points in the plane's vertical middle line."""
    return [(2 * CENTRE_MM - x, y) for x, y in points]
