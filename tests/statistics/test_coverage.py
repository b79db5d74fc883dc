"""Tests of PAWBench's metrics and of what their means are worth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics import (
    coverage_percent,
    expected_coverage,
    mean_coverage_interval,
    mean_tvd_interval,
    mean_tvd_law,
    null_floor,
    passes_gate,
    scene_pass_rate,
    sure_coverage,
    track_mean,
    tvd_percent,
)

COIN = Reference.uniform(2)


def test_what_the_papers_tests_pin_down() -> None:
    """20 of one label and 30 nulls pass with TVD 50; 19 and 31 fail; 20, 20 and 10 nulls give 0."""
    assert passes_gate(Counts.of([20, 0], unreadable=10, out_of_schema=20))
    assert tvd_percent([20, 0], COIN) == 50
    assert not passes_gate(Counts.of([19, 0], out_of_schema=31))
    assert tvd_percent(Counts.of([20, 20], unreadable=10), COIN) == 0
    assert coverage_percent([7, 0]) == 50


def test_means_run_over_passing_scenes_and_rates_over_all() -> None:
    """A failed scene leaves the mean alone and lowers the pass rate."""
    assert track_mean([50.0, 0.0, None]) == 25
    assert track_mean([None]) is None
    assert scene_pass_rate([True] * 24 + [False]) == 96


@pytest.mark.parametrize(
    ("reference", "at_50", "at_20"),
    [
        (COIN, 5.6, 8.8),
        (Reference.binomial(2), 7.7, 12.0),
        (Reference.uniform(4), 9.8, 15.2),
        (Reference.binomial(4), 10.4, 16.3),
        (Reference.uniform(6), 12.7, 20.2),
    ],
)
def test_a_scenes_law_has_the_exact_floor(reference: Reference, at_50: float, at_20: float) -> None:
    """The mean TVD of a calibrated model, as worked out independently."""
    for n, floor in ((50, at_50), (20, at_20)):
        law = mean_tvd_law([(reference, n)])
        assert law.mean == pytest.approx(100 * null_floor(reference, n), abs=1e-6)
        assert law.mean == pytest.approx(floor, abs=0.051)


def test_the_law_of_a_mean_by_simulation() -> None:
    """Quantiles of the convolved law agree with drawing it."""
    scenes = [(COIN, 50)] * 5 + [(Reference.uniform(4), 30)] * 3
    rng = np.random.default_rng(0)
    draws = np.zeros(40_000)
    for reference, n in scenes:
        seen = rng.multinomial(n, reference.probabilities, size=len(draws))
        draws += 50 * np.abs(seen / n - reference.probabilities).sum(axis=1) / len(scenes)
    law = mean_tvd_law(scenes)
    for level in (0.05, 0.5, 0.99):
        assert law.quantile(level) == pytest.approx(np.quantile(draws, level), abs=0.15)
    assert law.p_value(float(np.quantile(draws, 0.95))) == pytest.approx(0.05, abs=0.01)


def test_the_published_mean_is_no_chance() -> None:
    """A calibrated model never reaches 31.2 over 25 forks of 50 rollouts; it always reaches 0."""
    law = mean_tvd_law([(COIN, 50)] * 25)
    assert law.p_value(31.2) == 1e-12
    assert law.p_value(0.0) == 1.0


def test_averaging_models_narrows_the_law() -> None:
    """The mean stays, the spread shrinks."""
    one, many = mean_tvd_law([(COIN, 50)] * 5), mean_tvd_law([(COIN, 50)] * 5, models=11)
    assert many.mean == pytest.approx(one.mean, abs=1e-6)
    assert many.quantile(0.99) < one.quantile(0.99)


@given(st.integers(1, 60), st.integers(2, 10))
def test_expected_coverage_of_a_fair_sampler(n: int, k: int) -> None:
    """100 (1 - (1 - 1/k)^n), and never less with more rollouts."""
    reference = Reference.uniform(k)
    assert expected_coverage(reference, n) == pytest.approx(100 * (1 - (1 - 1 / k) ** n))
    assert expected_coverage(reference, n + 1) >= expected_coverage(reference, n)


def test_false_labels_pay_coverage() -> None:
    """A model with one outcome and a judge that errs by 18.7% looks as if it covered everything; surely it does not."""
    stuck = Reference.of([1, 0, 0, 0, 0])
    assert expected_coverage(stuck, 50) == 20
    assert expected_coverage(stuck, 50, false_label=0.187) > 90
    rng = np.random.default_rng(1)
    read = rng.multinomial(50, [0.813, *[0.187 / 4] * 4], size=400)
    sure = [sure_coverage(row, false_label=0.187) for row in read]
    assert np.mean([s > 20 for s in sure]) <= 0.05
    assert np.mean([coverage_percent(row) for row in read]) > 90


@given(st.lists(st.integers(0, 20), min_size=2, max_size=8).filter(lambda x: sum(x) > 0))
def test_sure_coverage_is_a_lower_bound(counts: list[int]) -> None:
    """At most the plain coverage, and equal to it if the judge never errs."""
    assert sure_coverage(counts, false_label=0.05) <= coverage_percent(counts)
    assert sure_coverage(counts, false_label=0.0) == coverage_percent(counts)


def test_the_interval_of_a_mean_covers() -> None:
    """The jackknife interval holds the mean of the published metric in about 95% of suites."""
    rng = np.random.default_rng(2)
    p = np.array([0.6, 0.3, 0.1])
    draws = rng.multinomial(50, p, size=(300, 6))
    centre = (50 * np.abs(draws / 50 - 1 / 3).sum(axis=2)).mean()
    held = 0
    for suite in draws:
        shown = mean_tvd_interval([(row, Reference.uniform(3)) for row in suite]).interval
        assert shown is not None
        held += shown.low <= centre <= shown.high
    assert held / 300 > 0.9


def test_an_interval_without_spread_has_a_reason() -> None:
    """Where no omission changes the mean there is no interval of zero width."""
    flat = mean_coverage_interval([[25, 25], [30, 20]])
    assert (flat.interval, flat.value) == (None, 100)
    assert flat.reason is not None
    assert mean_tvd_interval([([1, 0], COIN)]).reason == "a scene has fewer than 2 valid outcomes"


def test_refuses_nothing() -> None:
    """Names what is missing."""
    with pytest.raises(StatisticsError, match="leave out scenes that fail the gate"):
        mean_tvd_interval([([0, 0], COIN)])
    with pytest.raises(StatisticsError, match="n = 0"):
        coverage_percent([0, 0])
    with pytest.raises(StatisticsError, match="no scenes"):
        scene_pass_rate([])
    with pytest.raises(StatisticsError, match="scenes: none given"):
        mean_tvd_law([])
