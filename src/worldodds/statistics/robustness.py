"""How much of a verdict hangs on the judge and on unreadable rollouts.

Two attacks on a verdict of "miscalibrated": some labels are wrong, or nulls hide the outcomes that would have restored
the balance. Each is given its most favourable form for the model, then tested as usual; what is still rejected
survives.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, xlogy

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics.cell import Cell, CountsLike, ReferenceLike, as_cell
from worldodds.statistics.checks import LEAST_VALID, check_level, check_rate, check_size
from worldodds.statistics.distance import excess, null_floor, total_variation
from worldodds.statistics.exact import multinomial_test
from worldodds.statistics.multiplicity import benjamini_hochberg

Floats = NDArray[np.float64]
SLACK = 0.002
MOST_WRONG_LABELS = 5


def relabelled(counts: CountsLike, reference: ReferenceLike, *, wrong: int) -> Counts:
    """Return the counts after up to ``wrong`` labels were moved so as to lower G most; G is convex, so greedily.

    Raises:
        StatisticsError: ``wrong`` negative or not whole, counts that do not belong to the reference.

    >>> relabelled([10, 2], [0.5, 0.5], wrong=3).counts
    (7, 5)
    """
    check_size("wrong", wrong, least=0)
    seen, expected = as_cell(counts, reference)
    x = seen.array
    for _ in range(wrong):
        relief = np.where(x > 0, _rise(x - 1, expected), -np.inf)
        rise = _rise(x, expected)
        source, target = int(np.argmax(relief)), int(np.argmin(rise))
        if relief[source] - rise[target] <= 1e-12:
            break
        x[source] -= 1
        x[target] += 1
    return _with(seen, x)


def p_with_wrong_labels(counts: CountsLike, reference: ReferenceLike, *, wrong: int) -> float:
    """Return the largest exact-G p-value that ``wrong`` mistaken labels allow.

    Where the reference was counted in an experiment the p-value is the two-sample one, whose law moves with the counts:
    for two outcomes it is the largest over all relabellings, for more over those of lowest G, by number of labels
    moved, and all that differ from them by one label.

    Raises:
        StatisticsError: ``wrong`` negative or not whole, no valid outcome.

    >>> round(p_with_wrong_labels([10, 2], [0.5, 0.5], wrong=1), 3)
    0.146
    """
    seen, expected = as_cell(counts, reference)
    best = relabelled(seen, expected, wrong=wrong)
    if expected.counts is None or wrong == 0:
        return multinomial_test(best, expected).p_value
    starts = [relabelled(seen, expected, wrong=moved) for moved in range(wrong + 1)]
    within = [c for c in _around(starts) if sum(max(0, a - b) for a, b in zip(c, seen.counts, strict=True)) <= wrong]
    return _largest_p([seen.counts, *within] if expected.k > 2 else _all_pairs(seen, wrong), expected)


def p_with_error_rate(counts: CountsLike, reference: ReferenceLike, *, rate: float) -> float:
    """Return an exact-G p-value valid when each label is wrong with probability at most ``rate``.

    With probability 0.998 at most m labels are wrong, m the binomial quantile; the p-value is that of m wrong labels
    plus 0.002.

    Raises:
        StatisticsError: ``rate`` outside [0, 0.5), no valid outcome.

    >>> round(p_with_error_rate([32, 0], [0.5, 0.5], rate=0.02), 4)
    0.002
    """
    check_rate("rate", rate)
    seen, expected = as_cell(counts, reference)
    if rate == 0:
        return multinomial_test(seen, expected).p_value
    wrong = next(m for m in range(seen.n + 1) if bdtr(m, seen.n, rate) >= 1 - SLACK)
    return min(1.0, SLACK + p_with_wrong_labels(seen, expected, wrong=wrong))


def completed(counts: CountsLike, reference: ReferenceLike) -> Counts:
    """Return the counts with every null given the outcome that keeps G of the whole lowest (greedy water-fill).

    >>> completed(Counts.of([10, 2], unreadable=5), Reference.uniform(2)).counts
    (10, 7)
    """
    seen, expected = as_cell(counts, reference)
    x = seen.array
    for _ in range(seen.n_total - seen.n):
        x[int(np.argmin(_rise(x, expected)))] += 1
    return _with(seen, x, nulls=False)


def p_with_any_nulls(counts: CountsLike, reference: ReferenceLike) -> float:
    """Return an exact-G p-value valid whatever makes rollouts unreadable: that of the most favourable completion.

    Where the reference was counted, of all completions for two outcomes; for more, of that of lowest G and its
    neighbours.

    Raises:
        StatisticsError: nothing was read.

    >>> round(p_with_any_nulls(Counts.of([20, 2], unreadable=10), Reference.uniform(2)), 3)
    0.215
    """
    seen, expected = as_cell(counts, reference)
    best = completed(seen, expected)
    if expected.counts is None or seen.n == seen.n_total:
        return multinomial_test(best, expected).p_value
    fits = [c for c in _around([best]) if all(a >= b for a, b in zip(c, seen.counts, strict=True))]
    nulls, (first, *others) = seen.n_total - seen.n, seen.counts
    if expected.k == 2:
        fits = [(first + given, others[0] + nulls - given) for given in range(nulls + 1)]
    return _largest_p(fits, expected)


def wrong_labels_survived(
    cells: Sequence[Cell], *, alpha: float = 0.05, most: int = MOST_WRONG_LABELS
) -> list[int | None]:
    """Return how many wrong labels in every cell each verdict survives, up to ``most``; ``None``: not rejected at all.

    Benjamini-Hochberg is run anew over the cells with four valid outcomes, each at its worst relabelling.

    Raises:
        StatisticsError: ``alpha`` outside (0, 1), ``most`` negative.

    >>> wrong_labels_survived([([12, 2], [0.5, 0.5]), ([32, 0], [0.5, 0.5]), ([5, 5], [0.5, 0.5])])
    [0, 5, None]
    """
    check_size("most", most, least=0)
    survived: list[int | None] = [None] * len(cells)
    for wrong in range(most + 1):
        rejected = _rejected(cells, lambda c, r, m=wrong: p_with_wrong_labels(c, r, wrong=m), alpha)
        survived = [wrong if hit else before for hit, before in zip(rejected, survived, strict=True)]
        if not any(rejected):
            break
    return survived


def survives_error_rate(cells: Sequence[Cell], *, rate: float, alpha: float = 0.05) -> list[bool]:
    """Return which cells stay rejected, after Benjamini-Hochberg, if the judge errs at ``rate`` everywhere.

    Raises:
        StatisticsError: ``rate`` outside [0, 0.5), ``alpha`` outside (0, 1).

    >>> survives_error_rate([([32, 0], [0.5, 0.5]), ([12, 2], [0.5, 0.5])], rate=0.05)
    [True, False]
    """
    check_rate("rate", rate)
    return _rejected(cells, lambda c, r: p_with_error_rate(c, r, rate=rate), alpha)


def survives_any_nulls(cells: Sequence[Cell], *, alpha: float = 0.05) -> list[bool]:
    """Return which cells stay rejected, after Benjamini-Hochberg, under any mechanism of nulls in every cell.

    Raises:
        StatisticsError: ``alpha`` outside (0, 1).

    >>> survives_any_nulls([(Counts.of([20, 2], unreadable=10), [0.5, 0.5]), ([30, 2], [0.5, 0.5])])
    [False, True]
    """
    return _rejected(cells, p_with_any_nulls, alpha)


def imputed(counts: CountsLike, reference: ReferenceLike, *, best: bool) -> Counts:
    """Return the paper's imputation of nulls: filling the largest deficits (best), or all on one outcome (worst).

    Source: CaliBench (arXiv 2608.16829), sensitivity to nulls.

    >>> seen = Counts.of([10, 2], unreadable=4)
    >>> imputed(seen, [0.5, 0.5], best=True).counts, imputed(seen, [0.5, 0.5], best=False).counts
    ((10, 6), (14, 2))
    """
    seen, expected = as_cell(counts, reference)
    x, goal = seen.array, seen.n_total * expected.probabilities
    nulls = seen.n_total - seen.n
    if best:
        for _ in range(nulls):
            x[int(np.argmax(goal - x))] += 1
    elif nulls:
        options = x + nulls * np.eye(expected.k, dtype=np.int64)
        x = options[int(np.argmax(np.abs(options - goal).sum(axis=1)))]
    return _with(seen, x, nulls=False)


def tv_bounds(counts: CountsLike, reference: ReferenceLike) -> tuple[float, float]:
    """Return the least and the largest TV over all rollouts read that the nulls could hide.

    Raises:
        StatisticsError: nothing was read.

    >>> tv_bounds(Counts.of([10, 2], unreadable=4), Reference.uniform(2))
    (0.125, 0.375)
    """
    best, worst = (total_variation(imputed(counts, reference, best=b), reference) for b in (True, False))
    return best, worst


def mean_tv_bounds(cells: Sequence[Cell]) -> tuple[float, float]:
    """Return the bounds of a model's mean TV; models whose bounds overlap are ranked only by charging for nulls.

    Raises:
        StatisticsError: no cells, a cell of which nothing was read.

    >>> mean_tv_bounds([(Counts.of([10, 2], unreadable=4), [0.5, 0.5]), ([8, 8], [0.5, 0.5])])
    (0.0625, 0.1875)
    """
    return _mean([tv_bounds(counts, reference) for counts, reference in cells])


def mean_score_bounds(cells: Sequence[Cell]) -> tuple[float, float]:
    """Return the bounds of mnTV if every null had an outcome: excess TV at n = N instead of a charge of 1 a null.

    Raises:
        StatisticsError: no cells, a cell of which nothing was read.

    >>> low, high = mean_score_bounds([(Counts.of([10, 2], unreadable=4), [0.5, 0.5])])
    >>> round(low, 3), round(high, 3)
    (0.03, 0.307)
    """
    bounds: list[tuple[float, float]] = []
    for counts, reference in cells:
        seen, expected = as_cell(counts, reference)
        low, high = tv_bounds(seen, expected)
        floor = null_floor(expected, seen.n_total)
        bounds.append((excess(low, floor), excess(high, floor)))
    return _mean(bounds)


def _rise(x: NDArray[np.int64], reference: Reference) -> Floats:
    """Half of what G rises by when an outcome is seen once more, up to a constant; infinite at odds 0."""
    more = np.maximum(x, 0) + 1
    if reference.counts is not None:  # of the two-sample G, whose terms are x ln x - (x + e) ln(x + e)
        both = np.maximum(x, 0) + np.array(reference.counts)
        return xlogy(more, more) - xlogy(more - 1, more - 1) - xlogy(both + 1, both + 1) + xlogy(both, both)
    with np.errstate(divide="ignore"):
        return xlogy(more, more) - xlogy(np.maximum(x, 0), np.maximum(x, 0)) - np.log(reference.probabilities)


def _around(starts: Sequence[Counts]) -> list[tuple[int, ...]]:
    """Return tables and all that differ from one of them by one label, without repeats."""
    found: dict[tuple[int, ...], None] = {}
    for start in starts:
        found[start.counts] = None
        for source, target in itertools.permutations(range(len(start.counts)), 2):
            if start.counts[source]:
                moved = list(start.counts)
                moved[source] -= 1
                moved[target] += 1
                found[tuple(moved)] = None
    return list(found)


def _all_pairs(seen: Counts, wrong: int) -> list[tuple[int, ...]]:
    first, second = seen.counts
    return [(first + moved, second - moved) for moved in range(-min(wrong, first), min(wrong, second) + 1)]


def _largest_p(tables: Sequence[tuple[int, ...]], reference: Reference) -> float:
    return max(multinomial_test(table, reference).p_value for table in tables)


def _with(seen: Counts, x: NDArray[np.int64], *, nulls: bool = True) -> Counts:
    kept = (seen.unreadable, seen.out_of_schema) if nulls else (0, 0)
    return Counts(labels=seen.labels, counts=tuple(x.tolist()), unreadable=kept[0], out_of_schema=kept[1])


def _rejected(cells: Sequence[Cell], p_value: Callable[[Counts, Reference], float], alpha: float) -> list[bool]:
    check_level("alpha", alpha)
    pairs = [as_cell(counts, reference) for counts, reference in cells]
    q_values = benjamini_hochberg([p_value(c, r) if c.n >= LEAST_VALID else None for c, r in pairs])
    return [q is not None and q <= alpha for q in q_values]


def _mean(bounds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    if not bounds:
        raise StatisticsError("cells: none given; bounds need at least one")
    low, high = np.mean(bounds, axis=0).tolist()
    return low, high
