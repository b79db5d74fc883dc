"""A lottery machine: twenty numbered balls tumble on jets of air in a glass globe until one is drawn.

Hidden in the first frame are each ball's micro-offset and the phase of the jets; the jets' turbulence is process noise.
Which ball is sucked into the mouth is physics alone. From there on the machine carries it: the tube and the cup that
turns its number to the camera are a mechanism that always ends the same way.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.filming import film, first_still
from worldodds.worlds.gl import load_mujoco
from worldodds.worlds.lottery_look import BALL_RADIUS_M, FACING, GLOBE_RADIUS_M, PATH_M, look_mjcf, pictures
from worldodds.worlds.world import Image, Motion

BALLS = 20
BALL_MASS_KG = 0.012
TIME_STEP_S, STEPS_PER_LOOK = 1 / 240, 2
LOOKS_PER_FRAME = 5
STILL_FRAMES = 6  # before the jets start
START_OFFSET_M = 0.0003
JET_WIDTH_M, JET_SWING_M, JET_SWING_RAD_S = 0.09, 0.03, 9.0
SUCTION_M_S2, SUCTION_REACH_M, MOUTH_M = 60.0, 0.13, 0.016
CARRY_S = 1.3
FALL_S = 0.7  # from the draw, when the jets stop, until the balls lie in a heap
STILL_M = 0.002
START_PATH = Path(__file__).with_name("lottery_start.csv")  # poses of the balls at rest: x, y, z, quaternion

Poses = NDArray[np.float64]  # (balls, 7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lottery:
    """The machine with its knobs: how hard the jets blow, how unsteadily, and when the mouth opens and gives up."""

    jet_m_s2: float = 45.0
    turbulence_m_s2: float = 14.0
    mouth_opens_s: float = 1.7
    gives_up_s: float = 2.6
    frames: int = 114
    frame_rate: int = 24

    scene = "lottery"
    labels = tuple(str(i + 1) for i in range(BALLS))
    has_process_noise = True

    def simulate(self, *, start_seed: int, noise_seed: int = 0) -> Motion:
        """Draw once. States are every ball's position and quaternion: shape (frames, 140)."""
        start, noise = np.random.default_rng(start_seed), np.random.default_rng(noise_seed)
        drum = _Drum(self, start)
        states = np.tile(_rest().reshape(-1), (self.frames, 1))
        for i in range(STILL_FRAMES, self.frames):
            for _ in range(LOOKS_PER_FRAME):
                drum.step(noise)
            states[i] = drum.poses.reshape(-1)
        if drum.drawn is not None:
            first = STILL_FRAMES + round(drum.drawn_at_s * self.frame_rate)
            _carry(states.reshape(self.frames, BALLS, 7)[first:, drum.drawn], self.frame_rate)
        return self._judge(states, drum.drawn)

    def _judge(self, states: NDArray[np.float64], drawn: int | None) -> Motion:
        settled = first_still(states.reshape(self.frames, BALLS, 7)[..., :3], STILL_M)
        why = "empty_tube" if drawn is None else None
        if drawn is not None and settled > self.frames - self.frame_rate // 2:
            why = "not_settled"
        outcome = None if why or drawn is None else self.labels[drawn]
        return Motion(outcome=outcome, invalid=why, states=states, settled_frame=settled)

    def draw(self, motion: Motion, size: tuple[int, int]) -> Iterator[Image]:
        """Yield the frames, ``size`` = (width, height) in pixels."""
        yield from film(look(), motion.states, size)

    def settings(self) -> dict[str, Any]:
        """Return the knobs."""
        return {
            "jet_m_s2": self.jet_m_s2,
            "turbulence_m_s2": self.turbulence_m_s2,
            "mouth_opens_s": self.mouth_opens_s,
            "gives_up_s": self.gives_up_s,
        }


