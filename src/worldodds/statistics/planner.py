"""How many rollouts to buy: to see a miscalibration, to certify calibration, and on average with early stopping."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, chdtri, chndtr, gammaln, xlogy

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics.cell import ReferenceLike, as_reference
from worldodds.statistics.checks import LEAST_VALID, check_level, check_plan, check_scorability, check_size
from worldodds.statistics.equivalence import certified_delta_of, upper_share
from worldodds.statistics.monitor import StoppingRule, chance_of_legible
from worldodds.statistics.power import (
    default_spike,
    detectable_tv,
    inverted,
    rollouts_to_detect,
    smallest,
    smallest_lasting,
    spiked,
)
from worldodds.statistics.sequential import log_bets, log_e_of

Floats = NDArray[np.float64]
PATHS = 400


def rollouts_needed(
    reference: ReferenceLike,
    *,
    tv: float | None = None,
    delta: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    spike: int | None = None,
) -> int:
    """Return the valid outcomes needed to see a TV of ``tv``, or to certify calibration within ``delta``.

    Give one of the two. Seeing: exact G against the contamination spike (`power.rollouts_to_detect`). Certifying: the
    chance of a certificate when the model draws from the reference (`rollouts_to_certify`).

    Raises:
        StatisticsError: neither or both given, or an argument out of its range.

    >>> rollouts_needed([0.5, 0.5], tv=0.2), rollouts_needed([0.5, 0.5], delta=0.2)
    (54, 57)
    """
    if (tv is None) == (delta is None):
        raise StatisticsError("tv, delta: give exactly one, the TV to see or the delta to certify")
    if tv is not None:
        return rollouts_to_detect(reference, tv=tv, power=power, alpha=alpha, spike=spike)
    assert delta is not None
    return rollouts_to_certify(reference, delta=delta, power=power, alpha=alpha)


def rollouts_to_certify(reference: ReferenceLike, *, delta: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Return the valid outcomes after which a perfect model is certified within ``delta`` with this power.

    Two outcomes: exact; power is a sawtooth and the answer is the smallest n from which it stays. More: the smallest
    n at which the non-central chi-squared bound at the ``power`` quantile of Pearson's statistic falls to ``delta``.

    Raises:
        StatisticsError: ``delta``, ``power`` or ``alpha`` outside (0, 1).

    >>> rollouts_to_certify([1 / 6] * 6, delta=0.2)
    86
    """
    check_level("delta", delta)
    check_level("power", power)
    check_level("alpha", alpha)
    p = as_reference(reference).probabilities
    guess = rollouts_by_formula(len(p), delta=delta, power=power, alpha=alpha)
    if len(p) == 2:
        return smallest_lasting(lambda n: _tost_power(p, n, delta, alpha) >= power, guess)
    return smallest(lambda n: _bound_at(p, n, power, alpha) <= delta, guess)


