"""Exact tail probabilities by enumerating tables up to order within equal odds, in two halves that meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from worldodds.statistics.laws import poisson
from worldodds.statistics.shapes import ranges, shape_numbers, shapes
from worldodds.statistics.terms import Group

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """Tables of some of the groups: ``used`` counts each, the partial statistic, the mass; sorted by ``used``.

    Tables whose partial statistic has reached the threshold are only counted: ``over`` is their mass by counts used.
    """

    used: Integers  # (tables,)
    value: Floats  # (tables,)
    mass: Floats  # (tables,)
    over: Floats  # (n + 1,)
    share: float  # summed odds of these groups


def tables_in(groups: Sequence[Group], n: int, *, whole: bool = False) -> float:
    """Return how many tables use at most ``n`` counts, or exactly ``n``."""
    numbers = _numbers(groups, n)
    return float(numbers[n] if whole else numbers.sum())


def tables_needed(groups: Sequence[Group], n: int) -> float:
    """Return how many tables the larger half would hold."""
    if len(groups) == 1:
        return tables_in(groups, n, whole=True)
    return max(tables_in(half, n) for half in split(groups, n))


def tail_probability(groups: Sequence[Group], n: int, threshold: float) -> float:
    """Return P(statistic >= threshold) under the multinomial law; only positive terms are added."""
    if len(groups) == 1:
        return _tail_of_one(groups[0], n, threshold)
    first, second = (half_of(part, n, threshold) for part in split(groups, n))
    rest, live = poisson(n * second.share, n), np.bincount(first.used, first.mass, n + 1)
    total = float(first.over @ rest[::-1] + live @ second.over[::-1])
    for used in np.unique(first.used):
        total += _meet(first, second, int(used), n, threshold)
    return total / float(poisson(float(n), n)[n])


def split(groups: Sequence[Group], n: int) -> tuple[list[Group], list[Group]]:
    """Deal groups, largest first, so that the two halves hold about equally many tables."""
    halves: tuple[list[Group], list[Group]] = ([], [])
    for group in sorted(groups, key=lambda g: -g.size):
        sizes = [tables_in(half, n) for half in halves]
        halves[int(sizes[1] < sizes[0])].append(group)
    return halves


def group_tables(group: Group, n: int, *, whole: bool) -> tuple[Integers, Floats, Floats]:
    """Return counts used, statistic and log mass of every table of one group."""
    parts, log_arrangements = shapes(group.size, n, whole=whole)
    value, log_mass = np.zeros(len(parts)), log_arrangements.copy()
    for column in parts.T:
        value += group.terms[column]
        log_mass += group.log_mass[column]
    return parts.sum(axis=1, dtype=np.int64), value, log_mass


def _tail_of_one(group: Group, n: int, threshold: float) -> float:
    _, value, log_mass = group_tables(group, n, whole=True)
    at_least = log_mass[value >= threshold] - group_log_total(n)
    return float(np.exp(at_least).sum())


def group_log_total(n: int) -> float:
    """Logarithm of the Poisson probability of exactly ``n`` when ``n`` are expected."""
    return float(np.log(poisson(float(n), n)[n]))


def half_of(groups: Sequence[Group], n: int, threshold: float, *, whole: bool = False) -> Half:
    """List the tables of ``groups``; ``whole`` keeps only those that use all ``n``."""
    if whole and len(groups) == 1:
        used, value, log_mass = group_tables(groups[0], n, whole=True)
        return Half(used=used, value=value, mass=np.exp(log_mass), over=np.zeros(n + 1), share=1.0)
    half = Half(used=np.array([0]), value=np.zeros(1), mass=np.ones(1), over=np.zeros(n + 1), share=0.0)
    for group in groups:
        half = _join(half, group, n, threshold)
    if not whole:
        return half
    keep = half.used == n
    return replace(half, used=half.used[keep], value=half.value[keep], mass=half.mass[keep])


def _join(half: Half, group: Group, n: int, threshold: float) -> Half:
    used, value, log_mass = group_tables(group, n, whole=False)
    order = np.argsort(used, kind="stable")
    used, value, mass = used[order], value[order], np.exp(log_mass[order])
    share = group.size * float(group.odds)
    over = np.convolve(half.over, poisson(n * share, n))[: n + 1]
    fitting = np.searchsorted(used, n - half.used, side="right")
    parent, child = ranges(np.zeros_like(fitting), fitting)
    used, value = half.used[parent] + used[child], half.value[parent] + value[child]
    mass = half.mass[parent] * mass[child]
    reached = value >= threshold
    over += np.bincount(used[reached], mass[reached], n + 1)
    used, value, mass = used[~reached], value[~reached], mass[~reached]
    order = np.argsort(used, kind="stable")
    return Half(used=used[order], value=value[order], mass=mass[order], over=over, share=half.share + share)


def _meet(first: Half, second: Half, used: int, n: int, threshold: float) -> float:
    a, b = _rows(first.used, used), _rows(second.used, n - used)
    if b.start == b.stop:
        return 0.0
    order = np.argsort(second.value[b])
    value = second.value[b][order]
    above = np.append(np.cumsum(second.mass[b][order][::-1])[::-1], 0.0)
    return float(first.mass[a] @ above[np.searchsorted(value, threshold - first.value[a])])


def _rows(used: Integers, wanted: int) -> slice:
    return slice(*np.searchsorted(used, [wanted, wanted + 1]))


def _numbers(groups: Sequence[Group], n: int) -> Floats:
    numbers = np.zeros(n + 1)
    numbers[0] = 1
    for group in groups:
        numbers = np.convolve(numbers, shape_numbers(group.size, n))[: n + 1]
    return numbers
