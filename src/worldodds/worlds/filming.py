"""Films a MuJoCo model, and tells from which frame on nothing moves: shared by the three-dimensional worlds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.gl import load_mujoco, make_renderer
from worldodds.worlds.world import Image

UNSEEN = 1e-5  # metres and radians: below a hundredth of a pixel through any of our cameras


def film(model: Any, states: NDArray[np.float64], size: tuple[int, int]) -> Iterator[Image]:
    """Yield one picture a state (``states``: (frames, nq) positions) through the camera called ``view``.

    Drawing is what filming costs, so a state that nobody could tell from the one drawn last is not drawn again.

    Raises:
        MissingDependencyError: no OpenGL that works without a screen.
    """
    mujoco = load_mujoco()
    renderer: Any = make_renderer(model, size)
    data = mujoco.MjData(model)
    option = mujoco.MjvOption()
    option.geomgroup[3] = 0  # what is only there to collide with
    with renderer:
        picture = np.empty(0, np.uint8)
        for state in states:
            if not picture.size or np.abs(state - data.qpos).max() > UNSEEN:
                data.qpos[:] = state
                mujoco.mj_kinematics(model, data)
                mujoco.mj_camlight(model, data)
                renderer.update_scene(data, camera="view", scene_option=option)
                picture = renderer.render()
            yield picture.copy()


def first_still(places: NDArray[np.float64], tolerance: float) -> int:
    """Return the first frame from which every place (frames, ...) stays within ``tolerance`` of the last one.

    >>> first_still(np.array([[0.0], [1.0], [2.0], [2.001]]), 0.01)
    2
    """
    flat = places.reshape(len(places), -1)
    moving = np.abs(flat - flat[-1]).max(axis=1) > tolerance
    return int(np.flatnonzero(moving)[-1]) + 1 if moving.any() else 0
