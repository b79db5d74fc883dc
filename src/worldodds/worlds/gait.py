"""A walking person as a kinematic skeleton: footprints first, then the body carried over them by inverse kinematics.

No balance or muscles are simulated: feet stay where they are put (heel down, toe off), knees bend to reach them, hips,
shoulders, arms and head move as in ordinary walking. Lengths in metres; x right, y away from the viewer, z up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]  # (3,), or (frames, 3)
Curve = Callable[[Any], NDArray[np.float64]]

HIP_M, SHOULDER_M = 0.085, 0.178  # half the distance between the two joints
THIGH_M = SHIN_M = 0.43
TRUNK_M, NECK_M = 0.50, 0.09
UPPER_ARM_M, FOREARM_M = 0.29, 0.26
ANKLE_M, BALL_M = 0.08, 0.13  # height of the ankle; how far the ball of the foot is ahead of it
HIPS_HEIGHT_M = 0.935

SEGMENTS = (
    "pelvis",
    "trunk",
    "head",
    *(f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shin", "foot", "upper_arm", "forearm")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """One step: which foot (-1 left, 1 right), where the ankle comes down, which way it points, from when to when."""

    side: int
    place: Vector
    heading_rad: float
    lands_s: float
    lifts_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Footprints in order of landing, and the body's way over them, as functions of time (s)."""

    footprints: tuple[Footprint, ...]
    middle: Curve  # between the feet, (frames, 2)
    heading_rad: Curve
    gaze_rad: Curve
    phase_rad: Curve  # grows by pi a step
    vigour: Curve  # 1 in full stride, 0 standing


def poses(walk: Walk, times_s: NDArray[np.float64], *, arm_swing_rad: float) -> NDArray[np.float64]:
    """Return place and quaternion of every segment at every time: (frames, len(SEGMENTS), 7)."""
    feet = {side: [_foot(walk, side, float(t)) for t in times_s] for side in (-1, 1)}
    heights = _hip_heights(walk, times_s, feet)
    placed = [
        _skeleton(walk, float(t), float(z), {side: feet[side][i] for side in (-1, 1)}, arm_swing_rad)
        for i, (t, z) in enumerate(zip(times_s, heights, strict=True))
    ]
    return _quaternions(np.stack(placed))


def _foot(walk: Walk, side: int, t: float) -> tuple[Vector, float, float]:
    """Return the ankle's place, the foot's heading and how far its heel is up (rad; negative is toes up)."""
    mine = [print_ for print_ in walk.footprints if print_.side == side]
    now = max(i for i, print_ in enumerate(mine) if print_.lands_s <= t or i == 0)
    here = mine[now]
    if t <= here.lifts_s or now + 1 == len(mine):
        return _stance(here, t)
    after = mine[now + 1]
    u = (t - here.lifts_s) / (after.lands_s - here.lifts_s)
    start, _, heel = _stance(here, here.lifts_s)
    end, _, toes = _stance(after, after.lands_s)
    ease = u * u * (3 - 2 * u)
    ankle = start + ease * (end - start) + np.array([0, 0, 0.075 * np.sin(np.pi * u) ** 1.5 * (1 - 0.4 * u)])
    return ankle, here.heading_rad + ease * (after.heading_rad - here.heading_rad), heel + ease * (toes - heel)


def _stance(print_: Footprint, t: float) -> tuple[Vector, float, float]:
    """Roll over a foot that is down: heel first, flat, then up on the ball, which stays where it is."""
    whole = max(print_.lifts_s - print_.lands_s, 1e-6)
    u = (
        np.clip((t - print_.lands_s) / whole, 0, 1)
        if np.isfinite(whole)
        else np.clip((t - print_.lands_s) / 0.6, 0, 0.5)
    )
    toes = -0.20 * max(0.0, 1 - u / 0.15)
    heel = 0.62 * max(0.0, (u - 0.55) / 0.45) ** 1.6
    ahead = _ahead(print_.heading_rad)
    back, up = BALL_M - BALL_M * np.cos(heel) + ANKLE_M * np.sin(heel), BALL_M * np.sin(heel) + ANKLE_M * np.cos(heel)
    return print_.place + back * ahead + np.array([0, 0, up]), print_.heading_rad, float(heel + toes)


def _hip_heights(walk: Walk, times_s: NDArray[np.float64], feet: dict[int, list[Any]]) -> NDArray[np.float64]:
    """Return how high the hips are: highest over a straight leg, and never higher than both legs reach."""
    from scipy.ndimage import gaussian_filter1d

    heights = HIPS_HEIGHT_M - 0.014 * np.cos(2 * walk.phase_rad(times_s)) * walk.vigour(times_s)
    middle = walk.middle(times_s)
    reach = 0.992 * (THIGH_M + SHIN_M)
    for ankles in feet.values():
        ankle = np.stack([foot[0] for foot in ankles])
        level = np.linalg.norm(ankle[:, :2] - middle, axis=1)
        heights = np.minimum(heights, ankle[:, 2] + np.sqrt(np.clip(reach**2 - level**2, 0.25, None)) - 0.004)
    return np.asarray(gaussian_filter1d(heights, 1.0, mode="nearest"), dtype=np.float64)


