"""Tests of agreement and of a judge's errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts
from worldodds.statistics import (
    ErrorRate,
    JudgeError,
    cohen_kappa,
    correct,
    invert,
    krippendorff_alpha,
    share_interval,
)
from worldodds.statistics.judge import misread, undistorted
from worldodds.suites import find_suite
from worldodds.suites.published import human_readings, published_readings

JUDGE = JudgeError(
    false_null=ErrorRate(errors=4, trials=107),
    missed_null=ErrorRate(errors=4, trials=55),
    wrong_label=ErrorRate(errors=2, trials=103),
)


def test_the_published_judge() -> None:
    """162 human labels: 4 of 107 false nulls, 4 of 55 missed nulls, 2 of 103 wrong labels; kappa beside 93.8%."""
    suite = find_suite("calibench")
    judged = {(r.scene, r.model, r.index): r.reading.label for r in published_readings(suite)}
    people = [(r.reading.label, judged[r.scene, r.model, r.index]) for r in human_readings(suite)]
    truth, read = [t for t, _ in people], [r for _, r in people]
    assert JudgeError.counted(truth, read) == JUDGE
    assert sum(t == r for t, r in people) == 152
    kappa = cohen_kappa(truth, read)
    assert kappa is not None
    assert 0.9 < kappa < 0.938


@given(st.integers(0, 30), st.integers(1, 30))
def test_share_intervals_are_clopper_pearsons(hits: int, more: int) -> None:
    """Equal to scipy's exact interval."""
    found = share_interval(hits, hits + more)
    expected = binomtest(hits, hits + more).proportion_ci(method="exact")
    assert (found.low, found.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_kappa_of_a_textbook_table() -> None:
    """Cohen's formula on 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: (0.7 - 0.5) / (1 - 0.5) = 0.4."""
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(a, b) == pytest.approx(0.4)


def test_alpha_of_krippendorffs_example() -> None:
    """The worked example with four readers and gaps (Krippendorff 2011): nominal alpha 0.743."""
    readers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[r for r in unit if r is not None] for unit in zip(*readers, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)


@given(st.lists(st.sampled_from(["a", "b", None]), min_size=2, max_size=20))
def test_perfect_agreement_is_1(labels: list[str | None]) -> None:
    """Exactly 1, or None where there was only one thing to say."""
    expected = 1.0 if len(set(labels)) > 1 else None
    assert cohen_kappa(labels, labels) == expected
    assert krippendorff_alpha([[x, x] for x in labels]) == expected


@given(st.lists(st.floats(0.01, 1), min_size=4, max_size=4))
def test_correction_undoes_the_confusion(shares: list[float]) -> None:
    """Without sampling noise the shares before the judge come back."""
    truth = np.array(shares) / sum(shares)
    observed = truth @ JUDGE.confusion(3)
    assert undistorted(observed, JUDGE.confusion(3)) == pytest.approx(truth, abs=1e-4)


def test_corrected_shares_are_shares() -> None:
    """Never negative and never beyond 1, even where inverting the matrix would be."""
    corrected = correct(Counts.of([0, 0, 32], unreadable=0), JUDGE)
    assert min(corrected.shares) >= 0
    assert corrected.scorability <= 1 + 1e-12
    assert corrected.odds is not None
    assert sum(corrected.odds) == pytest.approx(1)
    assert correct(Counts.of([0, 0], unreadable=9), JUDGE).scorability < 1e-3


def test_misreading_has_the_confusions_mean() -> None:
    """On average counts move as the matrix says, and none is lost."""
    rows = np.tile([20, 5, 3, 4], (20_000, 1))
    rates = [np.full(20_000, r) for r in (0.1, 0.2, 0.05)]
    distorted = misread(rows, *rates, rng=np.random.default_rng(0))
    assert (distorted.sum(axis=1) == 32).all()
    assert (distorted >= 0).all()
    kept, wrong = 0.9 * 0.95, 0.9 * 0.05 / 2
    first = 20 * kept + 8 * wrong + 4 * 0.2 / 3
    assert distorted.mean(axis=0)[[0, 3]] == pytest.approx([first, 28 * 0.1 + 4 * 0.8], abs=0.05)


def test_a_judges_errors_widen_the_interval() -> None:
    """The interval of the population score grows when the judge's measured errors go through it."""
    cells = [([8, 12, 4], [1 / 3] * 3), (Counts.of([9, 11], unreadable=12), [0.5, 0.5])] * 2
    plain = invert(cells, rng=np.random.default_rng(0), repeats=400).mean.interval
    distortion = JUDGE.misreading(np.random.default_rng(1), repeats=400)
    judged = invert(cells, rng=np.random.default_rng(0), repeats=400, misreading=distortion).mean.interval
    assert judged.high - judged.low > 1.1 * (plain.high - plain.low)


def test_unmeasured_rates_are_unknown_not_zero() -> None:
    """Without trials there is no estimate, and the bound on false labels is 1."""
    blank = ErrorRate(errors=0, trials=0)
    assert blank.estimate is None
    assert JudgeError(false_null=blank, missed_null=blank, wrong_label=blank).false_label_bound() == 1.0


def test_refuses_impossible_numbers() -> None:
    """Names the argument and the range."""
    with pytest.raises(StatisticsError, match="errors: 3 is out of range"):
        ErrorRate(errors=3, trials=2)
    with pytest.raises(StatisticsError, match="hits: 5 is out of range"):
        share_interval(5, 4)
    with pytest.raises(StatisticsError, match="1 and 2 readings"):
        cohen_kappa(["a"], ["a", "b"])
    with pytest.raises(StatisticsError, match="nothing to correct"):
        correct([0, 0], JUDGE)