class _Drum:
    """The globe with its balls while they move; a class because the physics engine keeps state."""

    def __init__(self, knobs: Lottery, start: np.random.Generator) -> None:
        self._mujoco, self.knobs = load_mujoco(), knobs
        self._model = copy.copy(_physics())  # a drawn ball changes it
        self._data = self._mujoco.MjData(self._model)
        self._data.qpos[:] = _rest().reshape(-1)
        self.poses: Poses = self._data.qpos.reshape(BALLS, 7)
        self.poses[:, :3] += start.uniform(-START_OFFSET_M, START_OFFSET_M, (BALLS, 3))
        self._phase = start.uniform(0, 2 * np.pi)
        self._force = self._data.qfrc_applied.reshape(BALLS, 6)
        self._time_s = 0.0
        self.drawn: int | None = None
        self.drawn_at_s = np.inf
        self._damp(drag_per_s=0.4, spin=1e-6)

    def step(self, noise: np.random.Generator) -> None:
        """Advance by one look: two time steps under one gust."""
        knobs = self.knobs
        if self.drawn is None and self._time_s < knobs.gives_up_s:
            pull, nearest = self._suction() if self._time_s > knobs.mouth_opens_s else (0.0, None)
            if nearest is None:
                gusts = noise.normal(0, knobs.turbulence_m_s2, (BALLS, 3))
                self._force[:, :3] = BALL_MASS_KG * (gusts + self._jets() + pull)
            else:
                self._take(nearest)
        else:
            self._force[:] = 0
            self._calm(self._time_s - min(self.drawn_at_s, knobs.gives_up_s) - FALL_S)
        self._mujoco.mj_step(self._model, self._data, nstep=STEPS_PER_LOOK)
        self._time_s += STEPS_PER_LOOK * TIME_STEP_S

    def _jets(self) -> NDArray[np.float64]:
        """Return the lift of the swinging jet on each ball (m/s2): strongest low and near its axis."""
        angle = self._phase + JET_SWING_RAD_S * self._time_s
        off = self.poses[:, :2] - JET_SWING_M * np.array([np.cos(angle), np.sin(angle)])
        lift = np.zeros((BALLS, 3))
        fade = np.clip(0.75 - 0.8 * self.poses[:, 2] / GLOBE_RADIUS_M, 0, 1.5)
        lift[:, 2] = self.knobs.jet_m_s2 * np.exp(-(off**2).sum(axis=1) / JET_WIDTH_M**2) * fade
        return lift

    def _suction(self) -> tuple[NDArray[np.float64], int | None]:
        """Return the pull of the open mouth on each ball (m/s2), and the ball that is in it, if any."""
        way = np.array([0, 0, GLOBE_RADIUS_M - BALL_RADIUS_M]) - self.poses[:, :3]
        length = np.linalg.norm(way, axis=1)
        pull = SUCTION_M_S2 * np.clip(1 - length / SUCTION_REACH_M, 0, 1) / (length + 1e-3)
        return pull[:, None] * way, int(np.argmin(length)) if length.min() < MOUTH_M else None

    def _take(self, ball: int) -> None:
        """Lift a ball out of the physics; its place is set by the machine from now on."""
        self.drawn, self.drawn_at_s = ball, self._time_s
        geom = self._model.body_geomadr[ball + 1]
        self._model.geom_contype[geom] = self._model.geom_conaffinity[geom] = 0
        self._model.tendon_limited[ball] = 0
        self._model.body_gravcomp[ball + 1] = 1
        self._data.qvel.reshape(BALLS, 6)[ball] = 0
        self._force[:] = 0
        self._damp(drag_per_s=3.0, spin=4e-6)

    def _calm(self, since_s: float) -> None:
        """Let the heap come to rest: contacts lose their bounce and drag grows, from when the balls have fallen."""
        if since_s > 0:
            self._model.opt.iterations = 20
            self._model.geom_solref[:] = self._model.tendon_solref_lim[:] = (0.02, 1.0)
            self._damp(drag_per_s=40 + 900 * since_s**2, spin=5e-3 + 0.3 * since_s**2)

    def _damp(self, *, drag_per_s: float, spin: float) -> None:
        self._model.dof_damping[:] = np.tile([BALL_MASS_KG * drag_per_s] * 3 + [spin] * 3, BALLS)


def _carry(poses: Poses, frame_rate: int) -> None:
    """Overwrite one ball's poses (frames, 7): through the tube to the cup, its number facing the camera at the end."""
    share = np.clip(np.arange(len(poses)) / (CARRY_S * frame_rate), 0, 1)
    eased = share**2 * (3 - 2 * share)
    steps = np.linspace(0, 1, len(PATH_M))
    begin = poses[0].copy()
    poses[:, :3] = np.column_stack([np.interp(eased, steps, PATH_M[:, i]) for i in range(3)])
    poses[:, :3] += (begin[:3] - PATH_M[0]) * np.clip(1 - 5 * eased, 0, 1)[:, None]
    end = FACING if begin[3:] @ FACING > 0 else -FACING
    turned = (1 - eased)[:, None] * begin[3:] + eased[:, None] * end
    roll = 2 * np.pi * eased  # half the angle of two whole turns
    poses[:, 3:] = _times(turned / np.linalg.norm(turned, axis=1, keepdims=True), np.cos(roll), np.sin(roll))


def _times(quaternions: Poses, cos: NDArray[np.float64], sin: NDArray[np.float64]) -> Poses:
    """Multiply quaternions (frames, 4) from the right by turns about x."""
    w, x, y, z = quaternions.T
    return np.column_stack([w * cos - x * sin, w * sin + x * cos, y * cos + z * sin, z * cos - y * sin])


@cache
def _rest() -> Poses:
    return np.loadtxt(START_PATH, delimiter=",", skiprows=1)


@cache
def look() -> Any:
    """Return the MuJoCo model that is drawn, shared: copy it before changing it."""
    return load_mujoco().MjModel.from_xml_string(look_mjcf(BALLS), pictures(BALLS))


@cache
def _physics() -> Any:
    """Return the balls alone: a tendon of limited length from the globe's centre keeps each inside."""
    limit = (
        f'limited="true" range="0 {GLOBE_RADIUS_M - BALL_RADIUS_M}" solreflimit=".009 .4" solimplimit=".95 .99 .001"'
    )
    balls = "".join(
        f'<body><freejoint/><geom size="{BALL_RADIUS_M}" mass="{BALL_MASS_KG}"/><site name="ball{i}"/></body>'
        for i in range(BALLS)
    )
    leashes = "".join(f'<spatial {limit}><site site="centre"/><site site="ball{i}"/></spatial>' for i in range(BALLS))
    return load_mujoco().MjModel.from_xml_string(f"""<mujoco model="lottery">
<option timestep="{TIME_STEP_S}" integrator="implicitfast" iterations="6" ls_iterations="6" tolerance="1e-6"
  jacobian="sparse"/>
<default><geom condim="3" friction=".25 .002 .0005" solref=".009 .4" solimp=".95 .99 .001"/></default>
<worldbody><site name="centre"/>{balls}</worldbody>
<tendon>{leashes}</tendon></mujoco>""")
