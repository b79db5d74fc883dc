"""References that were counted in an experiment: laws of two samples, the model's and the experiment's."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, gammaln, xlog1py, xlogy

from worldodds.statistics.terms import Statistic
from worldodds.statistics.two_sample import SAME, log_mass_of_rows, number_of_rows, rows_with_margins

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Whole = tuple[int, ...]
MOST_LISTED = 100_000  # tables that are listed; beyond, terms are rounded up to a grid
GRID = 2048  # steps from 0 to the statistic seen
MOST_WORK = 4e8  # cells of the grid over all steps; the grid is made coarser to keep within it
DRAWS = 20_000


@lru_cache(maxsize=65536)
def two_sample_p(counts: Whole, experiment: Whole, statistic: Statistic) -> tuple[float, float, str]:
    """Return statistic, p-value and method of the test that a model and an experiment have the same odds.

    Conditional on how often each outcome came up in all, so that the odds themselves drop out. Where up to 100,000
    tables share these margins all are listed (exact). Beyond, every outcome's term is rounded up to a grid of at most
    2,048 steps up to the value seen and the law is built outcome by outcome: never below the exact p-value.

    Source: Freeman and Halton, Biometrika 1951; rounding as in Keich and Nagarajan, JCGS 2006.
    """
    x, e = np.array(counts), np.array(experiment)
    seen = x + e > 0
    x, columns = x[seen], (x + e)[seen]
    n, share = int(x.sum()), int(x.sum()) / int(columns.sum())
    tables = [_terms(int(c), n, share, statistic) for c in columns]
    value = float(sum(table[count] for table, count in zip(tables, x.tolist(), strict=True)))
    shown = value / (2 * n) / (1 - share) if statistic == "tv" else value  # |x/n - e/m| = |x - nc/N| / n / (1 - n/N)
    threshold = value - SAME * max(1.0, value)
    if threshold <= 0 and statistic != "probability":
        return shown, 1.0, "two-sample exact"
    if number_of_rows(columns, n) <= MOST_LISTED:
        rows = rows_with_margins(columns, n)
        values = sum((table[rows[:, i]] for i, table in enumerate(tables)), np.zeros(len(rows)))
        mass = np.exp(log_mass_of_rows(rows, columns))
        return shown, min(1.0, float(mass[values >= threshold].sum() / mass.sum())), "two-sample exact"
    p_value = _on_grid(tables, columns, n, share, threshold)
    return shown, min(1.0, p_value), "two-sample conservative (terms rounded up)"


def _terms(column: int, n: int, share: float, statistic: Statistic) -> Floats:
    """Terms of one outcome for 0 ... min(n, column) of its ``column`` sightings being the model's; each at least 0."""
    x = np.arange(min(n, column) + 1)
    rest, e, f = column - x, column * share, column * (1 - share)
    if statistic == "g":
        return np.maximum(0.0, 2 * (xlogy(x, x / e) + xlog1py(rest, (e - x) / f)))
    if statistic == "chi2":
        return np.square(x - e) * (1 / e + 1 / f)
    return np.abs(x - e) if statistic == "tv" else -2 * _log_binomial(x, column, share)


def _log_binomial(x: Integers, n: int, p: float) -> Floats:
    return gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1) + xlogy(x, p) + xlog1py(n - x, -p)


def _on_grid(tables: list[Floats], columns: Integers, n: int, share: float, threshold: float) -> float:
    """P(statistic >= threshold) from above: given their sum, binomial counts with one chance have the wanted law."""
    work = sum(len(table) for table in tables) * (n + 1)
    cells = int(np.clip(MOST_WORK / work, 128, GRID))
    law = np.zeros((n + 1, cells + 1))  # by counts used and statistic; the last column is "reached the threshold"
    law[0, 0] = 1.0
    for table, column in zip(tables, columns.tolist(), strict=True):
        steps = np.minimum(np.ceil(table * cells / threshold - 1e-9), cells).astype(int)
        mass = np.exp(_log_binomial(np.arange(len(table)), column, share))
        after = np.zeros_like(law)
        for x, (step, weight) in enumerate(zip(steps.tolist(), mass.tolist(), strict=True)):
            part = law[: n + 1 - x] * weight
            after[x:, step:cells] += part[:, : cells - step]
            after[x:, cells] += part[:, max(0, cells - step) :].sum(axis=1)
        law = after
    return float(law[n, cells] / law[n].sum()) * (1 + 1e-9)


