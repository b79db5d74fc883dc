"""Ranges of the arguments that statistics share, each refused with one sentence."""

from __future__ import annotations

from worldodds.errors import StatisticsError

MOST_PLANNED, LEAST_PLANNED = 2_000, 0.02  # rollouts, and distances; beyond, exact power takes minutes
LEAST_VALID = 4  # below this many valid outcomes no cell is tested


def check_level(name: str, value: float) -> None:
    """Refuse a level, power, delta or share that does not lie strictly between 0 and 1."""
    if not 0 < value < 1:
        raise StatisticsError(f"{name}: {value} is out of range; it must lie between 0 and 1, both excluded")


def check_rate(name: str, value: float) -> None:
    """Refuse an error rate outside [0, 0.5)."""
    if not 0 <= value < 0.5:
        raise StatisticsError(f"{name}: {value} is out of range; an error rate must be at least 0 and below 0.5")


def check_size(name: str, value: int, *, least: int = 1) -> None:
    """Refuse a number of rollouts, repeats or labels below ``least``, or one that is not whole."""
    if not value >= least or value % 1 != 0:
        raise StatisticsError(f"{name}: {value} is out of range; it must be a whole number, {least} or more")


def check_scorability(value: float) -> None:
    """Refuse a share of readable clips that is not above 0 and at most 1."""
    if not 0 < value <= 1:
        raise StatisticsError(f"scorability: {value} is out of range; it must be above 0 and at most 1")


def check_plan(*, n: int, tv: float, delta: float, power: float, scorability: float) -> None:
    """Refuse what no plan can be made of, or not in bearable time: the arguments that all plans have in common."""
    check_size("n", n)
    for name, value in (("tv", tv), ("delta", delta), ("power", power)):
        check_level(name, value)
    check_scorability(scorability)
    if n > MOST_PLANNED:
        raise StatisticsError(f"n: {n} is more than can be planned exactly; give at most {MOST_PLANNED}")
    for name, value in (("tv", tv), ("delta", delta)):
        if value < LEAST_PLANNED:
            raise StatisticsError(f"{name}: {value} is too fine to plan exactly; give {LEAST_PLANNED} or more")
