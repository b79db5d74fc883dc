"""The simulated test: valid, close to the exact one, and honest about what it cannot resolve."""

from __future__ import annotations

import numpy as np
import pytest

from worldodds.errors import StatisticsError
from worldodds.statistics import multinomial_test, simulated_test


@pytest.mark.parametrize(
    ("counts", "odds"),
    [
        ([9, 3, 4, 4], [0.25] * 4),
        ([5, 11, 2], [18 / 37, 18 / 37, 1 / 37]),
        ([1, 0, 4, 9, 3], [0.1, 0.1, 0.2, 0.5, 0.1]),
    ],
)
def test_is_near_the_exact_test(counts: list[int], odds: list[float]) -> None:
    """Within five standard errors of the exact p-value, with the same statistic."""
    exact = multinomial_test(counts, odds)
    drawn = simulated_test(counts, odds, rng=np.random.default_rng(1))
    assert drawn.statistic == pytest.approx(exact.statistic, rel=1e-12)
    assert abs(drawn.p_value - exact.p_value) < 5 * np.sqrt(exact.p_value * (1 - exact.p_value) / 20_000) + 1e-4
    assert "20000 draws" in drawn.method


def test_holds_its_level() -> None:
    """Under the reference a p-value of at most 0.1 comes up no more than one time in ten."""
    rng = np.random.default_rng(2)
    seen = rng.multinomial(40, [0.5, 0.3, 0.2], size=400)
    rare = sum(simulated_test(row.tolist(), [0.5, 0.3, 0.2], rng=rng, draws=199).p_value <= 0.1 for row in seen)
    assert rare <= 40 + 4 * np.sqrt(400 * 0.09)


def test_ties_count_in_full() -> None:
    """Where every table has the G that was seen, p is 1."""
    assert simulated_test([1, 0, 0, 0], [0.25] * 4, rng=np.random.default_rng(3), draws=500).p_value == 1


def test_an_impossible_outcome_gives_the_smallest_p() -> None:
    """An outcome that the reference rules out has an infinite statistic and the least p there is."""
    test = simulated_test([5, 5, 1], [0.5, 0.5, 0.0], rng=np.random.default_rng(4), draws=999)
    assert (test.statistic, test.p_value) == (np.inf, 0.001)


def test_what_cannot_be_tested_is_said() -> None:
    """No valid outcome, or too few draws, is an error."""
    with pytest.raises(StatisticsError, match="n = 0"):
        simulated_test([0, 0], [0.5, 0.5], rng=np.random.default_rng(5))
    with pytest.raises(StatisticsError, match="draws"):
        simulated_test([1, 0], [0.5, 0.5], rng=np.random.default_rng(5), draws=9)
