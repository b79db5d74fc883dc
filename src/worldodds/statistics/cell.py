"""A cell is what was seen and what should have been: turning arguments into one, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference, numbered, type_of_odds

CountsLike = Counts | Sequence[int] | NDArray[np.integer]
ReferenceLike = Reference | Sequence[type_of_odds] | NDArray[np.floating]
Cell = tuple[CountsLike, ReferenceLike]


def as_counts(counts: CountsLike) -> Counts:
    """Return ``counts`` as Counts; plain numbers get the labels 1, 2, 3 ... and no nulls."""
    return counts if isinstance(counts, Counts) else Counts.of(counts)


def as_reference(reference: ReferenceLike) -> Reference:
    """Return ``reference`` as Reference; plain odds get the labels 1, 2, 3 ..."""
    if isinstance(reference, Reference):
        return reference
    return Reference.of([o if isinstance(o, str | int | Fraction) else float(o) for o in reference])


def as_cell(counts: CountsLike, reference: ReferenceLike) -> tuple[Counts, Reference]:
    """Return both as objects that belong together.

    Raises:
        StatisticsError: another number of outcomes in the counts than in the reference, or other labels.
    """
    seen, expected = as_counts(counts), as_reference(reference)
    if len(seen.counts) != expected.k:
        raise StatisticsError(
            f"counts: {len(seen.counts)} outcomes given for a reference of {expected.k}; give one each"
        )
    plain = numbered(expected.k)
    if seen.labels != expected.labels and plain not in (seen.labels, expected.labels):
        raise StatisticsError(
            f"counts: their labels {list(seen.labels)} are not the reference's {list(expected.labels)}, in that order"
        )
    return seen, expected


def need_known_odds(reference: Reference, what: str) -> None:
    """Refuse a reference that was counted, where only known odds will do; ``what`` names the method.

    Raises:
        StatisticsError: the reference carries counts.
    """
    if reference.counts is not None:
        raise StatisticsError(
            f"reference: its odds were counted in {reference.n_observed} trials, and {what} needs odds that are known; "
            "score a fixed number of rollouts instead, which allows for the experiment's own sampling"
        )
