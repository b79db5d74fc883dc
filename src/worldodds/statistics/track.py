"""What the mean of a PAWBench track is worth: its law under perfect calibration, and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics.cell import Cell, CountsLike, ReferenceLike, as_cell, as_counts, as_reference, need_known_odds
from worldodds.statistics.checks import check_level, check_size
from worldodds.statistics.interval import Estimate, Interval
from worldodds.statistics.laws import total_variation_law

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
STEPS = 4000  # grid points a unit of TV; a mean over scenes is off by far less than one
NOISE = 1e-12  # what a Fourier transform leaves of smaller probabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanLaw:
    """The law of the mean TVD x 100 of a calibrated model (or of the mean over several).

    Attributes:
        values: attainable values in percent, rising, shape (points,).
        cumulative: probability of each value or less, shape (points,).
    """

    values: Floats
    cumulative: Floats

    @property
    def mean(self) -> float:
        """Mean in percent: the floor under the published number."""
        return float(self.values @ np.diff(self.cumulative, prepend=0.0))

    def quantile(self, level: float) -> float:
        """Smallest value in percent that is not exceeded with probability ``level``."""
        check_level("level", level)
        return float(self.values[min(int(np.searchsorted(self.cumulative, level)), len(self.values) - 1)])

    def p_value(self, observed: float) -> float:
        """Chance that a calibrated model's mean is ``observed`` percent or more; 1e-12 stands for anything smaller."""
        place = int(np.searchsorted(self.values, observed - 50 / STEPS))
        return 1.0 if place == 0 else float(min(1.0, max(NOISE, 1 - self.cumulative[place - 1])))


def mean_tvd_law(scenes: Sequence[tuple[ReferenceLike, int]], *, models: int = 1) -> MeanLaw:
    """Return the law of a calibrated model's mean TVD x 100 over scenes, each with its number of readable rollouts.

    The exact laws of the scenes, convolved on a grid of 0.025 percent; ``models`` averages over as many models.

    Raises:
        StatisticsError: no scenes, a number of rollouts or of models below 1.

    >>> law = mean_tvd_law([([0.5, 0.5], 50)] * 25)
    >>> round(law.mean, 1), round(law.quantile(0.99), 1)
    (5.6, 7.8)
    """
    check_size("models", models)
    if not scenes:
        raise StatisticsError("scenes: none given; a mean needs at least one")
    size = 1 << (len(scenes) * models * STEPS + 1).bit_length()
    product = np.ones(size // 2 + 1, dtype=complex)
    known: dict[tuple[Reference, int], NDArray[np.complex128]] = {}
    for odds, n in scenes:
        check_size("n", n)
        key = (as_reference(odds), n)
        if key not in known:
            known[key] = np.fft.rfft(_grid_law(*key), size)
        product *= known[key]
    mass = np.maximum(np.fft.irfft(product**models, size)[: len(scenes) * models * STEPS + 1], 0.0)
    values = 100 * np.arange(len(mass)) / (len(scenes) * models * STEPS)
    return MeanLaw(values=values, cumulative=np.minimum(1.0, np.cumsum(mass / mass.sum())))


def mean_tvd_interval(cells: Sequence[Cell], *, level: float = 0.95) -> Estimate:
    """Return the mean TVD x 100 over scenes with a jackknife interval; give the scenes that passed the gate.

    The mean lies above its population value by about the floor of `mean_tvd_law`; the interval is about the mean.

    Raises:
        StatisticsError: no scenes, a scene without valid outcome, ``level`` outside (0, 1).

    >>> estimate = mean_tvd_interval([([35, 15], [0.5, 0.5]), ([30, 20], [0.5, 0.5])])
    >>> round(estimate.value, 6), round(estimate.standard_error, 2)
    (15.0, 4.79)
    """
    pairs = [as_cell(counts, reference) for counts, reference in cells]
    odds = [expected.probabilities for _, expected in pairs]

    def tvd(scene: int, rows: Integers) -> Floats:
        return 50 * np.abs(rows / rows.sum(axis=1, keepdims=True) - odds[scene]).sum(axis=1)

    return _jackknife([seen.array for seen, _ in pairs], tvd, level)


def mean_coverage_interval(cells: Sequence[CountsLike], *, level: float = 0.95) -> Estimate:
    """Return the mean coverage in percent over scenes with a jackknife interval; give those that passed the gate.

    Only outcomes seen once can vanish when a rollout is left out; where there are none the interval is ``None``.

    Raises:
        StatisticsError: no scenes, a scene without valid outcome, ``level`` outside (0, 1).

    >>> mean_coverage_interval([[30, 19, 1, 0], [25, 25, 0, 0]]).value
    62.5
    """
    return _jackknife([as_counts(c).array for c in cells], lambda _, rows: 100 * (rows > 0).mean(axis=1), level)


def _grid_law(reference: Reference, n: int) -> Floats:
    need_known_odds(reference, "the law of a mean TVD")
    values, cumulative = total_variation_law(reference.odds, n)
    # each value is shared between its two neighbours on the grid, so that means stay exact
    place = values * STEPS
    low = np.minimum(np.floor(place + 1e-9).astype(np.int64), STEPS)
    share = np.clip(place - low, 0.0, 1.0)
    mass = np.diff(cumulative, prepend=0.0)
    grid = np.zeros(STEPS + 1)
    np.add.at(grid, low, mass * (1 - share))
    np.add.at(grid, np.minimum(low + 1, STEPS), mass * share)
    return grid


def _jackknife(scenes: Sequence[Integers], statistic: Callable[[int, Integers], Floats], level: float) -> Estimate:
    check_level("level", level)
    if not scenes:
        raise StatisticsError("cells: none given; a mean needs at least one")
    if any(seen.sum() == 0 for seen in scenes):
        raise StatisticsError("cells: one has no valid outcome; leave out scenes that fail the gate")
    value = float(np.mean([statistic(i, seen[None, :])[0] for i, seen in enumerate(scenes)]))
    if any(seen.sum() < 2 for seen in scenes):
        return Estimate(
            value=value, standard_error=None, interval=None, reason="a scene has fewer than 2 valid outcomes"
        )
    variance = sum(_variance(i, seen, statistic) for i, seen in enumerate(scenes)) / len(scenes) ** 2
    if variance < 1e-18:
        reason = "leaving out any one rollout leaves the mean as it is, so its spread cannot be seen"
        return Estimate(value=value, standard_error=None, interval=None, reason=reason)
    error = math.sqrt(variance)
    reach = float(ndtri((1 + level) / 2)) * error
    interval = Interval(low=value - reach, high=value + reach, level=level, method="jackknife")
    return Estimate(value=value, standard_error=error, interval=interval)


def _variance(scene: int, seen: Integers, statistic: Callable[[int, Integers], Floats]) -> float:
    n, present = int(seen.sum()), np.flatnonzero(seen)
    left_out = np.repeat(seen[None, :], len(present), axis=0)
    left_out[np.arange(len(present)), present] -= 1
    values, share = statistic(scene, left_out), seen[present] / n
    return float((n - 1) * (share @ (values - share @ values) ** 2))
