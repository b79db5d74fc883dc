"""Many cells with one reference at once: distance, floor, score and p-values of a hundred thousand cells in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics.cell import ReferenceLike, as_reference
from worldodds.statistics.exact import multinomial_test
from worldodds.statistics.floor import floors
from worldodds.statistics.interval import score_rows
from worldodds.statistics.tails import WIDEST_GAP, tail_law
from worldodds.statistics.terms import STATISTICS, Statistic, terms

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkMeasures:
    """Measures of m cells, one entry each; not-a-number where a cell has no valid outcome, as arrays have no None."""

    n: Integers  # (m,) valid outcomes
    scorability: Floats  # (m,)
    tv: Floats  # (m,)
    floor: Floats  # (m,) mean total variation of a calibrated model
    score: Floats  # (m,) 1 where nothing was readable


def measure_many(
    counts: NDArray[np.integer], reference: ReferenceLike, *, nulls: NDArray[np.integer] | None = None
) -> BulkMeasures:
    """Measure cells that share a reference: ``counts`` (m, k) and ``nulls`` (m,), none if left out.

    Raises:
        StatisticsError: counts that are not whole or are negative, another number of outcomes than the reference's, or
            a cell with neither outcome nor null.

    >>> measure_many(np.array([[9, 21], [0, 32]]), [0.5, 0.5]).tv.round(12).tolist()
    [0.2, 0.5]
    """
    expected = as_reference(reference)
    seen = checked_rows(counts, expected.k)
    lost = np.zeros(len(seen), dtype=np.int64) if nulls is None else checked_rows(np.reshape(nulls, (-1, 1)), 1)[:, 0]
    if lost.shape != seen.shape[:1]:
        raise StatisticsError(f"nulls: {len(lost)} given for {len(seen)} cells; give one a cell")
    n = seen.sum(axis=1)
    if not (n + lost).all():
        raise StatisticsError(f"counts: cell {int(np.argmin(n + lost))} holds neither outcome nor null; leave it out")
    tv = np.abs(seen / np.maximum(n, 1)[:, None] - expected.probabilities).sum(axis=1) / 2
    floor = floors(expected, max(1, int(n.max(initial=1))))[n]
    empty = n == 0
    tv[empty] = floor[empty] = np.nan
    score = score_rows(seen, n + lost, expected)
    return BulkMeasures(n=n, scorability=n / (n + lost), tv=tv, floor=floor, score=score)


def p_values_of_many(counts: NDArray[np.integer], reference: ReferenceLike, *, statistic: Statistic = "g") -> Floats:
    """Return the p-values of `multinomial_test` for cells (m, k) that share a reference; not-a-number where n = 0.

    One null law a value of n serves all its cells. Exact where the law can be listed; elsewhere never below the exact
    p-value and within 0.5% of it.

    >>> p_values_of_many(np.array([[3, 3, 0], [6, 0, 0]]), [1 / 3, 1 / 3, 1 / 3]).round(6).tolist()
    [0.259259, 0.004115]
    """
    if statistic not in STATISTICS:
        raise StatisticsError(f"statistic: {statistic!r} is not one of {', '.join(STATISTICS)}")
    expected = as_reference(reference)
    seen = checked_rows(counts, expected.k)
    n = seen.sum(axis=1)
    p = np.full(len(seen), np.nan)
    if expected.counts is not None:
        p[n > 0] = [multinomial_test(row.tolist(), expected, statistic=statistic).p_value for row in seen[n > 0]]
        return p
    for size in np.unique(n[n > 0]).tolist():
        p[n == size] = _of_one_size(seen[n == size], expected.odds, size, statistic)
    return p


def checked_rows(counts: NDArray[np.integer], k: int) -> Integers:
    """Return counts (m, k) as whole numbers, or refuse them."""
    rows = np.asarray(counts)
    if rows.ndim != 2 or rows.shape[1] != k:
        raise StatisticsError(f"counts: shape {rows.shape} given; it must be (cells, {k})")
    whole = rows.astype(np.int64)
    if (whole != rows).any() or (whole < 0).any():
        raise StatisticsError("counts: some are negative or not whole; give whole numbers, 0 or more")
    return whole


def _of_one_size(seen: Integers, odds: tuple[Fraction, ...], n: int, statistic: Statistic) -> Floats:
    possible = np.array([o > 0 for o in odds])
    value = np.zeros(len(seen))
    for column, o in zip(seen.T, odds, strict=True):
        if o:
            value += terms(np.arange(n + 1), float(n * o), statistic)[column]
    ruled_out = seen[:, ~possible].any(axis=1)
    if possible.sum() == 1 or ruled_out.all():
        return np.where(ruled_out, 0.0, 1.0)
    law = tail_law(odds, n, statistic, value[~ruled_out])
    p = law(value)
    for i in np.flatnonzero(~ruled_out & (law.gap(value) > WIDEST_GAP)):  # too far out for the common law
        p[i] = multinomial_test(seen[i].tolist(), Reference.of(odds), statistic=statistic).p_value
    return np.where(ruled_out, 0.0, p)
