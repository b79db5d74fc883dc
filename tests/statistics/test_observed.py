"""Odds that were counted in an experiment: one law for both samples, in every verdict."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics import observed
from worldodds.statistics.comparison import differences
from worldodds.statistics.distance import null_band, null_floor, score_of, wasserstein_floor
from worldodds.statistics.equivalence import certify, three_way
from worldodds.statistics.exact import multinomial_test
from worldodds.statistics.experiment_plan import plan_against_experiment
from worldodds.statistics.interval import experiment_variance, jackknife, percentile_bootstrap
from worldodds.statistics.inversion import invert
from worldodds.statistics.monitor import Monitor
from worldodds.statistics.robustness import p_with_any_nulls, p_with_wrong_labels, relabelled
from worldodds.statistics.sequential import log_e_path, log_e_value
from worldodds.statistics.terms import STATISTICS, Statistic

small_pairs = st.integers(2, 4).flatmap(
    lambda k: st.tuples(*(st.lists(st.integers(0, 5), min_size=k, max_size=k).filter(any) for _ in range(2)))
)


def by_hand(x: list[int], e: list[int], statistic: Statistic) -> float:
    """Sum the chances of every table with these margins whose statistic is at least the one seen, in plain Python."""
    n, columns = sum(x), [a + b for a, b in zip(x, e, strict=True)]
    size = sum(columns)

    def value(row: tuple[int, ...]) -> float:
        total = 0.0
        for first, column in zip(row, columns, strict=True):
            for seen, margin in ((first, n), (column - first, size - n)):
                fit = column * margin / size
                if statistic == "g":
                    total += 2 * seen * math.log(seen / fit) if seen else 0.0
                elif statistic == "chi2":
                    total += (seen - fit) ** 2 / fit if fit else 0.0
                elif statistic == "tv":
                    total += abs(seen - fit)
        return total if statistic != "probability" else -2 * math.log(chance(row))

    def chance(row: tuple[int, ...]) -> Fraction:
        return Fraction(math.prod(math.comb(c, r) for c, r in zip(columns, row, strict=True)), math.comb(size, n))

    rows = [r for r in itertools.product(*(range(c + 1) for c in columns)) if sum(r) == n]
    bar = value(tuple(x)) - 1e-9 * max(1.0, value(tuple(x)))
    return float(sum(chance(row) for row in rows if value(row) >= bar))


@given(small_pairs, st.sampled_from(STATISTICS))
@settings(max_examples=60, deadline=None)
def test_p_by_enumeration(pair: tuple[list[int], list[int]], statistic: Statistic) -> None:
    """Is the chance, given both margins, of a table at least as far out: by all four statistics."""
    x, e = pair
    assert multinomial_test(x, Reference.observed(e), statistic=statistic).p_value == pytest.approx(
        by_hand(x, e, statistic), rel=1e-9
    )


def test_p_of_two_outcomes_is_fishers() -> None:
    """By the probability of the table, it is Fisher's exact test."""
    for x, e in (([10, 22], [81, 51]), ([3, 1], [1, 3]), ([0, 9], [40, 2])):
        p = multinomial_test(x, Reference.observed(e), statistic="probability").p_value
        assert p == pytest.approx(stats.fisher_exact([x, e])[1], rel=1e-9)


