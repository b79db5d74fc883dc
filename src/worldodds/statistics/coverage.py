"""PAWBench's metrics of a scene and a track: TVD x 100, coverage, the gate and the scene pass rate.

Values are in percent, as published. A scene that fails the gate has no metric; it lowers the pass rate, not the mean.
Source: PAWBench (arXiv 2608.27345).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from worldodds.errors import StatisticsError
from worldodds.statistics.cell import CountsLike, ReferenceLike, as_counts, as_reference
from worldodds.statistics.checks import check_level, check_rate, check_size
from worldodds.statistics.distance import total_variation

Floats = NDArray[np.float64]
MOST_NULLS = 30  # of 50 rollouts: a scene needs 20 readable ones


def passes_gate(counts: CountsLike, *, most_nulls: int = MOST_NULLS) -> bool:
    """Return whether a scene has few enough nulls to be measured.

    >>> from worldodds.outcome import Counts
    >>> passes_gate(Counts.of([20, 0], unreadable=30)), passes_gate(Counts.of([19, 0], unreadable=31))
    (True, False)
    """
    check_size("most_nulls", most_nulls, least=0)
    seen = as_counts(counts)
    return seen.n > 0 and seen.n_total - seen.n <= most_nulls


def tvd_percent(counts: CountsLike, reference: ReferenceLike) -> float:
    """Return 100 times the total variation over readable rollouts.

    Raises:
        StatisticsError: no valid outcome.

    >>> round(tvd_percent([35, 15], [0.5, 0.5]), 9)
    20.0
    """
    return 100 * total_variation(counts, reference)


def coverage_percent(counts: CountsLike) -> float:
    """Return the share of listed outcomes that were seen at least once, in percent.

    Raises:
        StatisticsError: no valid outcome.

    >>> coverage_percent([3, 0, 1, 0])
    50.0
    """
    return 100 * float((_seen(counts) > 0).mean())


def track_mean(values: Sequence[float | None]) -> float | None:
    """Return the mean over the scenes that passed the gate (the others are ``None``); ``None`` if none did.

    >>> track_mean([50.0, None, 0.0]), track_mean([None])
    (25.0, None)
    """
    passing = [value for value in values if value is not None]
    return float(np.mean(passing)) if passing else None


def scene_pass_rate(passed: Sequence[bool]) -> float:
    """Return the share of a track's scenes that passed the gate, in percent; every planned scene counts.

    Raises:
        StatisticsError: no scenes.

    >>> scene_pass_rate([True] * 24 + [False])
    96.0
    """
    if not passed:
        raise StatisticsError("passed: there are no scenes; a pass rate needs at least one")
    return 100 * sum(passed) / len(passed)


def expected_coverage(reference: ReferenceLike, n: int, *, false_label: float = 0.0) -> float:
    """Return the mean coverage in percent of a model with these odds after ``n`` readable rollouts.

    With equal odds it is what a fair sampler reaches, the yardstick that PAWBench lacks; with all odds on one outcome
    it is what a judge's false labels alone add. A false label is any other outcome with equal chance.

    Raises:
        StatisticsError: ``n`` below 1, ``false_label`` outside [0, 0.5).

    >>> round(expected_coverage([0.1] * 10, 50), 1), round(expected_coverage([1, 0, 0, 0], 50, false_label=0.06), 1)
    (99.5, 72.7)
    """
    check_size("n", n)
    check_rate("false_label", false_label)
    p = as_reference(reference).probabilities
    read = (1 - false_label) * p + false_label * (1 - p) / (len(p) - 1)
    return 100 * float((1 - (1 - read) ** n).mean())


def sure_coverage(counts: CountsLike, *, false_label: float, level: float = 0.95) -> float:
    """Return the coverage in percent by outcomes seen too often to be false labels only.

    All outcomes counted are really there with probability at least ``level``, if false labels come at ``false_label``
    and spread equally; seen rarely is not counted, so this is a lower bound.

    Raises:
        StatisticsError: no valid outcome, ``false_label`` outside [0, 0.5), ``level`` outside (0, 1).

    >>> coverage_percent([45, 3, 1, 1]), sure_coverage([45, 3, 1, 1], false_label=0.02)
    (100.0, 50.0)
    """
    check_rate("false_label", false_label)
    check_level("level", level)
    seen = _seen(counts)
    n, k = int(seen.sum()), len(seen)
    rare = np.array([bdtrc(m - 1, n, false_label / (k - 1)) if m else 1.0 for m in seen.tolist()])
    return 100 * float((rare <= (1 - level) / k).mean())


def _seen(counts: CountsLike) -> NDArray[np.int64]:
    seen = as_counts(counts)
    if seen.n == 0:
        raise StatisticsError("counts: n = 0; coverage needs at least 1 valid outcome")
    return seen.array
