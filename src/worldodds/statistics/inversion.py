"""How miscalibrated is it? The population score, median-unbiased, with an interval: a path of tests, inverted.

The official score is a moving target: its mean depends on the number of rollouts. What it aims at is the population
score ``(1 - rho) + rho TV(p, p0)``: 0 for a calibrated, always readable model, whatever the number of rollouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics.cell import Cell, as_cell
from worldodds.statistics.checks import check_level, check_size
from worldodds.statistics.distance import score_of
from worldodds.statistics.interval import Interval, score_rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BELOW = np.linspace(0.0, 1.0, 9)[:-1]  # share of the way from rho = 1 to the cell's own, at the reference
ALONG = np.array([*np.arange(0, 1.3, 0.1), 1.3, 1.4, 1.5, 1.75, 2, 2.5, 3, 4])  # the l of the path
ABOVE = np.linspace(0.0, 1.0, 7)[1:]  # share of the way from the cell's own rho to 0
REPEATS = 2000
METHOD = "path inversion"


class Misreading(Protocol):
    """How a reader distorts simulated counts: columns are the outcomes and, last, the nulls; rows are repeats."""

    def __call__(self, counts: Integers, rng: np.random.Generator, /) -> Integers:
        """Return counts as the reader would report them, same shape (repeats, k + 1), same row sums."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Population score of a cell or a model: median-unbiased ``estimate`` and ``interval``."""

    estimate: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Inversion:
    """Population scores of one model: the mean over its cells, and each cell's own (approximate)."""

    mean: Population
    cells: tuple[Population, ...]


def invert(
    cells: Sequence[Cell],
    *,
    rng: np.random.Generator,
    repeats: int = REPEATS,
    level: float = 0.95,
    misreading: Misreading | None = None,
    along: Floats = ALONG,
) -> Inversion:
    """Estimate the population score of one model, and of each of its cells, from one simulation.

    Each cell gets a path of truths through what was seen: ``p0 + l (p_hat - p0)`` clipped and renormalised, l from 0 to
    4, at scorability ``(n + 1/2) / (N + 1)``; before it, scorability falls from 1 at the reference, and after it to 0.
    At every point of the path the official score is simulated ``repeats`` times. The interval holds the truths for
    which neither tail of the seen score is rarer than ``(1 - level) / 2``; the estimate is the one whose median it is.
    It has width even where every clip ended alike. The mean is held to be at the same point of all paths at once.

    ``misreading`` distorts the simulated counts as a reader would, so that its errors widen the interval. ``along`` are
    the l of the path, rising from 0; where thousands of outcomes lie within the floor of the reference, 4 is not far.

    A reference that was counted in an experiment is drawn anew, at its size, with every simulated cell.

    A hybrid method: coverage is checked by simulation, not guaranteed; intervals of single cells are approximate.

    Source: Chuang and Lai, Statistica Sinica 2000 (hybrid resampling).

    >>> all_alike = invert([([32, 0, 0, 0, 0, 0], [1 / 6] * 6)], rng=np.random.default_rng(0))
    >>> all_alike.mean.interval.high - all_alike.mean.interval.low > 0.05
    True
    """
    check_level("level", level)
    check_size("repeats", repeats, least=100)
    if not cells:
        raise StatisticsError("cells: none given; a mean score needs at least one")
    pairs = [as_cell(counts, reference) for counts, reference in cells]
    seen = np.array([score_of(*pair) for pair in pairs])
    truths, scores = zip(*(_simulate(*pair, repeats, rng, misreading, along) for pair in pairs), strict=True)
    alone = [_locate(t, s, x, level) for t, s, x in zip(truths, scores, seen, strict=True)]
    mean = _locate(np.mean(truths, axis=0), np.mean(scores, axis=0), float(seen.mean()), level)
    return Inversion(mean=mean, cells=tuple(alone))


