"""Reads a roulette wheel seen from above: finds the white ball among the 37 pockets and the colour of the one it is in.

Needs in ``scene.geometry``: ``ring``, where the outer edge of the pockets is at the right, top, left and bottom of the
wheel, each (x, y) in fractions of the frame's width and height; and ``floor``, the radius at which the pockets begin
as a share of the one at which they end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.readers.tracker.align import HEIGHT, WIDTH, Affine, View, locate
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.video import Image

Unrolled = NDArray[np.float32]  # (radii, angles, 3), RGB from 0 to 1

POCKETS = 37
STEPS = 12  # samples a pocket round the wheel
SMOOTH_PX = 0.75  # blur before sampling, in canonical pixels
RADII = np.linspace(0.72, 1.16, 45)  # of the unrolled picture, in radii of the ring
NUMBERS = (1.03, 1.12)  # the band that carries the numbers, on the pocket's own colour
BALL_STANDS_OUT = 1.9  # brightness of the ball's pocket over the next brightest one's; empty wheels reach 1.3
SECOND_BALL = 0.75  # of the first one's brightness over the median pocket
WHEEL_FITS = 0.55  # correlation of the colours with the true order; noise gives 0.25
STILL_POCKETS = 0.18  # movement between two looks that is none
BALL_CENTRE = 0.055  # height above the pockets' floor, in radii of the ring
BALL_PATH = 0.895  # radius at which it lies, in radii of the ring
BETWEEN = 0.25  # distance from the pocket's middle, in pockets; in a pocket it has a play of 0.13
REPAINTED = 0.5  # change of a pocket's colour, over the distance from red to black
LOOK_BACK = 6  # frames between the two looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One look: how the wheel is turned and where the ball is, in pockets counter-clockwise from the right."""

    turn: float
    fit: float
    ball: float | None
    several: bool
    colours: NDArray[np.float32]  # (POCKETS, 3), RGB from 0 to 1, clockwise from the zero


def read(frames: Sequence[Image], scene: Scene) -> Reading:
    """Return the colour of the pocket in which the ball lies, or the null rule that keeps it from being told."""
    view = locate(frames[0], scene)
    end = look(frames[-1], view, scene)
    ball = _ball_at_rest(end, look(frames[max(0, len(frames) - 1 - LOOK_BACK)], view, scene))
    if isinstance(ball, str):
        return _null(scene, ball)
    place = end.turn - ball  # clockwise from the zero, in pockets
    if abs(place - round(place)) > BETWEEN:
        return _null(scene, "straddling")
    pocket = round(place) % POCKETS
    if _repainted(pocket, end.colours, look(frames[0], view, scene).colours):
        return _null(scene, "impossible_pocket")
    return Reading.saw("green" if pocket == 0 else "red" if pocket % 2 else "black")


def _ball_at_rest(end: Sight, before: Sight) -> float | str:
    """Return where the one ball lies on the standing wheel, or the null rule that keeps it from being told."""
    if end.fit < WHEEL_FITS:
        return "blurred"
    if _apart(end.turn, before.turn) > STILL_POCKETS:
        return "not_settled"
    if end.ball is None:
        return "absent"
    if before.ball is None or _apart(end.ball, before.ball) > STILL_POCKETS:
        return "not_settled"
    return "several_balls" if end.several else end.ball


def _repainted(pocket: int, now: NDArray[np.float32], first: NDArray[np.float32]) -> bool:
    """Say whether a pocket has lost the colour of the first frame, in units of what lies between red and black."""
    red_to_black = np.linalg.norm(first[1::2].mean(axis=0) - first[2::2].mean(axis=0))
    return bool(np.linalg.norm(now[pocket] - first[pocket]) > REPAINTED * red_to_black)


def look(frame: Image, view: View, scene: Scene) -> Sight:
    """Measure one frame of a clip in which the scene lies as ``view`` says."""
    corners = np.asarray(scene.geometry["ring"], dtype=np.float64)
    ring = unroll(frame, view.warp, corners)
    turn, fit = _turn(ring)
    ball, several = _ball(ring, float(scene.geometry["floor"]))
    if ball is not None:
        ball = _footprint(ball, corners * (WIDTH, HEIGHT))
    return Sight(turn=turn, fit=fit, ball=ball, several=several, colours=_colours(ring, turn))


def _footprint(seen: float, corners_px: NDArray[np.float64]) -> float:
    """Return the angle, in pockets, over which a ball lies that is seen at another, since it stands above the floor.

    To a camera that looks down aslant it seems to lie further back (up in the picture), which at the wheel's right and
    left is as far as an eighth of a pocket.
    """
    right, top, left, bottom = corners_px
    slant = np.arccos(min(1.0, float(np.linalg.norm(top - bottom) / np.linalg.norm(right - left))))
    back = BALL_CENTRE * np.tan(slant) / BALL_PATH * POCKETS / (2 * np.pi)
    return float(seen - back * np.cos(2 * np.pi * seen / POCKETS))


