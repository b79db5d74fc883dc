"""What stands beside the official scores: intervals of three kinds, the population estimate, ranks, robustness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
class Headline:
    """One model's numbers beyond the official score; None where its mean is None (scenes missing, no partial).

    ``percentile`` is the paper's interval, reproduced; ``population`` the path inversion of the mean and of every cell,
    in the order of the card; ``rank`` the places it may hold among the models scored with it, true for all at once.
    """

    percentile: Interval
    population: Inversion
    rank: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness:
    """What a rejected cell's verdict survives: so many wrong labels in every cell, and any mechanism of nulls."""

    wrong_labels_survived: int
    survives_any_nulls: bool


def headlines(cards: Sequence[Scorecard], *, seed: int = 0) -> dict[str, Headline]:
    """Return the headline of every model that has a mean.

    One random stream in the order of the cards serves the percentile intervals, as in the paper (arXiv 2608.16829);
    its own intervals come out where its six models are given in its order.
    """
    whole = [card for card in cards if card.mntv is not None]
    if not whole:
        return {}
    pairs = {card.model: pairs_of(card) for card in whole}
    percentiles = percentile_bootstraps(list(pairs.values()), rng=np.random.default_rng(seed))
    ranks = rank_ranges(compared(cards))
    return {
        card.model: Headline(
            percentile=percentile,
            population=invert(pairs[card.model], rng=np.random.default_rng(seed)),
            rank=ranks.get(card.model),
        )
        for card, percentile in zip(whole, percentiles, strict=True)
    }


def compared(cards: Sequence[Scorecard]) -> list[Difference]:
    """Return all pairs of models that have a mean over the same scenes, with simultaneous intervals."""
    whole = [card for card in cards if card.mntv is not None]
    if len(whole) < 2 or len({card.averaged for card in whole}) > 1:
        return []
    return differences({card.model: pairs_of(card) for card in whole})


def robustness(cards: Sequence[Scorecard]) -> Mapping[tuple[str, str], Robustness]:
    """Return, by model and scene id, what each rejected cell survives; Benjamini-Hochberg over all cells given."""
    cells = [(card.model, cell) for card in cards for cell in card.cells if cell.measurement.scene.reference]
    pairs = [pair_of(cell) for _, cell in cells]
    survived = zip(cells, wrong_labels_survived(pairs), survives_any_nulls(pairs), strict=True)
    return {
        (model, cell.measurement.scene.id): Robustness(wrong_labels_survived=wrong, survives_any_nulls=nulls)
        for (model, cell), wrong, nulls in survived
        if wrong is not None
    }


def pairs_of(card: Scorecard) -> list[Pair]:
    """Return counts and reference of every scored cell, in the card's order."""
    return [pair_of(cell) for cell in card.cells if cell.measurement.score is not None]


def pair_of(cell: Cell) -> Pair:
    """Return counts and reference of one cell."""
    reference = cell.measurement.scene.reference
    assert reference is not None
    return cell.measurement.counts, reference
