"""Where the next rollouts of a model are best spent, for the smallest error of its mean score."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worldodds.statistics.cell import Cell, as_cell
from worldodds.statistics.checks import check_size
from worldodds.statistics.interval import jackknife_variance

LEAST_SHARE_OF_MEAN = 0.25  # a scene whose spread looks like nothing still gets its share: 32 clips may mislead


def spreads(cells: Sequence[Cell]) -> NDArray[np.float64]:
    """Return the standard deviation of one rollout's part in each cell's score, at least a quarter of their mean.

    >>> bool(spreads([([16, 16], [0.5, 0.5]), ([32, 0], [0.5, 0.5])]).min() > 0)
    True
    """
    pairs = [as_cell(counts, reference) for counts, reference in cells]
    seen = [math.sqrt(jackknife_variance(c, r) * c.n_total) if c.n_total > 1 else math.nan for c, r in pairs]
    spread = np.array(seen)
    known = spread[~np.isnan(spread)]
    mean = float(known.mean()) if known.size and known.mean() > 0 else 1.0
    return np.maximum(np.where(np.isnan(spread), mean, spread), LEAST_SHARE_OF_MEAN * mean)


def allocate(cells: Sequence[Cell], *, more: int) -> list[int]:
    """Return how many of ``more`` rollouts to buy of each scene, so that the error of the mean score falls most.

    Neyman's rule (1934), n in proportion to the spread, rollout by rollout from what has been bought.

    Raises:
        StatisticsError: ``more`` negative or not whole.

    >>> allocate([([20, 12], [0.5, 0.5]), ([32, 0], [0.5, 0.5])], more=10)
    [10, 0]
    """
    check_size("more", more, least=0)
    variance = spreads(cells) ** 2
    bought = np.array([as_cell(counts, reference)[0].n_total for counts, reference in cells])
    added = np.zeros(len(bought), dtype=np.int64)
    for _ in range(more if len(bought) else 0):
        n = np.maximum(bought + added, 0.5)
        added[int(np.argmax(variance / (n * (n + 1))))] += 1
    return added.tolist()


def saving(cells: Sequence[Cell]) -> float:
    """Return the share of rollouts that Neyman's rule saves against equal numbers, at the same error of the mean.

    >>> saving([([20, 12], [0.5, 0.5]), ([20, 12], [0.5, 0.5])])
    0.0
    """
    spread = spreads(cells)
    return float(max(0.0, 1 - spread.sum() ** 2 / (len(spread) * (spread**2).sum())))
