"""Films a scene in which one thing moves: what stands still is drawn once, the rest through a window that follows it.

Both are drawn at twice the size and shrunk, which smooths every edge; the window makes that cheap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.filming import UNSEEN
from worldodds.worlds.gl import load_mujoco, make_renderer
from worldodds.worlds.world import Image

FINE = 2
MOVING_GROUP = 2  # of the geoms that move


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A model with a camera ``view``, the picture's size, and a window (width, height) in pixels."""

    model: Any
    size: tuple[int, int]
    window: tuple[int, int]


def follow(scene: Window, states: NDArray[np.float64], places: NDArray[np.float64]) -> Iterator[Image]:
    """Yield one picture a state ((frames, nq) positions), the window's middle at ``places`` ((frames, 2) pixels).

    Raises:
        MissingDependencyError: no OpenGL that works without a screen.
    """
    mujoco = load_mujoco()
    data, option = mujoco.MjData(scene.model), mujoco.MjvOption()
    picture = still = _still(scene)
    with _renderer(scene) as renderer:
        for state, place in zip(states, places, strict=True):
            if picture is still or np.abs(state - data.qpos).max() > UNSEEN:
                data.qpos[:] = state
                mujoco.mj_kinematics(scene.model, data)
                mujoco.mj_camlight(scene.model, data)
                corner = _corner(scene, place)
                picture = still.copy()
                _put(picture, _part(scene, renderer, data, option, corner), corner)
            yield picture.copy()


def _corner(scene: Window, place: NDArray[np.float64]) -> list[int]:
    """Return the window's upper left corner, so that its middle is at a place (2,) but all of it in the picture."""
    return [
        int(np.clip(round(at - part / 2), 0, whole - part))
        for at, part, whole in zip(place.tolist(), scene.window, scene.size, strict=True)
    ]


@lru_cache(maxsize=4)
def _still(scene: Window) -> Image:
    """Draw the whole picture without what moves, window by window; read-only."""
    mujoco = load_mujoco()
    data, option = mujoco.MjData(scene.model), mujoco.MjvOption()
    option.geomgroup[MOVING_GROUP] = 0
    mujoco.mj_forward(scene.model, data)
    (width, height), (wide, high) = scene.size, scene.window
    picture = np.empty((height, width, 3), np.uint8)
    with _renderer(scene) as renderer:
        for y in [*range(0, height - high, high), height - high]:
            for x in [*range(0, width - wide, wide), width - wide]:
                _put(picture, _part(scene, renderer, data, option, [x, y]), [x, y])
    picture.flags.writeable = False
    return picture


def _renderer(scene: Window) -> Any:
    return make_renderer(scene.model, (FINE * scene.window[0], FINE * scene.window[1]))


def _part(scene: Window, renderer: Any, data: Any, option: Any, corner: list[int]) -> Image:
    """Draw one window: the camera stays, its frustum is cut down to the window."""
    import cv2

    renderer.update_scene(data, camera="view", scene_option=option)
    (width, height), (wide, high), (x, y) = scene.size, scene.window, corner
    for eye in renderer.scene.camera:
        unit = (eye.frustum_top - eye.frustum_bottom) / height
        eye.frustum_center = (x + wide / 2 - width / 2) * unit
        eye.frustum_width = wide * unit / 2
        eye.frustum_top, eye.frustum_bottom = (height / 2 - y) * unit, (height / 2 - y - high) * unit
    return np.asarray(cv2.resize(renderer.render(), scene.window, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _put(picture: Image, part: Image, corner: list[int]) -> None:
    x, y = corner
    picture[y : y + part.shape[0], x : x + part.shape[1]] = part
