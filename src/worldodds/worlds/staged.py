"""Endings that single worlds can stage: something sticks, vanishes, doubles, or comes to lie where it gives no outcome.

The motion up to the cause is that of physics. Each ending is called by the null rule of its scene.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.shot import Ending, Frames, Shot
from worldodds.worlds.world import Image

States = NDArray[np.float64]
Change = Callable[[Shot], States]

GLIDE = 3  # frames in which something that sticks is drawn to its place
_OUT_OF_SIGHT_M = -30.0


def _stage(change: Change) -> Ending:
    return lambda shot: shot.film(change(shot))


def _stuck(states: States, frame: int, place: NDArray[np.float64]) -> States:
    """Draw what moves to ``place`` (state of one frame) and hold it there."""
    frame = min(max(frame, 1), len(states) - 1)
    made, come_from = states.copy(), states[frame]
    share = np.clip(np.arange(len(states) - frame) / GLIDE, 0, 1)[:, None]
    made[frame:] = (1 - share) * come_from + share * place
    return made


def _held(frame_of: Callable[[Shot], int]) -> Ending:
    def change(shot: Shot) -> States:
        frame = frame_of(shot)
        return _stuck(shot.motion.states, frame, shot.motion.states[frame])

    return _stage(change)


def _gone(columns: slice, to: float) -> Ending:
    """What moves is no longer there from ``early`` on."""
    return _stage(lambda shot: _without(shot.motion.states, columns, to, shot.early))


def _without(states: States, columns: slice, to: float, frame: int = 0) -> States:
    made = states.copy()
    made[frame:, columns] = to
    return made


def _doubled(columns: slice | None, to: float = 0.0, *, apart: float = 0.0) -> Ending:
    """A second run of the same world, with another outcome, is seen in the same clip.

    ``apart`` is how far from the first it must end at least, in the units of the first two numbers of a state.
    """

    def film(shot: Shot) -> Frames:
        second = _other_motion(shot, apart)
        if columns is None:
            return _overlaid(list(shot.draw(shot.motion)), list(shot.film(second)))
        return _added(shot.draw(shot.motion), shot.film(second), shot.film(_without(second, columns, to)))

    return film


def _other_motion(shot: Shot, apart: float) -> States:
    while True:
        seed = int(shot.rng.integers(2**53))
        motion = shot.world.simulate(start_seed=seed, noise_seed=seed)
        far = np.linalg.norm(motion.states[-1, :2] - shot.motion.states[-1, :2]) >= apart
        if far and motion.outcome not in (None, shot.motion.outcome):
            return motion.states


def _added(one: Frames, two: Frames, neither: Frames) -> Iterator[Image]:
    for i, (a, b, empty) in enumerate(zip(one, two, neither, strict=True)):
        both = a.astype(np.int16) + b - empty
        yield a if i == 0 else np.clip(both, 0, 255).astype(np.uint8)


def _emptied(shot: Shot) -> Frames:
    """What moves fades from the picture at ``early``: only what is there most of the time is left."""
    frames = list(shot.draw(shot.motion))
    empty = np.median(frames[:: max(1, len(frames) // 24)], axis=0).astype(np.uint8)
    return iter([*frames[: shot.early], *[empty] * (len(frames) - shot.early)])


def _overlaid(one: list[Image], two: list[Image]) -> Iterator[Image]:
    """As ``_added``, where the empty scene is only known as what is there most of the time."""
    sample = [*one[:: len(one) // 12], *two[:: len(two) // 12]]
    empty = np.median(sample, axis=0).astype(np.uint8)
    return _added(iter(one), iter(two), iter([empty] * len(one)))


# --- the drawn Galton board and the fork: states are x_mm, y_mm, angle


def _on_peg(row: int) -> Ending:
    """The ball sticks on top of a peg; those of the last row cap the walls between the bins."""

    def change(shot: Shot) -> States:
        world: Any = shot.world
        y_mm = world.pegs[0][1] + row * world.row_mm - world.peg_radius_mm - world.ball_radius_mm
        states = shot.motion.states
        frame = int(np.argmax(states[:, 1] > y_mm))
        first = row * (row + 5) // 2  # pegs in the rows above: 3 + 4 + ...
        inner = [x for x, _ in world.pegs[first + 1 : first + row + 2]]
        x_mm = min(inner, key=lambda x: abs(x - states[frame, 0]))
        return _stuck(states, frame, np.array([x_mm, y_mm, states[frame, 2]]))

    return _stage(change)


def _before_the_fork(shot: Shot) -> int:
    from worldodds.worlds.ball import TIP

    return int(np.argmax(shot.motion.states[:, 1] > TIP[1] - 70)) - 1


# --- the filmed Galton board: states are x, height, turn (m, rad)


def _on_brass(row: int) -> Ending:
    def change(shot: Shot) -> States:
        from worldodds.worlds import galton_board_real as board

        height = -row * board.ROW_M + board.PEG_RADIUS_M + board.BALL_RADIUS_M
        states = shot.motion.states
        frame = int(np.argmax(states[:, 1] < height))
        shift = (row % 2) / 2
        x = (np.round(states[frame, 0] / board.PITCH_M + shift) - shift) * board.PITCH_M
        return _stuck(states, frame, np.array([x, height, states[frame, 2]]))

    return _stage(change)


# --- the die: place and quaternion


def _on_edge(shot: Shot) -> States:
    from worldodds.worlds.dice_model import DIE_HALF_M

    states, frame = shot.motion.states, max(shot.motion.settled_frame - GLIDE, 1)
    lying = states[-1]
    upright = np.abs(turned(lying[3:]))[2].argmax()
    axis = np.eye(3)[(upright + 1) % 3]
    place = lying.copy()
    place[2] = DIE_HALF_M * math.sqrt(2)
    place[3:] = times(lying[3:], np.array([math.cos(math.pi / 8), *(math.sin(math.pi / 8) * axis)]))
    if states[frame, 3:] @ place[3:] < 0:
        place[3:] *= -1
    return _stuck(states, frame, place)


def turned(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rotation matrix (3, 3) of a quaternion."""
    w, x, y, z = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def times(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply quaternions (..., 4): first the turn ``b``, then ``a``.

    >>> times(np.array([0.0, 1, 0, 0]), np.array([0.0, 0, 1, 0])).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    scalar = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(axis=-1, keepdims=True)
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([scalar, vector], axis=-1)


# --- the card: place, quaternion, number in the deck


def _face_down(shot: Shot) -> States:
    made = shot.motion.states.copy()
    made[:, 3:7] = made[0, 3:7]  # flicked without any spin, it slides over
    return made


# --- the pendulum: the two angles


def _plumb(shot: Shot) -> States:
    """Cut the clip at a moment at which the lower mass passes the pivot's vertical."""
    from worldodds.worlds.mixing import INNER_LENGTH_M, OUTER_LENGTH_M

    while True:
        states = shot.world.simulate(start_seed=int(shot.rng.integers(2**53))).states
        x_m = INNER_LENGTH_M * np.sin(states[:, 0]) + OUTER_LENGTH_M * np.sin(states[:, 1])
        late = 48 + int(np.abs(x_m[48:]).argmin())
        if abs(x_m[late]) < 0.001:
            return states[: late + 1]


# --- the wheel: its angle, the ball's place, the ball's quaternion


def _on_the_rim(shot: Shot) -> States:
    from worldodds.worlds import roulette as wheel

    made = shot.motion.states.copy()
    seconds = np.arange(len(made)) / shot.world.frame_rate
    stops_s, speed = shot.rng.uniform(2.0, 2.8), shot.rng.uniform(8, 12)
    left = np.clip(1 - seconds / stops_s, 0, 1)
    angle = wheel.START_ANGLE_RAD + speed * stops_s / 2 * (1 - left**2)
    made[:, 1], made[:, 2] = wheel.TRACK_RADIUS_M * np.cos(angle), wheel.TRACK_RADIUS_M * np.sin(angle)
    made[:, 3] = wheel.START_HEIGHT_M
    return made


def _on_a_fret(shot: Shot) -> States:
    from worldodds.worlds import roulette as wheel

    made = shot.motion.states.copy()
    pitch, middle = 2 * math.pi / wheel.POCKETS, sum(wheel.POCKET_RADII_M) / 2
    caught = np.hypot(made[:, 1], made[:, 2]) < wheel.POCKET_RADII_M[1]
    frame = int(np.flatnonzero(~caught)[-1]) + 1
    place = round((made[-1, 0] - math.atan2(made[-1, 2], made[-1, 1])) / pitch) + 0.5
    angle = made[frame:, 0] - place * pitch
    made[frame:, 1], made[frame:, 2] = middle * np.cos(angle), middle * np.sin(angle)
    made[frame:, 3] = 1.9 * wheel.BALL_RADIUS_M
    return made


def _two_on_the_wheel(shot: Shot) -> Frames:
    states = shot.motion.states
    second = states.copy()
    turn = float(shot.rng.choice([-1, 1]) * shot.rng.uniform(1.0, 2.5))
    cos, sin = math.cos(turn), math.sin(turn)
    second[:, 1], second[:, 2] = cos * states[:, 1] - sin * states[:, 2], sin * states[:, 1] + cos * states[:, 2]
    nothing = _without(states, slice(3, 4), _OUT_OF_SIGHT_M)
    return _added(shot.film(states), shot.film(second), shot.film(nothing))


# --- the lottery: place and quaternion of every ball


def _two_in_the_tube(shot: Shot) -> States:
    from worldodds.worlds.lottery_look import BALL_RADIUS_M, PATH_M

    made = shot.motion.states.copy()
    balls = made.reshape(len(made), -1, 7)
    drawn = drawn_ball(made)
    apart = np.linalg.norm(PATH_M - PATH_M[-1], axis=1)
    behind = int(np.flatnonzero(apart > 2.1 * BALL_RADIUS_M)[-1])
    follower = (drawn + 1 + int(shot.rng.integers(balls.shape[1] - 1))) % balls.shape[1]
    lag = 8  # frames behind the first
    begin = shot.motion.settled_frame - 30
    along = balls[begin - lag : len(made) - lag, drawn, :3]
    stop = np.linalg.norm(along - PATH_M[-1], axis=1) < 2.1 * BALL_RADIUS_M
    balls[begin:, follower, :3] = np.where(stop[:, None], PATH_M[behind], along)
    return made


def drawn_ball(states: States) -> int:
    """Return which ball of the lottery, counted from 0, ends in the cup."""
    from worldodds.worlds.lottery_look import PATH_M

    return int(np.linalg.norm(states[-1].reshape(-1, 7)[:, :3] - PATH_M[-1], axis=1).argmin())


def _never_opens(shot: Shot) -> States:
    world: Any = shot.world
    shut = replace(world, mouth_opens_s=1e9)
    return shut.simulate(start_seed=int(shot.rng.integers(2**53))).states


_PLANE = slice(0, 1)  # x
_LIFT = slice(2, 3)  # z
STAGED: Mapping[str, Mapping[str, Ending]] = {
    "galton_board": {
        "straddling": _on_peg(9),
        "escaped": _on_peg(5),
        "several_balls": _doubled(_PLANE, -1000.0),
        "absent": _gone(_PLANE, -1000.0),
    },
    "galton_board_real": {
        "straddling": _on_brass(9),
        "escaped": _on_brass(5),
        "several_balls": _doubled(_PLANE, 10.0),
        "absent": _gone(_PLANE, 10.0),
    },
    "ball": {
        "unresolved": _held(_before_the_fork),
        "several_balls": _doubled(_PLANE, -1000.0),
        "absent": _gone(_PLANE, -1000.0),
    },
    "walking": {
        "unresolved": _held(lambda shot: shot.early),
        "several_people": _doubled(slice(2, None, 7), _OUT_OF_SIGHT_M),
        "absent": _gone(slice(2, None, 7), _OUT_OF_SIGHT_M),
    },
    "pendulum": {"straddling": _stage(_plumb), "several_pendulums": _doubled(None), "absent": _emptied},
    "dice": {
        "on_edge": _stage(_on_edge),
        "several_dice": _doubled(_LIFT, _OUT_OF_SIGHT_M, apart=0.25),
        "absent": _gone(_LIFT, _OUT_OF_SIGHT_M),
    },
    "cards": {"face_down": _stage(_face_down), "absent": _gone(_PLANE, 10.0)},
    "roulette": {
        "off_pocket": _stage(_on_the_rim),
        "straddling": _stage(_on_a_fret),
        "several_balls": _two_on_the_wheel,
        "absent": _gone(slice(3, 4), _OUT_OF_SIGHT_M),
    },
    "lottery": {
        "empty_tube": _stage(_never_opens),
        "several_balls": _stage(_two_in_the_tube),
    },
}