def rollouts_by_formula(k: int, *, delta: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Return what the non-central chi-squared formula alone asks for, to stand beside the exact answer at k = 2.

    The smallest n with ncx2.ppf(alpha, k - 1, 4 n delta^2) >= chi2.ppf(power, k - 1).

    Raises:
        StatisticsError: ``k`` below 2, ``delta``, ``power`` or ``alpha`` outside (0, 1).

    >>> rollouts_by_formula(2, delta=0.2), rollouts_by_formula(20, delta=0.1)
    (54, 540)
    """
    check_size("k", k, least=2)
    check_level("delta", delta)
    check_level("power", power)
    check_level("alpha", alpha)
    bar = float(chdtri(k - 1, 1 - power))
    needed = inverted(lambda size: 1 - float(chndtr(bar, k - 1, size)), 1 - alpha)
    return max(1, math.ceil(needed / (4 * delta**2) - 1e-9))


def certifiable_delta(reference: ReferenceLike, n: int, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest delta within which a perfect model is certified with this power after ``n`` outcomes.

    Raises:
        StatisticsError: ``n`` below 1, ``power`` or ``alpha`` outside (0, 1).

    >>> round(certifiable_delta([1 / 6] * 6, 32), 2)
    0.33
    """
    check_size("n", n)
    check_level("power", power)
    check_level("alpha", alpha)
    p = as_reference(reference).probabilities
    if len(p) > 2:
        return _bound_at(p, n, power, alpha)
    seen = range(n + 1)
    bound = np.array([max(upper_share(x, n, alpha) - p[0], upper_share(n - x, n, alpha) - p[1]) for x in seen])
    order = np.argsort(bound)
    reached = np.searchsorted(np.cumsum(_binomial(p, n)[order]), power - 1e-12)
    return float(bound[order][min(int(reached), n)])


def expected_rollouts(
    reference: ReferenceLike,
    *,
    tv: float = 0.0,
    rule: StoppingRule | None = None,
    scorability: float = 1.0,
    spike: int | None = None,
    seed: int = 0,
) -> float:
    """Return the mean number of rollouts the hybrid rule buys from a model at ``tv`` along the spike.

    From 400 seeded paths; nulls come at rate 1 - ``scorability`` and cost a rollout each.

    Raises:
        StatisticsError: ``tv`` out of the spike's reach, ``scorability`` not above 0 or beyond 1.

    >>> 5 < expected_rollouts([1 / 6] * 6, tv=0.8) < 7
    True
    """
    check_scorability(scorability)
    expected, chosen = as_reference(reference), rule or StoppingRule()
    q = spiked(expected, tv, spike=spike)
    rng = np.random.default_rng((seed, 2))
    readable = rng.random((PATHS, chosen.horizon)) < scorability
    outcomes = np.minimum(np.searchsorted(np.cumsum(q), rng.random(readable.shape), side="right"), len(q) - 1)
    return float(_rollouts_bought(outcomes, readable, expected, chosen).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenePlan:
    """What a scene costs and shows. All numbers of rollouts include the expected nulls.

    Attributes:
        detectable_tv: smallest TV seen with the asked power at ``n`` rollouts; ``None`` where even a collapse is not.
        n_to_detect: rollouts to see ``tv``; ``None`` where the spike cannot reach it.
        n_to_certify: rollouts to certify delta.
        n_by_formula: the same by the chi-squared formula alone.
        certifiable_delta: smallest delta certified with the asked power at ``n`` rollouts; ``None`` without outcomes.
        expected_at_reference: mean rollouts with early stopping if the model is calibrated.
        expected_at_tv: the same if it is spiked at ``tv``.
    """

    detectable_tv: float | None
    n_to_detect: int | None
    n_to_certify: int
    n_by_formula: int
    certifiable_delta: float | None
    expected_at_reference: float
    expected_at_tv: float | None


def plan_scene(
    reference: ReferenceLike,
    *,
    n: int = 32,
    tv: float = 0.2,
    delta: float = 0.2,
    power: float = 0.8,
    scorability: float = 1.0,
    rule: StoppingRule | None = None,
    spike: int | None = None,
) -> ScenePlan:
    """Plan one scene at ``n`` rollouts of which a share of ``scorability`` is readable.

    Raises:
        StatisticsError: an argument out of its range.

    >>> ball = plan_scene([0.5, 0.5], scorability=0.8)
    >>> ball.n_to_detect, ball.n_to_certify, ball.n_by_formula
    (68, 72, 68)
    """
    check_plan(n=n, tv=tv, delta=delta, power=power, scorability=scorability)
    chosen = rule or StoppingRule(horizon=n)
    expected = as_reference(reference)
    expected.probabilities  # noqa: B018  refuses a reference without odds
    return _plan(expected.odds, n, tv, delta, power, scorability, chosen, spike)


@lru_cache(maxsize=128)
def _plan(
    odds: tuple[Fraction, ...],
    n: int,
    tv: float,
    delta: float,
    power: float,
    scorability: float,
    rule: StoppingRule,
    spike: int | None,
) -> ScenePlan:
    """Plan by odds alone: three forks cost one."""
    expected, valid = Reference.of(odds), math.floor(n * scorability + 1e-9)
    reachable = tv <= _reach(expected, spike)

    def bought(outcomes: int) -> int:
        return math.ceil(outcomes / scorability - 1e-9)

    def expected_at(distance: float) -> float:
        return expected_rollouts(expected, tv=distance, rule=rule, scorability=scorability, spike=spike)

    return ScenePlan(
        detectable_tv=detectable_tv(expected, valid, power=power, spike=spike) if valid else None,
        n_to_detect=bought(rollouts_to_detect(expected, tv=tv, power=power, spike=spike)) if reachable else None,
        n_to_certify=bought(rollouts_to_certify(expected, delta=delta, power=power)),
        n_by_formula=bought(rollouts_by_formula(expected.k, delta=delta, power=power)),
        certifiable_delta=certifiable_delta(expected, valid, power=power) if valid else None,
        expected_at_reference=expected_at(0.0),
        expected_at_tv=expected_at(tv) if reachable else None,
    )


def _reach(reference: Reference, spike: int | None) -> float:
    return 1 - float(reference.probabilities[default_spike(reference) if spike is None else spike])


def _rollouts_bought(
    outcomes: NDArray[np.int64], readable: NDArray[np.bool_], reference: Reference, rule: StoppingRule
) -> NDArray[np.int64]:
    """Rollouts each path buys, shape (paths,), from outcomes and readability of shape (paths, horizon)."""
    paths, horizon = outcomes.shape
    steps = np.eye(reference.k, dtype=np.int64)[outcomes] * readable[:, :, None]
    seen = steps.cumsum(axis=1)
    if rule.judge_error:
        # each rollout's bet knows those before it; a null leaves the evidence as it is
        before = (seen - steps).reshape(paths * horizon, reference.k)
        bets = log_bets(before, reference.probabilities, rule.judge_error).reshape(paths, horizon, reference.k)
        log_e = (np.take_along_axis(bets, outcomes[:, :, None], axis=2)[:, :, 0] * readable).cumsum(axis=1)
    else:
        log_e = log_e_of(seen.reshape(paths * horizon, reference.k), reference.probabilities).reshape(paths, horizon)
    early = log_e >= math.log(rule.early_e)
    hopeless = np.array(
        [
            [
                chance_of_legible(min(valid, bought), bought, horizon) < rule.illegible_below
                for valid in range(LEAST_VALID + 1)
            ]
            for bought in range(1, horizon + 1)
        ]
    )
    valid = np.minimum(readable.cumsum(axis=1), LEAST_VALID)
    stopped = early | hopeless[np.arange(horizon), valid]
    return np.where(stopped.any(axis=1), stopped.argmax(axis=1) + 1, horizon)


def _tost_power(p: Floats, n: int, delta: float, alpha: float) -> float:
    """Chance that both one-sided binomial tests certify ``delta`` when the odds are ``p``."""
    seen = np.arange(n + 1)
    sides = [
        (bdtr(count, n, share + delta) <= alpha) | (share + delta >= 1)
        for count, share in ((seen, p[0]), (n - seen, p[1]))
    ]
    return float(_binomial(p, n)[sides[0] & sides[1]].sum())


def _binomial(p: Floats, n: int) -> Floats:
    seen = np.arange(n + 1)
    log_mass = gammaln(n + 1) - gammaln(seen + 1) - gammaln(n - seen + 1) + xlogy(seen, p[0]) + xlogy(n - seen, p[1])
    return np.exp(log_mass)


def _bound_at(p: Floats, n: int, power: float, alpha: float) -> float:
    """Certified delta of a perfect model whose statistic lies at its ``power`` quantile."""
    df = int((p > 0).sum()) - 1
    impossible = df + 1 < len(p)
    share = alpha / 2 if impossible else alpha
    off_mass = upper_share(0, n, share) if impossible else 0.0
    if df == 0:
        return off_mass
    return min(1.0, off_mass + certified_delta_of(float(chdtri(df, 1 - power)), n, df, share))
