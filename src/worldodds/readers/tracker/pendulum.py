"""Reads the double pendulum: follows the red lower mass and says on which side of the pivot it ends.

Needs in ``scene.geometry``: ``pivot`` (x, y), fractions of the frame's width and height, and ``reach`` and
``mass_radius``, fractions of its height.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from worldodds.readers.tracker.colour import Blob, Image, blobs, redness, shrink
from worldodds.rollout import Reading
from worldodds.scene import Scene

HEIGHT_PX = 240  # working size
SMOOTH_PX = 2.0
PRESENT = 0.36  # redness at the middle of the mass; empty stands reach 0.24 at worst, masses 0.55 at least
STRADDLING = 0.007  # half the width of the strip above and below the pivot that is neither side, frame heights
SWUNG = 0.12  # how far the mass must have got from where it started, frame heights
LOOKS = 15  # frames looked at


def read(frames: Sequence[Image], scene: Scene) -> Reading:
    """Return the side of the pivot on which the lower mass ends, or the null rule that keeps it from being told."""
    looks = [frames[i] for i in sorted({round(i) for i in np.linspace(0, len(frames) - 1, LOOKS)})]
    pivot_x, pivot_y, reach, radius = _geometry(scene, looks[0])
    tracks = [_masses(look, radius) for look in looks]
    if rule := _unseen(tracks) or _unsound(tracks, (pivot_x, pivot_y), reach):
        return Reading(status=scene.null_kind(rule), reason=rule)
    return Reading.saw("left" if tracks[-1][0].x < pivot_x else "right")


def _unseen(tracks: list[list[Blob]]) -> str | None:
    """Return the null rule of a clip in which the mass, or just one mass, cannot be followed to the end."""
    half = len(tracks) // 2
    seen = sum(bool(track) for track in tracks)
    if seen <= half:
        return "absent"
    if not tracks[-1]:
        return "hidden"
    if len(tracks[-1]) > 1 or sum(len(track) > 1 for track in tracks) > half:
        return "several_pendulums"
    return None


def _unsound(tracks: list[list[Blob]], pivot: tuple[float, float], reach: float) -> str | None:
    """Return the null rule of a motion that no double pendulum makes, that never began, or that ends on neither side."""
    way = np.array([(track[0].x, track[0].y) for track in tracks if track])
    if np.hypot(*(way - pivot).T).max() > 1.12 * reach:
        return "broken"
    if np.hypot(*(way - way[0]).T).max() < SWUNG:
        return "not_settled"
    return "straddling" if abs(way[-1, 0] - pivot[0]) < STRADDLING else None


def _geometry(scene: Scene, frame: Image) -> tuple[float, float, float, float]:
    x, y = scene.geometry["pivot"]
    wide = frame.shape[1] / frame.shape[0]
    return float(x) * wide, float(y), float(scene.geometry["reach"]), float(scene.geometry["mass_radius"])


def _masses(frame: Image, radius: float) -> list[Blob]:
    """Return the red masses in one frame; each must be about as large as the scene's."""
    excess = redness(shrink(frame, HEIGHT_PX), SMOOTH_PX)
    peak = float(excess.max())
    if peak < PRESENT:
        return []
    whole = np.pi * radius**2
    return [blob for blob in blobs(excess, max(0.5 * peak, 0.6 * PRESENT)) if 0.2 < blob.area / whole < 4]
