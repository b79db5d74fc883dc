"""How far outcomes lie from their odds by chance alone, for every n at once; without scipy, which is slow to load."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from worldodds.outcome import Reference

Floats = NDArray[np.float64]


def floors(reference: Reference, n_max: int) -> Floats:
    """Return null floors for n = 0 ... ``n_max`` or more; entry 0 is 0 and means nothing. Read-only, cached."""
    size = max(64, 1 << (n_max - 1).bit_length())
    if reference.counts is not None:
        from worldodds.statistics.observed import floors_of

        return floors_of(reference.counts, size)
    return _floors(reference.odds, size)


def mean_deviation(n: NDArray[np.int64], p: Floats) -> Floats:
    """``E|X - n p|`` for X ~ Binomial(n, p), shape (len(n), len(p)): De Moivre's ``2 v (1 - p) P(X = v)``."""
    v = np.minimum(np.floor(n[:, None] * p + 1e-9).astype(np.int64) + 1, n[:, None])  # 1e-9: 10 * 0.1 must count as 1
    rest = n[:, None] - v
    log_factorial = _log_factorials(int(n.max()))
    with np.errstate(divide="ignore", invalid="ignore"):
        failures = np.where(rest > 0, rest * np.log1p(-p), 0.0)
        log_mass = log_factorial[n][:, None] - log_factorial[v] - log_factorial[rest] + v * np.log(p) + failures
    return 2 * v * (1 - p) * np.exp(log_mass)


@lru_cache(maxsize=256)
def _floors(odds: tuple[Fraction, ...], n_max: int) -> Floats:
    n = np.arange(1, n_max + 1)
    p = np.array([float(o) for o in odds])
    table = np.concatenate([[0.0], mean_deviation(n, p).sum(axis=1) / (2 * n)])
    table.flags.writeable = False
    return table


@lru_cache(maxsize=8)
def _log_factorials(n_max: int) -> Floats:
    """Return the logarithms of 0! ... ``n_max!``."""
    return np.fromiter(map(lgamma, range(1, n_max + 2)), dtype=float, count=n_max + 1)
