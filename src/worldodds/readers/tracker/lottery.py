"""Reads the number on the drawn lottery ball: the digits and the ball's paint are judged apart and must agree.

Needs in ``scene.geometry``: ``disc`` and ``disc_radii``, the middle and half axes of the white disc that carries the
drawn ball's number, fractions of the frame's width and height; ``disc_angle``, degrees from the disc's middle to its
edge seen from the ball's centre; ``paint``, the RGB of balls 1 to 10, which balls 11 to 20 have as a ring on white.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.readers.tracker.align import HEIGHT, WIDTH, View, locate
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.video import Image

SIDE_PX, DISC_PX = 96, 30  # of the patch cut out of the frame, and the disc's radius in it
GROUP, LOOK_BACK = 3, 6  # frames averaged at the end, and as many LOOK_BACK frames earlier
BLUR_PX = 1.6  # of patch and templates: wide enough for noise, narrow enough for digits
REACH_PX = 5  # how far the number may be from the disc's middle
LEAST_CHANGE = 12.0  # grey levels of the conditioning frame between an empty and a full cup
STILL = 0.25  # change over LOOK_BACK frames, as a share of that
ABOVE = (4.6, 2.2)  # where a second ball would lie, in half heights of the disc above its middle
STIRRING = 15.0  # grey levels by which a ball on its way changes its place in the picture
LEAST_LIKENESS, LEAST_MARGIN = 0.80, 0.03
MARKS = (*map(str, range(100)), *string.ascii_uppercase, *"?!&%#$@+*")  # what a ball might bear instead
LEAST_PAINT, PAINT_MARGIN = 0.8, 0.12

Patch = NDArray[np.float32]  # (SIDE_PX, SIDE_PX, 3), RGB in grey levels of the conditioning frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How like each label's are the digits and the paint (both correlations, at most 1): shape (labels,).

    ``other`` is how like the digits is the mark that fits best and is no label: a number below 100, a letter, a sign.
    """

    digits: NDArray[np.float64]
    paint: NDArray[np.float64]
    other: float


def read(frames: Sequence[Image], scene: Scene) -> Reading:
    """Return the number on the ball in the cup, or the null rule that keeps it from being told."""
    if len(frames) < GROUP + LOOK_BACK + 1:
        return _null(scene, "not_settled")
    view = locate(frames[0], scene)
    empty = _patch(frames[:1], view, scene)
    late = _patch(frames[-GROUP:], view, scene)
    early = _patch(frames[-GROUP - LOOK_BACK : -LOOK_BACK], view, scene)
    change = _difference(late, empty)
    if _difference(late, early) > STILL * max(change, LEAST_CHANGE):
        return _null(scene, "not_settled")
    if change < LEAST_CHANGE:
        return _null(scene, "not_settled" if _stirs(frames, view) else "empty_tube")
    seen = _judge(weigh(late, scene), scene)
    return _null(scene, "several_balls") if seen.status == "outcome" and _another_above(frames, view, scene) else seen


def _judge(evidence: Evidence, scene: Scene) -> Reading:
    total = evidence.digits + evidence.paint
    best, second = np.argsort(total)[::-1][:2]
    raw = f"digits {evidence.digits[best]:.2f}, of no label {evidence.other:.2f}, paint {evidence.paint[best]:.2f}"
    if evidence.other > max(evidence.digits[best], LEAST_LIKENESS):
        return _null(scene, "not_a_number", raw)
    if evidence.digits[best] < LEAST_LIKENESS or total[best] - total[second] < LEAST_MARGIN:
        return _null(scene, "blurred", raw)
    if evidence.paint[best] < max(LEAST_PAINT, evidence.paint.max() - PAINT_MARGIN):
        return _null(scene, "blurred", raw)
    return Reading.saw(scene.labels[best], raw)


def weigh(patch: Patch, scene: Scene) -> Evidence:
    """Compare a patch with what each label's ball looks like."""
    import cv2

    grey = cv2.GaussianBlur(patch, (0, 0), BLUR_PX).mean(axis=2).astype(np.float32)
    middle, half = SIDE_PX // 2, round(0.78 * DISC_PX)
    window = grey[
        middle - half - REACH_PX : middle + half + REACH_PX, middle - half - REACH_PX : middle + half + REACH_PX
    ]
    angle = float(scene.geometry["disc_angle"])

    def likeness(mark: str) -> float:
        return float(cv2.matchTemplate(window, _template(mark, angle), cv2.TM_CCOEFF_NORMED).max())

    digits = np.array([likeness(label) for label in scene.labels])
    other = max(likeness(mark) for mark in MARKS if mark not in scene.labels)
    return Evidence(digits=digits, paint=_paint(patch, scene), other=other)


