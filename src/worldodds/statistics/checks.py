"""Ranges of the arguments that statistics share, each refused with one sentence."""

from __future__ import annotations

from worldodds.errors import StatisticsError

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
