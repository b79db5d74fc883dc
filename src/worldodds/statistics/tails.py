"""The whole upper tail of a statistic's null law, so that one law answers for any number of observed values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

from worldodds.statistics.enumerate import Half, half_of, tables_in
from worldodds.statistics.laws import poisson
from worldodds.statistics.terms import Group, Statistic, groups_of

MAX_WHOLE = 1_500_000
MAX_PART = 700_000
MAX_CELLS = 1.5e7  # of a law: counts used times values
FIRST_REACH = 0.04  # most that rounding may add to the statistic, at first
WIDEST_GAP = 0.005
MOST_LEVEL = 18.0
TIES = 1e-9  # values this near, relatively, are the same value
Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """P(statistic >= value) at rising ``values``; ``above`` has one entry more, for what lies past the last."""

    values: Floats  # (m,)
    above: Floats  # (m + 1,)
    blur: int  # grid cells by which rounding may have raised a value; 0 where nothing was rounded

    def __call__(self, thresholds: Floats) -> Floats:
        """Return P(statistic >= threshold); never below the exact probability."""
        return np.minimum(1.0, self.above[self._index(thresholds)])

    def gap(self, thresholds: Floats) -> Floats:
        """Return the largest share of each probability that can be due to rounding."""
        at = self._index(thresholds)
        sure = self.above[np.minimum(at + self.blur + 1, len(self.values))]
        return 1 - sure / self.above[at] if self.blur else np.zeros_like(thresholds)

    def _index(self, thresholds: Floats) -> NDArray[np.int64]:
        slack = self.values[1] * 1e-6 if self.blur else 1e-12
        return np.searchsorted(self.values, thresholds * (1 - TIES) - slack)


def tail_law(odds: tuple[Fraction, ...], n: int, statistic: Statistic, thresholds: Floats) -> Tail:
    """Return the tail of the null law, for the given thresholds.

    Exact where all tables up to order within equal odds can be listed; else as `convolved_tail`.
    """
    if tables_in(groups_of(odds, n, statistic), n, whole=True) <= MAX_WHOLE:
        return _listed(odds, n, statistic)
    return convolved_tail(odds, n, statistic, thresholds)


def convolved_tail(odds: tuple[Fraction, ...], n: int, statistic: Statistic, thresholds: Floats) -> Tail:
    """Return a tail that is never below the exact one, and within 0.5% of it at every threshold.

    Outcomes are dealt to parts whose tables can be listed. Each part's statistic is rounded up to a grid, the parts are
    combined by Fourier transform, tilted so that small probabilities keep their accuracy, and the grid is refined until
    the mass that rounding may have moved is small enough, or the law no longer fits in memory (`Tail.gap` tells).
    """
    parts = _parts(groups_of(odds, n, statistic), n)
    highest = float(thresholds.max())
    finest = highest * (n + 1) * len(parts) / MAX_CELLS
    reach = max(FIRST_REACH, finest)
    while True:
        law = _convolved(parts, n, highest, reach / len(parts))
        gap = float(law.gap(thresholds).max())
        if gap <= WIDEST_GAP or reach <= finest:
            return law
        reach = max(finest, min(reach / 2, 0.8 * reach * WIDEST_GAP / gap))


@lru_cache(maxsize=16)
def _listed(odds: tuple[Fraction, ...], n: int, statistic: Statistic) -> Tail:
    whole = half_of(groups_of(odds, n, statistic), n, inf, whole=True)
    order = np.argsort(whole.value)
    above = np.append(np.cumsum(whole.mass[order][::-1])[::-1], 0.0)
    return Tail(values=whole.value[order], above=above / float(poisson(float(n), n)[n]), blur=0)


def _parts(groups: Sequence[Group], n: int) -> list[list[Group]]:
    parts: list[list[Group]] = []
    for group in sorted(groups, key=lambda g: -g.size):
        for part in parts:
            if tables_in([*part, group], n) <= MAX_PART:
                part.append(group)
                break
        else:
            parts.extend(_pieces(group, n))
    return parts


def _pieces(group: Group, n: int) -> list[list[Group]]:
    """Cut a group of equal odds into as few pieces as can be listed."""
    size = group.size
    while tables_in([group.resized(size)], n) > MAX_PART:
        size -= 1
    pieces = ceil(group.size / size)
    sizes = [group.size // pieces + (i < group.size % pieces) for i in range(pieces)]
    return [[group.resized(s)] for s in sizes]


def _convolved(parts: Sequence[Sequence[Group]], n: int, highest: float, step: float) -> Tail:
    cells = ceil(highest / step) + 1
    halves = [half_of(part, n, (cells - 1) * step) for part in parts]
    rows = [_rows(half, n, step, cells) for half in halves]
    tilt = _tilt(rows, step, highest)
    law, over = rows[0], halves[0].over
    for i, (half, mass) in enumerate(zip(halves[1:], rows[1:], strict=True), start=2):
        over = _convolve(over, poisson(n * half.share, n)) + _convolve(law.sum(axis=1), half.over)
        law, past = _product(law, mass, tilt, last=i == len(parts))
        over = over + past
    above = np.append(np.cumsum(law[n, ::-1])[::-1], 0.0) + over[n]
    return Tail(values=(step * np.arange(cells)).astype(np.float64), above=above * _scale(n), blur=len(parts))


def _product(a: Floats, b: Floats, tilt: float, *, last: bool) -> tuple[Floats, Floats]:
    """Convolve two laws over counts used (rows) and statistic (columns); return what stays on the grid, and the rest.

    For the ``last`` product only the row of all counts is made.
    """
    rows, cells = a.shape
    length = int(next_fast_len(2 * cells, real=True) or 2 * cells)
    left, right = _transform(a, tilt, length), _transform(b, tilt, length)
    law, over = np.zeros_like(a), np.zeros(rows)
    for m in range(rows - 1 if last else 0, rows):
        both = np.maximum(np.fft.irfft((left[: m + 1] * right[m::-1]).sum(axis=0), length), 0.0)[: 2 * cells]
        both = both * np.exp(-tilt * np.arange(len(both)))
        law[m], over[m] = both[:cells], both[cells:].sum()
    return law, over


def _tilt(rows: Sequence[Floats], step: float, highest: float) -> float:
    """Theta, a cell, whose weights ``exp(theta t)`` level the law up to ``highest``: so a transform keeps its tail.

    Theta minimises Chernoff's bound there, short of swamping the law's middle.
    """
    values = step * np.arange(rows[0].shape[1])
    best, least = 0.0, 0.0
    for theta in np.geomspace(1e-3, 20.0, 60):
        with np.errstate(divide="ignore"):
            shifted = [np.log(row.sum(axis=0)) + theta * values for row in rows]
        log_mean = sum(float(s.max() + np.log(np.exp(s - s.max()).sum())) for s in shifted)
        if log_mean > MOST_LEVEL:
            break
        if log_mean - theta * highest < least:
            best, least = float(theta), log_mean - theta * highest
    return best * step


def _transform(law: Floats, tilt: float, length: int) -> Complexes:
    with np.errstate(divide="ignore"):  # masses may be too small for the weights alone to be floats
        level = np.exp(np.log(law) + tilt * np.arange(law.shape[1]))
    return np.fft.rfft(level, length, axis=1)


def _convolve(a: Floats, b: Floats) -> Floats:
    return np.convolve(a, b)[: len(a)]


def _scale(n: int) -> float:
    return (1 + 1e-6) / float(poisson(float(n), n)[n])  # 1e-6 covers the rounding errors of the transforms


def _rows(half: Half, n: int, step: float, cells: int) -> Floats:
    """Masses by counts used and statistic, rounded up to the grid: shape (n + 1, cells)."""
    cell = np.ceil(half.value / step - 1e-9).astype(np.int64)
    flat: Floats = np.bincount(half.used * cells + cell, half.mass, (n + 1) * cells).astype(np.float64)
    return flat.reshape(n + 1, cells)
