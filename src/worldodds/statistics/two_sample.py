"""Did this checkpoint, prompt or setting change the odds? Tests of two sets of rollouts of one scene."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from worldodds.errors import StatisticsError
from worldodds.statistics.cell import CountsLike, as_counts
from worldodds.statistics.checks import check_size
from worldodds.statistics.sequential import check_outcomes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MOST_TABLES = 200_000
MOST_EXACT_PAIRS = 16
SAME = 1e-9  # statistics this near, relatively, are tied and count in full


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSampleTest:
    """A test that two sets of rollouts have the same odds.

    Attributes:
        statistic: how far they are apart (G of the two-row table, or the paired form).
        p_value: exact, or of a seeded permutation; ``None`` without data, and ``reason`` says why.
        n: valid outcomes, or pairs of them, that entered.
        method: ``"exact conditional"``, ``"permutation"``, ``"exact paired"`` or ``"paired permutation"``.
    """

    statistic: float | None
    p_value: float | None
    n: int
    method: str
    reason: str = ""


def two_sample_test(a: CountsLike, b: CountsLike, *, rng: np.random.Generator, draws: int = 20_000) -> TwoSampleTest:
    """Test whether two sets of rollouts, made with different seeds, have the same odds; nulls are left out.

    Conditional on how often each outcome was seen in all: exact (Fisher, Freeman and Halton 1951, by G) where the
    tables are at most 200,000, else from ``draws`` permutations, p = (b + 1) / (draws + 1). Rollouts that share seeds
    are not independent: use `paired_test`.

    Raises:
        StatisticsError: other labels or another number of outcomes, ``draws`` below 1.

    >>> round(two_sample_test([3, 1], [1, 3], rng=np.random.default_rng(0)).p_value, 4)
    0.4857
    """
    check_size("draws", draws)
    first, second = as_counts(a), as_counts(b)
    if len(first.counts) != len(second.counts) or first.labels != second.labels:
        raise StatisticsError("a, b: their labels differ; only the same scene can be compared")
    columns = first.array + second.array
    if not first.n or not second.n:
        return TwoSampleTest(
            statistic=None, p_value=None, n=0, method="exact conditional", reason="one side has no valid outcome"
        )
    seen = columns > 0
    columns, row = columns[seen], first.array[seen]
    statistic = float(_g_of_rows(row[None, :], columns)[0])
    if number_of_rows(columns, first.n) <= MOST_TABLES:
        rows = rows_with_margins(columns, first.n)
        mass = np.exp(log_mass_of_rows(rows, columns))
        p_value = float(mass[_at_least(_g_of_rows(rows, columns), statistic)].sum() / mass.sum())
        method = "exact conditional"
    else:
        rows = rng.multivariate_hypergeometric(columns, first.n, size=draws, method="marginals")
        p_value = (1 + int(_at_least(_g_of_rows(rows, columns), statistic).sum())) / (draws + 1)
        method = "permutation"
    return TwoSampleTest(statistic=statistic, p_value=min(1.0, p_value), n=int(columns.sum()), method=method)


def paired_test(
    a: Sequence[int | None],
    b: Sequence[int | None],
    *,
    k: int,
    rng: np.random.Generator,
    draws: int = 20_000,
) -> TwoSampleTest:
    """Test the same where rollout i of both sides shares its seed: outcomes within a pair may be swapped.

    Pairs with a null are left out. The statistic is the sum of (a_j - b_j)^2 / (a_j + b_j); for two outcomes the test
    is McNemar's. Exact up to 16 pairs that disagree, else from ``draws`` random swaps.

    Raises:
        StatisticsError: sides of different length, an outcome outside 0 .. k-1, ``k`` below 2, ``draws`` below 1.

    >>> paired_test([0] * 6, [1] * 5 + [0], k=2, rng=np.random.default_rng(0)).p_value
    0.0625
    """
    check_size("draws", draws)
    check_size("k", k, least=2)
    if len(a) != len(b):
        raise StatisticsError(f"a, b: {len(a)} and {len(b)} readings; a pair needs one of each, in the order of seeds")
    check_outcomes([*a, *b], k)
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    if not pairs:
        return TwoSampleTest(
            statistic=None, p_value=None, n=0, method="exact paired", reason="no pair has two valid outcomes"
        )
    ones = np.eye(k, dtype=np.int64)
    steps = np.array([ones[x] - ones[y] for x, y in pairs if x != y], dtype=np.int64).reshape(-1, k)
    often = np.abs(steps).sum(axis=0)
    exact = len(steps) <= MOST_EXACT_PAIRS
    signs = _all_signs(len(steps)) if exact else rng.choice(np.array([-1, 1]), size=(draws, len(steps)))
    weight = np.divide(1.0, often, out=np.zeros(k), where=often > 0)
    statistic = float(np.square(steps.sum(axis=0)) @ weight)
    extreme = _at_least(np.square(signs @ steps) @ weight, statistic)
    p_value = float(extreme.mean()) if exact else (1 + int(extreme.sum())) / (draws + 1)
    method = "exact paired" if exact else "paired permutation"
    return TwoSampleTest(statistic=statistic, p_value=p_value, n=len(pairs), method=method)


def _at_least(values: Floats, seen: float) -> NDArray[np.bool_]:
    return values >= seen - SAME * max(1.0, abs(seen))


def _g_of_rows(rows: Integers, columns: Integers) -> Floats:
    """G of the two-row tables whose first rows are ``rows``, shape (tables, k)."""
    n, size = int(columns.sum()), rows[0].sum()
    rest = columns - rows
    margins = xlogy(columns, columns).sum() + xlogy(size, size) + xlogy(n - size, n - size) - xlogy(n, n)
    return 2 * (xlogy(rows, rows).sum(axis=1) + xlogy(rest, rest).sum(axis=1) - margins)


def log_mass_of_rows(rows: Integers, columns: Integers) -> Floats:
    """Logarithm of the chance of each first row, shape (tables, k), given both margins; shape (tables,)."""
    chosen = gammaln(columns + 1) - gammaln(rows + 1) - gammaln(columns - rows + 1)
    return chosen.sum(axis=1) - _log_choose(int(columns.sum()), int(rows[0].sum()))


def _log_choose(n: int, size: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(size + 1) - math.lgamma(n - size + 1)


def number_of_rows(columns: Integers, size: int) -> float:
    """Return how many first rows have this sum, within the column totals."""
    ways = np.zeros(size + 1)
    ways[0] = 1
    for column in columns:
        ways = np.convolve(ways, np.ones(min(int(column), size) + 1))[: size + 1]
    return float(ways[size])


def rows_with_margins(columns: Integers, size: int) -> Integers:
    """Return every first row with these column totals and this sum, shape (tables, k)."""
    rows, left = np.zeros((1, 0), dtype=np.int64), np.array([size])
    room = int(columns.sum())
    for column in columns.tolist():
        room -= column
        low = np.maximum(0, left - room)
        width = np.minimum(left, column) - low + 1
        parent = np.repeat(np.arange(len(left)), width)
        count = np.arange(len(parent)) - np.repeat(np.cumsum(width) - width, width) + low[parent]
        rows = np.concatenate([rows[parent], count[:, None]], axis=1)
        left = left[parent] - count
    return rows


def _all_signs(pairs: int) -> Integers:
    numbers = np.arange(2**pairs)[:, None]
    return 1 - 2 * ((numbers >> np.arange(pairs)) & 1)
