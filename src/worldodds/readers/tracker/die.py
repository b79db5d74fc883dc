"""Read a die: find the bright square of its top face, straighten it, and compare its pips with the six faces.

The box's camera is known from the scene's geometry and the first frame, so the plane of the top face can be seen from
straight above, where the face is a square of known size. Nothing is read unless the die lies still and its pips are
plain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.readers.tracker.align import HEIGHT, WIDTH, View, locate, reference
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.video import Image

Plan = NDArray[np.float32]  # (height, width): blue light in the plane of the top face, seen from above

FACE_PX = 48
MARGIN = 0.2  # of the box's width, seen around it
LEAST_BLUE = 150.0  # ivory has at least 190 in the light of the conditioning frame, oak and felt at most 115
LEAST_RISE = 18.0  # how much brighter the face must be than what lies around it
LEAST_LIKENESS = 0.6  # correlation of the face with the best of the six
FLAT_LIKENESS = 0.89  # a flat face has 0.94 and more, also degraded; the slanted ones of a die on its edge have less
LEAST_LEAD = 0.06  # over the second best
BACK_FRAMES = (3, 9)  # frames before the last in which the die must lie where it lies at the end
MOST_DRIFT = 0.09  # edges
MOST_TURN_DEG = 6.0

_CORE_PX = 38  # the part of a face that holds its pips, without the rounded edges


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """Where a face lies: its centre in plan pixels and its turn in degrees, 0 to 90."""

    x: float
    y: float
    turn_deg: float
    rise: float


def read(frames: Sequence[Image], scene: Scene) -> Reading:
    """Return the number of pips on top, or the null rule that the end of the clip falls under.

    ``frames`` are RGB (height, width, 3), the first one of the clip and its end.

    Raises:
        OutOfRangeError: the box cannot be found in the first frame.
    """
    view = locate(frames[0], scene)
    plan = _plan(frames[-1], view, scene)
    whole = _without_pips(plan)
    found = find_square(whole)
    if found is None:
        return _null(scene, _missing(frames[-1], view, scene))
    for back in BACK_FRAMES:
        before = find_square(_without_pips(_plan(frames[max(0, len(frames) - 1 - back)], view, scene)))
        if before is None or not _same(before, found):
            return _null(scene, "not_settled")
    if not _inside(found, plan):
        return _null(scene, "escaped")
    if _has_another(plan, whole, found):
        return _null(scene, "several_dice")
    face, likeness, lead = compare(plan, found)
    raw = f"face {face}, likeness {likeness:.2f}, lead {lead:.2f}, at ({found.x:.0f}, {found.y:.0f})"
    if likeness < FLAT_LIKENESS or lead < LEAST_LEAD:
        rule = "blurred" if likeness < LEAST_LIKENESS or lead < LEAST_LEAD else "on_edge"
        return Reading(status=scene.null_kind(rule), reason=rule, raw=raw)
    return Reading.saw(str(face), raw=raw)


def _without_pips(plan: Plan) -> Plan:
    """Fill what is dark and no larger than a pip, in whole grey levels."""
    import cv2

    size = int(0.36 * FACE_PX) | 1
    pip = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    grey = cv2.convertScaleAbs(np.maximum(plan, 0))
    return np.asarray(cv2.morphologyEx(grey, cv2.MORPH_CLOSE, pip), np.float32)


def find_square(whole: Plan) -> Square | None:
    """Find the bright square of a face's size that stands out most from its surroundings; None where none does.

    ``whole`` is a plan without pips.
    """
    import cv2

    core = cv2.blur(whole, (FACE_PX // 2, FACE_PX // 2))
    _, peak, _, (x, y) = cv2.minMaxLoc(core)
    if peak < LEAST_BLUE:
        return None
    near = Square(x=float(x), y=float(y), turn_deg=0.0, rise=0.0)
    best = max((_fit(whole, near, turn) for turn in range(0, 90, 6)), key=lambda square: square.rise)
    best = max((_fit(whole, near, best.turn_deg + step) for step in (-4, -2, 0, 2, 4)), key=lambda square: square.rise)
    return best if best.rise >= LEAST_RISE else None


def _has_another(plan: Plan, whole: Plan, found: Square) -> bool:
    """Say whether a second face of a die lies apart from the one found."""
    import cv2

    rest = whole.copy()
    around = float(np.median(plan[::3, ::3]))
    cv2.circle(rest, (round(found.x), round(found.y)), int(1.2 * FACE_PX), around, thickness=-1)
    other = find_square(rest)
    return other is not None and compare(plan, other)[1] >= LEAST_LIKENESS


def compare(plan: Plan, square: Square) -> tuple[int, float, float]:
    """Return the face most like the square, its correlation, and its lead over the next face."""
    import cv2

    scores = np.full(6, -1.0)
    for turn in (-3, 0, 3):
        patch = _cut(plan, square, square.turn_deg + turn, _CORE_PX + 10)
        for face, template in _templates():
            likeness = float(cv2.matchTemplate(patch, template, cv2.TM_CCOEFF_NORMED).max())
            scores[face - 1] = max(scores[face - 1], likeness)
    second, first = np.sort(scores)[-2:]
    return int(scores.argmax()) + 1, float(first), float(first - second)


def _plan(frame: Image, view: View, scene: Scene) -> Plan:
    """Return the blue light of a frame in the plane of the top face, in the conditioning frame's own light."""
    import cv2

    layout = scene.geometry
    width = FACE_PX / float(layout["die_edge"])
    pad, depth = MARGIN * width, width * float(layout["box_depth"])
    corners = np.array([(pad, pad), (pad + width, pad), (pad + width, pad + depth), (pad, pad + depth)], np.float32)
    canonical = np.array(layout["top_plane"], np.float32) * np.array([WIDTH, HEIGHT], np.float32) - np.float32(0.5)
    to_canonical = cv2.getPerspectiveTransform(corners, canonical.astype(np.float32))
    to_clip = np.vstack([view.warp, [0, 0, 1]]) @ to_canonical
    size = (int(width + 2 * pad), int(depth + 2 * pad))
    blue = np.ascontiguousarray(frame[..., 2])
    seen = cv2.warpPerspective(blue, to_clip, size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    soft = cv2.GaussianBlur(seen.astype(np.float32), (0, 0), 1.2)
    return np.asarray((soft - view.offset[2]) / view.gain[2], np.float32)


def _fit(whole: Plan, near: Square, turn_deg: float) -> Square:
    """Slide a square of the face's size, turned by ``turn_deg``, to where its inside is brightest against its rim."""
    import cv2

    reach = int(2.4 * FACE_PX)
    outer = int(1.3 * FACE_PX)
    edge = outer // 2
    sums = cv2.integral(_cut(whole, near, turn_deg, reach))

    def light(side: int) -> NDArray[np.floating[Any]]:
        """Sum up the squares of this side around all places that are at least ``edge`` from the rim."""
        low, high, end = edge - side // 2, edge - side // 2 + side, reach - 2 * edge
        rows, below = sums[low : low + end], sums[high : high + end]
        return (
            below[:, high : high + end]
            - below[:, low : low + end]
            - rows[:, high : high + end]
            + rows[:, low : low + end]
        )

    inside = light(FACE_PX - 4) / (FACE_PX - 4) ** 2
    rise = inside - (light(outer) - light(FACE_PX)) / (outer**2 - FACE_PX**2)
    _, best, _, (i, j) = cv2.minMaxLoc(rise)
    dx, dy = i + edge - (reach - 1) / 2, j + edge - (reach - 1) / 2
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    return Square(
        x=float(near.x + c * dx - s * dy), y=float(near.y + s * dx + c * dy), turn_deg=turn_deg, rise=float(best)
    )


def _cut(plan: Plan, square: Square, turn_deg: float, size: int) -> Plan:
    """Return the surroundings of a square's centre, turned upright, shape (size, size)."""
    import cv2

    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    half = (size - 1) / 2
    warp = np.array([[c, -s, square.x - c * half + s * half], [s, c, square.y - s * half - c * half]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    turned = cv2.warpAffine(plan, warp, (size, size), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(turned, np.float32)


@cache
def _templates() -> list[tuple[int, Plan]]:
    """The six faces, those that differ when turned by 90 degrees twice, each in three degrees of blur."""
    import cv2

    a = 0.25
    corners = [(-a, -a), (a, a), (-a, a), (a, -a)]
    pips: list[tuple[int, list[tuple[float, float]]]] = [
        (1, [(0, 0)]),
        (2, corners[:2]),
        (2, corners[2:]),
        (3, [(0, 0), *corners[:2]]),
        (3, [(0, 0), *corners[2:]]),
        (4, corners),
        (5, [(0, 0), *corners]),
        (6, [(-a, 0), (a, 0), *corners]),
        (6, [(0, -a), (0, a), *corners]),
    ]
    y, x = (np.mgrid[:_CORE_PX, :_CORE_PX] + 0.5 - _CORE_PX / 2) / FACE_PX
    made: list[tuple[int, Plan]] = []
    for face, spots in pips:
        radius = 0.125 if face == 1 else 0.0925
        dark = np.max([np.clip((radius - np.hypot(x - u, y - v)) * FACE_PX + 0.5, 0, 1) for u, v in spots], axis=0)
        made += [(face, np.asarray(cv2.GaussianBlur(1 - dark, (0, 0), s), np.float32)) for s in (1.3, 2.4, 3.8)]
    return made


def _same(a: Square, b: Square) -> bool:
    turned = abs((a.turn_deg - b.turn_deg + 45) % 90 - 45)
    return bool(np.hypot(a.x - b.x, a.y - b.y) < MOST_DRIFT * FACE_PX and turned <= MOST_TURN_DEG)


def _inside(square: Square, plan: Plan) -> bool:
    height, width = plan.shape
    pad = MARGIN / (1 + 2 * MARGIN) * width
    return pad < square.x < width - pad and pad < square.y < height - pad


def _missing(frame: Image, view: View, scene: Scene) -> str:
    """Say why no die is seen: the box is seen without one, hardly at all, or not at all."""
    import cv2

    assert scene.frame is not None
    seen, still = view.rectify(frame), reference(scene.frame)
    if _correlation(seen, still) > 0.8:
        return "absent"
    soft = [np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.2 * HEIGHT)) for picture in (seen, still)]
    return "blurred" if _correlation(*soft) > 0.5 else "hidden"


def _correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    a, b = a - a.mean(axis=(0, 1)), b - b.mean(axis=(0, 1))
    return float((a * b).sum() / max(float(np.sqrt((a * a).sum() * (b * b).sum())), 1e-9))


def _null(scene: Scene, rule: str) -> Reading:
    return Reading(status=scene.null_kind(rule), reason=rule)
