"""The bounds of a cell's score are those of its completions, all of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.bounds import score_bounds
from worldodds.measurement import measure
from worldodds.outcome import Counts, Reference
from worldodds.scene import ReadOut, Scene, Suite
from worldodds.statistics.distance import score_of
from worldodds.statistics.robustness import imputed
from worldodds.tally import Tally


def scene_of(reference: Reference) -> Scene:
    readout = ReadOut(evidence="last frame", question="Which?", nulls=())
    return Scene(id="s", title="", prompt="", labels=reference.labels, readout=readout, reference=reference, reason="")


@st.composite
def cells(draw: st.DrawFn) -> tuple[Tally, Reference]:
    k = draw(st.integers(2, 5))
    weights = draw(st.lists(st.integers(0, 20), min_size=k, max_size=k).filter(any))
    if draw(st.booleans()):
        reference = Reference.observed(weights)
    else:
        reference = Reference.of([Fraction(weight, sum(weights)) for weight in weights])
    counts = Counts.of(
        draw(st.lists(st.integers(0, 12), min_size=k, max_size=k)),
        unreadable=draw(st.integers(0, 3)),
        out_of_schema=draw(st.integers(0, 3)),
    )
    failed, missing = draw(st.integers(0, 4)), draw(st.integers(0, 12))
    return Tally(counts=counts, refused=0, failed=failed, missing=missing), reference


def one_by_one(counts: Counts, reference: Reference, open_now: int) -> list[float]:
    """Score the ends of the completions with every number of open rollouts that are read in the end."""
    scores: list[float] = []
    for kept in range(0 if counts.n_total else 1, open_now + 1):
        nulls = counts.n_total - counts.n
        scores.append(score_of(replace(counts, unreadable=counts.unreadable + kept), reference))
        for best in (True, False) if counts.n + kept else ():
            filled = imputed(replace(counts, unreadable=kept, out_of_schema=0), reference, best=best)
            scores.append(score_of(replace(filled, unreadable=nulls), reference))
    return scores


@given(cells())
def test_all_at_once_is_one_by_one(cell: tuple[Tally, Reference]) -> None:
    """Outcomes are filled in one at a time where the lack is largest, or all alike; the ends are the same."""
    seen, reference = cell
    bounds = score_bounds(seen, scene_of(reference))
    if not (scores := one_by_one(seen.counts, reference, seen.failed + seen.missing)):
        assert bounds is None
        return
    assert bounds == pytest.approx((min(scores), max(scores)), abs=1e-12)


def test_bounds_hold_whatever_is_open(tiny: Suite) -> None:
    """Every completion of the open rollouts, outcomes or nulls, scores between them."""
    scene = tiny.scene("coin")
    base = Counts(labels=scene.labels, counts=(5, 1), unreadable=1, out_of_schema=0)
    bounds = score_bounds(Tally(counts=base, refused=0, failed=2, missing=1), scene)
    assert bounds is not None
    for heads in range(4):
        for tails in range(4 - heads):
            nulls = 3 - heads - tails
            counts = Counts(labels=scene.labels, counts=(5 + heads, 1 + tails), unreadable=1 + nulls, out_of_schema=0)
            score = measure(Tally(counts=counts, refused=0, failed=0, missing=0), scene).score
            assert score is not None
            assert bounds[0] - 1e-9 <= score <= bounds[1] + 1e-9


def test_ten_thousand_open_rollouts_are_bounded(tiny: Suite) -> None:
    """A run that has just begun: anything may come of it, and it is told at once."""
    scene = tiny.scene("die")
    nothing = Counts(labels=scene.labels, counts=(0,) * 6, unreadable=0, out_of_schema=0)
    bounds = score_bounds(Tally(counts=nothing, refused=0, failed=0, missing=10_000), scene)
    assert bounds is not None
    assert bounds[0] < 0 < bounds[1] == 1.0
