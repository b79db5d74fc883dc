"""Read a Galton board: the bin in which the ball lies still at the end."""

from __future__ import annotations

from collections.abc import Sequence

from worldodds.readers.tracker.marble import Spot, Unreadable, final_spot, null
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.video import Image

STRADDLES = 0.5  # ball radii from the middle of a bin wall


def read(frames: Sequence[Image], scene: Scene) -> Reading:
    """Return the bin, or the null rule that the end of the clip falls under.

    ``frames`` are RGB (height, width, 3). The scene's geometry gives the start and size of the ball and the bins.

    Raises:
        OutOfRangeError: the board cannot be found in the first frame.
    """
    try:
        spot = final_spot(frames, scene)
        return Reading.saw(scene.labels[_bin(spot, scene)], raw=f"ball at ({spot.x:.3f}, {spot.y:.3f})")
    except Unreadable as finding:
        return null(scene, finding.rule)


def _bin(spot: Spot, scene: Scene) -> int:
    layout, bins = scene.geometry, len(scene.labels)
    radius_y = float(layout["ball_radius"])
    radius_x = radius_y * 3 / 4  # a scene's own frame is 4:3
    left, right = float(layout["bins_left"]), float(layout["bins_right"])
    place = (spot.x - left) / (right - left) * bins
    inside = 0 < place < bins and layout["bins_top"] < spot.y < layout["bins_bottom"]
    to_wall = abs(place - round(place)) * (right - left) / bins
    if spot.y > layout["bins_top"] - 1.5 * radius_y and to_wall < STRADDLES * radius_x:
        raise Unreadable("straddling")
    if not inside or spot.y < layout["bins_top"] + radius_y:
        raise Unreadable("escaped")
    return int(place)
