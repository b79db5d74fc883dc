"""Hidden state or dice in the dynamics? Where a world's chance comes from, by closure pairs.

M micro-states (start seeds) are each run under the same R process noises (noise seeds). With one-hot outcomes of run
(m, r), the variance splits into what the hidden start decides whatever the noise (*aliasing*: no frame can show it),
what the noise decides whatever the start (*process noise*), and what takes both (*interaction*).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import InputError
from worldodds.workers import in_parallel
from worldodds.worlds.world import World

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FIRST_SEED = 700_000
_NOISE_SEEDS = 1_000_000  # beyond the start seeds
PARTS = ("aliasing", "process noise", "interaction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the variance: unbiased ``variance``, its ``share`` of the total, and the share's 95% interval."""

    name: str
    variance: float
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """The split of a world's variance over ``starts`` x ``noises`` runs; ``total`` is the sum of the three parts."""

    starts: int
    noises: int
    total: float
    aliasing: Part
    process_noise: Part
    interaction: Part


def closure_runs(
    world: World,
    starts: int,
    noises: int,
    *,
    first_seed: int = FIRST_SEED,
    workers: int | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> Integers:
    """Run every start under every noise; return the outcome's place among the labels, and after them for invalid runs.

    Shape (starts, noises).

    Raises:
        InputError: a world without process noise, or fewer than three of either.
    """
    if not world.has_process_noise:
        raise InputError(
            f"world {world.scene!r} has no process noise: all its chance is in the hidden start, nothing is to be split"
        )
    if starts < 3 or noises < 3:
        raise InputError(f"{starts} starts x {noises} noises: the split needs at least three of each")
    table = np.zeros((starts, noises), dtype=np.int64)
    run = partial(_row, world, noises, first_seed)
    for done, (m, row) in enumerate(in_parallel(run, list(range(starts)), True, workers), start=1):
        table[m] = row
        if watch:
            watch(done * noises, starts * noises)
    return table


def split(table: Integers, *, level: float = 0.95) -> Closure:
    """Split the variance of one-hot outcomes, with intervals; ``table`` is (starts, noises) of outcomes' places.

    Estimates are those of the two-way random-effects analysis of variance with one run a cell, summed over outcomes:
    ``interaction = MS_both``, ``aliasing = (MS_start - MS_both) / R``, ``process noise = (MS_noise - MS_both) / M``.
    They are unbiased, so a part that is truly zero comes out below zero about half of the time: nothing is cut off.
    Intervals come from the jackknife over starts plus that over noises, with Student's t for the smaller number of the
    two, which errs on the wide side. Where leaving out any start or noise changes nothing, they reach as far as a share
    that so many could all have missed.

    Raises:
        InputError: fewer than three rows or columns, or every run ended alike, so there is no variance to split.

    Source: Searle, Casella and McCulloch (1992), Variance Components; closure pairs after arXiv 2608.00591.

    >>> rows = np.repeat(np.array([[0], [1], [0], [1], [1], [0]]), 5, axis=1)
    >>> found = split(rows)
    >>> round(found.aliasing.share, 6), round(abs(found.process_noise.share), 6)
    (1.0, 0.0)
    """
    if min(table.shape) < 3:
        raise InputError(f"a table of {table.shape[0]} x {table.shape[1]} runs cannot be split; it needs three of each")
    if (table == table.flat[0]).all():
        raise InputError("every run ended alike: there is no variance to split")
    parts = _components(table)
    total = float(parts.sum())
    reach = _reach(table, level)
    aliasing, process_noise, interaction = (
        Part(name=name, variance=v, share=v / total, low=v / total - wide, high=v / total + wide)
        for name, v, wide in zip(PARTS, parts.tolist(), reach.tolist(), strict=True)
    )
    return Closure(
        starts=table.shape[0],
        noises=table.shape[1],
        total=total,
        aliasing=aliasing,
        process_noise=process_noise,
        interaction=interaction,
    )


def _reach(table: Integers, level: float) -> Floats:
    """Return half the width of the interval of each share, shape (3,)."""
    from scipy.special import stdtrit

    variance = np.zeros(3)
    for axis, size in enumerate(table.shape):
        left = np.array([_shares(np.delete(table, i, axis=axis)) for i in range(size)])
        variance += (size - 1) / size * ((left - left.mean(axis=0)) ** 2).sum(axis=0)
    fewest = min(table.shape)
    unseen = 1 - (1 - level) ** (1 / fewest)
    wide = float(stdtrit(fewest - 1, (1 + level) / 2)) * np.sqrt(variance)
    return np.where(wide < 1e-9, unseen, wide)


def _row(world: World, noises: int, first_seed: int, m: int) -> list[int]:
    outcomes = [
        world.simulate(start_seed=first_seed + m, noise_seed=first_seed + _NOISE_SEEDS + r).outcome
        for r in range(noises)
    ]
    return [len(world.labels) if outcome is None else world.labels.index(outcome) for outcome in outcomes]


def _components(table: Integers) -> Floats:
    """Return the unbiased components (start, noise, both) of the variance of one-hot outcomes."""
    m, r = table.shape
    one_hot = np.eye(int(table.max()) + 1)[table]  # (m, r, k)
    grand, by_start, by_noise = one_hot.mean(axis=(0, 1)), one_hot.mean(axis=1), one_hot.mean(axis=0)
    start = r * ((by_start - grand) ** 2).sum() / (m - 1)
    noise = m * ((by_noise - grand) ** 2).sum() / (r - 1)
    rest = one_hot - by_start[:, None] - by_noise[None] + grand
    both = (rest**2).sum() / ((m - 1) * (r - 1))
    return np.array([(start - both) / r, (noise - both) / m, both])


def _shares(table: Integers) -> Floats:
    parts = _components(table)
    total = parts.sum()
    return parts / total if total > 1e-12 else np.array([0.0, 0.0, 1.0])
