"""Intervals for CaliBench's official score: the paper's bootstrap, reproduced, and the jackknife."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics.cell import Cell, as_cell, need_known_odds
from worldodds.statistics.checks import check_level, check_size
from worldodds.statistics.distance import score_of
from worldodds.statistics.floor import floors

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
CHUNK = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Where a quantity lies, at a level of confidence, and how that was found."""

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A score with its standard error and interval; both None where they cannot be known, and ``reason`` says why."""

    value: float
    standard_error: float | None
    interval: Interval | None
    reason: str | None = None


def percentile_bootstrap(
    cells: Sequence[Cell], *, rng: np.random.Generator, resamples: int = 50_000, level: float = 0.95
) -> Interval:
    """CaliBench's percentile interval of the mean score of one model. A reproduction: prefer `jackknife` or `invert`.

    Every cell's rollouts, nulls included, are drawn again with replacement; the floor is taken at the resample's own n.
    Resampling adds the plug-in bias of total variation a second time, so the interval lies too high: on calibrated
    models it covers 4% of the time instead of 95%. It has no width on a collapsed cell.

    Source: arXiv 2608.16829.
    """
    return percentile_bootstraps([cells], rng=rng, resamples=resamples, level=level)[0]


def percentile_bootstraps(
    models: Sequence[Sequence[Cell]], *, rng: np.random.Generator, resamples: int = 50_000, level: float = 0.95
) -> list[Interval]:
    """Percentile intervals of several models from one random stream, in the paper's order: resample, model, cell.

    With ``rng = numpy.random.default_rng(0)`` and the published outcomes the paper's intervals come out bit for bit.
    """
    check_level("level", level)
    check_size("resamples", resamples)
    draws = np.concatenate(list(_resampled_means(models, rng, resamples)))  # (resamples, models)
    low, high = np.percentile(draws, [50 * (1 - level), 50 * (1 + level)], axis=0)
    return [
        Interval(low=float(a), high=float(b), level=level, method="percentile bootstrap (as in the paper)")
        for a, b in zip(low, high, strict=True)
    ]


def jackknife(cells: Sequence[Cell], *, level: float = 0.95) -> Estimate:
    """Mean score of one model with its delete-one standard error and normal interval; one cell is a list of one.

    Leaves out one of the N rollouts of a cell at a time, nulls included, in closed form: rollouts with the same outcome
    are the same omission, so a cell needs at most k + 1. Cells are independent: their variances add.
    A reference that was counted in an experiment adds the delete-one variance over the experiment's own trials.
    Where no omission changes any score (every clip ended alike) the interval is None with a reason, never of width 0;
    `invert` has width there.

    Source: Efron and Stein, Annals of Statistics 1981.

    >>> fair = jackknife([(Counts.of([13, 17], unreadable=2), Reference.uniform(2))])
    >>> fair.standard_error is not None and fair.interval is not None
    True
    >>> jackknife([([32, 0], [0.5, 0.5])]).reason
    'leaving out any one rollout leaves the score as it is, so its spread cannot be seen'
    """
    check_level("level", level)
    pairs = _checked(cells)
    value = float(np.mean([score_of(seen, expected) for seen, expected in pairs]))
    if any(seen.n_total < 2 for seen, _ in pairs):
        return Estimate(value=value, standard_error=None, interval=None, reason="a cell has fewer than 2 rollouts")
    if any(expected.n_observed == 1 for _, expected in pairs):
        return Estimate(value=value, standard_error=None, interval=None, reason="a scene's experiment is of one trial")
    variance = sum(jackknife_variance(*pair) + experiment_variance([pair]) for pair in pairs) / len(pairs) ** 2
    if variance < 1e-24:
        reason = "leaving out any one rollout leaves the score as it is, so its spread cannot be seen"
        return Estimate(value=value, standard_error=None, interval=None, reason=reason)
    error = sqrt(variance)
    reach = float(ndtri((1 + level) / 2)) * error
    interval = Interval(low=value - reach, high=value + reach, level=level, method="jackknife")
    return Estimate(value=value, standard_error=error, interval=interval)


def jackknife_variance(seen: Counts, expected: Reference) -> float:
    """Delete-one variance of a cell's score: ``(N - 1) / N`` times the summed squares about the jackknife mean."""
    total = seen.n_total
    kinds = np.append(seen.array, total - seen.n)  # the last kind is the nulls
    present = np.flatnonzero(kinds)
    left = np.repeat(kinds[None, :], len(present), axis=0)
    left[np.arange(len(present)), present] -= 1
    scores = score_rows(left[:, :-1], np.full(len(present), total - 1), expected)
    share = kinds[present] / total
    return float((total - 1) * (share @ (scores - share @ scores) ** 2))