def _skeleton(walk: Walk, t: float, height: float, feet: dict[int, Any], arm_swing_rad: float) -> NDArray[np.float64]:
    heading, phase, vigour = (float(curve(t)) for curve in (walk.heading_rad, walk.phase_rad, walk.vigour))
    swing = np.sin(phase) * vigour  # 1 with the right foot in front
    sway = -0.018 * np.cos(phase) * vigour
    hips = np.array([*walk.middle(t), height]) + sway * _right(heading)
    pelvis = _turn(heading + 0.09 * swing, lean=0.03, roll=0.04 * np.cos(phase) * vigour)
    trunk = _turn(heading - 0.10 * swing, lean=0.035 + 0.03 * vigour)
    neck = hips + trunk @ (0, 0, TRUNK_M)
    head = _turn(float(walk.gaze_rad(t)), lean=0.02)
    placed = [_place(hips, pelvis), _place(hips, trunk), _place(neck, head)]
    for side in (-1, 1):
        ankle, foot_heading, heel = feet[side]
        hip = hips + pelvis @ (side * HIP_M, 0, -0.02)
        knee = _knee(hip, ankle, _ahead((heading + foot_heading) / 2))
        across = _right((heading + foot_heading) / 2)
        placed += [_place(hip, _along(hip - knee, across)), _place(knee, _along(knee - ankle, across))]
        placed.append(_place(ankle, _turn(foot_heading, lean=heel)))
        placed += _arm(neck, trunk, side, -side * swing * arm_swing_rad)
    return np.stack(placed)


def _arm(neck: Vector, trunk: NDArray[np.float64], side: int, forward_rad: float) -> list[NDArray[np.float64]]:
    shoulder = neck + trunk @ (side * SHOULDER_M, 0, -0.074)
    hang = trunk @ _tilted(forward_rad + 0.04, side * 0.11)
    elbow = shoulder - UPPER_ARM_M * hang
    bent = trunk @ _tilted(forward_rad + 0.30 + 0.5 * max(forward_rad, 0), side * 0.02)
    across = trunk @ np.array([1.0, 0, 0])
    return [_place(shoulder, _along(hang, across)), _place(elbow, _along(bent, across))]


def _tilted(forward_rad: float, out_rad: float) -> Vector:
    """Return the upward axis of an arm that hangs forward and outward by two angles."""
    return np.array([-np.sin(out_rad), -np.sin(forward_rad), np.cos(forward_rad) * np.cos(out_rad)])


def _knee(hip: Vector, ankle: Vector, ahead: Vector) -> Vector:
    """Return where the knee is: on the circle that both bones reach, in front."""
    line = ankle - hip
    distance = min(float(np.linalg.norm(line)), 0.9999 * (THIGH_M + SHIN_M))
    axis = line / np.linalg.norm(line)
    along = (THIGH_M**2 - SHIN_M**2 + distance**2) / (2 * distance)
    bend = ahead - (ahead @ axis) * axis
    return hip + along * axis + np.sqrt(max(THIGH_M**2 - along**2, 0.0)) * bend / np.linalg.norm(bend)


def _ahead(heading_rad: float) -> Vector:
    return np.array([np.sin(heading_rad), np.cos(heading_rad), 0.0])


def _right(heading_rad: float) -> Vector:
    return np.array([np.cos(heading_rad), -np.sin(heading_rad), 0.0])


def _turn(heading_rad: float, *, lean: float = 0.0, roll: float = 0.0) -> NDArray[np.float64]:
    """Return axes (columns right, ahead, up) turned to a heading, leaning forward, and rolled to the right."""
    right, ahead, up = _right(heading_rad), _ahead(heading_rad), np.array([0.0, 0, 1])
    ahead, up = np.cos(lean) * ahead - np.sin(lean) * up, np.sin(lean) * ahead + np.cos(lean) * up
    right, up = np.cos(roll) * right - np.sin(roll) * up, np.sin(roll) * right + np.cos(roll) * up
    return np.stack([right, ahead, up], axis=1)


def _along(up: Vector, across: Vector) -> NDArray[np.float64]:
    """Return axes whose third is ``up`` and whose first is as near as may be to ``across``."""
    up = up / np.linalg.norm(up)
    right = across - (across @ up) * up
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(up, right), up], axis=1)


def _place(at: Vector, axes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([at[:, None], axes], axis=1)  # (3, 4)


def _quaternions(placed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn (frames, segments, 3, 4) places with axes into (frames, segments, 7) places with quaternions (w first)."""
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_matrix(placed[..., 1:].reshape(-1, 3, 3)).as_quat(scalar_first=True)
    return np.concatenate([placed[..., 0], turned.reshape(*placed.shape[:2], 4)], axis=2)
