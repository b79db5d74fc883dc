"""The interval of a coefficient over several scenes, by leaving out one clip at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from scipy.special import ndtri

from worldodds.statistics.checks import check_level
from worldodds.statistics.interval import Interval

Answer = TypeVar("Answer")


def delete_one(
    strata: Sequence[Counter[Answer]],
    coefficient: Callable[[Sequence[Counter[Answer]]], float | None],
    *,
    level: float = 0.95,
) -> Interval | None:
    """Return the jackknife's interval of a coefficient that is at most 1, from how often each answer was given.

    Clips are left out within their own scene. ``None`` where the coefficient is not defined, or where no clip makes a
    difference to it, so that the jackknife cannot see its spread.

    Source: Efron and Stein (1981), Ann. Statist. 9; within strata Jones (1974), J. R. Stat. Soc. C 23.

    >>> def share(strata):
    ...     return sum(s["hit"] for s in strata) / sum(s.total() for s in strata)
    >>> found = delete_one([Counter(hit=8, miss=2)], share)
    >>> round(found.low, 3), round(found.high, 3)
    (0.539, 1.0)
    """
    check_level("level", level)
    middle, variance = coefficient(strata), 0.0
    if middle is None:
        return None
    for place, seen in enumerate(strata):
        n = seen.total()
        if n < 2:
            continue
        without: list[tuple[int, float]] = []
        for answer, count in seen.items():
            value = coefficient([*strata[:place], seen - Counter([answer]), *strata[place + 1 :]])
            if value is None:
                return None
            without.append((count, value))
        mean = sum(count * value for count, value in without) / n
        variance += (n - 1) / n * sum(count * (value - mean) ** 2 for count, value in without)
    if variance < 1e-12:
        return None
    reach = float(ndtri((1 + level) / 2)) * math.sqrt(variance)
    return Interval(low=max(-1.0, middle - reach), high=min(1.0, middle + reach), level=level, method="jackknife")
