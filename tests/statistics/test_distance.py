"""Distances, floors and scores: against the paper's table, enumeration and invariants."""

from __future__ import annotations

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics.distance import (
    cell_score,
    effective_outcomes,
    excess,
    mean_score,
    modal_share,
    null_band,
    null_floor,
    score_of,
    total_variation,
    tv_total,
    wasserstein,
    wasserstein_floor,
)

MNTV = {
    "seedance": 0.3907,
    "runway45": 0.4826,
    "happyhorse": 0.5402,
    "wan": 0.5780,
    "cosmos3_super": 0.6315,
    "veo31": 0.6515,
}
references_of_any_kind = (
    st.lists(st.integers(0, 30), min_size=2, max_size=8)
    .filter(sum)
    .map(lambda w: Reference.of([f"{x}/{sum(w)}" for x in w]))
)


def tables(n: int, odds: list[float]) -> list[tuple[tuple[int, ...], float]]:
    """Every table of n draws with its probability, the slow way."""
    return [
        (x, factorial(n) / prod(map(factorial, x)) * prod(p**c for p, c in zip(odds, x, strict=True)))
        for x in product(range(n + 1), repeat=len(odds))
        if sum(x) == n
    ]


def test_published_cells(cell_table, published, references):
    """Every cell of the published grid has the table's rho, TV, floor, excess and score."""
    assert len(cell_table) == 54
    for row in cell_table:
        seen, expected = published[row["scene"], row["model"]], references[row["scene"]]
        assert seen.n == int(row["n"])
        assert seen.scorability == pytest.approx(float(row["rho"]), abs=5.1e-4)
        assert score_of(seen, expected) == pytest.approx(float(row["score"]), abs=5.1e-4)
        if seen.n:
            tv, floor = total_variation(seen, expected), null_floor(expected, seen.n)
            assert tv == pytest.approx(float(row["TV"]), abs=5.1e-4)
            assert floor == pytest.approx(float(row["E0"]), abs=5.1e-4)
            assert excess(tv, floor) == pytest.approx(float(row["excess"]), abs=5.1e-4)


@pytest.mark.parametrize("model", MNTV)
def test_published_mntv(model, models):
    """The mean score of each published model is the paper's to four digits."""
    assert round(mean_score(models[model]), 4) == MNTV[model]


@pytest.mark.parametrize(("odds", "n"), [([0.5, 0.5], 7), ([0.1, 0.2, 0.7], 9), ([0.25] * 4, 5), ([0.0, 0.4, 0.6], 6)])
def test_floor_and_band_against_enumeration(odds, n):
    """The floor and the band are those of the law that enumeration gives."""
    reference = Reference.of(odds)
    law = sorted((total_variation(x, reference), p) for x, p in tables(n, odds))
    values, cumulative = np.array([v for v, _ in law]), np.cumsum([p for _, p in law])
    assert null_floor(reference, n) == pytest.approx(sum(v * p for v, p in law), rel=1e-12)
    w1 = sum(wasserstein(x, reference) * p for x, p in tables(n, odds))
    assert wasserstein_floor(reference, n) == pytest.approx(w1, rel=1e-12)
    for level in (0.5, 0.8, 0.95):
        ends = np.searchsorted(cumulative, [(1 - level) / 2, (1 + level) / 2])
        assert null_band(reference, n, level) == pytest.approx(tuple(values[ends]), abs=1e-12)


def test_null_band_of_the_published_protocol(references):
    """At 32 rollouts the band brackets the floor and agrees with 200,000 simulated models."""
    for reference in references.values():
        low, high = null_band(reference, 32)
        assert low < null_floor(reference, 32) < high
        draws = np.random.default_rng(5).multinomial(32, reference.probabilities, size=200_000) / 32
        tv = np.abs(draws - reference.probabilities).sum(axis=1) / 2
        assert (tv < low - 1e-9).mean() <= 0.025 + 0.002 <= (tv <= low + 1e-9).mean() + 0.004
        assert (tv > high + 1e-9).mean() <= 0.025 + 0.002