def mean_distances(n: int, m: int, p: Floats) -> Floats:
    """``E|X/n - Y/m|`` for independent X ~ Binomial(n, p) and Y ~ Binomial(m, p), shape (len(p),), exactly.

    The sum over X of its probability times ``E|t - Y/m|``, which partial sums of binomial probabilities give.

    >>> mean_distances(1, 1, np.array([0.5])).tolist()
    [0.5]
    """
    x = np.arange(n + 1)[:, None]
    t, under = x / n, np.floor(x * m / n + 1e-9)
    below = t * _at_most(under, m, p) - p * _at_most(under - 1, m - 1, p)
    chances = np.exp(_log_binomial(x, n, p))  # type: ignore[arg-type]
    return (chances * (2 * below - (t - p))).sum(axis=0)


def _at_most(count: Floats, n: int, p: Floats) -> Floats:
    """P(Binomial(n, p) <= count), by the incomplete beta function, which stays accurate for a billion trials."""
    inside = (count >= 0) & (count < n)
    found = betainc(np.where(inside, n - count, 1.0), np.where(inside, count + 1, 1.0), 1 - p)
    return np.where(inside, found, count >= n)


@lru_cache(maxsize=256)
def floors_of(experiment: Whole, n_max: int) -> Floats:
    """Mean TV between a perfect model and the experiment for n = 0 ... ``n_max``, both drawn from the shares seen.

    Entry 0 is 0 and means nothing. Beyond n = 512 the normal limit of the mean deviation stands in (within 0.1%).
    """
    m = sum(experiment)
    p = np.array(experiment) / m
    whole = [0.0, *(float(mean_distances(n, m, p).sum()) / 2 for n in range(1, min(n_max, 512) + 1))]
    far = np.arange(513, n_max + 1)
    limit = np.sqrt(p * (1 - p) * 2 / np.pi).sum() * np.sqrt(1 / far + 1 / m) / 2
    table = np.concatenate([whole, limit])
    table.flags.writeable = False
    return table


@lru_cache(maxsize=512)
def band_of(experiment: Whole, n: int, level: float) -> tuple[float, float]:
    """Central band of the TV between a perfect model and the experiment, from 20,000 seeded pairs of samples."""
    m = sum(experiment)
    p, rng = np.array(experiment) / m, np.random.default_rng((n, m))
    apart = np.abs(rng.multinomial(n, p, size=DRAWS) / n - rng.multinomial(m, p, size=DRAWS) / m).sum(axis=1) / 2
    low, high = np.quantile(apart, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return float(low), float(high)


def certified_between(counts: Integers, experiment: Integers, alpha: float) -> Floats:
    """Upper bounds, at ``1 - alpha``, on the TV between two samples' odds: rows (m, k) each, giving (m,).

    Two outcomes: Clopper-Pearson on either side of each difference, the experiment's taking ``n / (n + m)`` of
    alpha and the model's the rest, so that a huge experiment gives the one-sample bound. More: the TV seen plus
    ``sqrt(ln(1 / alpha) (1 / n + 1 / m) / 2)``; the TV seen is on average no smaller than the true one, and one
    trial moves it by 1 / n or 1 / m at most (McDiarmid). Both hold at every sample size.
    """
    n, m = counts.sum(axis=1), experiment.sum(axis=1)
    if counts.shape[1] > 2:
        apart = np.abs(counts / n[:, None] - experiment / m[:, None]).sum(axis=1) / 2
        return np.minimum(1.0, apart + np.sqrt(np.log(1 / alpha) * (1 / n + 1 / m) / 2))
    own = alpha * m / (n + m)
    sides = [
        _upper(counts[:, i], n, own) - (1 - _upper(experiment[:, 1 - i], m, alpha - own))  # lower bound of the share
        for i in (0, 1)
    ]
    return np.maximum(*sides)


def _upper(seen: Integers, n: Integers, alpha: Floats) -> Floats:
    return np.where(seen >= n, 1.0, betaincinv(seen + 1, np.maximum(n - seen, 1), 1 - alpha))
