"""Intervals of the official score: the paper's, reproduced, and the jackknife."""

from __future__ import annotations

import numpy as np
import pytest

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics.distance import mean_score, score_of
from worldodds.statistics.interval import jackknife, percentile_bootstrap, percentile_bootstraps

PAPERS = {
    "wan": (0.5415, 0.6263),
    "seedance": (0.3794, 0.4795),
    "happyhorse": (0.5135, 0.5897),
    "veo31": (0.6257, 0.6943),
    "runway45": (0.4815, 0.5714),
    "cosmos3_super": (0.6236, 0.7002),
}
ERRORS = {
    "wan": 0.0236,
    "seedance": 0.0305,
    "happyhorse": 0.0209,
    "veo31": 0.0194,
    "runway45": 0.0294,
    "cosmos3_super": 0.0262,
}


def test_the_papers_intervals(models):
    """Six models, seed 0, 50,000 resamples: the paper's percentile intervals to four digits."""
    found = percentile_bootstraps(list(models.values()), rng=np.random.default_rng(0))
    for name, interval in zip(models, found, strict=True):
        assert (round(interval.low, 4), round(interval.high, 4)) == PAPERS[name]


def test_one_call_draws_what_a_plain_loop_draws(models):
    """The chunked draw is the loop over resample, model and cell, number for number."""
    cells = [models["wan"], models["cosmos3_super"]]
    rng, means = np.random.default_rng(7), []
    for _ in range(300):
        row = []
        for model in cells:
            scores = []
            for seen, expected in model:
                kinds = np.append(seen.array, seen.n_total - seen.n)
                *drawn, nulls = rng.multinomial(seen.n_total, kinds / seen.n_total)
                scores.append(score_of(Counts.of(drawn, unreadable=int(nulls)), expected))
            row.append(np.mean(scores))
        means.append(row)
    wanted = np.percentile(means, [2.5, 97.5], axis=0).T
    found = percentile_bootstraps(cells, rng=np.random.default_rng(7), resamples=300)
    assert np.array([(i.low, i.high) for i in found]) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("model", ERRORS)
def test_jackknife_of_the_published_models(model, models):
    """Standard errors of the six published mean scores, to four digits."""
    found = jackknife(models[model])
    assert round(found.standard_error, 4) == ERRORS[model]
    assert found.value == pytest.approx(mean_score(models[model]))
    assert found.interval.high - found.value == pytest.approx(1.959964 * found.standard_error, rel=1e-6)


def test_jackknife_is_what_leaving_out_each_rollout_gives():
    """The closed form equals the N scores with one rollout left out, about their own mean."""
    seen, expected = Counts.of([5, 0, 9, 2], unreadable=4), Reference.uniform(4)
    left_out = []
    for i, count in enumerate(seen.counts):
        fewer = [c - (i == j) for j, c in enumerate(seen.counts)]
        left_out += [score_of(Counts.of(fewer, unreadable=4), expected)] * count if count else []
    left_out += [score_of(Counts.of(seen.counts, unreadable=3), expected)] * 4
    variance = 19 / 20 * sum((s - np.mean(left_out)) ** 2 for s in left_out)
    assert jackknife([(seen, expected)]).standard_error == pytest.approx(variance**0.5, rel=1e-12)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (Counts.of([32, 0]), "leaving out any one"),
        (Counts.of([0, 0], unreadable=32), "leaving out any one"),
        (Counts.of([1, 0]), "fewer than 2"),
    ],
)
def test_no_interval_of_zero_width(seen, reason):
    """Where the spread cannot be seen there is no interval, and the reason is given."""
    found = jackknife([(seen, Reference.uniform(2))])
    assert found.interval is None
    assert found.standard_error is None
    assert reason in found.reason


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1])
def test_level_outside_its_range_is_refused(level):
    """A level is a share, neither none nor all."""
    with pytest.raises(StatisticsError, match="level"):
        jackknife([([3, 4], [0.5, 0.5])], level=level)
    with pytest.raises(StatisticsError, match="level"):
        percentile_bootstrap([([3, 4], [0.5, 0.5])], rng=np.random.default_rng(0), level=level)


def test_cells_without_rollouts_are_refused():
    """Nothing to resample is an error, not a number."""
    with pytest.raises(StatisticsError, match="cells: none given"):
        jackknife([])
    with pytest.raises(StatisticsError, match="no rollout at all"):
        jackknife([([0, 0], [0.5, 0.5])])
    with pytest.raises(StatisticsError, match="resamples: 0"):
        percentile_bootstrap([([3, 4], [0.5, 0.5])], rng=np.random.default_rng(0), resamples=0)
