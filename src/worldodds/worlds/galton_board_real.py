"""A wooden Galton board of ten rows, filmed: a steel ball falls between brass pegs into one of eleven bins.

Hidden in the first frame are a micro-offset and the push with which the ball leaves the funnel; on the way every row of
pegs, which quivers a little, adds a kick of its own. Pegs, ball and rows were searched (`PITCH_M` and below) until the
natural odds came near Binomial(10, 1/2): a ball that nearly fills the gaps forgets at each row where it came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.filming import first_still
from worldodds.worlds.galton_board_real_look import furniture, materials, pictures, seen_at
from worldodds.worlds.gl import load_mujoco
from worldodds.worlds.solids import numbers
from worldodds.worlds.window import MOVING_GROUP, Window, follow
from worldodds.worlds.world import Image, Motion

ROWS = 10
BINS = ROWS + 1
PITCH_M = 0.06
ROW_M = 0.0466
PEG_RADIUS_M = 0.0081
BALL_RADIUS_M = 0.0164
BALL_MASS_KG = 0.03
BIN_DEPTH_M = 0.17
DIVIDER_M = 0.004
CHANNEL_M = 0.036  # between board and front
START_HEIGHT_M = 0.0606
DRAG_PER_S = 0.5
FLOOR_M = -(ROWS - 1) * ROW_M - BIN_DEPTH_M  # heights count from the first row of pegs
HALF_WIDTH_M = BINS / 2 * PITCH_M + DIVIDER_M
STEPS_PER_FRAME, STEPS_PER_LOOK = 40, 4
HELD_FRAMES = 4
STILL_M = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class GaltonBoardReal:
    """The board with its knobs: how far off the middle and how fast sideways the ball starts, and how pegs quiver."""

    offset_m: float = 0.0003
    push_m_s: float = 0.035
    row_kick_m_s: float = 0.2
    frames: int = 72
    frame_rate: int = 24

    scene = "galton_board_real"
    labels = tuple(str(i + 1) for i in range(BINS))
    has_process_noise = True

    def simulate(self, *, start_seed: int, noise_seed: int = 0) -> Motion:
        """Drop the ball once. States are its (x, height, turn): shape (frames, 3)."""
        start, noise = np.random.default_rng(start_seed), np.random.default_rng(noise_seed)
        mujoco, model = load_mujoco(), _model()
        data = mujoco.MjData(model)
        data.qpos[1] = START_HEIGHT_M
        states = np.empty((self.frames, model.nq))
        states[:HELD_FRAMES] = data.qpos
        data.qpos[0] = start.uniform(-self.offset_m, self.offset_m)
        data.qvel[0] = start.uniform(-self.push_m_s, self.push_m_s)
        kicks = self.row_kick_m_s * noise.standard_normal(ROWS)
        row = 0
        for i in range(HELD_FRAMES, self.frames):
            for _ in range(STEPS_PER_FRAME // STEPS_PER_LOOK):
                mujoco.mj_step(model, data, nstep=STEPS_PER_LOOK)
                if row < ROWS and data.qpos[1] < ROW_M * (0.5 - row):
                    data.qvel[0] += kicks[row]
                    row += 1
            states[i] = data.qpos
        return self._judge(states)

    def _judge(self, states: NDArray[np.float64]) -> Motion:
        settled = first_still(states[:, :2], STILL_M)
        x, height = states[-1, :2]
        why = None
        if settled > self.frames - self.frame_rate // 2:
            why = "not_settled"
        elif height > FLOOR_M + BALL_RADIUS_M + 0.003:
            why = "ball not on a bin's floor"
        place = round(x / PITCH_M) + ROWS // 2
        outcome = None if why or not 0 <= place < BINS else self.labels[place]
        return Motion(outcome=outcome, invalid=why, states=states, settled_frame=settled)

    def draw(self, motion: Motion, size: tuple[int, int]) -> Iterator[Image]:
        """Yield the frames, ``size`` = (width, height) in pixels."""
        x, height = motion.states[:, 0], motion.states[:, 1]
        places = seen_at(np.stack([x, np.full_like(x, -CHANNEL_M / 2), height], axis=-1), size)
        side = 2 * (size[1] // 6)  # room for the ball and its shadow, and few windows to the whole picture
        yield from follow(Window(model=_model(), size=size, window=(side, side)), motion.states, places)

    def settings(self) -> dict[str, Any]:
        """Return the knobs."""
        return {"offset_m": self.offset_m, "push_m_s": self.push_m_s, "row_kick_m_s": self.row_kick_m_s}


@cache
def _model() -> Any:
    return load_mujoco().MjModel.from_xml_string(_mjcf(), pictures(BALL_RADIUS_M, BINS))


def _mjcf() -> str:
    hidden, damping = 'group="3"', f'damping="{BALL_MASS_KG * DRAG_PER_S}"'
    middle = -CHANNEL_M / 2  # of the channel in which the ball runs
    return f"""<mujoco model="galton_board_real">
