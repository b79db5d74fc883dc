"""The four suit symbols as simple shapes, and which of two a card's ink looks more like."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.floating[Any]]  # (height, width), 0 paper to 1 full ink

RED, BLACK = ("hearts", "diamonds"), ("clubs", "spades")
SIZES_PX = (56, 62, 124)  # of the symbols on the straightened card, four pixels a millimetre
SOFTNESS_PX = (1.5, 4.0, 6.5)  # from sharp to blurred pictures
FAINT = 0.12  # spread of ink below which a patch is paper rather than a symbol
MIN_LIKENESS = 0.60
MIN_LEAD = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How like a suit's symbol the ink is, from -1 to 1, and how much more than like the other suit of its colour.

    ``lead`` is a share of the difference that the pure symbols have at that softness: 1 is certain, 0 undecided.
    """

    suit: str
    likeness: float
    lead: float

    @property
    def clear(self) -> bool:
        """Say whether it is enough to name the suit."""
        return self.likeness >= MIN_LIKENESS and self.lead >= MIN_LEAD


def compare(ink: Map, pair: tuple[str, str]) -> Likeness:
    """Return which suit of a pair the ink on a straightened card looks more like.

    Correlates the ink with both symbols, either way up, at the size and softness that fit best, and averages the
    likeness over all the places where there is a symbol of one suit or the other.
    """
    fits = [(_at(ink, pair, size, soft), size, soft) for soft in SOFTNESS_PX for size in SIZES_PX]
    best, size, soft = max(fits, key=lambda fit: max(fit[0]))
    a, b = (_stencils(suit, size, soft)[0].ravel() for suit in pair)
    apart = 1 - float(np.corrcoef(a, b)[0, 1])
    first = int(best[1] > best[0])
    return Likeness(suit=pair[first], likeness=best[first], lead=(best[first] - best[1 - first]) / apart)


def _at(ink: Map, pair: tuple[str, str], size_px: int, softness_px: float) -> tuple[float, float]:
    """Return both suits' mean likeness at one size and softness, over the strongest places."""
    import cv2

    maps = np.stack([np.maximum(*(_correlate(ink, s) for s in _stencils(suit, size_px, softness_px))) for suit in pair])
    either = maps.max(axis=0)
    floor = max(0.85 * float(either.max()), 0.3)
    peaks = (either >= floor) & (either >= cv2.dilate(either, np.ones((size_px // 2 + 1,) * 2)))
    if not peaks.any():
        return 0.0, 0.0
    return float(maps[0][peaks].mean()), float(maps[1][peaks].mean())


def _correlate(ink: Map, stencil: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the normalised correlation at every place; plain paper counts as slightly inked, so it is like nothing."""
    import cv2

    picture = ink.astype(np.float32)
    high, wide = stencil.shape
    product = cv2.matchTemplate(picture, stencil - stencil.mean(), cv2.TM_CCORR)
    means, squares = (
        cv2.boxFilter(field, -1, (wide, high), anchor=(0, 0))[: product.shape[0], : product.shape[1]]
        for field in (picture, picture**2)
    )
    spread = np.sqrt(np.maximum(squares - means**2, 0) + FAINT**2)
    return np.asarray(product / (stencil.size * float(stencil.std()) * spread), dtype=np.float32)


@lru_cache(maxsize=64)
def _stencils(suit: str, size_px: int, softness_px: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    import cv2

    pad = size_px // 6
    shape = cv2.resize(_shape(suit), (size_px, size_px), interpolation=cv2.INTER_AREA)
    shape = cv2.copyMakeBorder(shape, pad, pad, pad, pad, cv2.BORDER_CONSTANT, value=0)
    upright = np.asarray(cv2.GaussianBlur(shape, (0, 0), softness_px), dtype=np.float32)
    return upright, np.ascontiguousarray(upright[::-1])


@lru_cache(maxsize=4)
def _shape(suit: str) -> NDArray[np.float32]:
    """Draw a suit's symbol from curves, 200 pixels square: sides that hollow, a heart, discs, a flared stem."""
    import cv2

    shape = np.zeros((200, 200), np.float32)
    turn = np.linspace(0, 2 * np.pi, 160)
    c, s = np.cos(turn), np.sin(turn)

    def fill(x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        cv2.fillPoly(shape, [np.round(np.stack([100 + 98 * x, 100 + 98 * y], axis=1)).astype(np.int32)], 1.0)

    heart = (13 * c - 5 * np.cos(2 * turn) - 2 * np.cos(3 * turn) - np.cos(4 * turn)) / 16 + 0.13
    if suit == "diamonds":
        fill(0.78 * np.sign(c) * np.abs(c) ** 2.3, np.sign(s) * np.abs(s) ** 2.3)
        return shape
    if suit == "hearts":
        fill(0.94 * s**3, -heart)
        return shape
    if suit == "spades":
        fill(0.94 * s**3, 0.86 * heart - 0.12)
    else:
        for x, y, radius in ((0, -0.5, 0.44), (-0.5, 0.2, 0.44), (0.5, 0.2, 0.44), (0, 0, 0.3)):
            fill(x + radius * c, y + radius * s)
    down = np.linspace(0, 1, 20)
    stem = 0.06 + 0.32 * down**2.2
    fill(np.concatenate([stem, -stem[::-1]]), np.concatenate([0.1 + 0.88 * down, 0.98 - 0.88 * down]))
    return shape