def test_p_on_a_grid_is_never_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tables are too many to list the p-value is at least the exact one, and within 2% of it."""
    cases = [([2, 12, 5, 5], [50, 30, 20, 15]), ([5, 4, 6, 5], [20, 22, 19, 21]), ([9, 0, 0, 1], [8, 9, 8, 0])]
    exact = [observed.two_sample_p(tuple(x), tuple(e), "g") for x, e in cases]
    monkeypatch.setattr(observed, "MOST_LISTED", 0)
    observed.two_sample_p.cache_clear()
    rough = [observed.two_sample_p(tuple(x), tuple(e), "g") for x, e in cases]
    observed.two_sample_p.cache_clear()
    for (_, p, listed), (_, above, told) in zip(exact, rough, strict=True):
        assert (listed, told) == ("two-sample exact", "two-sample conservative (terms rounded up)")
        assert p * (1 - 1e-9) <= above <= 1.02 * p


@given(st.lists(st.integers(0, 8), min_size=3, max_size=3).filter(any))
@settings(max_examples=25, deadline=None)
def test_huge_experiment_is_known_odds(counts: list[int]) -> None:
    """The test, floor and score against an experiment of a billion trials are those against the odds."""
    known, counted = Reference.of(["1/2", "3/10", "1/5"]), Reference.observed([500_000_000, 300_000_000, 200_000_000])
    assert multinomial_test(counts, counted).p_value == pytest.approx(multinomial_test(counts, known).p_value, rel=1e-4)
    assert score_of(counts, counted) == pytest.approx(score_of(counts, known), abs=1e-4)


def test_huge_experiment_certifies_like_known_odds() -> None:
    """For two outcomes the certificate goes over into the exact TOST of known odds."""
    huge = Reference.observed([10**9, 10**9])
    for x in ([16, 16], [12, 20], [0, 32]):
        counted, known = certify(x, huge).certified_delta, certify(x, ["1/2", "1/2"]).certified_delta
        assert counted == pytest.approx(known, abs=2e-4)


@given(small_pairs)
@settings(max_examples=60, deadline=None)
def test_both_sides_may_be_swapped(pair: tuple[list[int], list[int]]) -> None:
    """Which sample is called the experiment changes neither p-value nor certificate."""
    x, e = pair
    there, back = Reference.observed(e), Reference.observed(x)
    assert multinomial_test(x, there).p_value == pytest.approx(multinomial_test(e, back).p_value, rel=1e-9)
    assert certify(x, there).certified_delta == pytest.approx(certify(e, back).certified_delta, abs=1e-9)


@given(small_pairs)
@settings(max_examples=60, deadline=None)
def test_certificate_is_wider_than_what_was_seen(pair: tuple[list[int], list[int]]) -> None:
    """A certificate is never closer than the TV that was seen, and never beyond 1."""
    x, e = np.array(pair[0]), np.array(pair[1])
    seen = np.abs(x / x.sum() - e / e.sum()).sum() / 2
    delta = certify(x, Reference.observed(e.tolist())).certified_delta
    assert delta is not None
    assert min(1.0, seen) - 1e-9 <= delta <= 1 + 1e-9


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 50))
@settings(max_examples=60, deadline=None)
def test_mean_distance_by_enumeration(n: int, m: int, percent: int) -> None:
    """The mean distance of two binomial shares is the sum over all pairs of counts."""
    p = percent / 50
    a, b = stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(m + 1), m, p)
    apart = np.abs(np.arange(n + 1)[:, None] / n - np.arange(m + 1) / m)
    assert observed.mean_distances(n, m, np.array([p]))[0] == pytest.approx(float(a @ apart @ b), abs=1e-10)


def test_floor_and_band_against_draws() -> None:
    """Floor and band are those of pairs of samples from the shares seen, and lie above those of known odds."""
    counted = Reference.observed([50, 30, 20, 15, 10, 7])
    known, rng = Reference.of(counted.odds or ()), np.random.default_rng(5)
    p = counted.probabilities
    far = rng.multinomial(32, p, 40_000) / 32 - rng.multinomial(132, p, 40_000) / 132
    tv = np.abs(far).sum(axis=1) / 2
    assert null_floor(counted, 32) == pytest.approx(tv.mean(), abs=0.002)
    assert null_floor(counted, 32) > null_floor(known, 32) + 0.01
    assert null_band(counted, 32) == pytest.approx(np.quantile(tv, [0.025, 0.975]), abs=0.01)
    steps = np.abs(far.cumsum(axis=1)).sum(axis=1)
    assert wasserstein_floor(counted, 32) == pytest.approx(steps.mean(), rel=0.02)


def test_floor_beyond_512_joins_on() -> None:
    """The limit that stands in at large n continues the exact floors."""
    counted = Reference.observed([50, 30, 20])
    step = null_floor(counted, 512) - null_floor(counted, 513)
    assert 0 < step < 2e-4


def test_outcome_never_shown_is_not_ruled_out() -> None:
    """A model may show what a small experiment did not: that is no proof of miscalibration."""
    test = multinomial_test([14, 1], Reference.observed([20, 0]))
    assert test.p_value == pytest.approx(15 / 35)
    assert multinomial_test([14, 1], Reference.of([1, 0])).p_value == 0


def test_wrong_labels_of_two_outcomes() -> None:
    """For two outcomes the p-value with wrong labels is the largest over all relabellings."""
    reference = Reference.observed([30, 12])
    for x, wrong in (([4, 20], 2), ([9, 3], 3), ([0, 12], 4)):
        moved = [m for m in range(-wrong, wrong + 1) if 0 <= x[0] + m <= sum(x)]
        worst = max(multinomial_test([x[0] + m, x[1] - m], reference).p_value for m in moved)
        assert p_with_wrong_labels(x, reference, wrong=wrong) == worst


@given(st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any), st.integers(0, 2))
@settings(max_examples=25, deadline=None)
def test_wrong_labels_of_three_outcomes(x: list[int], wrong: int) -> None:
    """For more outcomes the largest p-value over all relabellings is found or missed by little."""
    reference = Reference.observed([9, 6, 3])
    tables = [t for t in itertools.product(range(sum(x) + 1), repeat=3) if sum(t) == sum(x)]
    within = [t for t in tables if sum(max(0, a - b) for a, b in zip(t, x, strict=True)) <= wrong]
    worst = max(multinomial_test(table, reference).p_value for table in within)
    found = p_with_wrong_labels(x, reference, wrong=wrong)
    assert found <= worst + 1e-12
    assert found >= 0.9 * worst


@given(st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any), st.integers(0, 2))
@settings(max_examples=25, deadline=None)
def test_relabelling_lowers_g_most(x: list[int], wrong: int) -> None:
    """Moving labels one by one finds the lowest two-sample G of all relabellings."""
    reference = Reference.observed([9, 6, 3])
    tables = [t for t in itertools.product(range(sum(x) + 1), repeat=3) if sum(t) == sum(x)]
    within = [t for t in tables if sum(max(0, a - b) for a, b in zip(t, x, strict=True)) <= wrong]
    lowest = min(multinomial_test(table, reference).statistic for table in within)
    assert multinomial_test(relabelled(x, reference, wrong=wrong), reference).statistic == pytest.approx(
        lowest, abs=1e-9
    )


def test_nulls_of_two_outcomes() -> None:
    """Nulls are given whatever outcomes make the p-value largest."""
    reference, seen = Reference.observed([30, 12]), Counts.of([2, 18], unreadable=6)
    worst = max(multinomial_test([2 + a, 24 - a], reference).p_value for a in range(7))
    assert p_with_any_nulls(seen, reference) == worst


def test_intervals_are_wider_than_of_known_odds() -> None:
    """The experiment's own sampling widens the jackknife's interval and the population's."""
    counted = Reference.observed([30, 20, 10])
    known, seen = Reference.of(counted.odds or ()), Counts.of([20, 6, 4], unreadable=2)
    wide, narrow = (jackknife([(seen, reference)]).standard_error for reference in (counted, known))
    assert wide is not None
    assert narrow is not None
    assert wide > narrow
    ends = [invert([(seen, r)], rng=np.random.default_rng(1), repeats=1000).mean.interval for r in (counted, known)]
    assert ends[0].high - ends[0].low > ends[1].high - ends[1].low


