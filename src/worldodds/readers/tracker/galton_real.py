"""Reads the filmed Galton board: a steel ball has no colour of its own, so it is found as what the first frame lacks.

Needs in ``scene.geometry``: ``zone``, the left, top, right and bottom of where the ball may be below the funnel;
``first_bin`` and ``last_bin``, where it lies in the middle of the outermost bins, all in fractions of the frame's width
and height; ``bins_top`` and ``ball_radius``, fractions of its height.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.readers.tracker.align import HEIGHT, WIDTH, Picture, View, locate, reference
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.video import Image

SMOOTH_RADII = 0.6  # width of the blur before looking, in radii of the ball
GROUP = 4  # frames averaged at the end, and as many LOOK_BACK frames earlier
LOOK_BACK = 5
STANDS_OUT = 1.8  # change at the ball over the largest change elsewhere; empty boards reach 1.3
LEAST_CHANGE = 18.0  # grey levels of the conditioning frame; balls change 29 at least, empty boards 10 at most
SECOND_BALL = 0.7  # of the first one's change
STILL_RADII, FLOOR_RADII = 0.5, 1.3
OFF_MIDDLE = 0.37  # of a bin: a ball that leans on a wall is 0.2 off
OVERCAST = 0.25  # share of the zone that changed: something covers the board

Map = NDArray[np.floating[Any]]  # (height, width) of the zone


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where one ball is, in canonical pixels."""

    x: float
    y: float


def read(frames: Sequence[Image], scene: Scene) -> Reading:
    """Return the bin in which the ball lies still at the end, or the null rule that keeps it from being told."""
    if len(frames) < GROUP + LOOK_BACK + 1:
        return _null(scene, "not_settled")
    view = locate(frames[0], scene)
    empty = view.rectify(frames[0])
    radius = float(scene.geometry["ball_radius"]) * HEIGHT
    late = _change(view, frames[-GROUP:], empty, scene, radius)
    if (np.abs(late) > 20).mean() > OVERCAST:
        return _null(scene, "hidden")
    spots = _spots(late, scene, radius)
    before = _spots(_change(view, frames[-GROUP - LOOK_BACK : -LOOK_BACK], empty, scene, radius), scene, radius)
    if not spots:
        return _null(scene, "not_settled" if before else "absent")
    if len(spots) > 1:
        return _null(scene, "several_balls" if len(before) > 1 else "not_settled")
    if not any(np.hypot(spots[0].x - spot.x, spots[0].y - spot.y) < STILL_RADII * radius for spot in before):
        return _null(scene, "not_settled")
    return _bin(spots[0], scene, radius)


def _bin(spot: Spot, scene: Scene, radius: float) -> Reading:
    (x0, y0), (x1, y1) = (_pixel(scene.geometry[name]) for name in ("first_bin", "last_bin"))
    share = (spot.x - x0) / (x1 - x0)
    place = share * (len(scene.labels) - 1)
    nearest = round(place)
    if spot.y < float(scene.geometry["bins_top"]) * HEIGHT - radius:
        return _null(scene, "escaped")
    if abs(place - nearest) > OFF_MIDDLE:
        return _null(scene, "straddling")
    if abs(spot.y - (y0 + share * (y1 - y0))) > FLOOR_RADII * radius or not 0 <= nearest < len(scene.labels):
        return _null(scene, "escaped")
    return Reading.saw(scene.labels[nearest], raw=f"ball at bin {place + 1:.2f}")


def _change(view: View, frames: Sequence[Image], empty: Picture, scene: Scene, radius: float) -> Map:
    """Return how far each place of the zone has gone from wood towards steel since the first frame, in grey levels."""
    import cv2

    towards = np.asarray((empty - view.rectify(*frames)) @ _wood_less_steel(scene, radius), np.float32)
    left, top, right, bottom = _zone(scene)
    soft = cv2.GaussianBlur(towards, (0, 0), SMOOTH_RADII * radius)
    return np.asarray(soft[top:bottom, left:right], np.float32)


def _wood_less_steel(scene: Scene, radius: float) -> NDArray[np.float32]:
    """Return the direction in colour from the ball to the board behind it, as the conditioning frame shows them."""
    assert scene.frame is not None
    still = reference(scene.frame)
    x, y = _pixel(scene.geometry["ball"])
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    steel = still[np.hypot(columns - x, rows - y) < 0.8 * radius].mean(axis=0)
    left, top, right, bottom = _zone(scene)
    contrast = np.median(still[top:bottom, left:right].reshape(-1, 3), axis=0) - steel
    return np.asarray(contrast / np.linalg.norm(contrast), np.float32)


def _spots(change: Map, scene: Scene, radius: float) -> list[Spot]:
    """Return the places that changed far more than all others: none, one ball, or two."""
    left, top, _, _ = _zone(scene)
    y, x = np.mgrid[: change.shape[0], : change.shape[1]]
    level = float(np.median(change))
    rest, peaks, spots = change - level, list[float](), list[Spot]()
    for _ in range(3):
        row, column = np.unravel_index(int(np.argmax(rest)), rest.shape)
        peaks.append(float(rest[row, column]))
        near = np.hypot(x - column, y - row)
        weight = np.where(near < 1.2 * radius, np.clip(rest, 0, None), 0)
        total = max(float(weight.sum()), 1e-9)
        spots.append(Spot(x=left + float((weight * x).sum()) / total, y=top + float((weight * y).sum()) / total))
        rest = np.where(near < 2.6 * radius, -np.inf, rest)
    if peaks[0] < LEAST_CHANGE:
        return []
    if peaks[0] > STANDS_OUT * peaks[1]:
        return spots[:1]
    return spots[:2] if peaks[1] > max(SECOND_BALL * peaks[0], STANDS_OUT * peaks[2]) else []


def _zone(scene: Scene) -> tuple[int, int, int, int]:
    left, top, right, bottom = scene.geometry["zone"]
    return round(left * WIDTH), round(top * HEIGHT), round(right * WIDTH), round(bottom * HEIGHT)


def _pixel(place: Sequence[float]) -> tuple[float, float]:
    return place[0] * WIDTH - 0.5, place[1] * HEIGHT - 0.5


def _null(scene: Scene, rule: str) -> Reading:
    return Reading(status=scene.null_kind(rule), reason=rule)
