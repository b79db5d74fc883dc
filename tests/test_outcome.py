"""Reference odds and counts: exact, validated at birth, refused in a sentence."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference, numbered


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=30).filter(any))
def test_weights_are_exact(weights: list[int]) -> None:
    """Odds w / W come back as integer weights in the same proportions, and floats of them sum to 1."""
    reference = Reference.of([Fraction(w, sum(weights)) for w in weights])
    whole, total = reference.weights
    assert sum(whole) == total
    assert [Fraction(w, total) for w in whole] == list(reference.odds or ())
    assert reference.probabilities.sum() == pytest.approx(1, abs=1e-12)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=20))
def test_floats_are_taken_as_the_simple_fraction(weights: list[int]) -> None:
    """Floats close to a simple fraction are that fraction, exactly."""
    total = sum(weights)
    assert Reference.of([w / total for w in weights]).odds == tuple(Fraction(w, total) for w in weights)


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=20))
def test_odd_floats_are_normalised(values: list[float]) -> None:
    """Floats that sum to 1 but for rounding are made to sum to 1 exactly."""
    odds = np.array(values) / sum(values)
    assert sum(Reference.of(odds.tolist()).odds or ()) == 1


def test_binomial() -> None:
    """Ten fair rows give the row of Pascal's triangle over 1024; the success may be any fraction."""
    odds = Reference.binomial(10).odds or ()
    assert [int(o * 1024) for o in odds] == [1, 10, 45, 120, 210, 252, 210, 120, 45, 10, 1]
    assert Reference.binomial(2, "1/3").odds == (Fraction(4, 9), Fraction(4, 9), Fraction(1, 9))


def test_uniform_and_numbered() -> None:
    """Labels are given or counted from 1."""
    assert Reference.uniform(3) == Reference.of(["1/3"] * 3)
    assert Reference.uniform(["a", "b"]).labels == ("a", "b")
    assert numbered(3) == ("1", "2", "3")


def test_zero_odds_are_allowed() -> None:
    """An outcome that should never come is an outcome."""
    assert Reference.of([0, 1]).probabilities.tolist() == [0.0, 1.0]


def test_probabilities_are_read_only() -> None:
    """Nobody changes the odds by accident."""
    with pytest.raises(ValueError, match="read-only"):
        Reference.uniform(2).probabilities[0] = 1


@pytest.mark.parametrize(
    ("odds", "message"),
    [
        (["1/2", "1/3"], r"odds: they sum to 0\.8333333333, not to 1 \(off by -0\.167\)"),
        ([0.5, 0.5 + 1e-8], "not to 1"),
        (["3/2", "-1/2"], "odds: -1/2 is negative"),
        (["a half", "1/2"], r"odds: 'a half' is not a number; write 0\.25 or '1/4'"),
        (["1/0", "1"], "odds: '1/0' is not a number"),
        (["1e999999999", "1"], "odds: '1e999999999' is not a number"),
        (["1E-99_999", "1"], "odds: '1E-99_999' is not a number"),
        ([float("nan"), 1.0], "odds: nan is not a number"),
        ([float("inf"), 1.0], "odds: inf is not a number"),
        ([1], "labels: 1 given; an outcome needs at least 2 possibilities"),
    ],
)
def test_bad_odds(odds: list, message: str) -> None:
    """Odds that are none are refused with what would be right."""
    with pytest.raises(StatisticsError, match=message):
        Reference.of(odds)


def test_bad_labels() -> None:
    """Labels must be as many as the odds, and differ."""
    with pytest.raises(StatisticsError, match="odds: 2 given for 3 labels"):
        Reference.of(["1/2", "1/2"], labels=["a", "b", "c"])
    with pytest.raises(StatisticsError, match="labels: 'a' is given twice"):
        Reference.uniform(["a", "a"])


def test_bad_binomial() -> None:
    """Trials and success outside their range, and labels that do not fit, are refused."""
    with pytest.raises(StatisticsError, match="need trials >= 1"):
        Reference.binomial(0)
    with pytest.raises(StatisticsError, match="0 <= success <= 1"):
        Reference.binomial(3, 1.5)
    with pytest.raises(StatisticsError, match="3 trials have 4 outcomes, and 2 labels are given"):
        Reference.binomial(3, labels=["a", "b"])


@given(st.lists(st.integers(0, 99), min_size=2, max_size=9), st.integers(0, 9), st.integers(0, 9))
def test_counts_add_up(counts: list[int], unreadable: int, out_of_schema: int) -> None:
    """Scorability is the share of clips read that have an outcome, None where nothing was read."""
    seen = Counts.of(counts, unreadable=unreadable, out_of_schema=out_of_schema)
    assert seen.n == sum(counts)
    assert seen.n_total == seen.n + unreadable + out_of_schema
    assert seen.array.tolist() == counts
    if seen.n_total:
        assert seen.scorability == seen.n / seen.n_total
    else:
        assert seen.scorability is None


def test_counts_from_numpy() -> None:
    """Arrays of whole numbers are counts too, and come out as plain integers."""
    seen = Counts.of(np.array([3, 4]))
    assert seen.counts == (3, 4)
    assert all(type(c) is int for c in seen.counts)


@pytest.mark.parametrize("bad", [-1, 2.5, float("nan"), float("inf")])
def test_bad_counts(bad: float) -> None:
    """Negative, fractional and endless counts are refused, by either way of making them."""
    with pytest.raises(StatisticsError, match="is not a"):
        Counts.of([1, bad])
    with pytest.raises(StatisticsError, match=r"counts: .* is not a count; give whole numbers, 0 or more"):
        Counts(labels=("a", "b"), counts=(1, bad))
    with pytest.raises(StatisticsError, match=r"nulls: .* is not a count"):
        Counts.of([1, 2], unreadable=bad)


def test_counts_need_a_label_each() -> None:
    """As many counts as labels."""
    with pytest.raises(StatisticsError, match="counts: 1 given for 2 labels; give one a label"):
        Counts.of([1], labels=["a", "b"])
