"""Reads the turned card: finds the white sheet on the felt, straightens it, and compares its ink with the suits.

Needs in ``scene.geometry``: ``felt``, where the corners of a rectangle on the table are seen (upper left, upper right,
lower right, lower left; fractions of the frame's width and height), ``felt_size`` (width, height) of that rectangle in
card widths, and ``deck`` (x, y), a place on the deck's back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.readers.tracker.align import HEIGHT, WIDTH, View, locate
from worldodds.readers.tracker.suits import BLACK, RED, Fit, Map, compare
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.video import Image

CARD_PX = (252, 352)  # the straightened card, four pixels a millimetre
FELT_PX = 170  # a card's width on the straightened felt
RATIO = CARD_PX[1] / CARD_PX[0]
PAPER = 0.55  # how white paper is at least, as a share of the whitest place
ENOUGH_INK = 0.006  # share of the card
STILL_FRAMES, MOVED = 6, 24.0  # frames averaged, and the grey levels by which a moved one differs somewhere

Picture = NDArray[np.floating[Any]]  # (height, width, 3), RGB from 0 to 1


def read(frames: Sequence[Image], scene: Scene) -> Reading:
    """Return the suit of the card that lies face up in the last frame, or the null rule that keeps it from being told.

    Raises:
        OutOfRangeError: the table cannot be found in the first frame.
    """
    view = locate(frames[0], scene)
    end = _still(frames)
    card = _find(_straight_felt(end, view, scene))
    if isinstance(card, str):
        rule = "face_down" if card == "absent" and _deck_is_there(end, view, scene) else card
        return _null(scene, rule)
    suit, rule = _suit(card)
    return Reading.saw(suit) if suit else _null(scene, rule)


def _still(frames: Sequence[Image]) -> Image:
    """Return the mean of the last frames where they show the same (noise averages out), else the last one alone."""
    import cv2

    last = cv2.resize(frames[-1], (64, 48), interpolation=cv2.INTER_AREA).astype(np.float32)
    total, same = np.zeros(frames[-1].shape, np.float32), 0
    for frame in frames[-STILL_FRAMES:]:
        if np.abs(cv2.resize(frame, (64, 48), interpolation=cv2.INTER_AREA) - last).max() < MOVED:
            cv2.accumulate(frame, total)
            same += 1
    return (total / same).astype(np.uint8)


def _straight_felt(frame: Image, view: View, scene: Scene) -> Picture:
    """Return the felt as seen from above."""
    import cv2

    wide, high = (round(FELT_PX * float(side)) for side in scene.geometry["felt_size"])
    seen = _in_clip(scene.geometry["felt"], view).astype(np.float32)
    flat = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], np.float32)
    warp = cv2.getPerspectiveTransform(seen, flat)
    smooth = cv2.GaussianBlur(frame, (0, 0), frame.shape[0] / 600)
    straight = cv2.warpPerspective(smooth, warp, (wide, high), flags=cv2.INTER_LINEAR)
    return np.asarray(straight, dtype=np.float32) / 255


def _in_clip(places: Any, view: View) -> NDArray[np.float64]:
    """Return where places given in fractions of the conditioning frame (n, 2) are in the clip, in pixels."""
    canonical = np.asarray(places, dtype=np.float64) * (WIDTH, HEIGHT) - 0.5
    return canonical @ view.warp[:, :2].T + view.warp[:, 2]


def _find(felt: Picture) -> Picture | str:
    """Return the one card on the felt, straightened and its paper made white; or the null rule met instead."""
    import cv2

    r, g, b = cv2.split(cv2.GaussianBlur(felt, (0, 0), 3))
    white = cv2.min(cv2.min(r, g), b)
    level = float(np.quantile(white, 0.995))
    if level < 2.2 * float(np.median(white)) or level < 0.12:
        return "absent"
    outlines, _ = cv2.findContours((white > PAPER * level).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    whole = FELT_PX * FELT_PX * RATIO
    sheets = [cv2.convexHull(line) for line in outlines if cv2.contourArea(cv2.convexHull(line)) > 0.2 * whole]
    if not sheets:
        return "absent"
    if len(sheets) > 1:
        return "several_cards"
    box = cv2.minAreaRect(sheets[0])
    short, long = sorted(box[1])
    fills = cv2.contourArea(sheets[0]) / max(short * long, 1)
    if not (0.85 < short / FELT_PX < 1.15 and 0.88 < long / (FELT_PX * RATIO) < 1.12 and fills > 0.9):
        return "not_settled"
    return _straight_card(felt, box)


def _straight_card(felt: Picture, box: Any) -> Picture:
    import cv2

    corners = cv2.boxPoints(box)
    corners = corners[np.argsort(np.arctan2(*(corners - corners.mean(0)).T[::-1]))]  # from the upper left, clockwise
    if np.linalg.norm(corners[1] - corners[0]) > np.linalg.norm(corners[2] - corners[1]):
        corners = np.roll(corners, 1, axis=0)
    wide, high = CARD_PX
    flat = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], np.float32)
    card = cv2.warpPerspective(felt, cv2.getPerspectiveTransform(corners.astype(np.float32), flat), CARD_PX)
    paper = np.quantile(card[20:-20, 14:-14].reshape(-1, 3), 0.85, axis=0)
    return np.clip(card / np.maximum(paper, 0.05), 0, 1)


def _suit(card: Picture) -> tuple[str | None, str]:
    """Return the suit of a straightened card, or None and the null rule."""
    r, g, b = np.moveaxis(card[8:-8, 8:-8], 2, 0)
    red = np.clip((r - np.maximum(g, b)) / 0.7, 0, 1)
    blue = np.clip((b - r) / 0.5, 0, 1)
    black = np.clip((0.75 - np.maximum(np.maximum(r, g), b)) / 0.65, 0, 1)
    red_share, black_share, blue_share = (float((ink > 0.4).mean()) for ink in (red, black, blue))
    if blue_share > 0.25:
        return None, "face_down"
    if max(red_share, black_share) < ENOUGH_INK:
        return None, "no_suit"
    ink, pair = (red, RED) if red_share > black_share else (black, BLACK)
    found = compare(ink, pair)
    if not found.clear:
        return None, "blurred"
    middle = len(red) // 2
    halves = [_half(red[part], black[part], found.fit) for part in (slice(None, middle), slice(middle, None))]
    return (None, "mixed_suits") if None not in halves and halves[0] != halves[1] else (found.suit, "")


def _half(red: Map, black: Map, fit: Fit) -> str | None:
    """Return the suit of one half of a card, where it is plain; both halves of a card show the same."""
    ink, pair = (red, RED) if (red > 0.4).sum() > (black > 0.4).sum() else (black, BLACK)
    found = compare(ink, pair, fit)
    return found.suit if found.clear else None


def _deck_is_there(frame: Image, view: View, scene: Scene) -> bool:
    """Say whether something blue lies where the deck's back should be."""
    x, y = _in_clip([scene.geometry["deck"]], view)[0]
    reach = frame.shape[0] // 24
    patch = frame[int(y) - reach : int(y) + reach, int(x) - reach : int(x) + reach].reshape(-1, 3).mean(axis=0)
    return bool(patch[2] > 1.15 * patch[0] and patch[2] > patch[1])


def _null(scene: Scene, rule: str) -> Reading:
    return Reading(status=scene.null_kind(rule), reason=rule)