def test_shared_experiment_cancels_between_like_models() -> None:
    """Two models with the same counts differ by nothing that their common experiment could move."""
    counted, seen = Reference.observed([30, 20, 10]), Counts.of([20, 6, 4])
    assert experiment_variance([(seen, counted), (seen, counted)]) == 0
    assert experiment_variance([(seen, counted)]) > 0
    (pair,) = differences({"x": [(seen, counted)], "y": [(seen, counted)]})
    (alone,) = differences({"x": [(seen, counted.odds)], "y": [(seen, counted.odds)]})  # type: ignore[list-item]
    assert pair.high is not None
    assert alone.high is not None
    assert pair.high == pytest.approx(alone.high, rel=0.1)


def test_what_needs_known_odds_refuses() -> None:
    """Methods without a valid form for counted odds say so, and what to do."""
    counted, rng = Reference.observed([30, 12]), np.random.default_rng(0)
    refused = [
        lambda: log_e_value([3, 4], counted),
        lambda: log_e_path([0, 1], counted),
        lambda: three_way([0, 1], counted),
        lambda: Monitor(reference=counted),
        lambda: percentile_bootstrap([([3, 4], counted)], rng=rng, resamples=10),
    ]
    for call in refused:
        with pytest.raises(StatisticsError, match=r"counted in 42 trials.*fixed number of rollouts"):
            call()


def test_reference_refuses() -> None:
    """An experiment without outcomes, and odds that are not its shares, are refused."""
    with pytest.raises(StatisticsError, match="no outcome at all"):
        Reference.observed([0, 0])
    with pytest.raises(StatisticsError, match="not the shares of the counts"):
        Reference(labels=("a", "b"), odds=(Fraction(1, 2), Fraction(1, 2)), counts=(1, 2))


def test_plan_says_when_the_experiment_is_too_small() -> None:
    """A small experiment has no number of rollouts that would do, a large one needs more than known odds do."""
    little = plan_against_experiment(Reference.observed([10, 9, 8]))
    assert (little.n_to_detect, little.n_to_certify) == (None, None)
    assert little.trials_to_detect is not None
    assert little.trials_to_detect > little.n_observed
    much = plan_against_experiment(Reference.observed([81_000, 51_000]))
    some = plan_against_experiment(Reference.observed([81, 51]))
    assert much.n_to_detect is not None
    assert some.n_to_detect is not None
    assert much.n_to_detect < some.n_to_detect
    with pytest.raises(StatisticsError, match="use plan_scene"):
        plan_against_experiment(Reference.uniform(2))
