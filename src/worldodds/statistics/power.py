"""What a number of rollouts can see: the power of the exact G test against a contamination spike.

The spike is the paper's: a share of rollouts always ends in one outcome, p = (1 - e) p0 + e [outcome]. Where the
tables of counts are few the power is exact; elsewhere it comes from seeded draws, within about 0.005.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, chndtr, gammaln, kl_div, xlogy

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics.cell import ReferenceLike, as_reference
from worldodds.statistics.checks import check_level, check_size

Floats = NDArray[np.float64]
Tables = NDArray[np.int64]

MOST_TABLES = 20_000
NULL_DRAWS = 24_000
DRAWS = 12_000


def default_spike(reference: ReferenceLike) -> int:
    """Return the outcome a collapsing model is supposed to favour.

    The likeliest outcome if there is one (the centre of a Galton board), else the rarest possible one if there is one
    (green), else the first: this gives the paper's choice in all nine scenes.

    >>> default_spike([0.25, 0.5, 0.25]), default_spike(["18/37", "18/37", "1/37"]), default_spike(["1/2", "1/2"])
    (1, 2, 0)
    """
    odds = as_reference(reference).odds
    for extreme in (max(odds, default=0), min((o for o in odds if o > 0), default=0)):
        if odds.count(extreme) == 1:
            return odds.index(extreme)
    return 0


def spiked(reference: ReferenceLike, tv: float, *, spike: int | None = None) -> Floats:
    """Return the odds at total variation ``tv`` from the reference along the spike, shape (k,).

    Raises:
        StatisticsError: ``tv`` below 0 or beyond what the spike can reach (1 - its odds), ``spike`` outside 0 .. k-1.

    >>> spiked([0.5, 0.5], 0.2).round(3).tolist()
    [0.7, 0.3]
    """
    p = as_reference(reference).probabilities
    place = _checked_spike(spike, as_reference(reference))
    reach = 1 - p[place]
    if not 0 <= tv <= reach + 1e-12:
        raise StatisticsError(f"tv: {tv} is out of range; a spike on outcome {place + 1} reaches 0 to {reach:.4g}")
    share = min(1.0, tv / reach) if reach > 0 else 0.0
    return (1 - share) * p + share * np.eye(len(p))[place]


def power_of_test(
    reference: ReferenceLike,
    n: int,
    *,
    tv: float,
    alpha: float = 0.05,
    spike: int | None = None,
    seed: int = 0,
) -> float:
    """Return the chance that exact G at level ``alpha`` rejects after ``n`` valid outcomes of a spiked model.

    Raises:
        StatisticsError: ``n`` below 1, ``alpha`` outside (0, 1), ``tv`` out of the spike's reach.

    >>> round(power_of_test([0.5, 0.5], 32, tv=0.25), 3)
    0.737
    """
    check_size("n", n)
    check_level("alpha", alpha)
    return _rejection(as_reference(reference), n, alpha, seed).chance(spiked(reference, tv, spike=spike))


def detectable_tv(
    reference: ReferenceLike,
    n: int,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    spike: int | None = None,
    seed: int = 0,
) -> float | None:
    """Return the smallest TV that exact G sees with this power after ``n`` valid outcomes; ``None`` if none is.

    Raises:
        StatisticsError: ``n`` below 1, ``power`` or ``alpha`` outside (0, 1).

    >>> round(detectable_tv([0.5, 0.5], 32), 2)
    0.27
    """
    check_size("n", n)
    check_level("power", power)
    check_level("alpha", alpha)
    expected = as_reference(reference)
    place = _checked_spike(spike, expected)
    rejection = _rejection(expected, n, alpha, seed)
    low, high = 0.0, float(1 - expected.probabilities[place])
    if rejection.chance(spiked(expected, high, spike=place)) < power:
        return None
    while high - low > 5e-4:
        middle = (low + high) / 2
        seen = rejection.chance(spiked(expected, middle, spike=place)) >= power
        low, high = (low, middle) if seen else (middle, high)
    return high


def rollouts_to_detect(
    reference: ReferenceLike,
    *,
    tv: float,
    power: float = 0.8,
    alpha: float = 0.05,
    spike: int | None = None,
    seed: int = 0,
) -> int:
    """Return the valid outcomes from which on exact G sees a spike at ``tv`` with this power.

    With two outcomes power rises in a sawtooth; the answer is the smallest n from which it stays.

    Raises:
        StatisticsError: ``tv`` not above 0 or out of the spike's reach, ``power`` or ``alpha`` outside (0, 1).

    >>> rollouts_to_detect([0.5, 0.5], tv=0.25)
    35
    """
    check_level("tv", tv)
    check_level("power", power)
    check_level("alpha", alpha)
    expected = as_reference(reference)
    q = spiked(expected, tv, spike=spike)
    guess = _asymptotic_n(expected.probabilities, q, power, alpha)
    if expected.k == 2:
        return smallest_lasting(lambda n: _rejection(expected, n, alpha, seed).chance(q) >= power, guess)
    return smallest(lambda n: _rejection(expected, n, alpha, seed).chance(q) >= power, guess)


@dataclass(frozen=True, slots=True)
class _Rejection:
    """The rejection region of exact G at one n: as tables, or as a critical value with seeded draws."""

    n: int
    critical: float
    terms: Floats  # (k, n + 1), the share of G of each outcome at each count
    tables: Tables | None  # those in the region, (tables, k)
    seed: int

    def chance(self, q: Floats) -> float:
        """Chance of rejecting when the odds are ``q``."""
        if self.tables is not None:
            return min(1.0, float(np.exp(_log_mass(self.tables, q)).sum()))
        draws = np.random.default_rng((self.seed, 1)).multinomial(self.n, q, size=DRAWS)
        return float((_g_of(draws, self.terms) >= self.critical).mean())


def _rejection(reference: Reference, n: int, alpha: float, seed: int) -> _Rejection:
    return _rejection_of(tuple(reference.probabilities.tolist()), n, alpha, seed)


@lru_cache(maxsize=256)
def _rejection_of(odds: tuple[float, ...], n: int, alpha: float, seed: int) -> _Rejection:
    p, counts = np.array(odds), np.arange(n + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts > 0, 2 * (xlogy(counts, counts / n) - counts * np.log(p)[:, None]), 0.0)
    if math.comb(n + len(p) - 1, len(p) - 1) > MOST_TABLES:
        draws = np.random.default_rng((seed, 0)).multinomial(n, p, size=NULL_DRAWS)
        critical = _critical(_g_of(draws, terms), np.full(NULL_DRAWS, 1 / NULL_DRAWS), alpha)
        return _Rejection(n, critical, terms, None, seed)
    tables = all_tables(n, len(p))
    values = _g_of(tables, terms)
    critical = _critical(values, np.exp(_log_mass(tables, p)), alpha)
    return _Rejection(n, critical, terms, tables[values >= critical], seed)


def all_tables(n: int, k: int) -> Tables:
    """Return every table of ``n`` counts over ``k`` outcomes, shape (tables, k).

    >>> all_tables(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    tables, left = np.zeros((1, 0), dtype=np.int64), np.array([n])
    for _ in range(k - 1):
        parent = np.repeat(np.arange(len(left)), left + 1)
        starts = np.repeat(np.cumsum(left + 1) - (left + 1), left + 1)
        count = np.arange(len(parent)) - starts
        tables = np.concatenate([tables[parent], count[:, None]], axis=1)
        left = left[parent] - count
    return np.concatenate([tables, left[:, None]], axis=1)


def _g_of(tables: Tables, terms: Floats) -> Floats:
    # rounded so that tables tied up to the order of addition stay tied
    return np.round(terms[np.arange(len(terms)), tables].sum(axis=1), 9)


def _log_mass(tables: Tables, q: Floats) -> Floats:
    n = int(tables[0].sum()) if len(tables) else 0
    return gammaln(n + 1) - gammaln(tables + 1).sum(axis=1) + xlogy(tables, q).sum(axis=1)


def _critical(values: Floats, mass: Floats, alpha: float) -> float:
    """Smallest attained value that is reached or passed with probability at most ``alpha``; infinite if none is."""
    attained, place = np.unique(values, return_inverse=True)
    tail = np.cumsum(np.bincount(place, mass)[::-1])[::-1]
    rare = attained[tail <= alpha + 1e-12]
    return float(rare[0]) if len(rare) else math.inf


def _asymptotic_n(p: Floats, q: Floats, power: float, alpha: float) -> int:
    """Valid outcomes needed if G were non-central chi-squared: a place to start looking."""
    df, divergence = int((p > 0).sum()) - 1, float(kl_div(q, p).sum())
    if df == 0 or not 0 < divergence < math.inf:
        return 8
    bar = float(chdtri(df, alpha))
    return max(2, math.ceil(inverted(lambda size: 1 - float(chndtr(bar, df, size)), power) / (2 * divergence)))


def inverted(rising: Callable[[float], float], target: float) -> float:
    """Return where a continuous rising function of a positive number reaches ``target``, by bisection."""
    low, high = 0.0, 1.0
    while rising(high) < target:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < target else (low, middle)
    return high


def smallest_lasting(enough: Callable[[int], bool], guess: int) -> int:
    """Return the smallest n from which on ``enough`` holds, for a sawtooth that has settled by twice the guess."""
    n = 2 * guess + 40
    while not enough(n):
        n *= 2
    while n > 1 and enough(n - 1):
        n -= 1
    return n


def smallest(enough: Callable[[int], bool], guess: int) -> int:
    """Return the smallest n at which ``enough`` holds, for a condition that stays true once it is."""
    low, high = 0, guess
    while not enough(high):
        low, high = high, high + max(1, high // 5)
    step = max(1, high // 5)
    while high - step > low and enough(high - step):
        high -= step
    low = max(low, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _checked_spike(spike: int | None, reference: Reference) -> int:
    if spike is None:
        return default_spike(reference)
    if not 0 <= spike < reference.k:
        raise StatisticsError(f"spike: {spike} is out of range; give an outcome from 0 to {reference.k - 1}")
    return spike
