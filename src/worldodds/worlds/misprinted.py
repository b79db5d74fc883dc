"""Endings in which a thing does not look as it must: a die of seven pips, a blue pocket, a ball with no number.

The motion stays that of physics. The first frame is the scene's own; from the second on, the paint is another.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.filming import film
from worldodds.worlds.gl import load_mujoco
from worldodds.worlds.shot import Ending, Frames, Shot

_ROW = (-1, 0, 1)
_SIX = [(x, y) for x in (-1, 1) for y in _ROW]
_NO_FACES: Sequence[Sequence[tuple[int, int]]] = (
    [],
    [*_SIX, (0, 0)],
    [*_SIX, (0, -1), (0, 1)],
    list(itertools.product(_ROW, _ROW)),
    [(-1, -1), (-1, 0), (-1, 1)],
    [(-1, 0), (1, 0)],
    [(-1, -1), (1, -1), (-1, 1)],
    [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)],
)  # pips that no face of a die has, in thirds of the face
_NO_COLOURS = ((28, 70, 190), (232, 196, 24), (122, 44, 164))  # neither red, black nor green
_NO_NUMBERS = ("", "?", "K", "W", "&", "%", "0", "27", "38", "00", "A4")


def _marked(shot: Shot) -> Frames:
    """The faces of the die are misprinted, all alike."""
    from worldodds.worlds import dice
    from worldodds.worlds.dice_model import FACES, die_texture

    world: Any = shot.world
    pips = _NO_FACES[int(shot.rng.integers(len(_NO_FACES)))]
    frames = shot.draw(shot.motion)
    first = next(frames)
    yield first
    model = _painted(dice.model(world), "die", die_texture(dict.fromkeys(FACES, pips)))
    stage = dice.set_stage(model, (first.shape[1], first.shape[0]))
    with stage.renderer:
        yield from dice.film(stage, shot.motion.states[1:])


def _coloured(shot: Shot) -> Frames:
    """The pocket in which the ball comes to rest has a colour that no wheel has."""
    from worldodds.worlds import roulette
    from worldodds.worlds.roulette_look import PAINT, wheel

    pocket, _ = roulette.pocket_of(shot.motion.states[-1])
    paint = [PAINT[roulette.colour(i)] for i in range(roulette.POCKETS)]
    if pocket is not None:
        paint[pocket] = _NO_COLOURS[int(shot.rng.integers(len(_NO_COLOURS)))]
    return _refilmed(shot, _painted(roulette.model(), "wheel", np.asarray(wheel(roulette.ORDER, paint))))


def _lettered(shot: Shot) -> Frames:
    """The drawn ball bears a mark that is no number from 1 to 20, or none."""
    from worldodds.worlds.lottery import look
    from worldodds.worlds.lottery_look import ball_face
    from worldodds.worlds.staged import drawn_ball

    ball = drawn_ball(shot.motion.states)
    mark = _NO_NUMBERS[int(shot.rng.integers(len(_NO_NUMBERS)))]
    return _refilmed(shot, _painted(look(), f"ball{ball}", np.asarray(ball_face(ball + 1, mark))))


def _no_machine(shot: Shot) -> Frames:
    """The machine with its balls is gone from ``early`` on: a table in front of a curtain is left."""
    from worldodds.worlds.lottery import look

    model = copy.copy(look())
    model.geom_group[model.geom_type != load_mujoco().mjtGeom.mjGEOM_PLANE] = 3  # which no camera shows
    return _refilmed(shot, model, shot.early)


def _refilmed(shot: Shot, model: Any, start: int = 1) -> Frames:
    """Film the shot with another look from frame ``start`` on."""
    frames = list(itertools.islice(shot.draw(shot.motion), start))
    yield from frames
    yield from film(model, shot.motion.states[start:], (frames[0].shape[1], frames[0].shape[0]))


def _painted(model: Any, texture: str, picture: NDArray[np.uint8]) -> Any:
    """Return a copy of a MuJoCo model with another picture of the same size as one of its textures."""
    mujoco = load_mujoco()
    i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_TEXTURE, texture)
    made = copy.copy(model)
    made.tex_data[model.tex_adr[i] : model.tex_adr[i] + picture.size] = picture.reshape(-1)
    return made


MISPRINTED: Mapping[str, Mapping[str, Ending]] = {
    "dice": {"impossible_face": _marked},
    "roulette": {"impossible_pocket": _coloured},
    "lottery": {"not_a_number": _lettered, "absent": _no_machine},
}
