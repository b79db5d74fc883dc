"""Tests of comparing models, of two samples and of where to spend rollouts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact, studentized_range

from worldodds.errors import StatisticsError
from worldodds.statistics import (
    allocate,
    critical_value,
    differences,
    paired_test,
    rank_ranges,
    saving,
    ties,
    two_sample_test,
)

COIN = [0.5, 0.5]
RNG = np.random.default_rng


@pytest.mark.parametrize("models", [2, 3, 6, 12])
def test_the_critical_value_is_tukeys(models: int) -> None:
    """The studentised range with infinite degrees of freedom, over the square root of 2 (scipy)."""
    tukey = studentized_range.ppf(0.95, models, 1e6) / np.sqrt(2)
    assert critical_value(models) == pytest.approx(tukey, abs=1e-3)


def test_published_differences(models) -> None:
    """Seven of fifteen pairs of the published six are distinguishable, all statements at once."""
    assert sum(d.distinguishable for d in differences(models)) == 7


def test_published_ranks(models) -> None:
    """Where each of the published six may stand."""
    assert rank_ranges(differences(models)) == {
        "seedance": (1, 2),
        "runway45": (1, 4),
        "happyhorse": (2, 5),
        "wan": (2, 6),
        "cosmos3_super": (3, 6),
        "veo31": (4, 6),
    }


def test_ties_are_the_largest_indistinguishable_sets(models) -> None:
    """Every pair within a set is indistinguishable, and no set can take another model."""
    compared = differences(models)
    apart = {frozenset((d.a, d.b)) for d in compared if d.distinguishable}
    groups = ties(compared)
    for group in groups:
        assert not any(frozenset(pair) in apart for pair in itertools.combinations(group, 2))
        assert all(any(frozenset((other, m)) in apart for m in group) for other in models if other not in group)
    assert set().union(*groups) == set(models)


def test_differences_are_antisymmetric(models) -> None:
    """Naming the models the other way round turns the sign and nothing else."""
    forward = {(d.a, d.b): d for d in differences(models)}
    backward = {(d.b, d.a): d for d in differences(dict(reversed(models.items())))}
    for pair, d in forward.items():
        assert backward[pair].difference == pytest.approx(-d.difference)
        assert backward[pair].high == pytest.approx(-d.low)


def test_a_collapsed_model_gets_a_reason_instead_of_an_interval() -> None:
    """Where no omission changes the score there is no standard error, and the pair is not called different."""
    (pair,) = differences({"stuck": [([32, 0], COIN)], "free": [([18, 14], COIN)]})
    assert (pair.low, pair.high, pair.distinguishable) == (None, None, False)
    assert pair.reason is not None
    assert pair.reason.startswith("stuck: ")


def test_refuses_models_with_other_scenes() -> None:
    """A mean over other scenes is no rival."""
    with pytest.raises(StatisticsError, match="'b' has other scenes than 'a'"):
        differences({"a": [([5, 5], COIN)], "b": [([5, 5, 5], [1 / 3] * 3)]})
    with pytest.raises(StatisticsError, match="models: 1 is out of range"):
        differences({"a": [([5, 5], COIN)]})


@given(st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_two_outcomes_are_fishers_exact_test(cells: list[int]) -> None:
    """Orders tables by G rather than by probability, so it is bounded by the one-sided tests; equal margins agree."""
    a, b = cells[:2], cells[2:]
    found = two_sample_test(a, b, rng=RNG(0))
    if not sum(a) or not sum(b):
        assert found.p_value is None
        return
    assert found.p_value is not None
    one_sided = min(fisher_exact([a, b], alternative=side).pvalue for side in ("less", "greater"))
    assert one_sided - 1e-12 <= found.p_value <= 1
    if sum(a) == sum(b):
        assert found.p_value == pytest.approx(fisher_exact([a, b]).pvalue, rel=1e-9)


def test_permutation_agrees_with_enumeration() -> None:
    """Drawn permutations of a small table give its exact p-value."""
    exact = two_sample_test([6, 2, 1, 3], [1, 5, 4, 2], rng=RNG(0))
    rng, labels = RNG(1), np.repeat([0, 1, 2, 3], [7, 7, 5, 5])
    row = np.array([6, 2, 1, 3])
    columns = np.bincount(labels)

    def g(first: np.ndarray) -> float:
        expected = columns / 2
        both = np.concatenate([first, columns - first])
        e = np.concatenate([expected, expected])
        return float((2 * both[both > 0] * np.log(both[both > 0] / e[both > 0])).sum())

    draws = [g(np.bincount(rng.permutation(labels)[:12], minlength=4)) for _ in range(4000)]
    assert exact.method == "exact conditional"
    assert exact.p_value == pytest.approx(np.mean(np.array(draws) >= g(row) - 1e-9), abs=0.03)


def test_large_tables_are_permuted_from_the_seed() -> None:
    """Too many tables to enumerate: the same generator gives the same p-value."""
    rng = RNG(4)
    a, b = rng.multinomial(32, [0.05] * 20), rng.multinomial(32, [0.05] * 20)
    first, second = (two_sample_test(a, b, rng=RNG(7)) for _ in range(2))
    assert first == second
    assert first.method == "permutation"


def test_two_sample_size_is_kept() -> None:
    """At most 5% of pairs of equal dice are called different (exact, so conservative)."""
    rng = RNG(2)
    p_values = [
        two_sample_test(rng.multinomial(20, [1 / 4] * 4), rng.multinomial(20, [1 / 4] * 4), rng=rng).p_value
        for _ in range(150)
    ]
    assert np.mean([p <= 0.05 for p in p_values if p is not None]) < 0.09


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 5))
def test_two_outcomes_in_pairs_are_mcnemars_test(left: int, right: int, same: int) -> None:
    """Exact McNemar: a sign test on the pairs that disagree (scipy)."""
    if left + right + same == 0:
        return
    a, b = [0] * left + [1] * right + [0] * same, [1] * left + [0] * right + [0] * same
    found = paired_test(a, b, k=2, rng=RNG(0))
    expected = binomtest(left, left + right).pvalue if left + right else 1.0
    assert found.p_value == pytest.approx(expected, rel=1e-9)


def test_shared_seeds_are_not_independent_samples() -> None:
    """The same clips twice: the paired test sees no change at all, whatever the odds."""
    clips = [0, 1, 2, 3, 0, 0, 1] * 4
    assert paired_test(clips, clips, k=4, rng=RNG(0)).p_value == 1.0


def test_pairs_with_a_null_are_left_out() -> None:
    """A pair counts only if both sides are readable; without any there is a reason."""
    assert paired_test([0, None, 1], [1, 0, None], k=2, rng=RNG(0)).n == 1
    empty = paired_test([None], [0], k=2, rng=RNG(0))
    assert (empty.p_value, empty.reason) == (None, "no pair has two valid outcomes")


def test_refuses_what_cannot_be_compared() -> None:
    """Other labels, other lengths."""
    with pytest.raises(StatisticsError, match="only the same scene"):
        two_sample_test([1, 2], [1, 2, 3], rng=RNG(0))
    with pytest.raises(StatisticsError, match="3 and 2 readings"):
        paired_test([0, 1, 0], [0, 1], k=2, rng=RNG(0))


@given(st.integers(0, 40))
def test_every_rollout_is_allocated(more: int) -> None:
    """All are spent, none is taken back, and the wider scene gets at least as many."""
    extra = allocate([([20, 12], COIN), ([5, 6, 5, 5, 6, 5], [1 / 6] * 6), ([32, 0], COIN)], more=more)
    assert sum(extra) == more
    assert min(extra) >= 0
    assert extra[0] >= extra[2]


@pytest.mark.parametrize(("model", "saved"), [("seedance", 0.07), ("veo31", 0.40)])
def test_published_savings_of_neymans_rule(models, model: str, saved: float) -> None:
    """From 7% to 40% of rollouts, model by model."""
    assert saving(models[model]) == pytest.approx(saved, abs=0.01)
