"""A European roulette wheel seen from above: 37 pockets in their true order, ball and wheel spun against each other.

Hidden in the first frame are the two speeds. The ball rolls on its track until drag lets it fall, strikes studs and
frets, and is caught by a pocket of the turning wheel; a brake then stops the wheel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.filming import film, first_still
from worldodds.worlds.gl import load_mujoco
from worldodds.worlds.roulette_look import PAINT, materials, pictures
from worldodds.worlds.solids import numbers, ring
from worldodds.worlds.world import Image, Motion

ORDER = (
    *(0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10),
    *(5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26),
)  # clockwise, seen from above
POCKETS = len(ORDER)

TIME_STEP_S = 0.001
BALL_RADIUS_M = 0.0145
BALL_MASS_KG = 0.02
DRAG_PER_S = 0.6
TRACK_RADIUS_M = 0.3645  # of the ball's centre at the start
START_HEIGHT_M = 0.0622
START_ANGLE_RAD = 2.5
POCKET_RADII_M = (0.206, 0.262)
STILL_M = 0.0015


def colour(pocket: int) -> str:
    """Return the colour of the pocket at a place of ``ORDER``: green, then red and black in turn.

    >>> [colour(ORDER.index(number)) for number in (0, 32, 15, 26)]
    ['green', 'red', 'black', 'black']
    """
    return "green" if pocket == 0 else "red" if pocket % 2 else "black"


@dataclass(frozen=True, slots=True, kw_only=True)
class Roulette:
    """The wheel with its knobs: the ranges from which the ball's and the wheel's speed are drawn, evenly."""

    ball_speed_rad_s: tuple[float, float] = (8.5, 13.5)
    wheel_speed_rad_s: tuple[float, float] = (1.2, 6.4)
    brake_s: float = 3.0
    frames: int = 90
    frame_rate: int = 24

    scene = "roulette"
    labels = ("red", "black", "green")
    has_process_noise = False

    def simulate(self, *, start_seed: int, noise_seed: int = 0) -> Motion:
        """Spin once. States are (wheel's angle, ball's x, y, z, ball's quaternion): shape (frames, 8)."""
        del noise_seed  # once spun, nothing more is random
        rng = np.random.default_rng(start_seed)
        ball, wheel = rng.uniform(*self.ball_speed_rad_s), rng.uniform(*self.wheel_speed_rad_s)
        mujoco, bodies = load_mujoco(), model()
        data = mujoco.MjData(bodies)
        _place(data, ball)
        substeps = round(1 / (self.frame_rate * TIME_STEP_S))
        states = np.empty((self.frames, bodies.nq))
        for i in range(self.frames):
            states[i] = data.qpos
            # The wheel is heavy and driven: the ball does not slow it, the brake does, evenly.
            data.qvel[0] = -wheel * max(0.0, 1 - i / (self.brake_s * self.frame_rate))
            mujoco.mj_step(bodies, data, nstep=substeps)
        return self._judge(states)

    def _judge(self, states: NDArray[np.float64]) -> Motion:
        place = np.column_stack([states[:, 1:4], 0.25 * states[:, 0]])
        settled = first_still(place, STILL_M)
        pocket, why = pocket_of(states[-1])
        if settled > self.frames - self.frame_rate // 2:
            pocket, why = None, "not_settled"
        outcome = None if pocket is None else colour(pocket)
        return Motion(outcome=outcome, invalid=why, states=states, settled_frame=settled)

    def draw(self, motion: Motion, size: tuple[int, int]) -> Iterator[Image]:
        """Yield the frames, ``size`` = (width, height) in pixels."""
        yield from film(model(), motion.states, size)

    def settings(self) -> dict[str, Any]:
        """Return the knobs."""
        return {
            "ball_speed_rad_s": list(self.ball_speed_rad_s),
            "wheel_speed_rad_s": list(self.wheel_speed_rad_s),
            "brake_s": self.brake_s,
        }


def _place(data: Any, ball_speed_rad_s: float) -> None:
    """Put the ball on its track at the place that the first frame shows, running against the wheel."""
    cos, sin = np.cos(START_ANGLE_RAD), np.sin(START_ANGLE_RAD)
    data.qpos[1:4] = TRACK_RADIUS_M * cos, TRACK_RADIUS_M * sin, START_HEIGHT_M
    speed = ball_speed_rad_s * TRACK_RADIUS_M
    data.qvel[1:3] = -speed * sin, speed * cos


def pocket_of(state: NDArray[np.float64]) -> tuple[int | None, str | None]:
    """Return the place in ``ORDER`` of the pocket that holds the ball, or why none does."""
    wheel, x, y, z = state[:4]
    radius = float(np.hypot(x, y))
    if not (POCKET_RADII_M[0] < radius < POCKET_RADII_M[1] and z < BALL_RADIUS_M + 0.004):
        return None, "ball not in a pocket"
    turn = (wheel - np.arctan2(y, x)) * POCKETS / (2 * np.pi)
    if abs(turn - round(turn)) > 0.3:
        return None, "ball between two pockets"
    return round(turn) % POCKETS, None


@cache
def model() -> Any:
    """Return the MuJoCo model, shared: copy it before changing it."""
    paint = [PAINT[colour(i)] for i in range(POCKETS)]
    return load_mujoco().MjModel.from_xml_string(_mjcf(), pictures(ORDER, paint))


def _mjcf() -> str:
    damping = f'damping="{BALL_MASS_KG * DRAG_PER_S}"'
    hidden = 'group="3"'
    return f"""<mujoco model="roulette">
<option timestep="{TIME_STEP_S}" integrator="implicitfast" cone="elliptic"/>
<default>
  <geom condim="4" friction=".25 .003 .0006" solref=".006 .5" solimp=".95 .99 .0005" contype="1" conaffinity="0"/>
  <default class="look"><geom contype="0" conaffinity="0" group="1"/></default>
</default>
{materials()}
<worldbody>
  <light pos="-.9 .9 2.2" dir=".38 -.36 -1" directional="true" diffuse=".62 .6 .56" specular=".5 .5 .5"/>
  <light pos="1.2 -.6 2" dir="-.5 .3 -1" directional="true" diffuse=".22 .23 .26" castshadow="false"/>
  <camera name="view" pos="0 -.62 1.86" xyaxes="1 0 0 0 .9487 .3162" fovy="28"/>
  <geom class="look" type="plane" size="3 3 .1" pos="0 0 -.03" material="felt"/>
  <geom class="look" type="mesh" mesh="bowl" material="bowl"/>
  <geom class="look" type="mesh" mesh="trim" material="brass"/>
  {ring(72, (0.300, 0.022), (0.388, 0.053), thickness_m=0.02, attributes=hidden)}
  {ring(72, (0.386, 0.040), (0.380, 0.110), thickness_m=0.02, attributes=hidden)}
  {_studs()}
  <body name="wheel">
    <joint name="wheel" type="hinge" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="4" diaginertia=".1 .1 .15"/>
    <geom class="look" type="mesh" mesh="wheel" material="wheel"/>
    <geom class="look" type="mesh" mesh="turret" material="brass"/>
    {_handles()}
    <geom type="cylinder" pos="0 0 -.01" size=".28 .01" condim="6" friction=".25 .01 .0012" {hidden}/>
    {ring(POCKETS, (0.262, 0.013), (0.301, 0.021), thickness_m=0.012, attributes=hidden)}
    {ring(POCKETS, (0.262, 0.0), (0.2621, 0.013), thickness_m=0.004, attributes=hidden)}
    {ring(POCKETS, (0.06, 0.085), (0.206, 0.004), thickness_m=0.02, attributes=hidden)}
    {_frets()}
  </body>
  <body name="ball">
    <joint type="slide" axis="1 0 0" {damping}/>
    <joint type="slide" axis="0 1 0" {damping}/>
    <joint type="slide" axis="0 0 1" {damping}/>
    <joint type="ball" damping="1e-7"/>
    <geom type="sphere" size="{BALL_RADIUS_M}" mass="{BALL_MASS_KG}" contype="0" conaffinity="1" material="ivory"/>
  </body>
</worldbody></mujoco>"""


def _frets() -> str:
    """Return the walls between pockets: a thin blade with a round bouncy edge."""
    parts: list[str] = []
    for i in range(POCKETS):
        angle = 2 * np.pi * (i + 0.5) / POCKETS
        cos, sin = np.cos(angle), np.sin(angle)
        ends = numbers([0.207 * cos, 0.207 * sin, 0.009, 0.262 * cos, 0.262 * sin, 0.009])
        parts.append(f'<geom type="capsule" fromto="{ends}" size=".0018" solref=".004 .35" group="3"/>')
        centre, axes = numbers([0.2345 * cos, 0.2345 * sin, 0.0045]), numbers([cos, sin, 0, -sin, cos, 0])
        parts.append(f'<geom type="box" pos="{centre}" xyaxes="{axes}" size=".0275 .0012 .0045" material="steel"/>')
    return "\n".join(parts)


def _studs() -> str:
    """Return the eight studs on the bowl's slope, along and across in turn, that scatter the ball."""
    parts: list[str] = []
    for i in range(8):
        angle = 2 * np.pi * (i + 0.5) / 8
        cos, sin = np.cos(angle), np.sin(angle)
        along = np.array([cos, sin, 0.36]) if i % 2 else np.array([-sin, cos, 0.0])
        along *= 0.016 / np.linalg.norm(along)
        centre = np.array([0.342 * cos, 0.342 * sin, 0.0365])
        ends = numbers([*(centre - along), *(centre + along)])
        parts.append(f'<geom type="capsule" fromto="{ends}" size=".005" material="steel"/>')
    return "\n".join(parts)


def _handles() -> str:
    parts: list[str] = []
    for i in range(4):
        angle = np.pi * i / 2 + 0.3
        cos, sin = np.cos(angle), np.sin(angle)
        ends = numbers([0, 0, 0.125, 0.062 * cos, 0.062 * sin, 0.118])
        knob = numbers([0.066 * cos, 0.066 * sin, 0.118])
        parts.append(f'<geom class="look" type="capsule" fromto="{ends}" size=".006" material="brass"/>')
        parts.append(f'<geom class="look" type="sphere" pos="{knob}" size=".0115" material="brass"/>')
    return "\n".join(parts)