def _paint(patch: Patch, scene: Scene) -> NDArray[np.float64]:
    """Return how like each label's paint the ring and the corners around it are; the disc tells what white is."""
    y, x = (np.mgrid[:SIDE_PX, :SIDE_PX] - (SIDE_PX - 1) / 2) / DISC_PX
    radius = np.hypot(x, y)
    diagonal = np.abs(np.abs(x) - np.abs(y)) < 0.35 * radius
    white = np.quantile(patch[radius < 0.85], 0.8, axis=0)
    ring = patch[(radius > 1.05) & (radius < 1.17)].mean(axis=0)
    corner = patch[diagonal & (radius > 1.28) & (radius < 1.45)].mean(axis=0)
    seen = np.concatenate([1 - ring / white, 1 - corner / white])
    paint = 1 - np.array(scene.geometry["paint"], dtype=np.float64) / 247
    full = [np.concatenate([colour, colour * (i < len(paint))]) for i, colour in enumerate([*paint, *paint])]
    return np.array([float(seen @ w / (np.linalg.norm(seen) * np.linalg.norm(w) + 1e-9)) for w in full])


@cache
def _template(mark: str, disc_angle: float) -> NDArray[np.float32]:
    """Return the mark as it lies on the ball's round face, seen from the front, in the middle of the patch."""
    import cv2

    half = round(0.78 * DISC_PX)
    y, x = (np.mgrid[: 2 * half, : 2 * half] + 0.5 - half) / DISC_PX
    sine = np.hypot(x, y) * np.sin(np.radians(disc_angle))
    stretch = np.tan(np.arcsin(sine)) / np.tan(np.radians(disc_angle)) / np.maximum(np.hypot(x, y), 1e-6)
    at = ((np.stack([x, y]) * stretch + 1) * 168).astype(np.float32)
    flat = cv2.remap(_drawn(mark), at[0], at[1], cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(flat, (0, 0), BLUR_PX), dtype=np.float32)


def _drawn(mark: str) -> Any:
    """Draw a mark black on white, 336 pixels across the disc; 6 and 9 are underlined."""
    from PIL import Image as Pictures
    from PIL import ImageDraw, ImageFont

    picture = Pictures.new("L", (336, 336), 245)
    pen = ImageDraw.Draw(picture)
    face = ImageFont.load_default(230 if len(mark) == 1 else 190)
    pen.text((168, 168), mark, font=face, fill=12, anchor="mm", stroke_width=9)
    if mark in ("6", "9"):
        pen.rectangle((106, 268, 230, 286), fill=12)
    return np.asarray(picture)


def _patch(frames: Sequence[Image], view: View, scene: Scene) -> Patch:
    """Cut the drawn ball's front out of some frames, average it, and put it in the conditioning frame's light."""
    import cv2

    step = (np.arange(SIDE_PX) - (SIDE_PX - 1) / 2) / DISC_PX
    (cx, cy), (rx, ry) = scene.geometry["disc"], scene.geometry["disc_radii"]
    x, y = np.meshgrid((cx + step * rx) * WIDTH - 0.5, (cy + step * ry) * HEIGHT - 0.5)
    at = np.einsum("ij,jhw->ihw", view.warp, np.stack([x, y, np.ones_like(x)])).astype(np.float32)
    scale = float(np.sqrt(abs(np.linalg.det(view.warp[:, :2]))))
    cut: list[Any] = []
    for frame in frames:
        smooth = cv2.GaussianBlur(frame, (0, 0), max(0.3, 0.35 * scale))
        cut.append(cv2.remap(smooth, at[0], at[1], cv2.INTER_LINEAR))
    return np.asarray((np.mean(cut, axis=0) - view.offset) / view.gain, dtype=np.float32)


def _stirs(frames: Sequence[Image], view: View) -> bool:
    """Say whether anything at all moves at the end of the clip."""
    import cv2

    late, early = (view.rectify(*part) for part in (frames[-GROUP:], frames[-GROUP - LOOK_BACK : -LOOK_BACK]))
    return bool(np.abs(cv2.GaussianBlur(late - early, (0, 0), 3)).max() > STIRRING)


def _another_above(frames: Sequence[Image], view: View, scene: Scene) -> bool:
    """Say whether the end of the tube, above a ball in the cup, holds another one."""
    (cx, cy), (rx, ry) = scene.geometry["disc"], scene.geometry["disc_radii"]
    rows = slice(max(0, round((cy - ABOVE[0] * ry) * HEIGHT)), max(1, round((cy - ABOVE[1] * ry) * HEIGHT)))
    columns = slice(round((cx - rx) * WIDTH), round((cx + rx) * WIDTH))
    late = view.rectify(*frames[-GROUP:])
    return _difference(late[rows, columns], view.rectify(frames[0])[rows, columns]) > LEAST_CHANGE


def _difference(a: Patch, b: Patch) -> float:
    import cv2

    return float(np.abs(cv2.GaussianBlur(a - b, (0, 0), 2.5)).mean())


def _null(scene: Scene, rule: str, raw: str | None = None) -> Reading:
    return Reading(status=scene.null_kind(rule), reason=rule, raw=raw)