def unroll(frame: Image, warp: Affine, ring: NDArray[np.float64]) -> Unrolled:
    """Return the wheel's ring unrolled: radii down, angles counter-clockwise from the right across."""
    import cv2

    corners = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], dtype=np.float32)
    target = (ring * (WIDTH, HEIGHT) - 0.5).astype(np.float32)
    plane = np.vstack([warp, [0, 0, 1]]) @ cv2.getPerspectiveTransform(corners, target)
    angles = 2 * np.pi * (np.arange(POCKETS * STEPS) + 0.5) / (POCKETS * STEPS)
    points = np.stack([np.outer(RADII, np.cos(angles)), np.outer(RADII, np.sin(angles))], axis=-1)
    at = cv2.perspectiveTransform(points.reshape(1, -1, 2), plane).reshape(*points.shape).astype(np.float32)
    smooth = cv2.GaussianBlur(frame, (0, 0), max(0.4, SMOOTH_PX * float(np.sqrt(abs(np.linalg.det(warp[:, :2]))))))
    unrolled = cv2.remap(smooth, at[..., 0], at[..., 1], cv2.INTER_LINEAR)
    return np.asarray(unrolled, dtype=np.float32) / np.float32(255)


def _turn(ring: Unrolled) -> tuple[float, float]:
    """Return the angle of the zero, in pockets, and how well the colours fit the true order there (a correlation)."""
    band = _band(ring, *NUMBERS).mean(axis=0)  # (angles, 3)
    seen = np.stack([_standard(band[:, 0] - band[:, 1:].max(axis=1)), _standard(band[:, 1] - band[:, 0])])
    angles = (np.arange(POCKETS * STEPS) + 0.5) / STEPS
    pocket = np.round(-angles).astype(int) % POCKETS
    odd = np.where(pocket % 2 == 1, 1.0, -1.0)
    wanted = np.stack([_standard(odd), _standard(np.where(pocket == 0, 3.0, 0.0) - 0.5 * odd)])
    spectrum = np.fft.rfft(seen, axis=1) * np.conj(np.fft.rfft(wanted, axis=1))
    match = np.fft.irfft(spectrum, n=POCKETS * STEPS, axis=1).sum(axis=0) / (2 * POCKETS * STEPS)
    best = int(np.argmax(match))
    return best / STEPS, float(match[best])


def _colours(ring: Unrolled, turn: float) -> NDArray[np.float32]:
    """Return the mean colour of every pocket's number, clockwise from the zero, away from the neighbours."""
    place = turn - (np.arange(POCKETS * STEPS) + 0.5) / STEPS
    inside = np.abs(place - np.round(place)) < 0.3
    band = _band(ring, *NUMBERS).mean(axis=0)[inside]
    order = np.argsort(np.round(place[inside]).astype(int) % POCKETS, kind="stable")
    return band[order].reshape(POCKETS, -1, 3).mean(axis=1)


def _ball(ring: Unrolled, floor: float) -> tuple[float | None, bool]:
    """Return the ball's angle, in pockets, if one pocket is far whiter than all others, and whether a second is."""
    import cv2

    band = _band(ring, floor, 0.99).min(axis=2)  # white is bright in all three channels
    wide = np.concatenate([band[:, -2 * STEPS :], band, band[:, : 2 * STEPS]], axis=1)
    smooth = cv2.GaussianBlur(wide, (0, 0), sigmaX=STEPS / 4, sigmaY=3.5)[:, 2 * STEPS : -2 * STEPS]
    profile = smooth.max(axis=0)
    level = float(np.median(profile))
    first, second, third = _peaks(profile - level)
    noise = max(0.02, float(profile[third] - level))
    alone = max(0.02, float(profile[second] - level))
    rise = float(profile[first] - level)
    several = alone > SECOND_BALL * rise and alone > BALL_STANDS_OUT * noise
    if rise <= BALL_STANDS_OUT * alone and not several:
        return None, False
    near = np.arange(-STEPS, STEPS + 1)
    weight = np.clip(profile[(first + near) % profile.size] - level - 0.5 * rise, 0, None)
    return (first + 0.5 + float((weight * near).sum() / weight.sum())) / STEPS, several


def _peaks(profile: NDArray[np.floating[Any]]) -> tuple[int, int, int]:
    """Return where the three highest values are that lie more than a pocket and a half from one another."""
    left = profile.copy()
    found: list[int] = []
    for _ in range(3):
        found.append(int(np.argmax(left)))
        left[(found[-1] + np.arange(-round(1.6 * STEPS), round(1.6 * STEPS) + 1)) % left.size] = -np.inf
    return found[0], found[1], found[2]


def _band(ring: Unrolled, low: float, high: float) -> Unrolled:
    first, last = np.searchsorted(RADII, [low, high])
    return ring[first:last]


def _standard(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    return (values - values.mean()) / max(float(values.std()), 1e-6)


def _apart(a: float, b: float) -> float:
    return abs((a - b + POCKETS / 2) % POCKETS - POCKETS / 2)


def _null(scene: Scene, rule: str) -> Reading:
    return Reading(status=scene.null_kind(rule), reason=rule)
