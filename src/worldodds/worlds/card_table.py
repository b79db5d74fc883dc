"""Pictures of a card table: flat things in space, seen through a pinhole camera, lit by one lamp with soft shadows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds import card_faces, paint
from worldodds.worlds.world import Image

Points = NDArray[np.floating[Any]]  # (..., 3) in metres: x right, y away from the viewer, z up; the felt is z = 0

CARD_M = (0.063, 0.088)
DECK_AT_M = (-0.056, 0.0)
DECK_HEIGHT_M = 0.0150

_EYE = np.array([0.0, -0.34, 0.50])
_AIM = np.array([0.002, 0.032, 0.0])
_FOCAL = 2.85  # frame heights
_LAMP = np.array([-0.30, 0.22, 0.93]) / np.linalg.norm([-0.30, 0.22, 0.93])  # direction to the lamp
_CORNERS = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]) / 2 * CARD_M  # as the texture's, from its upper left


def project(points: Points, size: tuple[int, int]) -> NDArray[np.float64]:
    """Return where points in space (..., 3) are seen, (..., 2) in pixels."""
    forward = (_AIM - _EYE) / np.linalg.norm(_AIM - _EYE)
    right = np.array([1.0, 0.0, 0.0])
    down = np.cross(forward, right)
    rays = np.asarray(points) - _EYE
    depth = rays @ forward
    scale = _FOCAL * size[1] / depth
    return np.stack([size[0] / 2 + scale * (rays @ right), size[1] / 2 + scale * (rays @ down)], axis=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a card is: its middle (3,) in metres and its axes (3, 3); the columns are right, up and out of the back."""

    middle: NDArray[np.float64]
    axes: NDArray[np.float64]

    def corners(self) -> NDArray[np.float64]:
        """Return the four corners (4, 3): upper left, upper right, lower right, lower left as seen from the back."""
        return self.middle + _CORNERS @ self.axes[:, :2].T


def picture(place: Place, face: Image, size: tuple[int, int]) -> Image:
    """Draw the table, the deck and one card whose face is given."""
    canvas = _table(size).copy()
    corners = place.corners()
    _cast(canvas, corners, 0.0, size)
    if place.middle[2] > DECK_HEIGHT_M + 0.002:
        _cast(canvas, corners, DECK_HEIGHT_M, size)
    toward_eye = _EYE - place.middle
    back_seen = float(place.axes[:, 2] @ toward_eye) > 0
    texture = card_faces.back() if back_seen else face
    if not back_seen:
        corners = corners[[1, 0, 3, 2]]  # from the other side, left and right change places
    normal = place.axes[:, 2] if back_seen else -place.axes[:, 2]
    _lay(canvas, texture, corners, _light(normal, place.middle), size)
    return np.clip(canvas + 0.5, 0, 255).astype(np.uint8)


def _light(normal: NDArray[np.float64], at: NDArray[np.float64]) -> float:
    """Return how bright a sheet of paper is: light through it and around it, lamp light, and a little gloss."""
    facing = float(normal @ _LAMP)
    eye = (_EYE - at) / np.linalg.norm(_EYE - at)
    half = (eye + _LAMP) / np.linalg.norm(eye + _LAMP)
    return 0.40 + 0.60 * max(facing, 0.12) + 0.16 * max(float(normal @ half), 0.0) ** 40


