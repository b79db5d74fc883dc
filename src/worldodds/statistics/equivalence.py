"""Evidence for calibration: how close to the reference odds a model has been shown to be.

"Not significant" is not "calibrated". Here the null hypothesis is a total variation of at least delta, and rejecting
it certifies calibration within delta.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, chdtri, chndtr, xlogy

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics.cell import CountsLike, ReferenceLike, as_cell, as_reference, need_known_odds
from worldodds.statistics.checks import check_level
from worldodds.statistics.observed import certified_between
from worldodds.statistics.sequential import check_outcomes, log_e_of, running_counts

Floats = NDArray[np.float64]
MOST_EVENTS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """How close to the reference a cell has been shown to be.

    Attributes:
        certified_delta: smallest TV within which calibration is certified; ``None`` without valid outcomes.
        delta: the tolerance asked for.
        alpha: chance of a false certificate.
        method: ``"exact TOST"`` or ``"non-central chi-squared"``; for a reference that was counted in an experiment
            ``"exact TOST of two samples"`` or ``"bounded differences"``.
        reason: why there is no certified delta; empty where there is one.
    """

    certified_delta: float | None
    delta: float
    alpha: float
    method: str
    reason: str = ""

    @property
    def certified(self) -> bool:
        """Whether calibration within ``delta`` is certified."""
        return self.certified_delta is not None and self.certified_delta <= self.delta


def certify(counts: CountsLike, reference: ReferenceLike, *, delta: float = 0.2, alpha: float = 0.05) -> Equivalence:
    """Certify that the odds lie within TV ``delta`` of the reference, with error at most ``alpha``.

    Two outcomes: two exact one-sided binomial tests (Clopper-Pearson) about p0. More: Pearson's statistic T against
    the non-central chi-squared with k - 1 degrees of freedom at 4 n delta^2, the smallest non-centrality that TV delta
    allows (Cauchy-Schwarz); an asymptotic bound, so at n p0 < 1 it is approximate. A fit better than the median of a
    perfect model earns no more than the median does, so the bound is never zero. With odds of 0 in the reference half
    of alpha bounds the mass on impossible outcomes.

    A reference that was counted in an experiment: the bound is on the TV between the model's odds and those that the
    experiment was drawn from, valid at every size of both (`observed.certified_between`).

    Raises:
        StatisticsError: counts that do not belong to the reference, ``delta`` or ``alpha`` outside (0, 1).

    Source: Wellek (2010), Testing Statistical Hypotheses of Equivalence and Noninferiority.

    >>> ball = certify([15, 15], [0.5, 0.5])
    >>> round(ball.certified_delta, 3), ball.certified
    (0.161, True)
    """
    seen, expected = as_cell(counts, reference)
    check_level("delta", delta)
    check_level("alpha", alpha)
    method = _method(expected)
    if seen.n == 0:
        return Equivalence(
            certified_delta=None, delta=delta, alpha=alpha, method=method, reason="no valid outcome was seen"
        )
    if expected.counts is not None:
        apart = certified_between(seen.array[None, :], np.array([expected.counts]), alpha)
        return Equivalence(certified_delta=float(apart[0]), delta=delta, alpha=alpha, method=method)
    bound = _binary_bound if expected.k == 2 else _distance_bound
    certified = bound(seen.array, expected.probabilities, alpha)
    return Equivalence(certified_delta=certified, delta=delta, alpha=alpha, method=method)


def _method(reference: Reference) -> str:
    if reference.counts is None:
        return "exact TOST" if reference.k == 2 else "non-central chi-squared"
    return "exact TOST of two samples" if reference.k == 2 else "bounded differences"


def certified_delta_of(statistic: float, n: int, df: int, alpha: float) -> float:
    """Return the TV at which P(chi2'_df(4 n TV^2) <= statistic) falls to ``alpha``; below its median the median counts.

    >>> round(certified_delta_of(31.0, 24, 19, 0.05), 2)
    0.57
    """
    target = max(statistic, float(chdtri(df, 0.5)))
    low, high = 0.0, 1.0
    while chndtr(target, df, high) > alpha:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if chndtr(target, df, middle) > alpha else (low, middle)
    return min(1.0, math.sqrt(high / (4 * n)))


def upper_share(seen: int, n: int, alpha: float) -> float:
    """Return the one-sided exact upper bound (Clopper-Pearson) on a share of which ``seen`` of ``n`` was seen."""
    return 1.0 if seen >= n else float(betaincinv(seen + 1, n - seen, 1 - alpha))


def log_e_calibrated(counts: CountsLike, reference: ReferenceLike, *, delta: float = 0.2) -> float:
    """Return the logarithm of an e-value against "TV is at least ``delta``", that is, for calibration.

    Universal inference: the reference's likelihood over the largest one at distance delta,
    n [min_A kl(p_hat(A) || p0(A) + delta) - KL(p_hat || p0)], the minimum over the events A that delta leaves room for.

    Raises:
        StatisticsError: counts that do not belong to the reference, ``delta`` outside (0, 1), more than 200,000
            distinct events.

    Source: Wasserman, Ramdas and Balakrishnan (2020), Proc. Natl. Acad. Sci. 117.

    >>> round(log_e_calibrated([32, 32], [0.5, 0.5], delta=0.2), 2)
    5.58
    """
    seen, expected = as_cell(counts, reference)
    need_known_odds(expected, "an e-value")
    check_level("delta", delta)
    return float(_log_e_calibrated(seen.array[None, :], expected, delta)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialVerdict:
    """Where a three-way sequential test ended.

    Attributes:
        verdict: ``miscalibrated``, ``calibrated`` (within delta) or ``undecided``.
        used: readings looked at.
        e_miscalibrated: largest e-value against the reference.
        e_calibrated: largest e-value against TV >= delta.
    """

    verdict: str
    used: int
    e_miscalibrated: float
    e_calibrated: float


def three_way(
    outcomes: Sequence[int | None], reference: ReferenceLike, *, delta: float = 0.2, alpha: float = 0.05
) -> SequentialVerdict:
    """Read until one e-value reaches 1 / alpha: against the reference, or against a TV of at least ``delta``.

    Each wrong verdict has probability at most ``alpha``. A TV strictly between 0 and delta may rightly get either.
    Nulls (``None``) are skipped: the verdict is about readable rollouts.

    Raises:
        StatisticsError: an outcome outside 0 .. k-1, ``delta`` or ``alpha`` outside (0, 1).

    >>> three_way([0, 1] * 40, Reference.uniform(2)).verdict, three_way([0] * 9, Reference.uniform(2)).verdict
    ('calibrated', 'miscalibrated')
    """
    check_level("delta", delta)
    check_level("alpha", alpha)
    expected = as_reference(reference)
    need_known_odds(expected, "a sequential test")
    check_outcomes(outcomes, expected.k)
    seen = running_counts(outcomes, expected.k)[1:]
    against = log_e_of(seen, expected.probabilities)
    within = _log_e_calibrated(seen, expected, delta)
    bar = -math.log(alpha)
    crossed = np.flatnonzero((against >= bar) | (within >= bar))
    used = int(crossed[0]) + 1 if len(crossed) else len(outcomes)
    verdict = "undecided"
    if len(crossed):
        verdict = "miscalibrated" if against[used - 1] >= bar else "calibrated"
    return SequentialVerdict(
        verdict=verdict, used=used, e_miscalibrated=_largest(against[:used]), e_calibrated=_largest(within[:used])
    )


def _largest(logs: Floats) -> float:
    top = float(logs.max(initial=0.0))
    return math.exp(top) if top < 700 else math.inf


def _binary_bound(x: NDArray[np.int64], p: Floats, alpha: float) -> float:
    n = int(x.sum())
    return max(upper_share(int(x[0]), n, alpha) - float(p[0]), upper_share(int(x[1]), n, alpha) - float(p[1]))


def _distance_bound(x: NDArray[np.int64], p: Floats, alpha: float) -> float:
    possible = p > 0
    df, n, on = int(possible.sum()) - 1, int(x.sum()), x[possible]
    share = alpha if possible.all() else alpha / 2
    off_mass = 0.0 if possible.all() else upper_share(n - int(on.sum()), n, share)
    if df == 0 or on.sum() == 0:
        return off_mass
    expected = on.sum() * p[possible]
    statistic = float((np.square(on - expected) / expected).sum())
    return min(1.0, off_mass + certified_delta_of(statistic, int(on.sum()), df, share))


def _log_e_calibrated(counts: NDArray[np.int64], reference: Reference, delta: float) -> Floats:
    p = reference.probabilities
    n = counts.sum(axis=1)
    share = counts / np.maximum(n, 1)[:, None]
    fit = np.where(counts > 0, xlogy(share, share) - xlogy(share, p), 0.0).sum(axis=1)
    groups, takes = _events(reference.odds)
    seen, room = np.zeros((len(counts), len(takes))), np.zeros(len(takes))
    for column, group in enumerate(groups):
        ranked = np.sort(share[:, group], axis=1)[:, ::-1]
        largest = np.concatenate([np.zeros((len(counts), 1)), ranked.cumsum(axis=1)], axis=1)
        seen += largest[:, takes[:, column]]
        room += takes[:, column] * p[group[0]]
    far = room + delta
    allowed = far <= 1
    divergence = np.where(seen[:, allowed] < far[allowed], _binary_kl(seen[:, allowed], far[allowed]), 0.0)
    nearest = divergence.min(axis=1) if allowed.any() else np.full(len(counts), np.inf)
    impossible = ~np.isfinite(fit)
    value = n * (nearest - np.where(impossible, 0.0, fit))
    return np.where(impossible, -np.inf, np.where(n > 0, value, 0.0))


def _binary_kl(q: Floats, r: Floats) -> Floats:
    q = np.clip(q, 0.0, 1.0)
    return xlogy(q, q) - xlogy(q, r) + xlogy(1 - q, 1 - q) - xlogy(1 - q, 1 - r)


@lru_cache(maxsize=64)
def _events(odds: tuple[object, ...]) -> tuple[list[list[int]], NDArray[np.int64]]:
    """Group equal odds: only how many of a group an event takes matters, for the worst takes its most seen."""
    groups: dict[object, list[int]] = {}
    for index, value in enumerate(odds):
        groups.setdefault(value, []).append(index)
    members = list(groups.values())
    if math.prod(len(g) + 1 for g in members) > MOST_EVENTS:
        raise StatisticsError(
            f"reference: its {len(odds)} odds differ too much; certifying in sequence takes {MOST_EVENTS} events"
        )
    takes = np.array(list(itertools.product(*(range(len(g) + 1) for g in members))), dtype=np.int64)
    return members, takes
