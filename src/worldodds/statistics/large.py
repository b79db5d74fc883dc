"""Null laws at numbers of rollouts too large to be enumerated: moments matched, errors far below a per cent."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaincinv, gammaln, xlog1py, xlogy

Floats = NDArray[np.float64]

MOST_WORK = 2_500  # n (k - 1) up to which exact laws take at most a few seconds


def is_large(n: int, k: int) -> bool:
    """Say whether the exact null law of ``n`` outcomes of ``k`` kinds would take too long."""
    return k > 3 and n * (k - 1) > MOST_WORK


def g_tail(value: float, p0: Floats, n: int) -> float:
    """P(G >= value): chi-squared with k - 1 degrees of freedom, scaled so that its mean is G's exact mean.

    Source: Bartlett (1937), Proc. R. Soc. A 160; the mean is summed over the binomial laws of the counts.
    """
    p = p0[p0 > 0]
    x = np.arange(n + 1)[:, None]
    log_mass = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1) + xlogy(x, p) + xlog1py(n - x, -p)
    mean = float((np.exp(log_mass) * 2 * xlogy(x, x / (n * p))).sum())
    df = len(p) - 1
    return float(gammaincc(df / 2, value / 2 * df / mean))


def chi2_tail(value: float, p0: Floats, n: int) -> float:
    """P(X2 >= value): the gamma law with the exact mean and variance of Pearson's statistic.

    Its mean is k - 1, its variance ``2 (k - 1) + (sum 1/p - k^2 - 2 k + 2) / n`` (Haldane, Biometrika 1937).
    """
    p = p0[p0 > 0]
    k = len(p)
    mean, variance = k - 1.0, 2.0 * (k - 1) + float((1 / p).sum() - k * k - 2 * k + 2) / n
    return float(gammaincc(mean**2 / variance, value * mean / variance))


def tv_band(p0: Floats, n: int, floor: float, level: float) -> tuple[float, float]:
    """Central band of the total variation: the gamma law of its exact mean and of the spread of jointly normal counts.

    ``floor`` is that mean. Off by about a tenth of the band's width at most.
    """
    p = p0[p0 > 0]
    sd = np.sqrt(p * (1 - p))
    rho = -np.sqrt(np.outer(p / (1 - p), p / (1 - p)))
    np.fill_diagonal(rho, 1.0)
    rho = np.clip(rho, -1.0, 1.0)
    # E|XY| - E|X| E|Y| of two normal variables
    shared = 2 / math.pi * (np.sqrt(1 - rho**2) + rho * np.arcsin(rho) - 1)
    spread = math.sqrt(float(sd @ shared @ sd) / (4 * n))
    shape = (floor / spread) ** 2
    low, high = gammaincinv(shape, [(1 - level) / 2, (1 + level) / 2]) * floor / shape
    return float(low), min(1.0, float(high))
