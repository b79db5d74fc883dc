"""A judge's measured errors, what they do to counts, and what the counts were before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import StatisticsError
from worldodds.statistics.agreement import share_interval
from worldodds.statistics.cell import CountsLike, as_counts
from worldodds.statistics.checks import check_level, check_size
from worldodds.statistics.equivalence import upper_share
from worldodds.statistics.interval import Interval
from worldodds.statistics.inversion import REPEATS, Misreading

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
EM_STEPS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRate:
    """Errors counted against people: ``errors`` of ``trials``.

    Raises:
        StatisticsError: a negative or fractional number, more errors than trials.
    """

    errors: int
    trials: int

    def __post_init__(self) -> None:
        check_size("errors", self.errors, least=0)
        check_size("trials", self.trials, least=0)
        if self.errors > self.trials:
            raise StatisticsError(
                f"errors: {self.errors} is out of range; it must lie between 0 and trials = {self.trials}"
            )

    @property
    def estimate(self) -> float | None:
        """Share of errors; ``None`` without trials."""
        return self.errors / self.trials if self.trials else None

    def interval(self, *, level: float = 0.95) -> Interval:
        """Exact interval of the rate; needs at least one trial."""
        return share_interval(self.errors, self.trials, level=level)

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Draw rates that fit what was counted: Beta(errors + 1/2, hits + 1/2), shape (size,)."""
        return rng.beta(self.errors + 0.5, self.trials - self.errors + 0.5, size=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeError:
    """Three pooled error rates of a judge; 18 labels a scene cannot support a matrix for each.

    Attributes:
        false_null: clips with an outcome that the judge called null.
        missed_null: null clips that the judge gave an outcome.
        wrong_label: clips with an outcome that the judge gave another one, of those both gave one.
    """

    false_null: ErrorRate
    missed_null: ErrorRate
    wrong_label: ErrorRate

    @classmethod
    def counted(cls, truth: Sequence[object | None], read: Sequence[object | None]) -> JudgeError:
        """Count the errors over the same clips; ``None`` is a null. Scenes may be pooled.

        >>> judge = JudgeError.counted(["a", "b", None, "a"], ["a", None, "b", "b"])
        >>> judge.false_null.errors, judge.missed_null.errors, judge.wrong_label.errors, judge.wrong_label.trials
        (1, 1, 1, 2)
        """
        if len(truth) != len(read):
            raise StatisticsError(f"truth, read: {len(truth)} and {len(read)} labels; give both for the same clips")
        pairs = list(zip(truth, read, strict=True))
        outcomes = [(t, r) for t, r in pairs if t is not None]
        nulls = [r for t, r in pairs if t is None]
        both = [(t, r) for t, r in outcomes if r is not None]
        return cls(
            false_null=ErrorRate(errors=len(outcomes) - len(both), trials=len(outcomes)),
            missed_null=ErrorRate(errors=sum(r is not None for r in nulls), trials=len(nulls)),
            wrong_label=ErrorRate(errors=sum(t != r for t, r in both), trials=len(both)),
        )

    @property
    def false_label(self) -> ErrorRate:
        """Labels given by the judge that people do not confirm: a wrong one, or one for a null."""
        return ErrorRate(
            errors=self.wrong_label.errors + self.missed_null.errors,
            trials=self.wrong_label.trials + self.missed_null.errors,
        )

    def false_label_bound(self, *, level: float = 0.95) -> float:
        """Return the upper bound on the share of false labels, the ``judge_error`` of robust e-values.

        >>> published = JudgeError(
        ...     false_null=ErrorRate(errors=4, trials=107),
        ...     missed_null=ErrorRate(errors=4, trials=55),
        ...     wrong_label=ErrorRate(errors=2, trials=103),
        ... )
        >>> round(published.false_label_bound(), 3)
        0.108
        """
        check_level("level", level)
        return upper_share(self.false_label.errors, self.false_label.trials, 1 - level)

    def misreading(self, rng: np.random.Generator, *, repeats: int = REPEATS) -> Misreading:
        """Return a distortion of counts to be handed to `inversion.invert`, so that this judge's errors widen it.

        Each of ``repeats`` simulated worlds has its own rates, drawn as `ErrorRate.draw` does and shared by all cells:
        a pooled rate is wrong everywhere alike. Row r of the counts it is given lies in world r modulo ``repeats``;
        give the number of repeats of the inversion.
        """
        check_size("repeats", repeats)
        rates = [rate.draw(rng, repeats) for rate in (self.false_null, self.missed_null, self.wrong_label)]

        def distort(counts: Integers, rng: np.random.Generator, /) -> Integers:
            world = np.arange(len(counts)) % repeats
            return misread(counts, *(rate[world] for rate in rates), rng=rng)

        return distort

    def confusion(self, k: int) -> Floats:
        """Return P(read | truth) at the estimated rates, rows the truth, shape (k + 1, k + 1), nulls last.

        A rate that was never tried counts as 0.
        """
        check_size("k", k, least=2)
        a, b, w = (rate.estimate or 0.0 for rate in (self.false_null, self.missed_null, self.wrong_label))
        return confusion_of(k, a, b, w)


def misread(
    counts: Integers, false_null: Floats, missed_null: Floats, wrong_label: Floats, *, rng: np.random.Generator
) -> Integers:
    """Return counts, shape (rows, k + 1) with nulls last, as a judge with these rates, one a row, would report them.

    A wrong label, and a label for a null, is any outcome with equal chance.

    >>> rng, always, never = np.random.default_rng(0), np.ones(1), np.zeros(1)
    >>> misread(np.array([[3, 2, 1]]), always, never, never, rng=rng).tolist()
    [[0, 0, 6]]
    """
    k = counts.shape[1] - 1
    lost = rng.binomial(counts[:, :k], false_null[:, None])
    kept = counts[:, :k] - lost
    # wrong with chance w, uniformly over the k - 1 others = any of all k with chance w k / (k - 1)
    moved = rng.binomial(kept, np.minimum(1.0, wrong_label * k / (k - 1))[:, None])
    invented = rng.binomial(counts[:, k], missed_null)
    scattered = rng.multinomial(moved.sum(axis=1) + invented, np.full(k, 1 / k))
    nulls = counts[:, k] - invented + lost.sum(axis=1)
    return np.column_stack([kept - moved + scattered, nulls])


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """What a cell would look like to people.

    Attributes:
        shares: share of each outcome among all clips, shape (k,).
        scorability: share of clips with an outcome.
    """

    shares: tuple[float, ...]
    scorability: float

    @property
    def odds(self) -> tuple[float, ...] | None:
        """Odds of the outcomes among readable clips; ``None`` where none is readable."""
        return tuple(s / self.scorability for s in self.shares) if self.scorability > 0 else None


def correct(counts: CountsLike, judge: JudgeError) -> Corrected:
    """Estimate the shares before the judge's errors, from pooled rates: the maximum-likelihood Rogan-Gladen estimate.

    Never leaves the range of shares (expectation-maximisation). Worth it where scorability is low or errors exceed
    about 5%; elsewhere the naive shares are as good. For an interval give `JudgeError.misreading` to `invert`.

    Raises:
        StatisticsError: nothing was read.

    Source: Rogan and Gladen (1978), Am. J. Epidemiol. 107.

    >>> judge = JudgeError.counted(["a"] * 10 + [None] * 10, ["a"] * 9 + [None] * 11)
    >>> corrected = correct([9, 0], judge)
    >>> round(corrected.shares[0], 3)
    1.0
    """
    seen = as_counts(counts)
    if seen.n_total == 0:
        raise StatisticsError("counts: nothing was read, so there is nothing to correct")
    observed = np.append(seen.array, seen.n_total - seen.n) / seen.n_total
    shares = undistorted(observed, judge.confusion(len(seen.counts)))
    return Corrected(shares=tuple(shares[:-1].tolist()), scorability=float(shares[:-1].sum()))


def confusion_of(k: int, false_null: float, missed_null: float, wrong_label: float) -> Floats:
    """Return P(read | truth) at three rates, rows the truth, shape (k + 1, k + 1), nulls last.

    >>> confusion_of(2, 0.1, 0.2, 0.0).round(2).tolist()
    [[0.9, 0.0, 0.1], [0.0, 0.9, 0.1], [0.1, 0.1, 0.8]]
    """
    matrix = np.full((k + 1, k + 1), (1 - false_null) * wrong_label / (k - 1))
    np.fill_diagonal(matrix, (1 - false_null) * (1 - wrong_label))
    matrix[:, k] = false_null
    matrix[k] = [*[missed_null / k] * k, 1 - missed_null]
    return matrix


def undistorted(observed: Floats, confusion: Floats) -> Floats:
    """Return the shares of the truth that make ``observed`` likeliest, by expectation-maximisation, shape (k + 1,)."""
    shares = np.full(len(observed), 1 / len(observed))
    for _ in range(EM_STEPS):
        read = shares @ confusion
        ratio = np.divide(observed, read, out=np.zeros_like(read), where=read > 0)
        updated = shares * (confusion @ ratio)
        if np.abs(updated - shares).max() < 1e-10:
            return updated
        shares = updated
    return shares
