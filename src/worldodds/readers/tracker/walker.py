"""Reads the junction: follows the walker's red jacket and says into which passage it goes.

Needs in ``scene.geometry``: ``jacket_area``, the jacket's size at the start in squares of the frame's height, and
``left_passage`` and ``right_passage``, the places (fractions of the frame's width) beyond which a walker has turned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worldodds.readers.tracker.align import HEIGHT, WIDTH, Picture, locate
from worldodds.readers.tracker.colour import Blob, blobs, redness
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.video import Image

SMOOTH_PX = 1.6
PRESENT = 0.30  # redness at the jacket's middle
SMALLEST, SECOND = 0.05, 0.55  # a jacket's size, as a share of the one at the start; a second one's, of the first's
LOOKS = 15  # frames looked at
WALKING = 0.02  # frame heights the walker still moves between the last two looks


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passages:
    """Where the passages begin, in frame heights from the left."""

    left: float
    right: float

    def side(self, x: float) -> str | None:
        """Return the passage a walker at ``x`` is in, if any."""
        return "left" if x < self.left else "right" if x > self.right else None


def read(frames: Sequence[Image], scene: Scene) -> Reading:
    """Return the passage the walker takes, or the null rule that keeps it from being told.

    Raises:
        OutOfRangeError: the junction cannot be found in the first frame.
    """
    view = locate(frames[0], scene)
    looks = [frames[i] for i in sorted({round(i) for i in np.linspace(0, len(frames) - 1, LOOKS)})]
    area = float(scene.geometry["jacket_area"])
    tracks = [_jackets(view.rectify(look), area) for look in looks]
    wide = WIDTH / HEIGHT
    passages = _Passages(
        left=wide * float(scene.geometry["left_passage"]), right=wide * float(scene.geometry["right_passage"])
    )
    seen = [track[0] for track in tracks if track]
    rule = _null_rule(tracks, seen, passages)
    label = None if rule else passages.side(seen[-1].x)
    if label is None:
        rule = rule or "unresolved"
        return Reading(status=scene.null_kind(rule), reason=rule)
    return Reading.saw(label)


def _null_rule(tracks: list[list[Blob]], seen: list[Blob], passages: _Passages) -> str | None:
    """Return the rule by which a clip shows no choice; a walker gone from sight inside a passage has chosen it."""
    if len(seen) < len(tracks) // 3:
        return "absent"
    if sum(len(track) > 1 for track in tracks) > len(tracks) // 3:
        return "several_people"
    if {passages.side(place.x) for place in seen} >= {"left", "right"}:
        return "several_people"
    if passages.side(seen[-1].x) is not None:
        return None
    if not tracks[-1]:
        return "absent"
    moved = np.hypot(seen[-1].x - seen[-2].x, seen[-1].y - seen[-2].y)
    return "not_settled" if moved > WALKING or abs(seen[-1].y - seen[0].y) < WALKING else "unresolved"


def _jackets(picture: Picture, area: float) -> list[Blob]:
    """Return the red jackets in a picture, largest first; arms in front of them may cut them up a little."""
    import cv2

    excess = redness(picture / np.float32(255), SMOOTH_PX)
    peak = float(excess.max())
    if peak < PRESENT:
        return []
    whole = np.asarray(cv2.dilate(excess, np.ones((5, 5))), dtype=np.float32)
    found = [blob for blob in blobs(whole, max(0.5 * peak, 0.7 * PRESENT)) if blob.area > SMALLEST * area]
    return [blob for blob in found if blob.area > SECOND * found[0].area]
