"""Reads the double pendulum: follows the red lower mass and says on which side of the pivot it ends.

Needs in ``scene.geometry``: ``pivot`` (x, y), fractions of the frame's width and height, and ``reach`` and
``mass_radius``, fractions of its height.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from worldodds.readers.tracker.align import HEIGHT, WIDTH, Picture, locate
from worldodds.readers.tracker.colour import Blob, blobs, redness
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.video import Image

SMOOTH_PX = 2.0
PRESENT = 0.36  # redness at the middle of the mass; empty stands reach 0.24 at worst, masses 0.55 at least
STRADDLING = 0.007  # half the width of the strip above and below the pivot that is neither side, frame heights
SWUNG = 6.5  # how long the mass's way must be, in reaches: before, its start is not forgotten (a good second)
LOOKS = 15  # frames looked at


def read(frames: Sequence[Image], scene: Scene) -> Reading:
    """Return the side of the pivot on which the lower mass ends, or the null rule that keeps it from being told.

    Raises:
        OutOfRangeError: the stand cannot be found in the first frame.
    """
    looks = [frames[i] for i in sorted({round(i) for i in np.linspace(0, len(frames) - 1, LOOKS)})]
    view = locate(frames[0], scene)
    pivot = (float(scene.geometry["pivot"][0]) * WIDTH / HEIGHT, float(scene.geometry["pivot"][1]))
    tracks = [_masses(view.rectify(look), float(scene.geometry["mass_radius"])) for look in looks]
    if rule := _unseen(tracks) or _unsound(tracks, pivot, float(scene.geometry["reach"])):
        return Reading(status=scene.null_kind(rule), reason=rule)
    return Reading.saw("left" if tracks[-1][0].x < pivot[0] else "right")


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
    """Return the null rule of a motion no double pendulum makes, that never began, or ends on neither side."""
    way = np.array([(track[0].x, track[0].y) for track in tracks if track])
    if np.hypot(*(way - pivot).T).max() > 1.12 * reach:
        return "broken"
    if np.hypot(*np.diff(way, axis=0).T).sum() < SWUNG * reach:
        return "not_settled"
    return "straddling" if abs(way[-1, 0] - pivot[0]) < STRADDLING else None


def _masses(picture: Picture, radius: float) -> list[Blob]:
    """Return the red masses in one frame; each must be about as large as the scene's."""
    excess = redness(picture / np.float32(255), SMOOTH_PX)
    peak = float(excess.max())
    if peak < PRESENT:
        return []
    whole = np.pi * radius**2
    return [blob for blob in blobs(excess, max(0.5 * peak, 0.6 * PRESENT)) if 0.2 < blob.area / whole < 4]
