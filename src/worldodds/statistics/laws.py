"""The exact null law of total variation, from merging equal partial sums."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import lcm

import numpy as np
from numpy.typing import NDArray

from worldodds.statistics.shapes import ranges

MAX_STATES = 200_000
NEGLIGIBLE = 1e-13
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@lru_cache(maxsize=512)
def total_variation_law(odds: tuple[Fraction, ...], n: int) -> tuple[Floats, Floats]:
    """Return the attainable values of total variation after ``n`` draws and their cumulative probabilities.

    ``n W TV = sum of max(0, W x_i - n w_i)`` is a whole number for odds ``w / W``; partial sums with the same count
    and the same value are merged, states below 1e-13 are dropped. Beyond 200,000 states (many different odds) values
    are rounded to 1 / 65536. Both arrays (values,), read-only.
    """
    weights, total = _weights(odds, n)
    used, value, mass = np.array([0]), np.array([0]), np.array([1.0])
    for weight in weights:
        used, value, mass = _add_outcome(used, value, mass, weight, total, n)
    keep = used == n
    order = np.argsort(value[keep])
    values = value[keep][order] / (n * total)
    cumulative = np.cumsum(mass[keep][order])
    return _frozen(values), _frozen(cumulative / cumulative[-1])


def poisson(e: float, n: int) -> Floats:
    """Poisson probabilities of 0 ... ``n`` with mean ``e``."""
    return np.exp(log_poisson(e, n))


def log_poisson(e: float, n: int) -> Floats:
    """Logarithms of the Poisson probabilities of 0 ... ``n``; summed in extended precision where there is one."""
    x = np.arange(n + 1, dtype=np.longdouble)
    log_factorial = np.concatenate([[np.longdouble(0)], np.cumsum(np.log(x[1:]))])
    return (x * np.log(np.longdouble(e)) - np.longdouble(e) - log_factorial).astype(np.float64)


def _weights(odds: tuple[Fraction, ...], n: int) -> tuple[list[int], int]:
    positive = [o for o in odds if o > 0]
    total = lcm(*(o.denominator for o in positive))
    if total * n * n * 4 > 2**62:  # too fine for 64 bits: odds to 2^-32 move no quantile that anyone can see
        total = 2**32
    return sorted(round(o * total) for o in positive), total


def _add_outcome(
    used: Integers, value: Integers, mass: Floats, weight: int, total: int, n: int
) -> tuple[Integers, Integers, Floats]:
    chance = poisson(n * weight / total, n)
    likely = np.flatnonzero(chance > NEGLIGIBLE)
    first, last = int(likely[0]), int(likely[-1])
    room = np.clip(np.minimum(n - used, last) - first + 1, 0, None)
    parent, x = ranges(np.full_like(used, first), room)
    used = used[parent] + x
    value = value[parent] + np.maximum(0, total * x - n * weight)
    mass = mass[parent] * chance[x]
    keep = mass > NEGLIGIBLE
    return _merge(used[keep], value[keep], mass[keep], n * total)


def _merge(used: Integers, value: Integers, mass: Floats, most: int) -> tuple[Integers, Integers, Floats]:
    if len(value) > MAX_STATES:
        step = max(1, most // 65536)
        value = (value + step // 2) // step * step
    keys, inverse = np.unique(used * (2 * most + 1) + value, return_inverse=True)
    used, value = np.divmod(keys.astype(np.int64), np.int64(2 * most + 1))
    return used, value, np.bincount(inverse, mass).astype(np.float64)


def _frozen(values: Floats) -> Floats:
    values.flags.writeable = False
    return values
