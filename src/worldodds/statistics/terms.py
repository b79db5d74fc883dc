"""Statistics that are sums over outcomes: one term an outcome, at least 0, larger meaning further from the odds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from worldodds.statistics.laws import log_poisson

Statistic = Literal["g", "chi2", "tv", "probability"]
STATISTICS: tuple[Statistic, ...] = ("g", "chi2", "tv", "probability")
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Outcomes with equal odds: how many there are, their odds, and the tables of one of them for counts 0 ... n.

    Given that all counts sum to n, multinomial probabilities are products of Poisson ones over the Poisson probability
    of n; ``log_mass`` holds the latter's logarithms, ``terms`` the statistic's.
    """

    size: int
    odds: Fraction
    terms: Floats  # (n + 1,)
    log_mass: Floats  # (n + 1,)

    def resized(self, size: int) -> Group:
        """Return the same tables for another number of outcomes."""
        return replace(self, size=size)


def groups_of(odds: Sequence[Fraction], n: int, statistic: Statistic) -> list[Group]:
    """Gather possible outcomes with equal odds, rarest first."""
    groups: list[Group] = []
    for p in sorted({o for o in odds if o > 0}):
        e = float(n * p)
        groups.append(
            Group(
                size=sum(o == p for o in odds),
                odds=p,
                terms=terms(np.arange(n + 1), e, statistic),
                log_mass=log_poisson(e, n),
            )
        )
    return groups


def terms(x: NDArray[np.int64], e: float, statistic: Statistic) -> Floats:
    """Return the statistic's term for counts ``x`` of an outcome expected ``e`` times.

    G: ``2 (x ln(x / e) - x + e)``; chi-squared: ``(x - e)^2 / e``; TV: ``|x - e|``, to be divided by 2 n;
    probability: ``-2 ln`` of the Poisson probability.
    """
    if statistic == "g":
        return np.maximum(0.0, 2 * (xlogy(x, x / e) - x + e))
    if statistic == "chi2":
        return np.square(x - e) / e
    if statistic == "tv":
        return np.abs(x - e)
    return np.multiply(-2.0, log_poisson(e, int(x.max()))[x])
