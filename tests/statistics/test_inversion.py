"""The population score: the published models, collapse, calibration and what readers distort."""

from __future__ import annotations

import numpy as np
import pytest

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics.inversion import invert, path

POPULATION = {
    "seedance": (0.450, 0.392, 0.495),
    "runway45": (0.524, 0.444, 0.568),
    "happyhorse": (0.592, 0.545, 0.629),
    "wan": (0.629, 0.582, 0.672),
    "cosmos3_super": (0.662, 0.551, 0.701),
    "veo31": (0.688, 0.648, 0.720),
}


@pytest.mark.parametrize("model", POPULATION)
def test_published_models(model, models):
    """Estimates and ends of the six published models lie within 0.02 of an independent implementation's."""
    found = invert(models[model], rng=np.random.default_rng(0)).mean
    assert (found.estimate, found.interval.low, found.interval.high) == pytest.approx(POPULATION[model], abs=0.02)


def test_same_generator_same_answer(models):
    """Randomness comes from the argument alone."""
    once, again = (invert(models["wan"], rng=np.random.default_rng(3), repeats=200) for _ in range(2))
    assert once == again


def test_collapse_has_width():
    """A die that always shows one face may still be a die that nearly always does: the interval says how nearly."""
    (cell,) = invert([([32, 0, 0, 0, 0, 0], [1 / 6] * 6)], rng=np.random.default_rng(0)).cells
    assert 0.6 < cell.interval.low < 0.78
    assert 5 / 6 <= cell.interval.high < 0.95
    assert cell.interval.low <= cell.estimate <= cell.interval.high


def test_calibrated_cells_reach_zero(references):
    """Cells on their reference have an interval that begins at 0."""
    cells = [(Counts.of(np.rint(32 * r.probabilities).astype(int)), r) for r in references.values()]
    assert invert(cells, rng=np.random.default_rng(0), repeats=300).mean.interval.low == 0


def test_nothing_readable_is_far_from_calibrated():
    """A cell of nulls lies near 1, with width."""
    found = invert([(Counts.of([0, 0], unreadable=32), Reference.uniform(2))], rng=np.random.default_rng(0)).mean
    assert found.estimate > 0.95
    assert found.interval.low < 0.95
    assert found.interval.high == 1


def test_path_runs_from_calibrated_to_unreadable():
    """Truths rise along the path from 0 to 1, and every point of it is a law."""
    odds, rho = path(Counts.of([3, 20, 1], unreadable=8), Reference.of(["1/2", "1/4", "1/4"]))
    truths = 1 - rho + rho * np.abs(odds - [0.5, 0.25, 0.25]).sum(axis=1) / 2
    assert odds.sum(axis=1) == pytest.approx(1)
    assert (odds >= 0).all()
    assert truths[0] == 0
    assert truths[-1] == pytest.approx(1)
    assert (np.diff(truths) >= -1e-12).all()


def test_misreading_moves_the_estimate():
    """A reader known to lose a quarter of the outcomes explains some of the nulls, so the model looks better."""

    def loses(counts, rng):
        lost = rng.binomial(counts[:, :-1], 0.25)
        return np.column_stack([counts[:, :-1] - lost, counts[:, -1] + lost.sum(axis=1)])

    cell = [(Counts.of([10, 14], unreadable=8), Reference.uniform(2))]
    plain = invert(cell, rng=np.random.default_rng(0)).mean
    corrected = invert(cell, rng=np.random.default_rng(0), misreading=loses).mean
    assert corrected.estimate < plain.estimate - 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [({"level": 1.0}, "level: 1.0"), ({"repeats": 10}, "repeats: 10"), ({"cells": []}, "cells: none given")],
)
def test_bad_input_is_named(options, words):
    """Refuses what it cannot invert, naming the argument."""
    arguments = {"cells": [([3, 4], [0.5, 0.5])], "rng": np.random.default_rng(0), **options}
    with pytest.raises(StatisticsError, match=words):
        invert(arguments.pop("cells"), **arguments)


@pytest.mark.parametrize(
    "cells",
    [
        [([1] * 6, [1 / 6] * 6)],
        [([8] * 4, [1 / 4] * 4)],
        [([16, 16], [0.5, 0.5])] * 3,
        [([5, 5, 5, 5, 6, 6], [1 / 6] * 6)],
    ],
)
def test_a_fit_that_is_too_good_earns_no_certainty(cells: list[tuple[list[int], list[float]]]) -> None:
    """Counts that equal the odds still leave room for a truth that differs: the interval has width."""
    found = invert(cells, rng=np.random.default_rng(0))
    assert found.mean.interval.low == 0
    assert found.mean.interval.high > 0.1
    assert all(cell.interval.high > 0.1 for cell in found.cells)
