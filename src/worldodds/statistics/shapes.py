"""Counts over equally likely outcomes, up to order: partitions, and how many arrangements each has."""

from __future__ import annotations

from functools import lru_cache
from math import lgamma

import numpy as np
from numpy.typing import NDArray


@lru_cache(maxsize=16)
def shapes(size: int, n: int, *, whole: bool) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
    """Return every non-increasing row of ``size`` parts and the logarithm of its number of arrangements.

    ``whole`` rows sum to ``n``; otherwise rows sum to anything from 0 to ``n``. Shapes (rows, size) and (rows,).

    >>> rows, log_arrangements = shapes(3, 4, whole=True)
    >>> rows.tolist()
    [[2, 1, 1], [2, 2, 0], [3, 1, 0], [4, 0, 0]]
    >>> np.exp(log_arrangements).round().astype(int).tolist()
    [3, 3, 6, 3]
    """
    parts = np.zeros((1, 0), dtype=np.int16)
    left, last = np.array([n]), np.array([n])
    for slots in range(size, 0, -1):
        low = -(-left // slots) if whole else np.zeros_like(left)
        high = np.minimum(left, last)
        parent, part = ranges(low, np.maximum(high - low + 1, 0))
        parts = np.concatenate([parts[parent], part[:, None].astype(np.int16)], axis=1)
        left, last = left[parent] - part, part
    return parts, lgamma(size + 1) - _log_repeats(parts)


def shape_numbers(size: int, n: int) -> NDArray[np.float64]:
    """Return the number of partitions of 0 ... ``n`` into at most ``size`` parts."""
    numbers = np.zeros(n + 1)
    numbers[0] = 1
    for part in range(1, min(size, n) + 1):
        for total in range(part, n + 1):
            numbers[total] += numbers[total - part]
    return numbers


def ranges(low: NDArray[np.int64], length: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Unroll ``low[i], low[i] + 1, ...`` (``length[i]`` values each): the parent index and the value of each."""
    parent = np.repeat(np.arange(len(low)), length)
    start = np.cumsum(length) - length
    return parent, np.arange(len(parent)) - start[parent] + low[parent]


def _log_repeats(parts: NDArray[np.int16]) -> NDArray[np.float64]:
    """Logarithm of the product of the factorials of how often each part is repeated in a row."""
    log_whole = np.log(np.arange(1, parts.shape[1] + 2))
    run = np.zeros(len(parts), dtype=np.int64)
    total = np.zeros(len(parts))
    for j in range(1, parts.shape[1]):
        run = np.where(parts[:, j] == parts[:, j - 1], run + 1, 0)
        total += log_whole[run]
    return total
