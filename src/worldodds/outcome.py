"""What can come out of a scene, how often it should (`Reference`), and how often it did (`Counts`)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import StatisticsError

type_of_odds = str | float | int | Fraction


@dataclass(frozen=True, kw_only=True)
class Reference:
    """How often each outcome should come up.

    ``odds`` are kept as exact fractions, one a label, zero allowed. A scene whose odds are not known has no reference.
    Floats are taken as the simplest fraction within 1e-12; they must sum to 1 within 1e-9.

    ``counts`` are set where the odds are not known but were counted in an experiment: ``odds`` are then the shares
    seen, and every verdict allows for the experiment's own sampling. An outcome that the experiment did not show has
    odds 0 here and is still not held to be impossible.

    Raises:
        StatisticsError: fewer than two labels, a repeated label, negative odds, odds that do not sum to 1, counts that
            are not whole or all 0, odds that are not the shares of the counts.

    >>> Reference.of(["18/37", "18/37", "1/37"], labels=["red", "black", "green"]).probabilities.round(3).tolist()
    [0.486, 0.486, 0.027]
    """

    labels: tuple[str, ...]
    odds: tuple[Fraction, ...]
    counts: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_labels(self.labels)
        if self.counts is not None and self.odds != shares_of(self.counts):
            raise StatisticsError("odds: they are not the shares of the counts; make the reference with observed()")
        if len(self.odds) != len(self.labels):
            raise StatisticsError(f"odds: {len(self.odds)} given for {len(self.labels)} labels; give one a label")
        if negative := [str(o) for o in self.odds if o < 0]:
            raise StatisticsError(f"odds: {negative[0]} is negative; each must lie between 0 and 1")
        if (total := sum(self.odds)) != 1:
            raise StatisticsError(f"odds: they sum to {float(total):.10g}, not to 1 (off by {float(total - 1):+.3g})")

    @classmethod
    def of(cls, odds: Sequence[type_of_odds], labels: Sequence[str] | None = None) -> Reference:
        """Make a reference from fractions, strings such as ``"18/37"``, or floats; labels default to 1, 2, 3 ..."""
        exact = _exact(odds)
        names = tuple(labels) if labels is not None else numbered(len(exact))
        return cls(labels=names, odds=exact)

    @classmethod
    def uniform(cls, labels: int | Sequence[str]) -> Reference:
        """Make equal odds for ``labels`` (or that many numbered ones)."""
        names = numbered(labels) if isinstance(labels, int) else tuple(labels)
        check_labels(names)
        return cls(labels=names, odds=tuple(Fraction(1, len(names)) for _ in names))

    @classmethod
    def binomial(
        cls, trials: int, success: type_of_odds = Fraction(1, 2), labels: Sequence[str] | None = None
    ) -> Reference:
        """Make the law of the number of successes in ``trials`` (a Galton board: one trial a row of pegs)."""
        p = _fraction(success)
        if labels is not None and len(labels) != trials + 1:
            raise StatisticsError(
                f"binomial: {trials} trials have {trials + 1} outcomes, and {len(labels)} labels are given"
            )
        if trials < 1 or not 0 <= p <= 1:
            raise StatisticsError(
                f"binomial: trials = {trials}, success = {success}; need trials >= 1, 0 <= success <= 1"
            )
        odds = tuple(math.comb(trials, j) * p**j * (1 - p) ** (trials - j) for j in range(trials + 1))
        return cls(labels=tuple(labels) if labels is not None else numbered(trials + 1), odds=odds)

    @classmethod
    def observed(cls, counts: Sequence[int], labels: Sequence[str] | None = None) -> Reference:
        """Make an uncertain reference from an experiment: how often it showed each outcome; labels default to 1, 2 ...

        >>> coin = Reference.observed([81, 51], ["heads", "tails"])
        >>> coin.n_observed, [str(o) for o in coin.odds]
        (132, ['27/44', '17/44'])
        """
        whole = Counts.of(counts, labels=labels)
        return cls(labels=whole.labels, odds=shares_of(whole.counts), counts=whole.counts)

    @property
    def k(self) -> int:
        """Number of outcomes."""
        return len(self.labels)

    @property
    def n_observed(self) -> int | None:
        """Size of the experiment that the odds were counted in; None where they are known."""
        return None if self.counts is None else sum(self.counts)

    @property
    def uncertainty(self) -> str:
        """Say that the odds were counted and in how many trials; empty where they are known."""
        return "" if self.counts is None else f"odds from n = {self.n_observed} observed, uncertain"

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """Odds as floats, shape (k,), read-only."""
        p = np.array([float(o) for o in self.odds])
        p.flags.writeable = False
        return p

    @cached_property
    def weights(self) -> tuple[tuple[int, ...], int]:
        """Integer weights ``w`` and their total ``W`` with odds exactly ``w / W``."""
        total = math.lcm(*(o.denominator for o in self.odds))
        return tuple(int(o * total) for o in self.odds), total


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How often each outcome was seen in one cell, and how many clips could not be used.

    ``counts`` has one entry a label. ``unreadable`` and ``out_of_schema`` are the two kinds of null.

    Raises:
        StatisticsError: negative or fractional counts, or a number of counts that differs from the labels.

    >>> c = Counts.of([9, 21], unreadable=2)
    >>> c.n, c.n_total, c.scorability
    (30, 32, 0.9375)
    """

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    unreadable: int = 0
    out_of_schema: int = 0

    def __post_init__(self) -> None:
        check_labels(self.labels)
        if len(self.counts) != len(self.labels):
            raise StatisticsError(f"counts: {len(self.counts)} given for {len(self.labels)} labels; give one a label")
        for name, values in (("counts", self.counts), ("nulls", (self.unreadable, self.out_of_schema))):
            for value in values:
                if not math.isfinite(value) or value < 0 or int(value) != value:
                    raise StatisticsError(f"{name}: {value} is not a count; give whole numbers, 0 or more")

    @classmethod
    def of(
        cls,
        counts: Sequence[int] | NDArray[np.integer],
        *,
        labels: Sequence[str] | None = None,
        unreadable: int = 0,
        out_of_schema: int = 0,
    ) -> Counts:
        """Make counts from plain numbers; labels default to 1, 2, 3 ..."""
        if bad := [c for c in counts if not math.isfinite(c) or int(c) != c]:
            raise StatisticsError(f"counts: {bad[0]} is not a whole number")
        whole = tuple(int(c) for c in counts)
        names = tuple(labels) if labels is not None else numbered(len(whole))
        return cls(labels=names, counts=whole, unreadable=unreadable, out_of_schema=out_of_schema)

    @property
    def n(self) -> int:
        """Clips with a readable, in-schema outcome."""
        return sum(self.counts)

    @property
    def n_total(self) -> int:
        """Clips read, nulls included: the N of scorability."""
        return self.n + self.unreadable + self.out_of_schema

    @property
    def scorability(self) -> float | None:
        """Share of clips read that have an outcome; None where nothing was read."""
        return self.n / self.n_total if self.n_total else None

    @property
    def array(self) -> NDArray[np.int64]:
        """Counts as an array, shape (k,)."""
        return np.array(self.counts, dtype=np.int64)


