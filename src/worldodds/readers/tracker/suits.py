"""The four suit symbols as simple shapes, and which of two a card's ink looks more like."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.floating[Any]]  # (height, width), 0 paper to 1 full ink
Ink = NDArray[np.float32]

RED, BLACK = ("hearts", "diamonds"), ("clubs", "spades")
SIZES_PX = (56, 62, 124)  # of the symbols on the straightened card, four pixels a millimetre
SOFTNESS_PX = (1.5, 4.0, 6.5)  # from sharp to blurred pictures
FAINT = 0.12  # spread of ink below which a patch is paper rather than a symbol
MIN_LIKENESS = 0.60
MIN_LEAD = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How large the symbols of a card are, and how sharp its picture."""

    size_px: int
    softness_px: float

    @property
    def half(self) -> Fit:
        """The same on a picture of half the size."""
        return Fit(size_px=self.size_px // 2, softness_px=self.softness_px / 2)

    @property
    def pad_px(self) -> int:
        """The paper around a symbol that counts."""
        return self.size_px // 6

    @property
    def side_px(self) -> int:
        """The side of a symbol with that paper."""
        return self.size_px + 2 * self.pad_px


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How like a suit's symbol the ink is, from -1 to 1, and how much more than like the other suit of its colour.

    ``lead`` is a share of the difference that the pure symbols have at that softness: 1 is certain, 0 undecided.
    """

    suit: str
    likeness: float
    lead: float
    fit: Fit

    @property
    def clear(self) -> bool:
        """Say whether it is enough to name the suit."""
        return self.likeness >= MIN_LIKENESS and self.lead >= MIN_LEAD


def compare(ink: Map, pair: tuple[str, str], fit: Fit | None = None) -> Likeness:
    """Return which suit of a pair the ink on a straightened card looks more like.

    Correlates the ink with both symbols, either way up, at the size and softness that fit best (unless they are known),
    and averages the likeness over all the places where there is a symbol of one suit or the other.
    """
    picture = np.asarray(ink, np.float32)
    fit = fit or _best_fit(picture, pair)
    alike = _alike(picture, _spread(picture, fit.side_px), pair, fit)
    first = int(alike[1] > alike[0])
    lead = (alike[first] - alike[1 - first]) / _apart(pair, fit)
    return Likeness(suit=pair[first], likeness=alike[first], lead=lead, fit=fit)


def _best_fit(ink: Ink, pair: tuple[str, str]) -> Fit:
    """Return the size and softness of the card's symbols, as they are found on a picture of half the size."""
    import cv2

    small = np.asarray(cv2.resize(ink, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.float32)
    likeness: dict[Fit, float] = {}
    for size in SIZES_PX:
        fits = [Fit(size_px=size, softness_px=softness) for softness in SOFTNESS_PX]
        spread = _spread(small, fits[0].half.side_px)
        likeness |= {fit: max(_alike(small, spread, pair, fit.half)) for fit in fits}
    return max(likeness, key=lambda fit: likeness[fit])


def _alike(ink: Ink, spread: Ink, pair: tuple[str, str], fit: Fit) -> tuple[float, float]:
    """Return both suits' mean likeness at one size and softness, over the strongest places."""
    import cv2

    maps = [
        cv2.divide(cv2.max(*(cv2.matchTemplate(ink, way, cv2.TM_CCORR) for way in _stencils(suit, fit))), spread)
        for suit in pair
    ]
    either = cv2.max(*maps)
    floor = max(0.85 * float(either.max()), 0.3)
    peaks = (either >= floor) & (either >= cv2.dilate(either, np.ones((fit.size_px // 2 + 1,) * 2)))
    if not peaks.any():
        return 0.0, 0.0
    return float(maps[0][peaks].mean()), float(maps[1][peaks].mean())


def _spread(ink: Ink, side_px: int) -> Ink:
    """Return how the ink varies under a stencil at every place; plain paper counts as slightly inked: like nothing."""
    import cv2

    high, wide = (whole - side_px + 1 for whole in ink.shape)
    means, squares = (
        cv2.boxFilter(field, -1, (side_px, side_px), anchor=(0, 0))[:high, :wide] for field in (ink, ink**2)
    )
    return np.asarray(np.sqrt(np.maximum(squares - means**2, 0) + np.float32(FAINT**2)))


@lru_cache(maxsize=64)
def _apart(pair: tuple[str, str], fit: Fit) -> float:
    """Return by how much one pure symbol is more like itself than like the other suit's."""
    a, b = (_stencils(suit, fit)[0].ravel() for suit in pair)
    return 1 - float(np.corrcoef(a, b)[0, 1])


@lru_cache(maxsize=128)
def _stencils(suit: str, fit: Fit) -> tuple[Ink, Ink]:
    """Return a suit's symbol either way up, so that its products with ink, over the ink's spread, are correlations."""
    import cv2

    shape = cv2.resize(_shape(suit), (fit.size_px, fit.size_px), interpolation=cv2.INTER_AREA)
    soft = np.asarray(cv2.GaussianBlur(np.pad(shape, fit.pad_px), (0, 0), fit.softness_px), dtype=np.float32)
    upright = (soft - soft.mean()) / (soft.size * soft.std())
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
