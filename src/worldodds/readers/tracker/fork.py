"""Read a fork: the branch in whose cup the ball lies still at the end."""

from __future__ import annotations

from collections.abc import Sequence

from worldodds.readers.tracker.marble import Spot, Unreadable, final_spot, null
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.video import Image


def read(frames: Sequence[Image], scene: Scene) -> Reading:
    """Return the branch, or the null rule that the end of the clip falls under.

    ``frames`` are RGB (height, width, 3). The scene's geometry gives the start and size of the ball and the two cups.

    Raises:
        OutOfRangeError: the track cannot be found in the first frame.
    """
    try:
        spot = final_spot(frames, scene)
        return Reading.saw(_branch(spot, scene), raw=f"ball at ({spot.x:.3f}, {spot.y:.3f})")
    except Unreadable as finding:
        return null(scene, finding.rule)


def _branch(spot: Spot, scene: Scene) -> str:
    layout = scene.geometry
    for label, cup in zip(scene.labels, ("left_cup", "right_cup"), strict=True):
        left, right = layout[cup]
        if left < spot.x < right and layout["cups_top"] < spot.y < layout["cups_bottom"]:
            return label
    raise Unreadable("escaped" if spot.y > layout["fork_tip"] else "unresolved")
