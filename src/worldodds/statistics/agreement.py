"""How well two readers agree beyond chance, and how sure a share of hits is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction

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


def kappa_within(strata: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]]) -> float | None:
    """Return Cohen's kappa over several scenes, each with its own answers: chance is that within the scenes.

    Pooling the answers instead would call it merit that no reader takes a die for a card. Of one scene it is
    `cohen_kappa`; ``None`` where chance alone would agree always.

    Raises:
        StatisticsError: no clips, readings of different number.

    >>> kappa_within([(["left", "right"], ["left", "right"]), (["1", "2", "3"], ["1", "2", "2"])])
    0.6666666666666666
    """
    n, agreed, by_chance = 0, 0, Fraction(0)
    for a, b in strata:
        _check_aligned(a, b)
        first, second = Counter(a), Counter(b)
        n += len(a)
        agreed += sum(x == y for x, y in zip(a, b, strict=True))
        by_chance += Fraction(sum(first[value] * second[value] for value in first), len(a))
    if not n:
        raise StatisticsError("strata: there are no readings; agreement needs at least one clip")
    return None if by_chance == n else float((agreed - by_chance) / (n - by_chance))


def krippendorff_alpha(units: Sequence[Sequence[Hashable]]) -> float | None:
    """Return Krippendorff's alpha for nominal readings; ``None`` where all readings are the same or no two meet.

    Args:
        units: for every clip, the readings it was given; readers may be missing, and a clip with one reading is idle.

    Source: Krippendorff (2018), Content Analysis, 4th ed., chapter 12.

    >>> round(krippendorff_alpha([["a", "a"], ["b", "b"], ["a", "b"], ["a"]]), 3)
    0.444
    """
    return alpha_within([units])


def alpha_within(strata: Sequence[Sequence[Sequence[Hashable]]]) -> float | None:
    """Return Krippendorff's alpha over several scenes, each with its own answers, as `kappa_within` does.

    >>> alpha_within([[["a", "a"], ["b", "b"]], [["1", "1"], ["2", "2"]]])
    1.0
    """
    seen = by_chance = Fraction(0)
    for units in strata:
        apart, expected = _apart(units)
        seen += apart
        by_chance += expected
    return None if by_chance == 0 else float(1 - seen / by_chance)


def _apart(units: Sequence[Sequence[Hashable]]) -> tuple[Fraction, Fraction]:
    """Disagreement seen, and by chance: both as sums over the values that met another."""
    totals: Counter[Hashable] = Counter()
    seen = Fraction(0)
    for unit in (Counter(unit) for unit in units if len(unit) > 1):
        size = unit.total()
        seen += Fraction(size * size - sum(c * c for c in unit.values()), size - 1)
        totals.update(unit)
    n = totals.total()
    return seen, Fraction(n * n - sum(c * c for c in totals.values()), n - 1) if n else Fraction(0)


def _check_aligned(a: Sequence[Hashable], b: Sequence[Hashable]) -> None:
    if len(a) != len(b):
        raise StatisticsError(f"a, b: {len(a)} and {len(b)} readings; give both readers' answers to the same clips")
    if not a:
        raise StatisticsError("a, b: there are no readings; agreement needs at least one clip")