def shares_of(counts: Sequence[int]) -> tuple[Fraction, ...]:
    """Return the share of each count in all of them; raises StatisticsError where nothing was counted."""
    if not sum(counts):
        raise StatisticsError("counts: the experiment shows no outcome at all; odds need at least one")
    return tuple(Fraction(count, sum(counts)) for count in counts)


def numbered(k: int) -> tuple[str, ...]:
    """Return the labels ``"1" ... "k"``."""
    return tuple(str(i) for i in range(1, k + 1))


_IMMENSE = re.compile(r"[eE][+-]?[0-9_]{4,}")


def check_labels(labels: Sequence[str]) -> None:
    """Refuse fewer than two labels and repeated ones."""
    if len(labels) < 2:
        raise StatisticsError(f"labels: {len(labels)} given; an outcome needs at least 2 possibilities")
    if len(set(labels)) != len(labels):
        twice = next(name for name in labels if list(labels).count(name) > 1)
        raise StatisticsError(f"labels: {twice!r} is given twice; labels must differ")


def _fraction(value: type_of_odds) -> Fraction:
    try:
        # 1e999999999 would be written out digit by digit
        exact = Fraction("?" if isinstance(value, str) and _IMMENSE.search(value) else value)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise StatisticsError(f"odds: {value!r} is not a number; write 0.25 or '1/4'") from None
    if isinstance(value, float):
        simple = exact.limit_denominator(1_000_000)
        return simple if abs(simple - exact) < Fraction(1, 10**12) else exact
    return exact


def _exact(odds: Sequence[type_of_odds]) -> tuple[Fraction, ...]:
    exact = tuple(_fraction(o) for o in odds)
    total = sum(exact)
    if any(isinstance(o, float) for o in odds) and total != 1 and abs(total - 1) < Fraction(1, 10**9):
        return tuple(o / total for o in exact)
    return exact
