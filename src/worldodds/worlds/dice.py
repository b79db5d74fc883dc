"""One die thrown into a low-walled box, seen from above: a rigid body by MuJoCo, from the throw to rest.

The first frame shows the die in the air just after it has left the hand; what one frame cannot show is its speed, its
spin and a fraction of a millimetre of its place. Nothing else is random.

How the throw was tuned: given the visible pose, the odds depend on how far the die turns before its first contact. The
start shows the corner of 1, 2 and 3 on top, which makes these three alike; turns of about 3 to 6 radians then leave
little memory of them. Faster spins on bouncier felt made them up to one and a half times as likely as 4, 5 and 6, and
let dice jump out of the box. On the 2000 start seeds used for tuning, TV to 1/6 each was 0.022 (floor 0.020).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.dice_model import DIE_HALF_M, FACES, INNER_HALF_M, assets, mjcf
from worldodds.worlds.gl import load_mujoco, make_renderer
from worldodds.worlds.world import Image, Motion

_STEPS_PER_S = 1000
_CHECK_STEPS = 10
_CORNER_UP = np.array([0.727, 0.08, -0.453, -0.509])  # quaternion of the start: the corner of 1, 2 and 3 points up


@dataclass(frozen=True, slots=True, kw_only=True)
class Dice:
    """The world of the scene ``dice``. The die is as large as a fist, so that 24 pictures a second show its turns."""

    start_x_m: float = -0.27
    start_y_m: float = -0.08
    start_height_m: float = 0.40
    start_spread_m: float = 0.0005
    throw_x_m_s: float = 0.9
    throw_y_m_s: float = 0.4
    throw_z_m_s: float = 0.2
    throw_spread_m_s: float = 0.25
    spin_least_rad_s: float = 11.0
    spin_most_rad_s: float = 20.0
    felt_stiffness_1_s2: float = 10_000.0
    felt_damping_1_s: float = 40.0
    wall_damping_1_s: float = 150.0
    friction: float = 0.25
    rest_speed_m_s: float = 0.02
    rest_spin_rad_s: float = 0.3
    rest_tilt: float = 1e-4

    scene = "dice"
    labels = ("1", "2", "3", "4", "5", "6")
    frames = 72
    frame_rate = 24
    has_process_noise = False

    def settings(self) -> dict[str, Any]:
        """Return the throw, the contacts, and when the die counts as at rest."""
        return asdict(self)

    def simulate(self, *, start_seed: int, noise_seed: int = 0) -> Motion:
        """Throw the die once. ``noise_seed`` changes nothing: from the throw on, the motion is determined."""
        del noise_seed
        mujoco = load_mujoco()
        bodies = model(self)
        data = mujoco.MjData(bodies)
        self._throw(data, np.random.default_rng([start_seed, 1]))
        due = np.round(np.arange(self.frames) * _STEPS_PER_S / self.frame_rate).astype(int)
        states = np.empty((self.frames, 7))
        calm = done = 0
        settled = self.frames
        for i, step in enumerate(due):
            while done < step and settled == self.frames:
                mujoco.mj_step(bodies, data)
                done += 1
                if done % _CHECK_STEPS == 0:
                    calm = calm + 1 if self._is_calm(data) else 0
                    settled = i if calm >= 5 else settled
            states[i] = data.qpos
        states[0] = self.start_state
        outcome, invalid = self._outcome(states[-1], settled)
        return Motion(outcome=outcome, invalid=invalid, states=states, settled_frame=settled)

    def draw(self, motion: Motion, size: tuple[int, int]) -> Iterator[Image]:
        """Yield the pictures; one that does not differ from the last is not drawn again."""
        yield _first_picture(self, size)
        yield from film(_stage(self, size, os.getpid()), motion.states[1:])

    @property
    def start_state(self) -> NDArray[np.float64]:
        """Place (m) and quaternion of the die in the conditioning frame, shape (7,)."""
        return np.concatenate(
            [[self.start_x_m, self.start_y_m, self.start_height_m], _CORNER_UP / np.linalg.norm(_CORNER_UP)]
        )

    def _throw(self, data: Any, rng: np.random.Generator) -> None:
        data.qpos[:] = self.start_state
        data.qpos[:3] += rng.normal(0, self.start_spread_m, 3)
        push = np.array([self.throw_x_m_s, self.throw_y_m_s, self.throw_z_m_s])
        data.qvel[:3] = push + rng.normal(0, self.throw_spread_m_s, 3)
        axis = rng.normal(size=3)
        data.qvel[3:] = axis / np.linalg.norm(axis) * rng.uniform(self.spin_least_rad_s, self.spin_most_rad_s)

    def _is_calm(self, data: Any) -> bool:
        slow = abs(data.qvel[:3]).max() < self.rest_speed_m_s and abs(data.qvel[3:]).max() < self.rest_spin_rad_s
        return bool(slow and 1 - abs(_upward(data.qpos[3:])).max() < self.rest_tilt)

    def _outcome(self, state: NDArray[np.float64], settled: int) -> tuple[str | None, str | None]:
        """Return the face on top, or the null rule of the scene that physics ended in."""
        if abs(state[0]) > INNER_HALF_M[0] or abs(state[1]) > INNER_HALF_M[1]:
            return None, "escaped"
        up = _upward(state[3:])
        axis = int(abs(up).argmax())
        if settled > self.frames - self.frame_rate // 2:
            flat = 1 - abs(up[axis]) < self.rest_tilt
            return None, "not_settled" if flat or state[2] < DIE_HALF_M else "on_edge"
        return FACES[2 * axis + (up[axis] < 0)], None


def _upward(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each axis of the die points up: the last row of its rotation matrix, shape (3,)."""
    w, x, y, z = quaternion
    return np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])


