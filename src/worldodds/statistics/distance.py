"""How far outcomes lie from their odds, and how far they would lie by chance alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import xlogy

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts
from worldodds.statistics.cell import (
    Cell,
    CountsLike,
    ReferenceLike,
    as_cell,
    as_counts,
    as_reference,
)
from worldodds.statistics.checks import check_level, check_size
from worldodds.statistics.floor import floors, mean_deviation
from worldodds.statistics.large import is_large, tv_band
from worldodds.statistics.laws import total_variation_law
from worldodds.statistics.observed import band_of, mean_distances


def total_variation(counts: CountsLike, reference: ReferenceLike) -> float:
    """Total variation between what was seen and the odds: half the sum of ``|x_i / n - p_i|``, nulls left out.

    Raises:
        StatisticsError: no valid outcome at all.

    >>> total_variation([9, 21], [0.5, 0.5])
    0.2
    """
    seen, expected = as_cell(counts, reference)
    n = _some(seen)
    weights, total = expected.weights  # whole numbers, so that only the last division rounds
    return sum(abs(total * x - n * w) for x, w in zip(seen.counts, weights, strict=True)) / (2 * n * total)


def null_floor(reference: ReferenceLike, n: int) -> float:
    """Mean total variation of a perfectly calibrated model after ``n`` valid outcomes, exactly.

    Each ``X_i`` is Binomial(n, p_i), whose mean deviation has De Moivre's closed form
    ``E|X - np| = 2 v (1 - p) P(X = v)`` with ``v = floor(np) + 1`` (Diaconis and Zabell, Statistical Science 1991).
    Where the reference was counted in an experiment, both it and the model are drawn, from the shares seen: the floor
    is then higher, and itself an estimate.

    >>> round(null_floor([0.5, 0.5], 32), 4)
    0.07
    """
    expected = as_reference(reference)
    check_size("n", n)
    return float(floors(expected, n)[n])


def excess(tv: float, floor: float) -> float:
    """Share of the way from chance to the worst: ``(TV - E0) / (1 - E0)``; below 0 where nearer than chance.

    >>> round(excess(0.25, 0.0700), 3)
    0.194
    """
    if not 0 <= floor < 1:
        raise StatisticsError(f"floor: {floor} given; it must be at least 0 and below 1")
    return (tv - floor) / (1 - floor)


def cell_score(rho: float, tv: float | None, floor: float | None) -> float:
    """CaliBench's score of a cell, ``(1 - rho) + rho * excess``, not clipped; 1 where nothing was readable.

    ``tv`` and ``floor`` may be None only where ``rho`` is 0 (arXiv 2608.16829).

    >>> cell_score(0.0, None, None)
    1.0
    """
    if not 0 <= rho <= 1:
        raise StatisticsError(f"rho: {rho} given; a share lies between 0 and 1")
    if rho == 0:
        return 1.0
    if tv is None or floor is None:
        raise StatisticsError(
            "tv: none given though some outcomes were readable; give the total variation and its floor"
        )
    return (1 - rho) + rho * excess(tv, floor)


def score_of(counts: CountsLike, reference: ReferenceLike) -> float:
    """Return the cell's score straight from its counts.

    Raises:
        StatisticsError: nothing was read at all, not even a null.

    >>> round(score_of(Counts.of([9, 21], unreadable=2), [0.5, 0.5]), 4)
    0.1916
    """
    seen, expected = as_cell(counts, reference)
    rho = seen.scorability
    if rho is None:
        raise StatisticsError("counts: nothing was read, so there is no score; give at least one outcome or null")
    if seen.n == 0:
        return 1.0
    return cell_score(rho, total_variation(seen, expected), null_floor(expected, seen.n))


def mean_score(cells: Sequence[Cell]) -> float:
    """mnTV: the mean of the cells' scores; 0 is calibrated, lower is better.

    >>> round(mean_score([([9, 21], [0.5, 0.5]), ([0, 32], [0.5, 0.5])]), 3)
    0.3
    """
    if not cells:
        raise StatisticsError("cells: none given; the mean needs at least one")
    return float(np.mean([score_of(counts, reference) for counts, reference in cells]))


def tv_total(counts: CountsLike, reference: ReferenceLike) -> float:
    """Total variation with every null charged in full: ``(1 - rho) + rho * TV``; 1 where nothing was readable.

    >>> round(tv_total(Counts.of([5, 15], unreadable=5), [0.5, 0.5]), 12)
    0.4
    """
    seen, expected = as_cell(counts, reference)
    rho = seen.scorability
    if rho is None:
        raise StatisticsError("counts: nothing was read; give at least one outcome or null")
    return 1.0 if seen.n == 0 else (1 - rho) + rho * total_variation(seen, expected)


def modal_share(counts: CountsLike) -> float:
    """Share of the valid outcomes that are the commonest one; 1 is collapse.

    >>> modal_share([1, 3, 0])
    0.75
    """
    seen = as_counts(counts)
    return max(seen.counts) / _some(seen)


def effective_outcomes(counts: CountsLike) -> float:
    """Number of equally common outcomes that would be as varied: the exponential of the plug-in Shannon entropy.

    Hill's number of order 1 (Hill, Ecology 1973). Biased downwards at small n; a description, not a test.

    >>> effective_outcomes([8, 8, 0, 0])
    2.0
    """
    seen = as_counts(counts)
    share = seen.array / _some(seen)
    return float(np.exp(-xlogy(share, share).sum()))


def null_band(reference: ReferenceLike, n: int, level: float = 0.95) -> tuple[float, float]:
    """Central band of the total variation of a perfectly calibrated model after ``n`` valid outcomes.

    Its ends are the smallest attainable values at which the exact null law reaches ``(1 - level) / 2`` and
    ``(1 + level) / 2``; no simulation. Where that would take too long (``n (k - 1) > 2500``, more than three outcomes)
    a gamma law of the right mean and spread stands in. Where the reference was counted in an experiment the band is of
    20,000 seeded pairs of samples.

    >>> null_band([0.5, 0.5], 32)
    (0.0, 0.1875)
    """
    expected = as_reference(reference)
    check_level("level", level)
    check_size("n", n)
    if expected.counts is not None:
        return band_of(expected.counts, n, level)
    if is_large(n, expected.k):
        return tv_band(expected.probabilities, n, null_floor(expected, n), level)
    tail = (1 - level) / 2
    values, cumulative = total_variation_law(expected.odds, n)
    # a quantile that the law reaches exactly must not be missed by a rounding error
    low, high = np.searchsorted(cumulative, [tail - 1e-12, 1 - tail - 1e-12])
    return float(values[low]), float(values[min(int(high), len(values) - 1)])


def wasserstein(counts: CountsLike, reference: ReferenceLike) -> float:
    """Wasserstein-1 distance in steps between neighbouring outcomes, for outcomes that have an order.

    The sum of ``|F_n(i) - F(i)|`` over the cumulative shares; at most k - 1. Near misses cost little.

    >>> wasserstein([0, 4, 0], [0, 0, 1]), wasserstein([4, 0, 0], [0, 0, 1])
    (1.0, 2.0)
    """
    seen, expected = as_cell(counts, reference)
    n = _some(seen)
    return float(np.abs(np.cumsum(seen.array / n - expected.probabilities)[:-1]).sum())


def wasserstein_floor(reference: ReferenceLike, n: int) -> float:
    """Mean Wasserstein-1 distance of a perfectly calibrated model after ``n`` valid outcomes, exactly.

    Cumulative counts are Binomial(n, F(i)), so De Moivre's formula serves again.

    >>> round(wasserstein_floor([0.5, 0.5], 32), 4) == round(null_floor([0.5, 0.5], 32), 4)
    True
    """
    check_size("n", n)
    expected = as_reference(reference)
    below = np.clip(np.cumsum(expected.probabilities)[:-1], 0.0, 1.0)
    if expected.n_observed is not None:
        return float(mean_distances(n, expected.n_observed, below).sum())
    return float(mean_deviation(np.array([n]), below).sum() / n)


def _some(seen: Counts) -> int:
    if seen.n == 0:
        raise StatisticsError("counts: n = 0; at least 1 valid outcome is needed")
    return seen.n