<option timestep="{1 / (24 * STEPS_PER_FRAME)}" integrator="implicitfast" cone="elliptic"/>
<default>
  <geom contype="1" conaffinity="0" friction=".02 .001 .0001" solref=".003 .64" solimp=".95 .99 .0005"/>
  <default class="look"><geom contype="0" conaffinity="0" group="1"/></default>
</default>
{materials()}
<worldbody>
  {furniture(FLOOR_M, HALF_WIDTH_M, CHANNEL_M, START_HEIGHT_M, BALL_RADIUS_M)}
  {_pegs()}
  {_dividers()}
  <geom type="plane" pos="0 0 {FLOOR_M}" size="1 1 .1" {hidden} condim="6" solref=".004 .8" friction=".4 .005 .002"
    priority="1"/>
  <geom type="plane" pos="{-HALF_WIDTH_M} 0 0" zaxis="1 0 0" size="1 1 .1" {hidden}/>
  <geom type="plane" pos="{HALF_WIDTH_M} 0 0" zaxis="-1 0 0" size="1 1 .1" {hidden}/>
  <body name="ball" pos="0 {middle} 0">
    <joint type="slide" axis="1 0 0" {damping}/> <joint type="slide" axis="0 0 1" {damping}/>
    <inertial pos="0 0 0" mass="{BALL_MASS_KG / 2}" diaginertia="1e-6 1e-6 1e-6"/>
    <geom class="look" group="{MOVING_GROUP}" type="mesh" mesh="ball" material="steel" xyaxes="1 0 0 0 0 1"/>
    <body>
      <joint type="hinge" axis="0 1 0" damping="1e-7"/>
      <geom type="sphere" size="{BALL_RADIUS_M}" mass="{BALL_MASS_KG / 2}" {hidden} contype="0" conaffinity="1"
        friction="0 0 0"/>
    </body>
  </body>
</worldbody></mujoco>"""


def _pegs() -> str:
    """Return ten staggered rows of round pegs, from wall to wall."""
    parts: list[str] = []
    size = numbers([PEG_RADIUS_M, CHANNEL_M / 2])
    for row in range(ROWS):
        for i in range(-BINS, BINS + 1):
            x = (i - (row % 2) / 2) * PITCH_M
            if abs(x) > BINS / 2 * PITCH_M + 1e-6:
                continue
            place = numbers([x, -CHANNEL_M / 2, -row * ROW_M])
            parts.append(f'<geom type="cylinder" pos="{place}" zaxis="0 1 0" size="{size}" material="brass"/>')
    return "\n".join(parts)


def _dividers() -> str:
    half = numbers([DIVIDER_M / 2, CHANNEL_M / 2, BIN_DEPTH_M / 2])
    places = [numbers([(i - BINS / 2) * PITCH_M, -CHANNEL_M / 2, FLOOR_M + BIN_DEPTH_M / 2]) for i in range(BINS + 1)]
    return "\n".join(f'<geom type="box" pos="{place}" size="{half}" material="walnut"/>' for place in places)