def path(seen: Counts, reference: Reference, along: Floats = ALONG) -> tuple[Floats, Floats]:
    """Return the odds (points, k) and scorabilities (points,) of the truths that are tried for one cell."""
    p0 = reference.probabilities
    away = _direction(seen, p0)
    odds = np.clip(p0 + along[:, None] * away, 0.0, None)
    odds /= odds.sum(axis=1, keepdims=True)
    odds = np.concatenate([np.tile(p0, (len(BELOW), 1)), odds, np.tile(odds[-1], (len(ABOVE), 1))])
    own = (seen.n + 0.5) / (seen.n_total + 1)
    rho = np.concatenate([1 - BELOW * (1 - own), np.full(len(along), own), own * (1 - ABOVE)])
    return odds, rho


def _direction(seen: Counts, p0: Floats) -> Floats:
    away = seen.array / seen.n - p0 if seen.n else np.zeros_like(p0)
    if np.abs(away).max() < 1e-12:  # exactly on the reference: a spike on its likeliest outcome
        away = np.eye(len(p0))[int(np.argmax(p0))] - p0
    return away


def _simulate(
    seen: Counts,
    reference: Reference,
    repeats: int,
    rng: np.random.Generator,
    misreading: Misreading | None,
    along: Floats,
) -> tuple[Floats, Floats]:
    """Truths (points,) and official scores simulated at each (points, repeats)."""
    odds, rho = path(seen, reference, along)
    truths = 1 - rho + rho * np.abs(odds - reference.probabilities).sum(axis=1) / 2
    chances = np.concatenate([odds * rho[:, None], 1 - rho[:, None]], axis=1)
    drawn = rng.multinomial(seen.n_total, chances[:, None, :], size=(len(rho), repeats))
    if misreading is not None:
        flat = drawn.reshape(-1, drawn.shape[-1])
        drawn = misreading(flat, rng).reshape(drawn.shape)
    shares = None
    if reference.n_observed is not None:
        p0 = reference.probabilities
        shares = rng.multinomial(reference.n_observed, p0, size=drawn.shape[:-1]) / reference.n_observed
    return truths, score_rows(drawn[..., :-1], np.array(seen.n_total), reference, shares=shares)


def _locate(truths: Floats, scores: Floats, seen: float, level: float) -> Population:
    """Find where the seen score is the median, and where it becomes too high or too low, along the path.

    Counts that fit better than chance would let even a perfect model fit would leave no truth at all. So for the upper
    end a fit better than the median at the reference counts as the median: luck earns no certainty.
    """
    below = (scores < seen - 1e-9).mean(axis=1)
    upto = (scores <= seen + 1e-9).mean(axis=1)
    tail = (1 - level) / 2
    low = _crossing(truths, 1 - below, tail)
    usual = max(seen, float(np.median(scores[len(BELOW)])))  # the first point of ALONG is the reference itself
    high = _crossing(truths, 1 - (scores <= usual + 1e-9).mean(axis=1), 1 - tail)
    middle = _crossing(truths, 1 - (below + upto) / 2, 0.5)
    return Population(
        estimate=float(np.clip(middle, low, high)), interval=Interval(low=low, high=high, level=level, method=METHOD)
    )


def _crossing(truths: Floats, rising: Floats, wanted: float) -> float:
    """Truth at which a probability that rises along the path passes ``wanted``; where it never does, an end.

    Between points the probability is taken as a straight line; where it bends, at small tails, this errs outwards.
    """
    steady = (np.maximum.accumulate(rising) + np.minimum.accumulate(rising[::-1])[::-1]) / 2  # simulation noise evened
    if steady[0] >= wanted:
        return float(truths[0])
    if steady[-1] < wanted:
        return float(truths[-1])
    j = int(np.argmax(steady >= wanted))
    share = (wanted - steady[j - 1]) / (steady[j] - steady[j - 1])
    return float(truths[j - 1] + share * (truths[j] - truths[j - 1]))
