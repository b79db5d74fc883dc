"""Tail probabilities of statistics on a grid: counts used by value, everything past the threshold in one cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worldodds.statistics.laws import poisson
from worldodds.statistics.terms import Group

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def grid_tail(groups: Sequence[Group], steps: Sequence[Integers], n: int, threshold: int) -> float:
    """Return P(sum >= threshold) for terms that are whole numbers, given as (n + 1,) a group.

    Only positive terms are added, so small probabilities keep their relative accuracy.
    """
    law, over = np.zeros((n + 1, threshold)), np.zeros(n + 1)
    law[0, 0] = 1.0
    for group, step in zip(groups, steps, strict=True):
        mass = np.exp(group.log_mass)
        for _ in range(group.size):
            law, over = _add(law, over, step, mass)
    return float(over[n] / poisson(float(n), n)[n])


def _add(law: Floats, over: Floats, step: Integers, mass: Floats) -> tuple[Floats, Floats]:
    n, limit = law.shape[0] - 1, law.shape[1]
    above = np.concatenate([np.cumsum(law[:, ::-1], axis=1)[:, ::-1], np.zeros((n + 1, 1))], axis=1)
    new_law, new_over = np.zeros_like(law), np.zeros_like(over)
    for x, (shift, weight) in enumerate(zip(step.tolist(), mass.tolist(), strict=True)):
        rows = n + 1 - x
        if shift < limit:
            new_law[x:, shift:] += weight * law[:rows, : limit - shift]
        new_over[x:] += weight * (over[:rows] + above[:rows, max(0, limit - shift)])
    return new_law, new_over
