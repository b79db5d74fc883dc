"""What rollouts can show against odds that were themselves counted in an experiment, and how large that must be."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics.checks import check_plan
from worldodds.statistics.distance import null_floor
from worldodds.statistics.observed import certified_between
from worldodds.statistics.power import default_spike, detectable_tv, rollouts_to_detect

PAIRS = 2000
MOST_ROLLOUTS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentPlan:
    """What a scene with a counted reference costs and shows. Numbers of rollouts include the expected nulls.

    Attributes:
        n_observed: trials of the experiment.
        experiment_floor: mean TV of the experiment's own shares from the odds they were drawn from.
        detectable_tv: smallest TV seen with the asked power at ``n`` rollouts; ``None`` where even a collapse is not.
        n_to_detect: rollouts to see ``tv``; ``None`` where the experiment is too small for any number of them.
        n_to_certify: rollouts to certify delta; ``None`` likewise.
        certifiable_delta: smallest delta certified with the asked power at ``n`` rollouts; ``None`` without outcomes.
        trials_to_detect: least experiment with which some number of rollouts sees ``tv``; ``None``: out of reach.
        trials_to_certify: likewise for certifying delta; ``None`` where a million trials are not enough.
    """

    n_observed: int
    experiment_floor: float
    detectable_tv: float | None
    n_to_detect: int | None
    n_to_certify: int | None
    certifiable_delta: float | None
    trials_to_detect: int | None
    trials_to_certify: int | None


def plan_against_experiment(
    reference: Reference,
    *,
    n: int = 32,
    tv: float = 0.2,
    delta: float = 0.2,
    power: float = 0.8,
    scorability: float = 1.0,
) -> ExperimentPlan:
    """Plan one scene whose reference was counted in an experiment of m trials.

    Seeing: n rollouts against m trials are worth ``n m / (n + m)`` rollouts against known odds (exact G, contamination
    spike); an approximation, as for two normal means. Certifying: the ``power`` quantile of a perfect model's
    certificate over 2,000 seeded pairs of samples from the shares seen. An outcome never seen counts half a trial here.

    Raises:
        StatisticsError: a reference without counts, an argument out of its range.

    >>> plan = plan_against_experiment(Reference.observed([81, 51]))
    >>> plan.n_to_detect, plan.n_to_certify
    (64, 347)
    """
    if reference.counts is None:
        raise StatisticsError("reference: it was not counted in an experiment; use plan_scene")
    check_plan(n=n, tv=tv, delta=delta, power=power, scorability=scorability)
    return _plan(reference.counts, n, tv, delta, power, scorability)


@lru_cache(maxsize=128)
def _plan(counts: tuple[int, ...], n: int, tv: float, delta: float, power: float, scorability: float) -> ExperimentPlan:
    m, valid, odds = sum(counts), math.floor(n * scorability + 1e-9), _smoothed(counts)
    worth = valid * m // (valid + m)
    needed = None
    if tv <= 1 - float(odds.probabilities[default_spike(odds)]):
        needed = rollouts_to_detect(odds, tv=tv, power=power)
    to_detect = math.ceil(needed * m / (m - needed)) if needed and m > needed else None
    to_certify = _least(lambda size: _bound(odds, size, m, power), delta)

    def bought(outcomes: int | None) -> int | None:
        return None if outcomes is None else math.ceil(outcomes / scorability - 1e-9)

    return ExperimentPlan(
        n_observed=m,
        experiment_floor=null_floor(Reference.of(odds.odds), m),
        detectable_tv=detectable_tv(odds, worth, power=power) if worth else None,
        n_to_detect=bought(to_detect),
        n_to_certify=bought(to_certify),
        certifiable_delta=_bound(odds, valid, m, power) if valid else None,
        trials_to_detect=None if needed is None else needed + 1,
        trials_to_certify=_least(lambda size: _bound(odds, MOST_ROLLOUTS, size, power), delta),
    )


def _smoothed(counts: tuple[int, ...]) -> Reference:
    extra = 0 if all(counts) else 1  # half a trial each, where an outcome was never seen
    return Reference.of([Fraction(2 * c + extra, 2 * sum(counts) + extra * len(counts)) for c in counts])


def _bound(odds: Reference, n: int, m: int, power: float) -> float:
    """The TV within which a perfect model is certified with this power."""
    p, rng = odds.probabilities, np.random.default_rng(0)
    model, experiment = rng.multinomial(n, p, size=PAIRS), rng.multinomial(m, p, size=PAIRS)
    return float(np.quantile(certified_between(model, experiment, 0.05), power, method="inverted_cdf"))


def _least(bound_at: Callable[[int], float], delta: float) -> int | None:
    """Return the least size, to 1%, from which the bound is within delta; None where a million is not enough."""
    low, high = 1, MOST_ROLLOUTS
    if bound_at(high) > delta:
        return None
    while high - low > max(1, low // 100):
        middle = math.isqrt(low * high) if high > 2 * low else (low + high) // 2
        low, high = (middle, high) if bound_at(middle) > delta else (low, middle)
    return high