def _lay(canvas: paint.Canvas, texture: Image, corners: Points, light: float, size: tuple[int, int]) -> None:
    """Lay a textured sheet over the canvas in place, drawn at twice the size and shrunk, with soft edges."""
    import cv2

    seen = project(corners, size)
    low = np.maximum(np.floor(seen.min(0)).astype(int) - 1, 0)
    high = np.minimum(np.ceil(seen.max(0)).astype(int) + 2, size)
    if (high <= low).any():
        return
    longest = max(np.linalg.norm(seen - np.roll(seen, 1, axis=0), axis=1))
    fitted = _shrunk(texture.tobytes(), texture.shape, longest)
    height, width = fitted.shape[:2]
    source = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    target = ((seen - low) * 2).astype(np.float32)
    warp = cv2.getPerspectiveTransform(source, target)
    extent = (2 * (high - low)).tolist()
    ink = cv2.warpPerspective(fitted, warp, extent, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    small = cv2.resize(ink, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    part = canvas[low[1] : high[1], low[0] : high[0]]
    alpha = small[..., 3:]
    part *= 1 - alpha
    part += small[..., :3] * light


@lru_cache(maxsize=64)
def _shrink_by(texture: bytes, shape: tuple[int, ...], factor: int) -> NDArray[np.float32]:
    import cv2

    image = np.frombuffer(texture, np.uint8).reshape(shape).astype(np.float32)
    alpha = _rounded(shape[1], shape[0])
    sheet = np.concatenate([image * alpha[..., None], alpha[..., None]], axis=2)
    size = (shape[1] // factor, shape[0] // factor)
    return np.asarray(cv2.resize(sheet, size, interpolation=cv2.INTER_AREA), dtype=np.float32)


def _shrunk(texture: bytes, shape: tuple[int, ...], longest_px: float) -> NDArray[np.float32]:
    """Return the texture with alpha, premultiplied, shrunk so that drawing it at twice the size makes no moire."""
    factor = 2 ** max(0, round(np.log2(shape[0] / max(2 * longest_px, 1)) - 0.2))
    return _shrink_by(texture, shape, min(factor, 16))


def _rounded(width: int, height: int) -> paint.Alpha:
    """Return the outline of a card with round corners."""
    y, x = np.mgrid[0:height, 0:width] + 0.5
    radius = card_faces.CORNER_PX * width / card_faces.WIDTH_PX
    dx = np.clip(radius - np.minimum(x, width - x), 0, None)
    dy = np.clip(radius - np.minimum(y, height - y), 0, None)
    return np.clip(radius - np.hypot(dx, dy) + 0.5, 0, 1)


def _cast(canvas: paint.Canvas, corners: Points, level_m: float, size: tuple[int, int]) -> None:
    """Darken felt (or the deck's top, at its height) where a sheet keeps the lamp's light off; higher means softer."""
    import cv2

    rise = np.clip(corners[:, 2:] - level_m, 0, None)
    seen = project(corners - rise * _LAMP / _LAMP[2], size)
    seen_level = seen.astype(np.float32)
    mask = np.zeros((size[1], size[0]), np.uint8)
    cv2.fillConvexPoly(mask, np.round(seen_level * 16).astype(np.int32), 255, cv2.LINE_AA, 4)
    spread = size[1] * (0.0022 + 0.13 * float(rise.mean()))
    low = np.maximum(np.floor(seen.min(0) - 4 * spread).astype(int), 0)
    high = np.minimum(np.ceil(seen.max(0) + 4 * spread).astype(int), size)
    if (high <= low).any():
        return
    region = (slice(low[1], high[1]), slice(low[0], high[0]))
    soft = cv2.GaussianBlur(mask[region], (0, 0), spread).astype(np.float32) / 255
    on_deck = _deck_top(size)[region]
    soft *= on_deck if level_m else 1 - on_deck
    canvas[region] *= 1 - 0.55 * soft[..., None]


@lru_cache(maxsize=2)
def _deck_top(size: tuple[int, int]) -> paint.Alpha:
    import cv2

    mask = np.zeros((size[1], size[0]), np.uint8)
    corners = project(_deck_corners(DECK_HEIGHT_M), size)
    cv2.fillConvexPoly(mask, np.round(corners * 16).astype(np.int32), 255, cv2.LINE_AA, 4)
    return mask.astype(np.float32) / 255


def _deck_corners(height_m: float) -> NDArray[np.float64]:
    flat = _CORNERS + DECK_AT_M
    return np.concatenate([flat, np.full((4, 1), height_m)], axis=1)


@lru_cache(maxsize=2)
def _table(size: tuple[int, int]) -> paint.Canvas:
    """Paint what never moves: felt under a lamp, the deck's shadow, its sides of paper edges, its top card's back."""
    import cv2

    rng = np.random.default_rng(0)
    canvas = _felt(size, rng)
    outline = np.concatenate([_deck_corners(0.0), _deck_corners(DECK_HEIGHT_M) - DECK_HEIGHT_M * _LAMP / _LAMP[2]])
    for spread, depth in ((0.016, 0.35), (0.004, 0.5)):
        mask = np.zeros((size[1], size[0]), np.float32)
        hull = cv2.convexHull(project(outline * (1, 1, 0), size).astype(np.float32))
        cv2.fillConvexPoly(mask, np.round(hull * 16).astype(np.int32), 1.0, cv2.LINE_AA, 4)
        canvas *= 1 - depth * cv2.GaussianBlur(mask, (0, 0), spread * size[1])[..., None]
    top, floor = _deck_corners(DECK_HEIGHT_M), _deck_corners(0.0)
    for a, b, light in ((3, 2, 0.80), (2, 1, 0.55), (0, 3, 0.70)):
        outward = np.cross(top[b] - top[a], [0, 0, 1.0])
        if outward @ (_EYE - top[a]) > 0:
            _lay(canvas, _edges(rng), np.stack([top[a], top[b], floor[b], floor[a]]), light, size)
    _lay(canvas, card_faces.back(), top, _light(np.array([0, 0, 1.0]), top.mean(0)), size)
    return canvas


def _felt(size: tuple[int, int], rng: np.random.Generator) -> paint.Canvas:
    """Paint felt: fibres in all directions seen in perspective, bright under the lamp and dim towards the corners."""
    import cv2

    span_m, side = 0.9, 1500
    fibres = paint.grain((side, side), (0.7, 2.4), rng) + paint.grain((side, side), (2.4, 0.7), rng)
    cloth = 1 + 0.035 * fibres + 0.022 * paint.grain((side, side), (24, 24), rng)
    square = np.array([[-1, 1, 0], [1, 1, 0], [1, -1, 0], [-1, -1, 0]]) * span_m / 2 + (0, 0.03, 0)
    source = np.array([[0, 0], [side, 0], [side, side], [0, side]], np.float32)
    double = (2 * size[0], 2 * size[1])
    warp = cv2.getPerspectiveTransform(source, project(square, double).astype(np.float32))
    seen = cv2.warpPerspective(cloth.astype(np.float32), warp, double, borderMode=cv2.BORDER_REFLECT)
    seen = cv2.resize(seen, size, interpolation=cv2.INTER_AREA)
    y, x = np.mgrid[0 : size[1], 0 : size[0]] / size[1]
    pool = np.exp(-(((x - 0.60) / 0.78) ** 2) - ((y - 0.42) / 0.66) ** 2)
    tone = seen * (0.42 + 0.72 * pool)
    return (np.array([24, 108, 66], np.float32) * tone[..., None]).astype(np.float32)


def _edges(rng: np.random.Generator) -> Image:
    """Draw the side of a deck: fifty-one paper edges, each a little lighter or darker, pushed a little in or out."""
    rows = np.repeat(rng.uniform(0.80, 1.0, 51), 4)[:, None]
    gaps = np.tile([1.0, 1.0, 0.96, 0.80], 51)[:, None]
    drift = 1 + 0.02 * paint.grain((204, 300), (2, 40), rng)
    return np.clip(np.array([236, 232, 222]) * (rows * gaps * drift)[..., None], 0, 255).astype(np.uint8)
