"""What stands beside the official scores: the population estimate, the paper's interval, ranks, robustness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worldodds.outcome import Counts, Reference
from worldodds.scorecard import Cell, Scorecard
from worldodds.statistics.comparison import Difference, differences, rank_ranges
from worldodds.statistics.interval import Interval, percentile_bootstraps
from worldodds.statistics.inversion import Inversion, invert
from worldodds.statistics.robustness import survives_any_nulls, wrong_labels_survived

Pair = tuple[Counts, Reference]


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness:
    """What a rejected cell's verdict survives: so many wrong labels in every cell, and any mechanism of nulls."""

    wrong_labels_survived: int
    survives_any_nulls: bool


def populations(cards: Sequence[Scorecard], *, seed: int = 0) -> dict[str, Inversion]:
    """Return by model the score at infinitely many rollouts, of the mean and of every scored cell in the card's order.

    Models without a mean (scenes missing, no partial average) have none, nor those that were stopped early.
    """
    return {card.model: invert(pairs_of(card), rng=np.random.default_rng(seed)) for card in _with_mean(cards)}


def percentiles(cards: Sequence[Scorecard], *, seed: int = 0) -> dict[str, Interval]:
    """Return the paper's percentile interval of every model that has a mean.

    One random stream in the order of the cards serves them all (arXiv 2608.16829): the paper's own intervals come out
    where its six models are given in its order. None where odds were counted: the paper takes odds as known.
    """
    whole = [card for card in _with_mean(cards) if not any(reference.counts for _, reference in pairs_of(card))]
    if not whole:
        return {}
    intervals = percentile_bootstraps([pairs_of(card) for card in whole], rng=np.random.default_rng(seed))
    return {card.model: interval for card, interval in zip(whole, intervals, strict=True)}


def ranks(cards: Sequence[Scorecard]) -> dict[str, tuple[int, int]]:
    """Return the places each model may hold among those given, true for all at once; empty for fewer than two.

    A model that was stopped early holds none.
    """
    return rank_ranges(compared(cards))


def compared(cards: Sequence[Scorecard]) -> list[Difference]:
    """Return all pairs of models that have a mean over the same scenes, with simultaneous intervals."""
    whole = _with_mean(cards)
    if len(whole) < 2 or len({card.averaged for card in whole}) > 1:
        return []
    return differences({card.model: pairs_of(card) for card in whole})


def robustness(cards: Sequence[Scorecard]) -> dict[tuple[str, str], Robustness]:
    """Return, by model and scene id, what each rejected cell survives; Benjamini-Hochberg over all cells given."""
    whole = [card for card in cards if card.early is None]  # these tests are for an n that was fixed beforehand
    cells = [(card.model, cell) for card in whole for cell in card.cells if cell.measurement.scene.reference]
    pairs = [_pair_of(cell) for _, cell in cells]
    survived = zip(cells, wrong_labels_survived(pairs), survives_any_nulls(pairs), strict=True)
    return {
        (model, cell.measurement.scene.id): Robustness(wrong_labels_survived=wrong, survives_any_nulls=nulls)
        for (model, cell), wrong, nulls in survived
        if wrong is not None
    }


def pairs_of(card: Scorecard) -> list[Pair]:
    """Return counts and reference of every scored cell, in the card's order."""
    return [_pair_of(cell) for cell in card.cells if cell.measurement.score is not None]


def _with_mean(cards: Sequence[Scorecard]) -> list[Scorecard]:
    return [card for card in cards if card.mntv is not None and card.early is None]


def _pair_of(cell: Cell) -> Pair:
    reference = cell.measurement.scene.reference
    assert reference is not None
    return cell.measurement.counts, reference
