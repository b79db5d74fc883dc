"""Which models differ, and between which ranks each lies, all statements at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from worldodds.errors import StatisticsError
from worldodds.statistics.cell import Cell, as_cell
from worldodds.statistics.checks import check_level, check_size
from worldodds.statistics.interval import experiment_variance, jackknife, jackknife_variance


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Score of model ``a`` minus that of ``b``, with an interval that holds for all pairs together.

    ``low`` and ``high`` are ``None``, with a ``reason``, where a model's spread cannot be seen.
    """

    a: str
    b: str
    difference: float
    low: float | None
    high: float | None
    level: float
    reason: str | None = None

    @property
    def distinguishable(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def critical_value(models: int, *, level: float = 0.95) -> float:
    """Return how many standard errors of a difference hold for all pairs of ``models`` at once.

    The studentised range of as many normal variables, divided by the square root of 2 (Tukey 1953).

    Raises:
        StatisticsError: fewer than 2 models, ``level`` outside (0, 1).

    >>> round(critical_value(6), 4), round(critical_value(2), 4)
    (2.8497, 1.96)
    """
    check_size("models", models, least=2)
    check_level("level", level)
    return _critical_value(models, level)


def differences(models: Mapping[str, Sequence[Cell]], *, level: float = 0.95) -> list[Difference]:
    """Return all pairwise differences of the mean score with simultaneous intervals (jackknife standard errors).

    Every model must have the same scenes in the same order; a mean over other scenes is another quantity.

    Raises:
        StatisticsError: fewer than 2 models, models with other scenes, ``level`` outside (0, 1).

    >>> die, fair, stuck = [1 / 6] * 6, [5, 6, 5, 5, 6, 5], [0, 0, 1, 0, 0, 31]
    >>> [(d.a, d.b, d.distinguishable) for d in differences({"x": [(fair, die)], "y": [(stuck, die)]})]
    [('x', 'y', True)]
    """
    _check_same_scenes(models)
    reach = critical_value(len(models), level=level)
    estimates = {name: jackknife(cells) for name, cells in models.items()}
    compared: list[Difference] = []
    for a, b in itertools.combinations(models, 2):
        first, second = estimates[a], estimates[b]
        value, low, high, reason = first.value - second.value, None, None, None
        if first.standard_error is None or second.standard_error is None:
            blind = a if first.standard_error is None else b
            reason = f"{blind}: {estimates[blind].reason}"
        else:
            half = reach * math.sqrt(_variance(models[a], models[b], first.standard_error, second.standard_error))
            low, high = value - half, value + half
        compared.append(Difference(a=a, b=b, difference=value, low=low, high=high, level=level, reason=reason))
    return compared


def rank_ranges(compared: Sequence[Difference]) -> dict[str, tuple[int, int]]:
    """Return between which ranks each model lies (1 is the lowest score), true for all models at once.

    A model is at best one behind those distinguishably better, at worst one before those distinguishably worse.

    Source: Klein, Wright and Wieczorek (2020), J. R. Stat. Soc. A 183; Mogstad et al. (2024), Rev. Econ. Stud. 91.

    >>> die, fair, stuck = [1 / 6] * 6, [5, 6, 5, 5, 6, 5], [0, 0, 1, 0, 0, 31]
    >>> rank_ranges(differences({"x": [(fair, die)], "y": [(stuck, die)]}))
    {'x': (1, 1), 'y': (2, 2)}
    """
    names = list(dict.fromkeys(name for d in compared for name in (d.a, d.b)))
    better, worse = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for d in compared:
        if d.distinguishable:
            winner, loser = (d.a, d.b) if d.difference < 0 else (d.b, d.a)
            worse[winner] += 1
            better[loser] += 1
    return {name: (1 + better[name], len(names) - worse[name]) for name in names}


def ties(compared: Sequence[Difference]) -> list[tuple[str, ...]]:
    """Return the largest sets of models of which no two are distinguishable, best first as the models were given.

    >>> die, fair, near, stuck = [1 / 6] * 6, [5, 6, 5, 5, 6, 5], [6, 5, 5, 6, 5, 5], [0, 0, 1, 0, 0, 31]
    >>> ties(differences({"x": [(fair, die)], "y": [(near, die)], "z": [(stuck, die)]}))
    [('x', 'y'), ('z',)]
    """
    names = list(dict.fromkeys(name for d in compared for name in (d.a, d.b)))
    apart = {frozenset((d.a, d.b)) for d in compared if d.distinguishable}
    groups: list[tuple[str, ...]] = [()]
    for name in names:
        joined = [(*(m for m in group if frozenset((m, name)) not in apart), name) for group in groups]
        groups = _largest([*groups, *joined])
    return groups


def _largest(groups: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    distinct = list(dict.fromkeys(groups))
    return [g for g in distinct if not any(set(g) < set(other) for other in distinct)]


def _variance(a: Sequence[Cell], b: Sequence[Cell], error_a: float, error_b: float) -> float:
    """Variance of a difference; an experiment that both models are held against is one and the same for them."""
    pairs = [(as_cell(*first), as_cell(*second)) for first, second in zip(a, b, strict=True)]
    if all(first[1].counts is None for first, _ in pairs):
        return error_a**2 + error_b**2
    parts = [
        jackknife_variance(*first) + jackknife_variance(*second) + experiment_variance([first, second])
        for first, second in pairs
    ]
    return sum(parts) / len(parts) ** 2


def _check_same_scenes(models: Mapping[str, Sequence[Cell]]) -> None:
    check_size("models", len(models), least=2)
    first, *others = models
    expected = [as_cell(*cell)[1] for cell in models[first]]
    for name in others:
        if [as_cell(*cell)[1] for cell in models[name]] != expected:
            raise StatisticsError(
                f"models: {name!r} has other scenes than {first!r}; compare them over the same scenes in one order"
            )


@lru_cache(maxsize=64)
def _critical_value(models: int, level: float) -> float:
    z, weight = np.polynomial.legendre.leggauss(200)
    z, weight = 9 * z, 9 * weight
    density = weight * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        covered = models * float(density @ (ndtr(z) - ndtr(z - middle)) ** (models - 1))
        low, high = (middle, high) if covered < level else (low, middle)
    return high / math.sqrt(2)
