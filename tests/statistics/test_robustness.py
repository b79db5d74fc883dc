"""Tests of what a verdict hangs on."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics import (
    completed,
    imputed,
    mean_score_bounds,
    mean_tv_bounds,
    multinomial_test,
    p_with_any_nulls,
    p_with_error_rate,
    relabelled,
    survives_any_nulls,
    survives_error_rate,
    total_variation,
    tv_bounds,
    wrong_labels_survived,
)
from worldodds.statistics.power import all_tables

references = st.sampled_from([Reference.uniform(3), Reference.of(["18/37", "18/37", "1/37"]), Reference.binomial(2)])
tables = st.lists(st.integers(0, 8), min_size=3, max_size=3).filter(lambda x: sum(x) > 0)


def _g(counts: np.ndarray, reference: Reference) -> float:
    return multinomial_test(counts, reference).statistic


@given(tables, references, st.integers(0, 3))
def test_relabelling_is_the_best_there_is(counts: list[int], reference: Reference, wrong: int) -> None:
    """No table within that many moved labels has a lower G (searched in full)."""
    near = [t for t in all_tables(sum(counts), 3) if np.abs(t - counts).sum() <= 2 * wrong]
    moved = relabelled(counts, reference, wrong=wrong)
    assert moved.n == sum(counts)
    assert np.abs(moved.array - counts).sum() <= 2 * wrong
    assert _g(moved.array, reference) == pytest.approx(min(_g(t, reference) for t in near), abs=1e-9)


@given(tables, references, st.integers(0, 4))
def test_the_completion_is_the_best_there_is(counts: list[int], reference: Reference, nulls: int) -> None:
    """No way of giving nulls an outcome has a lower G (searched in full)."""
    whole = completed(Counts.of(counts, unreadable=nulls), reference)
    options = [np.array(counts) + t for t in all_tables(nulls, 3)]
    assert whole.n == sum(counts) + nulls == whole.n_total
    assert _g(whole.array, reference) == pytest.approx(min(_g(t, reference) for t in options), abs=1e-9)


@given(tables, references, st.integers(0, 4))
def test_imputations_bound_total_variation(counts: list[int], reference: Reference, nulls: int) -> None:
    """The paper's best and worst imputation are the least and the largest TV that nulls can hide."""
    low, high = tv_bounds(Counts.of(counts, unreadable=nulls), reference)
    options = [total_variation(np.array(counts) + t, reference) for t in all_tables(nulls, 3)]
    assert (low, high) == (pytest.approx(min(options)), pytest.approx(max(options)))


@given(tables, references)
def test_guards_only_raise_p_values(counts: list[int], reference: Reference) -> None:
    """Nothing becomes more significant by doubting the judge or the nulls."""
    p = multinomial_test(counts, reference).p_value
    doubted = [p_with_error_rate(counts, reference, rate=rate) for rate in (0.0, 0.02, 0.2)]
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise([p, *doubted]))
    assert p_with_any_nulls(counts, reference) == pytest.approx(p, rel=1e-9)


def test_published_verdicts_that_survive_wrong_labels(grid) -> None:
    """Of 30 verdicts 21 survive any wrong label a cell and 18 survive any two."""
    survived = wrong_labels_survived(grid.cells, most=2)
    assert [sum(m is not None and m >= wrong for m in survived) for wrong in (0, 1, 2)] == [30, 21, 18]


@pytest.mark.parametrize(("rate", "survivors"), [(0.02, 16), (0.05, 11)])
def test_published_verdicts_that_survive_error_rates(grid, rate: float, survivors: int) -> None:
    """Sixteen verdicts stand at 2% wrong labels, eleven at 5%."""
    assert sum(survives_error_rate(grid.cells, rate=rate)) == survivors


def test_published_verdicts_that_survive_any_nulls(grid) -> None:
    """Twenty verdicts stand whatever made rollouts unreadable."""
    assert sum(survives_any_nulls(grid.cells)) == 20


@pytest.mark.parametrize(
    ("model", "best", "worst"),
    [
        ("seedance", 0.24, 0.41),
        ("runway45", 0.11, 0.45),
        ("happyhorse", 0.32, 0.50),
        ("wan", 0.34, 0.54),
        ("cosmos3_super", 0.08, 0.58),
        ("veo31", 0.29, 0.61),
    ],
)
def test_published_bounds_of_mean_tv(models, model: str, best: float, worst: float) -> None:
    """What the nulls leave open: the order of the six is not settled without charging for them."""
    assert mean_tv_bounds(models[model]) == (pytest.approx(best, abs=0.0051), pytest.approx(worst, abs=0.0051))


def test_score_bounds_close_without_nulls() -> None:
    """With every clip readable there is nothing to bound: both ends are the official score."""
    low, high = mean_score_bounds([([10, 22], [0.5, 0.5])])
    assert low == high == pytest.approx((6 / 32 - 0.06997) / (1 - 0.06997), abs=1e-4)


def test_impossible_outcomes_are_the_first_suspects() -> None:
    """One label where the odds are 0 does not survive one wrong label."""
    pencil = Reference.of([1, 0])
    assert relabelled([31, 1], pencil, wrong=1).counts == (32, 0)
    assert completed(Counts.of([3, 0], unreadable=2), pencil).counts == (5, 0)
    assert wrong_labels_survived([([31, 1], pencil)]) == [0]


def test_both_imputations_keep_the_number_of_clips() -> None:
    """Nulls become outcomes, none is lost."""
    seen = Counts.of([3, 1, 0], unreadable=4, out_of_schema=2)
    for best in (True, False):
        assert imputed(seen, Reference.uniform(3), best=best).n == 10


def test_refuses_arguments_out_of_range() -> None:
    """Names the argument and the range."""
    with pytest.raises(StatisticsError, match=r"rate: 0\.5 is out of range"):
        p_with_error_rate([5, 5], [0.5, 0.5], rate=0.5)
    with pytest.raises(StatisticsError, match="wrong: -1 is out of range"):
        relabelled([5, 5], [0.5, 0.5], wrong=-1)
    with pytest.raises(StatisticsError, match="alpha: 0 is out of range"):
        survives_any_nulls([([5, 5], [0.5, 0.5])], alpha=0)
    with pytest.raises(StatisticsError, match="bounds need at least one"):
        mean_tv_bounds([])
