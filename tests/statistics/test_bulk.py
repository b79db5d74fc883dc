"""Many cells at once give what one at a time gives."""

from __future__ import annotations

import numpy as np
import pytest

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics.bulk import measure_many, p_values_of_many
from worldodds.statistics.distance import null_floor, score_of, total_variation
from worldodds.statistics.exact import multinomial_test

BOARD, WHEEL = Reference.binomial(10), Reference.of(["18/37", "18/37", "1/37"])


@pytest.mark.parametrize("reference", [Reference.uniform(6), WHEEL, BOARD, Reference.of([0.5, 0.5, 0])])
def test_measures_are_those_of_single_cells(reference):
    """Distance, floor and score of every row equal the scalar functions'; no outcome at all scores 1."""
    rng = np.random.default_rng(1)
    n = rng.integers(0, 33, size=40)
    n[0] = 0
    counts = rng.multinomial(n, reference.probabilities)
    many = measure_many(counts, reference, nulls=33 - n)
    for i, row in enumerate(counts.tolist()):
        seen = Counts.of(row, unreadable=int(33 - n[i]))
        assert many.score[i] == pytest.approx(score_of(seen, reference), abs=1e-12)
        assert many.scorability[i] == seen.scorability
        if seen.n:
            assert many.tv[i] == pytest.approx(total_variation(seen, reference), abs=1e-12)
            assert many.floor[i] == pytest.approx(null_floor(reference, seen.n), abs=1e-12)
        else:
            assert np.isnan(many.tv[i])
            assert many.score[i] == 1


@pytest.mark.parametrize("statistic", ["g", "chi2"])
@pytest.mark.parametrize("reference", [Reference.uniform(6), Reference.uniform(20), WHEEL, Reference.of([0.5, 0.5, 0])])
def test_p_values_are_those_of_single_cells(reference, statistic):
    """Where the law can be listed, the p-value of every row is the single test's."""
    rng = np.random.default_rng(2)
    n = rng.integers(1, 40, size=30)
    counts = np.concatenate([rng.multinomial(n, reference.probabilities), np.eye(reference.k, dtype=int) * 30])
    found = p_values_of_many(counts, reference, statistic=statistic)
    wanted = [multinomial_test(row, reference, statistic=statistic).p_value for row in counts.tolist()]
    assert found == pytest.approx(wanted, rel=1e-10)


def test_p_values_of_a_large_law_are_never_below_and_within_half_a_percent():
    """A Galton board at n = 20: one law for all rows, collapsed ones included."""
    rng = np.random.default_rng(3)
    counts = np.concatenate(
        [rng.multinomial(20, 0.6 * BOARD.probabilities + 0.4 / 11, size=8), np.eye(11, dtype=int)[[0, 5]] * 20]
    )
    found = p_values_of_many(counts, BOARD)
    wanted = np.array([multinomial_test(row, BOARD).p_value for row in counts.tolist()])
    assert (found >= wanted * (1 - 1e-12)).all()
    assert (found <= 1.005 * wanted).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: measure_many(np.array([[1, 2, 3]]), [0.5, 0.5]), r"shape \(1, 3\) given; it must be \(cells, 2\)"),
        (lambda: measure_many(np.array([[1, -2]]), [0.5, 0.5]), "negative or not whole"),
        (lambda: measure_many(np.array([[1, 2], [0, 0]]), [0.5, 0.5]), "cell 1 holds neither"),
        (lambda: measure_many(np.array([[1, 2]]), [0.5, 0.5], nulls=np.array([1, 2])), "2 given for 1 cells"),
        (lambda: p_values_of_many(np.array([[1, 2]]), [0.5, 0.5], statistic="z"), "statistic: 'z'"),
    ],
)
def test_bad_input_is_named(call, words):
    """Refuses tables that are no counts, naming the argument."""
    with pytest.raises(StatisticsError, match=words):
        call()
