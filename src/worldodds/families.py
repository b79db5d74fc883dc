"""Families as experiments: did the model move when the physics did, and stay when only the picture did?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from worldodds.outcome import Counts
from worldodds.placement import Variant
from worldodds.scene import Scene, Suite
from worldodds.statistics.interval import Interval
from worldodds.statistics.multiplicity import benjamini_hochberg
from worldodds.statistics.two_sample import TwoSampleTest, two_sample_test
from worldodds.tally import Tally

Verdict = Literal[
    "as it should", "under-reacts", "over-reacts", "moves", "no shift seen", "undecided", "nothing to compare"
]
Z95 = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """A scene's variant against its base, both filmed by one model; shifts are total variations in percent.

    ``expected`` is the shift of the reference odds: 0 for a change of the picture only, None where it is not known.
    ``chance`` is the mean shift of two sets of this size that have the same odds. ``reaction`` is the part of the
    expected shift that was made: 1 is right, 0 no move, beyond 1 too much; None unless the odds should move and are
    known.
    """

    base: Scene
    member: Scene
    variant: Variant
    counts: tuple[Counts, Counts]
    test: TwoSampleTest
    q_value: float | None
    shift: float | None
    chance: float | None
    expected: float | None
    reaction: float | None
    interval: Interval | None
    verdict: Verdict


def reactions(
    tallies: Mapping[str, Mapping[str, Tally]], suite: Suite, *, alpha: float = 0.05, seed: int = 0
) -> dict[str, tuple[Reaction, ...]]:
    """Compare by model every variant that was read with its base, which must have been read too.

    Exact two-sample tests (readings of both sides are taken as independent), Benjamini-Hochberg over one model's
    pairs. ``seed`` starts the permutations of tables too large to enumerate.
    """
    return {model: _of_model(model, by_scene, suite, alpha, seed) for model, by_scene in tallies.items()}


def chance_shift(a: Counts, b: Counts) -> float:
    """Return the mean total variation in percent between two sets like these whose odds are the same.

    Conditional on how often each outcome was seen in all; exact.

    >>> round(chance_shift(Counts.of([25, 25]), Counts.of([25, 25])), 2)
    7.92
    """
    first, second = a.n, b.n
    mean = 0.0
    for column in (a.array + b.array).tolist():
        x = np.arange(max(0, column - second), min(column, first) + 1)
        mass = np.exp(_log_choose(first, x) + _log_choose(second, column - x) - _log_choose(first + second, column))
        mean += float(mass @ np.abs(x / first - (column - x) / second))
    return 50 * mean


def _of_model(model: str, by_scene: Mapping[str, Tally], suite: Suite, alpha: float, seed: int) -> tuple[Reaction, ...]:
    known = {scene.id: scene for scene in suite.scenes}
    found = [
        _reaction(
            known[variant.of],
            scene,
            variant,
            by_scene,
            np.random.default_rng([seed, crc32(f"{model} {name}".encode())]),
        )
        for name, scene in known.items()
        if scene.placement and (variant := scene.placement.variant) and {variant.of, name} <= set(by_scene)
    ]
    q_values = benjamini_hochberg([one.test.p_value for one in found])
    return tuple(
        replace(one, q_value=q, verdict=_verdict(one, q, alpha)) for one, q in zip(found, q_values, strict=True)
    )


def _reaction(
    base: Scene, member: Scene, variant: Variant, by_scene: Mapping[str, Tally], rng: np.random.Generator
) -> Reaction:
    a, b = by_scene[base.id].counts, by_scene[member.id].counts
    seen = bool(a.n and b.n)
    slope, interval = _slope(base, member, a, b) if seen and variant.cue == "causal" else (None, None)
    return Reaction(
        base=base,
        member=member,
        variant=variant,
        counts=(a, b),
        test=two_sample_test(a, b, rng=rng),
        q_value=None,
        shift=50 * float(np.abs(a.array / a.n - b.array / b.n).sum()) if seen else None,
        chance=chance_shift(a, b) if seen else None,
        expected=_expected(base, member, variant),
        reaction=slope,
        interval=interval,
        verdict="nothing to compare",
    )


def _expected(base: Scene, member: Scene, variant: Variant) -> float | None:
    if variant.cue == "non-causal":
        return 0.0
    if base.reference is None or member.reference is None:
        return None
    return 50 * float(np.abs(member.reference.probabilities - base.reference.probabilities).sum())


def _slope(base: Scene, member: Scene, a: Counts, b: Counts) -> tuple[float | None, Interval | None]:
    """Return how far along the expected shift the odds moved, with a 95% normal interval.

    Spreads are taken at shares smoothed by half a clip an outcome, so that a side with one outcome only has one too.
    """
    if base.reference is None or member.reference is None:
        return None, None
    if base.reference.counts or member.reference.counts:  # the step itself is uncertain, and its interval would be too
        return None, None
    step = member.reference.probabilities - base.reference.probabilities
    length = float(step @ step)
    if length == 0:
        return None, None
    along = step / length
    slope = float(along @ (b.array / b.n - a.array / a.n))
    reach = Z95 * math.sqrt(_variance(a, along) + _variance(b, along))
    return slope, Interval(low=slope - reach, high=slope + reach, level=0.95, method="normal")


def _variance(counts: Counts, along: NDArray[np.float64]) -> float:
    shares = (counts.array + 0.5) / (counts.n + 0.5 * len(along))
    return float(shares @ along**2 - (shares @ along) ** 2) / counts.n


def _verdict(one: Reaction, q_value: float | None, alpha: float) -> Verdict:
    if q_value is None:
        return "nothing to compare"
    moved = q_value <= alpha
    if one.variant.cue == "non-causal":
        return "over-reacts" if moved else "no shift seen"
    if one.interval is None:
        return "moves" if moved else "no shift seen"
    if one.interval.high < 1:
        return "under-reacts"
    if one.interval.low > 1:
        return "over-reacts"
    return "as it should" if moved else "undecided"


def _log_choose(n: int, k: int | NDArray[np.int64]) -> NDArray[np.float64]:
    return gammaln(n + 1) - gammaln(np.asarray(k) + 1) - gammaln(n - np.asarray(k) + 1)
