"""Tests of the `mix` e-process."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics import log_e_path, log_e_value
from worldodds.statistics.power import all_tables
from worldodds.statistics.sequential import log_e_of, log_mixture

REFERENCES = [
    Reference.uniform(2),
    Reference.of(["18/37", "18/37", "1/37"]),
    Reference.binomial(4),
    Reference.of(["1/2", "1/2", "0"]),
]
references = st.sampled_from(REFERENCES)


def _mass_of_sequences(tables: np.ndarray) -> np.ndarray:
    """Return how many sequences have each table of counts."""
    n = int(tables[0].sum())
    return np.array([math.factorial(n) / math.prod(math.factorial(int(x)) for x in row) for row in tables])


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_mixture_is_a_probability(reference: Reference, n: int) -> None:
    """The likelihoods of all sequences of one length add up to 1."""
    tables = all_tables(n, reference.k)
    total = (_mass_of_sequences(tables) * np.exp(log_mixture(tables, reference.probabilities))).sum()
    assert total == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("reference", REFERENCES[:3])
def test_the_mean_of_e_under_the_reference_is_1(reference: Reference) -> None:
    """An honest bet: E has mean 1 if the model is calibrated (enumerated)."""
    tables, p = all_tables(6, reference.k), reference.probabilities
    weights = _mass_of_sequences(tables) * np.prod(p**tables, axis=1)
    assert weights @ np.exp(log_e_of(tables, p)) == pytest.approx(1, rel=1e-12)


def test_the_mixture_by_hand() -> None:
    """One outcome of a fair coin: worked out from the definition, component by component."""
    p = np.array([0.25, 0.75])
    shares = [0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97]
    spikes = [np.mean([(1 - e) * 0.25 + e * (j == 0) for e in shares]) for j in range(2)]
    dirichlet = (3 * 0.25 + 0.5) / 4
    powers = np.mean([0.25**g / (0.25**g + 0.75**g) for g in (0.3, 0.6, 1.5, 2, 3, 5)])
    expected = 0.35 * np.mean(spikes) + 0.15 * (p @ spikes) + 0.35 * dirichlet + 0.15 * powers
    assert math.exp(log_mixture(np.array([[1, 0]]), p)[0]) == pytest.approx(expected, rel=1e-13)


@given(references, st.data())
def test_order_does_not_matter_and_nulls_are_skipped(reference: Reference, data: st.DataObject) -> None:
    """The path ends at the e-value of the counts."""
    possible = [j for j in range(reference.k) if reference.probabilities[j] > 0]
    outcomes = data.draw(st.lists(st.one_of(st.none(), st.sampled_from(possible)), min_size=1, max_size=15))
    counts = [outcomes.count(j) for j in range(reference.k)]
    assert log_e_path(outcomes, reference)[-1] == pytest.approx(log_e_value(counts, reference), abs=1e-9)


@given(references, st.data())
def test_safety_costs_evidence(reference: Reference, data: st.DataObject) -> None:
    """Guarding against wrong labels or hostile nulls never raises E above the plain bets."""
    possible = [j for j in range(reference.k) if reference.probabilities[j] > 0]
    outcomes = data.draw(st.lists(st.one_of(st.none(), st.sampled_from(possible)), min_size=1, max_size=15))
    plain = log_e_path(outcomes, reference)
    assert (log_e_path(outcomes, reference, nulls="worst") <= plain + 1e-9).all()
    if (reference.probabilities > 0).all():
        assert (log_e_path(outcomes, reference, judge_error=0.05) <= plain + 1e-9).all()


@pytest.mark.parametrize("reference", REFERENCES)
def test_robust_bets_are_fair_under_the_worst_wrong_labels(reference: Reference) -> None:
    """At error eps a bet's mean is at most 1 even if every wrong label is the one that pays best."""
    eps, p = 0.03, reference.probabilities
    for start in ([], [0, 0, 0], [0, 1, 1, 1]):
        before = log_e_path(start, reference, judge_error=eps)[-1] if start else 0.0
        ends = [log_e_path([*start, j], reference, judge_error=eps)[-1] for j in range(reference.k)]
        bets = np.exp(np.array(ends) - before)
        assert (1 - eps) * (bets @ p) + eps * bets.max() <= 1 + 1e-9


def test_an_impossible_outcome_is_certain_evidence_unless_judges_err() -> None:
    """Odds 0 and seen: E is infinite, but finite where the label may be wrong."""
    pencil = Reference.of([1, 0])
    assert log_e_value([3, 1], pencil) == math.inf
    assert log_e_path([0, 1], pencil, judge_error=0.05)[-1] < math.log(20)
    assert log_e_path([1] * 6, pencil, judge_error=0.05)[-1] > math.log(100)


def test_published_cells_that_cross_100(grid) -> None:
    """Twenty of the 54 published cells reach E >= 100, after 232 rollouts in all."""
    paths = [log_e_path(seen, reference) for reference, seen in grid.readings]
    crossed = [int(np.argmax(path >= math.log(100))) + 1 for path in paths if path.max() >= math.log(100)]
    assert (len(crossed), sum(crossed)) == (20, 232)


def test_false_alarms_stay_below_the_level_however_often_one_looks() -> None:
    """At most 5% of calibrated dice ever cross 20 within 100 looks (2,000 dice, up to sampling error)."""
    rng, die = np.random.default_rng(3), Reference.uniform(6)
    outcomes = rng.integers(6, size=(2000, 100))
    seen = np.eye(6, dtype=np.int64)[outcomes].cumsum(axis=1).reshape(-1, 6)
    crossed = (log_e_of(seen, die.probabilities).reshape(2000, 100) >= math.log(20)).any(axis=1)
    assert crossed.mean() < 0.05


@pytest.mark.parametrize("wrong", [6, -1, 0.5, math.nan])
def test_refuses_an_unknown_outcome(wrong: float) -> None:
    """Says which outcomes there are."""
    with pytest.raises(StatisticsError, match="give 0 to 5"):
        log_e_path([0, wrong], Reference.uniform(6))  # type: ignore[list-item]


def test_refuses_an_error_rate_of_a_half() -> None:
    """Names the argument and the range."""
    with pytest.raises(StatisticsError, match=r"judge_error: 0\.5 is out of range"):
        log_e_path([0], Reference.uniform(6), judge_error=0.5)
