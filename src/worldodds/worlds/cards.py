"""The top card of a face-down deck, flicked off it so that it turns over in the air and lands face up on the felt.

Flight, air drag, landing and sliding are MuJoCo's rigid-body physics. The outcome is not: the deck's order is hidden
and drawn by the start seed, as a shuffle would; it is one of the two stated exceptions among the worlds. The flick
differs a little from run to run, and with it how the card comes to lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds import card_faces, card_table
from worldodds.worlds.filming import first_still
from worldodds.worlds.gl import load_mujoco
from worldodds.worlds.world import Image, Motion

TIME_STEP_S = 1 / 2400
HALF_THICKNESS_M = 0.0004  # thicker than paper, so that contacts hold; drawn as a sheet
FLICK = (0.50, 0.0, 1.2, 0.0, 9.5, 0.0)  # velocity (m/s: right, away, up) and spin (rad/s about the same axes)
FLICK_NOISE = (0.03, 0.010, 0.09, 0.30, 0.6, 0.30)  # standard deviations


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """A deck and its top card; ``states`` (frames, 8) are place (m), quaternion and the card's number in the deck."""

    scene: ClassVar[str] = "cards"
    labels: ClassVar[tuple[str, ...]] = card_faces.SUITS
    has_process_noise: ClassVar[bool] = False
    frames: int = 72
    frame_rate: int = 24
    still_s: float = 0.5  # before the flick

    def simulate(self, *, start_seed: int, noise_seed: int = 0) -> Motion:
        """Shuffle, flick the top card, and follow it until the clip's end; there is no process noise."""
        del noise_seed
        rng = np.random.default_rng(start_seed)
        card = int(rng.permutation(52)[0])
        places = self._fly(np.asarray(FLICK) + FLICK_NOISE * rng.standard_normal(6))
        settled = first_still(places, 1e-3)
        invalid = _invalid(places[-1], settled <= self.frames - self.frame_rate // 2)
        return Motion(
            outcome=None if invalid else card_faces.SUITS[card // 13],
            invalid=invalid,
            states=np.column_stack([places, np.full(self.frames, card)]),
            settled_frame=settled,
        )

    def _fly(self, flick: NDArray[np.float64]) -> NDArray[np.float64]:
        mujoco = load_mujoco()
        model = _model()
        data = mujoco.MjData(model)
        each = round(1 / self.frame_rate / TIME_STEP_S)
        start = round(self.still_s * self.frame_rate)
        places: list[NDArray[np.float64]] = []
        for frame in range(self.frames):
            places.append(data.qpos.copy())
            if frame == start:
                data.qvel[:] = flick
            if frame >= start:
                mujoco.mj_step(model, data, each)
        return np.stack(places)

    def draw(self, motion: Motion, size: tuple[int, int]) -> Iterator[Image]:
        """Yield one picture a frame; while nothing moves the same picture is given again."""
        last: NDArray[np.float64] | None = None
        image: Image | None = None
        for state in motion.states:
            if image is None or last is None or np.abs(state - last).max() > 1e-5:
                card = int(state[7])
                face = card_faces.face(card_faces.RANKS[card % 13], card_faces.SUITS[card // 13])
                place = card_table.Place(middle=state[:3], axes=_axes(state[3:7]))
                image, last = card_table.picture(place, face, size), state
            yield image

    def settings(self) -> dict[str, Any]:
        """Return the world's knobs with units in their names."""
        return {"frames": self.frames, "frame_rate": self.frame_rate, "still_s": self.still_s}


def _invalid(place: NDArray[np.float64], at_rest: bool) -> str | None:
    up = float(_axes(place[3:7])[2, 2])
    x, y, z = place[:3]
    if not at_rest:
        return "not_settled"
    if up > 0.999:
        return "face_down"
    if up > -0.999 or z > 3 * HALF_THICKNESS_M:
        return "the card does not lie flat on the table"
    if not (0.020 <= x <= 0.100 and abs(y) <= 0.030):
        return "the card lies outside the place kept for it"
    return None


def _axes(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    w, x, y, z = quaternion.tolist()
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


@lru_cache(maxsize=1)
def _model() -> Any:
    """Return felt, deck and card; air drag is that of a thin ellipsoid."""
    x, y = card_table.DECK_AT_M
    deck = card_table.DECK_HEIGHT_M
    half_x, half_y = card_table.CARD_M[0] / 2, card_table.CARD_M[1] / 2
    return load_mujoco().MjModel.from_xml_string(f"""
        <mujoco>
          <option timestep="{TIME_STEP_S}" density="1.2" viscosity="1.8e-5" integrator="implicitfast"/>
          <default><geom friction="0.45 0.005 0.0001" solref="0.004 1.2" condim="4"/></default>
          <worldbody>
            <geom type="plane" size="1 1 0.1"/>
            <geom type="box" pos="{x} {y} {deck / 2}" size="{half_x} {half_y} {deck / 2}"/>
            <body pos="{x} {y} {deck + HALF_THICKNESS_M}">
              <freejoint/>
              <geom type="box" size="{half_x} {half_y} {HALF_THICKNESS_M}" mass="0.0018" fluidshape="ellipsoid"/>
            </body>
          </worldbody>
        </mujoco>""")