@functools.cache
def model(world: Dice) -> Any:
    """Return the MuJoCo model, shared: copy it before changing it."""
    felt = f"-{world.felt_stiffness_1_s2} -{world.felt_damping_1_s}"
    wood = f"-{world.felt_stiffness_1_s2} -{world.wall_damping_1_s}"
    return load_mujoco().MjModel.from_xml_string(
        mjcf(
            floor=f'condim="6" solref="{felt}" friction="{world.friction} 0.005 0.0005"',
            wall=f'condim="6" solref="{wood}" friction="{world.friction} 0.003 0.0003"',
        ),
        assets(),
    )


@dataclass(frozen=True, slots=True)
class Stage:
    """A model's state, what draws it, and the vignette of its camera."""

    data: Any
    renderer: Any
    shade: Image


def set_stage(model: Any, size: tuple[int, int]) -> Stage:
    """Prepare a model for drawing; ``size`` = (width, height) in pixels."""
    width, height = size
    y, x = np.mgrid[:height, :width]
    away = ((x + 0.5) / width * 2 - 1) ** 2 + ((y + 0.5) / height * 2 - 1) ** 2
    shade = np.repeat(np.clip(255 * (1 - 0.13 * away**1.5), 0, 255)[..., None], 3, axis=2)
    return Stage(load_mujoco().MjData(model), make_renderer(model, size), shade.astype(np.uint8))


def film(stage: Stage, states: NDArray[np.float64]) -> Iterator[Image]:
    """Yield one picture a state, shape (frames, 7); one that does not differ from the last is not drawn again."""
    before, picture = None, np.empty(0, np.uint8)
    for state in states:
        if before is None or not np.array_equal(before, state):
            picture = _picture(stage, state)
        before = state
        yield picture


def _picture(stage: Stage, state: NDArray[np.float64]) -> Image:
    import cv2

    mujoco, renderer = load_mujoco(), stage.renderer
    stage.data.qpos[:] = state
    mujoco.mj_kinematics(renderer.model, stage.data)
    mujoco.mj_camlight(renderer.model, stage.data)
    renderer.update_scene(stage.data, camera="above")
    return np.asarray(cv2.multiply(renderer.render(), stage.shade, scale=1 / 255), dtype=np.uint8)


@functools.cache
def _stage(world: Dice, size: tuple[int, int], _process: int) -> Stage:
    """Return the world's own stage, kept for each process: OpenGL does not survive a fork."""
    return set_stage(model(world), size)


@functools.cache
def _first_picture(world: Dice, size: tuple[int, int]) -> Image:
    picture = _picture(_stage(world, size, os.getpid()), world.start_state)
    picture.flags.writeable = False
    return picture