def experiment_variance(cells: Sequence[tuple[Counts, Reference]]) -> float:
    """Delete-one variance over the trials in which a reference was counted; 0 where its odds are known.

    Of the score of one cell, or of the difference between two cells that share the reference.
    """
    reference = cells[0][1]
    if reference.counts is None or reference.n_observed is None:
        return 0.0
    weights = np.array(reference.counts)
    without: list[float] = []
    for place in np.flatnonzero(weights).tolist():
        left = weights.copy()
        left[place] -= 1
        expected = Reference.observed(left.tolist(), reference.labels)
        first, *others = [score_of(seen, expected) for seen, _ in cells]
        without.append(first - sum(others))
    scores, share = np.array(without), weights[weights > 0] / reference.n_observed
    return float((reference.n_observed - 1) * (share @ (scores - share @ scores) ** 2))


def score_rows(counts: Integers, totals: Integers, reference: Reference, *, shares: Floats | None = None) -> Floats:
    """Scores of many cells with one reference: counts (m, k) and rollouts read (m,) give (m,).

    ``shares`` (m, k) stand in for the reference's odds, row by row, where these were counted and are drawn again.
    """
    n = counts.sum(axis=-1)
    share = counts / np.maximum(n, 1)[..., None]
    tv = np.abs(share - (reference.probabilities if shares is None else shares)).sum(axis=-1) / 2
    floor = floors(reference, max(1, int(n.max(initial=1))))[n]
    rho = n / totals
    return np.where(n == 0, 1.0, (1 - rho) + rho * (tv - floor) / (1 - floor))


def _resampled_means(models: Sequence[Sequence[Cell]], rng: np.random.Generator, resamples: int) -> Iterator[Floats]:
    """Yield (chunk, models) mean scores.

    Outcomes without chances consume no random numbers: leaving out those never seen, and padding cells in front to one
    width, lets one call draw a whole chunk, number for number as a plain loop would.
    """
    pairs = [_checked(cells) for cells in models]
    for _, expected in (pair for cells in pairs for pair in cells):
        need_known_odds(expected, "the paper's percentile bootstrap")
    flat = [pair for cells in pairs for pair in cells]
    totals = np.array([seen.n_total for seen, _ in flat])
    kinds = [np.append(seen.array[seen.array > 0], seen.n_total - seen.n) for seen, _ in flat]
    width = max(len(row) for row in kinds)
    chances = np.stack([np.pad(row, (width - len(row), 0)) / row.sum() for row in kinds])
    ends = np.cumsum([len(cells) for cells in pairs])
    for start in range(0, resamples, CHUNK):
        drawn = rng.multinomial(totals, chances, size=(min(CHUNK, resamples - start), len(flat)))
        scores = [
            _score_resamples(drawn[:, i, width - len(kinds[i]) :], seen, expected)
            for i, (seen, expected) in enumerate(flat)
        ]
        yield np.stack([np.mean(scores[a:b], axis=0) for a, b in zip([0, *ends[:-1]], ends, strict=True)], axis=1)


def _score_resamples(drawn: Integers, seen: Counts, expected: Reference) -> Floats:
    """Scores of resamples (m, outcomes seen + 1), nulls last; outcomes never seen add their odds to the distance."""
    odds = expected.probabilities[seen.array > 0]
    n = seen.n_total - drawn[:, -1]
    share = drawn.T[:-1] / np.maximum(n, 1)  # (outcomes seen, m)
    tv = (np.abs(share - odds[:, None]).sum(axis=0) + (1 - odds.sum())) / 2
    floor, rho = floors(expected, seen.n_total)[n], n / seen.n_total
    return np.where(n == 0, 1.0, (1 - rho) + rho * (tv - floor) / (1 - floor))


def _checked(cells: Sequence[Cell]) -> list[tuple[Counts, Reference]]:
    if not cells:
        raise StatisticsError("cells: none given; a mean score needs at least one")
    pairs = [as_cell(counts, reference) for counts, reference in cells]
    if any(seen.n_total == 0 for seen, _ in pairs):
        raise StatisticsError("cells: one holds no rollout at all, not even a null; leave it out or give its outcomes")
    return pairs