def test_uneven_odds_of_many_outcomes_have_a_band():
    """Twelve odds that share no small denominator still have a band, quickly."""
    odds = np.random.default_rng(3).dirichlet(np.ones(12))
    low, high = null_band(Reference.of(odds.tolist()), 32)
    draws = np.random.default_rng(4).multinomial(32, odds, size=100_000) / 32
    simulated = np.quantile(np.abs(draws - odds).sum(axis=1) / 2, [0.025, 0.975])
    assert (low, high) == pytest.approx(tuple(simulated), abs=0.004)


@given(references_of_any_kind, st.integers(1, 60))
def test_floor_lies_between_0_and_1(reference, n):
    """The floor lies from 0 to below 1, and is 0 only where nothing is left to chance."""
    floor = null_floor(reference, n)
    assert 0 <= floor < 1
    assert (floor < 1e-12) == (max(reference.probabilities) == 1)


@given(st.lists(st.integers(0, 40), min_size=3, max_size=3).filter(sum), st.permutations(range(3)))
def test_total_variation_ignores_the_order_of_outcomes(counts, order):
    """Lies between 0 and 1, whatever was seen, and does not depend on how outcomes are listed."""
    odds = [0.2, 0.3, 0.5]
    tv = total_variation(counts, odds)
    assert 0 <= tv <= 1
    assert total_variation([counts[i] for i in order], [odds[i] for i in order]) == pytest.approx(tv)
    assert tv <= wasserstein(counts, odds) + 1e-12


@given(st.integers(0, 32), st.integers(0, 32))
def test_score_is_1_where_nothing_was_readable_and_falls_with_nothing_else_wrong(left, nulls):
    """A cell of nulls scores 1; nulls only raise the score of a cell that is otherwise below 1."""
    if left + nulls == 0:
        return
    scored = score_of(Counts.of([left, 0], unreadable=nulls), Reference.uniform(2))
    assert scored <= 1 + 1e-12
    if left == 0:
        assert scored == 1.0


def test_descriptions():
    """Share of the mode, effective outcomes and total charge are what their words say."""
    assert modal_share([2, 6, 0]) == 0.75
    assert effective_outcomes([4, 4, 4, 4]) == pytest.approx(4)
    assert effective_outcomes([9, 0]) == 1.0
    assert tv_total(Counts.of([0, 0], unreadable=3), Reference.uniform(2)) == 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: null_floor([0.5, 0.5], 0), "n: 0 is out of range"),
        (lambda: null_band([0.5, 0.5], 10, 1.0), "level: 1.0 is out of range"),
        (lambda: total_variation([0, 0], [0.5, 0.5]), "n = 0"),
        (lambda: total_variation([1, 2, 3], [0.5, 0.5]), "3 outcomes given for a reference of 2"),
        (lambda: total_variation([1, -2], [0.5, 0.5]), "-2 is not a count"),
        (lambda: total_variation([1, 2], [0.5, 0.6]), "sum to 1.1, not to 1"),
        (lambda: total_variation([3], [1.0]), "at least 2"),
        (lambda: cell_score(1.5, 0.1, 0.1), "rho: 1.5"),
        (lambda: cell_score(0.5, None, None), "tv: none given"),
        (lambda: excess(0.1, 1.0), "floor: 1.0"),
        (lambda: score_of([0, 0], [0.5, 0.5]), "nothing was read"),
        (lambda: mean_score([]), "cells: none given"),
        (
            lambda: total_variation(Counts.of([1, 2], labels=["a", "b"]), Reference.uniform(["b", "a"])),
            "are not the reference's",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    """Refuses what it cannot use, in one sentence that names the argument."""
    with pytest.raises(StatisticsError, match=words.replace("(", r"\(")):
        call()
