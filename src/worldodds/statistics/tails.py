"""The whole upper tail of a statistic's null law, so that one law answers for any number of observed values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

from worldodds.statistics.enumerate import Half, half_of, tables_in
from worldodds.statistics.laws import poisson
from worldodds.statistics.terms import Group, Statistic, groups_of

MAX_WHOLE = 1_500_000
MAX_PART = 700_000
MAX_CELLS = 1.5e7  # of a law: counts used times values
FIRST_REACH = 0.2  # most that rounding may add to the statistic, at first
WIDEST_GAP = 0.005
MOST_LEVEL = 18.0  # where one law must serve values near and far
TIES = 1e-9  # values this near, relatively, are the same value
Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """P(statistic >= value) at rising ``values``; ``above`` has one entry more, for what lies past the last."""

    values: Floats  # (m,)
    above: Floats  # (m + 1,)
    blur: int = 0  # grid cells by which rounding may have raised a value; 0 where nothing was rounded
    tilt: float = 0.0  # of the transform, per unit of the statistic
    log_noise: float = -inf  # of its rounding errors, at value 0; they fall like exp(-tilt value)

    def __call__(self, thresholds: Floats) -> Floats:
        """Return P(statistic >= threshold); never below the exact probability."""
        return np.minimum(1.0, self.above[self._index(thresholds)])

    def gap(self, thresholds: Floats, atoms: Floats | float = 0.0) -> Floats:
        """Return the largest share of each probability that can be due to rounding.

        ``atoms`` are exact probabilities known to lie at the thresholds.
        """
        if not self.blur:
            return np.zeros_like(thresholds)
        at = self._index(thresholds)
        noise = np.exp(self.log_noise - self.tilt * thresholds)
        sure = self.above[np.minimum(at + self.blur + 1, len(self.values))] + atoms - noise
        return np.clip(1 - sure / np.maximum(self.above[at], 5e-324), 0.0, 1.0)

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


def convolved_tail(
    odds: tuple[Fraction, ...], n: int, statistic: Statistic, thresholds: Floats, atoms: Floats | float = 0.0
) -> Tail:
    """Return a tail that is never below the exact one, and within 0.5% of it at every threshold.

    Outcomes are dealt to parts whose tables can be listed. Each part's statistic is rounded up to a grid, the parts are
    combined by Fourier transform, tilted so that small probabilities keep their accuracy, and the grid is refined until
    the mass that rounding may have moved is small enough, or the law no longer fits in memory (`Tail.gap` tells).
    ``atoms`` are as there.
    """
    parts = _parts(groups_of(odds, n, statistic), n)
    highest = float(thresholds.max())
    finest = highest * (n + 1) * len(parts) / MAX_CELLS
    reach, before = max(FIRST_REACH, finest), 1.0
    while True:
        law = _convolved(parts, n, highest, reach / len(parts), inf if len(thresholds) == 1 else MOST_LEVEL)
        gap = float(law.gap(thresholds, atoms).max())
        if gap <= WIDEST_GAP or reach <= finest or (gap > 0.7 * before and reach < FIRST_REACH / 3):
            return law
        before = gap
        reach = max(finest, min(reach / 2, 0.8 * reach * WIDEST_GAP / gap))


def lattice_tail(groups: Sequence[Group], threshold: int, n: int) -> float:
    """Return P(statistic >= threshold) where all terms are whole numbers: nothing is rounded."""
    if threshold <= 0:
        return 1.0
    law = _convolved(_parts(groups, n), n, float(threshold), 1.0, inf)
    return float(replace(law, blur=0)(np.array([float(threshold)]))[0])


@lru_cache(maxsize=16)
def _listed(odds: tuple[Fraction, ...], n: int, statistic: Statistic) -> Tail:
    whole = half_of(groups_of(odds, n, statistic), n, inf, whole=True)
    order = np.argsort(whole.value)
    above = np.append(np.cumsum(whole.mass[order][::-1])[::-1], 0.0)
    return Tail(values=whole.value[order], above=above / float(poisson(float(n), n)[n]))


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


def _convolved(parts: Sequence[Sequence[Group]], n: int, highest: float, step: float, most_level: float) -> Tail:
    cells = ceil(highest / step) + len(parts) + 3  # past the highest by more than rounding can add
    halves = [half_of(part, n, (cells - 1) * step) for part in parts]
    rows = [_rows(half, n, step, cells) for half in halves]
    tilt, log_mean = _tilt(rows, highest / step, most_level)
    law, over, live = rows[0], halves[0].over, rows[0].sum(axis=1)
    for i, (half, mass) in enumerate(zip(halves[1:], rows[1:], strict=True), start=2):
        over = _convolve(over, poisson(n * half.share, n)) + _convolve(live, half.over)
        law, past = _product(law, mass, tilt, last=i == len(parts))
        over, live = over + past, np.maximum(_convolve(live, mass.sum(axis=1)) - past, 0.0)
    scale = 1 / float(poisson(float(n), n)[n])
    above = (np.append(np.cumsum(law[n, ::-1])[::-1], 0.0) + over[n]) * scale * (1 + 1e-9)
    values = (step * np.arange(cells)).astype(np.float64)
    noise = log_mean + log(scale) + log(1e-14)
    return Tail(values=values, above=above, blur=len(parts), tilt=tilt / step, log_noise=noise)


def _product(a: Floats, b: Floats, tilt: float, *, last: bool) -> tuple[Floats, Floats]:
    """Convolve two laws over counts used (rows) and statistic (columns); return what stays on the grid, and the rest.

    For the ``last`` product only the row of all counts is made.
    """
    rows, cells = a.shape
    length = int(next_fast_len(2 * cells, real=True) or 2 * cells)
    (left, top_left), (right, top_right) = _transform(a, tilt, length), _transform(b, tilt, length)
    law, over = np.zeros_like(a), np.zeros(rows)
    for m in range(rows - 1 if last else 0, rows):
        tops = top_left[: m + 1] + top_right[m::-1]
        both = (left[: m + 1] * right[m::-1] * np.exp(tops - tops.max())[:, None]).sum(axis=0)
        level = (
            _log(np.maximum(np.fft.irfft(both, length)[: 2 * cells], 0.0)) + tops.max() - tilt * np.arange(2 * cells)
        )
        mass = np.exp(np.minimum(level, 0.0))
        law[m], over[m] = mass[:cells], mass[cells:].sum()
    return law, over


def _tilt(rows: Sequence[Floats], highest: float, most_level: float) -> tuple[float, float]:
    """Theta, a cell, whose weights ``exp(theta t)`` level the law up to ``highest``, and the log of the mean weight.

    Theta minimises Chernoff's bound there, short of swamping the law's middle: so a transform keeps its tail.
    """
    best, log_mean_there = 0.0, 0.0
    bins = max(1, rows[0].shape[1] // 200)
    coarse = [_log(np.add.reduceat(row, np.arange(0, row.shape[1], bins), axis=1)) for row in rows]
    for theta in np.geomspace(0.03, 1000.0, 90) / highest:
        log_mean = _log_mean([law + theta * bins * np.arange(law.shape[1]) for law in coarse])
        if log_mean > most_level or log_mean - theta * highest > log_mean_there - best * highest:
            break
        best, log_mean_there = float(theta), log_mean
    return best, log_mean_there


def _log_mean(weighted: Sequence[Floats]) -> float:
    """Log of the summed weights of all tables that use all counts: a convolution over counts used, in logarithms."""
    total, *others = [np.logaddexp.reduce(law, axis=1) for law in weighted]
    n = len(total) - 1
    for other in others:
        total = np.array([np.logaddexp.reduce(total[: m + 1] + other[m::-1]) for m in range(n + 1)])
    return float(total[n])


def _transform(law: Floats, tilt: float, length: int) -> tuple[Complexes, Floats]:
    """Transform of each row, levelled and scaled to a maximum of 1, and the log of the scales."""
    level = _log(law) + tilt * np.arange(law.shape[1])  # masses may be too small for the weights to be floats
    top = level.max(axis=1)
    level -= np.where(top > -inf, top, 0.0)[:, None]
    return np.fft.rfft(np.exp(level), length, axis=1), np.maximum(top, -1e6)


def _log(law: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(law)


def _convolve(a: Floats, b: Floats) -> Floats:
    return np.convolve(a, b)[: len(a)]


def _rows(half: Half, n: int, step: float, cells: int) -> Floats:
    """Masses by counts used and statistic, rounded up to the grid: shape (n + 1, cells)."""
    cell = np.ceil(half.value / step - 1e-9).astype(np.int64)
    flat: Floats = np.bincount(half.used * cells + cell, half.mass, (n + 1) * cells).astype(np.float64)
    return flat.reshape(n + 1, cells)
