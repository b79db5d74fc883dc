"""The outcome of a world read again from its last state alone: a second opinion on the truth that a world gives.

Nothing here is shared with what the worlds judge by: only the layout of their states and the sizes of what they stage.
Each function takes the last state, one row of ``Motion.states``, and returns a label, or None where it shows none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

State = NDArray[np.float64]


def read_last_state(scene: str, state: State) -> str | None:
    """Return the label that the last state of a world shows.

    >>> read_last_state("walking", np.array([-1.9, 0.0, 0.9]))
    'left'
    """
    return _READ[scene](state)


def _ball(state: State) -> str | None:
    return "left" if state[0] < 320 else "right" if state[0] > 320 else None


def _galton_board(state: State) -> str | None:
    from worldodds.worlds.galton_board import dividers

    walls = np.array(dividers())
    place = int(np.searchsorted(walls, state[0]))
    return str(place) if 1 <= place < len(walls) else None


def _galton_board_real(state: State) -> str | None:
    from worldodds.worlds.galton_board_real import BINS, PITCH_M

    middles = (np.arange(BINS) - (BINS - 1) / 2) * PITCH_M
    away = np.abs(middles - state[0])
    return str(int(away.argmin()) + 1) if away.min() < PITCH_M / 2 else None


def _walking(state: State) -> str | None:
    return "left" if state[0] < 0 else "right"


def _pendulum(state: State) -> str | None:
    from worldodds.worlds.mixing import INNER_LENGTH_M, OUTER_LENGTH_M

    x = INNER_LENGTH_M * math.sin(state[0]) + OUTER_LENGTH_M * math.sin(state[1])
    return "left" if x < 0 else "right"


def _dice(state: State) -> str | None:
    from worldodds.worlds.dice_model import FACES

    turn = _rotation(state[3:7])
    outward = np.array([sign * turn[:, axis] for axis in range(3) for sign in (1, -1)])  # (6, 3), as FACES lists them
    up = outward[:, 2]
    return FACES[int(up.argmax())] if up.max() > 0.99 else None


def _cards(state: State) -> str | None:
    from worldodds.worlds.card_faces import SUITS

    face_up = _rotation(state[3:7])[2, 2] < 0  # the deck, and so its top card, begins face down
    return SUITS[int(state[7]) // 13] if face_up else None


def _roulette(state: State) -> str | None:
    from worldodds.worlds.roulette import ORDER

    angle = math.atan2(state[2], state[1]) - state[0]  # of the ball on the wheel, against the clock from pocket 0
    number = ORDER[round(-angle * len(ORDER) / (2 * math.pi)) % len(ORDER)]
    if number == 0:
        return "green"
    low = number <= 10 or 19 <= number <= 28  # there the odd numbers are red, elsewhere the even ones
    return "red" if (number % 2 == 1) == low else "black"


def _lottery(state: State) -> str | None:
    from worldodds.worlds.lottery_look import BALL_RADIUS_M, PATH_M

    places = state.reshape(-1, 7)[:, :3]
    away = np.linalg.norm(places - PATH_M[-1], axis=1)
    return str(int(away.argmin()) + 1) if away.min() < BALL_RADIUS_M else None


def _rotation(quaternion: State) -> NDArray[np.float64]:
    """Return the rotation matrix (3, 3) of a unit quaternion (w, x, y, z)."""
    w, vector = quaternion[0], quaternion[1:]
    x, y, z = vector
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


_READ: Mapping[str, Callable[[State], str | None]] = {
    "ball": _ball,
    "galton_board": _galton_board,
    "galton_board_real": _galton_board_real,
    "walking": _walking,
    "pendulum": _pendulum,
    "dice": _dice,
    "cards": _cards,
    "roulette": _roulette,
    "lottery": _lottery,
}
