"""How well two readers agree beyond chance, and how sure a share of hits is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from scipy.special import betaincinv

from worldodds.errors import StatisticsError
from worldodds.statistics.checks import check_level, check_size
from worldodds.statistics.interval import Interval


def share_interval(hits: int, n: int, *, level: float = 0.95) -> Interval:
    """Return the exact interval (Clopper and Pearson 1934) of a share of which ``hits`` of ``n`` were seen.

    Raises:
        StatisticsError: ``n`` below 1, ``hits`` outside 0 .. n, ``level`` outside (0, 1).

    >>> shown = share_interval(152, 162)
    >>> round(shown.low, 3), round(shown.high, 3)
    (0.889, 0.97)
    """
    check_size("n", n)
    check_size("hits", hits, least=0)
    check_level("level", level)
    if hits > n:
        raise StatisticsError(f"hits: {hits} is out of range; it must lie between 0 and n = {n}")
    tail = (1 - level) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return Interval(low=low, high=high, level=level, method="Clopper-Pearson")


def cohen_kappa(a: Sequence[Hashable], b: Sequence[Hashable]) -> float | None:
    """Return Cohen's kappa of two readers over the same clips; ``None`` where both always say the same one thing.

    1 is perfect agreement, 0 what chance gives. Every value is a category of its own, ``None`` (a null) included.

    Raises:
        StatisticsError: no clips, readings of different number.

    Source: Cohen (1960), Educ. Psychol. Meas. 20.

    >>> cohen_kappa(["left", "right", None, "left"], ["left", "right", None, "right"])
    0.6363636363636364
    """
    _check_aligned(a, b)
    n, first, second = len(a), Counter(a), Counter(b)
    # whole numbers until the end, so that total agreement is exactly 1
    agreed = n * sum(x == y for x, y in zip(a, b, strict=True))
    by_chance = sum(first[value] * second[value] for value in first)
    return None if by_chance == n * n else (agreed - by_chance) / (n * n - by_chance)


def krippendorff_alpha(units: Sequence[Sequence[Hashable]]) -> float | None:
    """Return Krippendorff's alpha for nominal readings; ``None`` where all readings are the same or no two meet.

    Args:
        units: for every clip, the readings it was given; readers may be missing, and a clip with one reading is idle.

    Source: Krippendorff (2018), Content Analysis, 4th ed., chapter 12.

    >>> round(krippendorff_alpha([["a", "a"], ["b", "b"], ["a", "b"], ["a"]]), 3)
    0.444
    """
    met = [Counter(unit) for unit in units if len(unit) > 1]
    totals: Counter[Hashable] = Counter()
    seen_apart = 0.0
    for unit in met:
        size = unit.total()
        seen_apart += (size * size - sum(c * c for c in unit.values())) / (size - 1)
        totals.update(unit)
    n = totals.total()
    apart_by_chance = n * n - sum(c * c for c in totals.values())
    return None if apart_by_chance == 0 else 1 - (n - 1) * seen_apart / apart_by_chance


def _check_aligned(a: Sequence[Hashable], b: Sequence[Hashable]) -> None:
    if len(a) != len(b):
        raise StatisticsError(f"a, b: {len(a)} and {len(b)} readings; give both readers' answers to the same clips")
    if not a:
        raise StatisticsError("a, b: there are no readings; agreement needs at least one clip")
