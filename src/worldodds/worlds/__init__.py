"""Simulated scenes, one file each: physics decides how a clip ends, then the motion is drawn."""

from __future__ import annotations

import importlib

from worldodds.errors import UnknownNameError, nearest
from worldodds.worlds.world import Motion, World

__all__ = ["WORLDS", "Motion", "World", "load_world"]

WORLDS: dict[str, str] = {
    "galton_board": "worldodds.worlds.galton_board:GaltonBoard",
    "ball": "worldodds.worlds.ball:Fork",
    "walking": "worldodds.worlds.walking:Walking",
    "pendulum": "worldodds.worlds.pendulum:Pendulum",
    "dice": "worldodds.worlds.dice:Dice",
    "cards": "worldodds.worlds.cards:Cards",
    "roulette": "worldodds.worlds.roulette:Roulette",
    "galton_board_real": "worldodds.worlds.galton_board_real:GaltonBoardReal",
    "lottery": "worldodds.worlds.lottery:Lottery",
}


def load_world(scene: str) -> World:
    """Return the world of a scene with its default settings, importing it only now.

    Raises:
        UnknownNameError: no world films this scene; the message offers the nearest.

    >>> load_world("galton_board").labels[-1]
    '11'
    """
    if scene not in WORLDS:
        raise UnknownNameError(f"No world films the scene {scene!r}.{nearest(scene, WORLDS)}")
    module, name = WORLDS[scene].split(":")
    return getattr(importlib.import_module(module), name)()
