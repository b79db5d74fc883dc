"""Families as experiments: causal and non-causal pairs, with exact tests and reactions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from worldodds.families import chance_shift, reactions
from worldodds.outcome import Counts
from worldodds.suites import find_suite
from worldodds.tally import Tally

SUITE = find_suite("pawbench")


def pair(base: str, a: list[int], member: str, b: list[int]):
    tallies = {
        name: Tally(counts=Counts.of(seen, labels=SUITE.scene(name).labels), refused=0, failed=0, missing=0)
        for name, seen in ((base, a), (member, b))
    }
    return reactions({"m": tallies}, SUITE)["m"][0]


@pytest.mark.parametrize(
    ("leaning", "verdict", "reaction"),
    [([50, 0], "as it should", 1.0), ([25, 25], "under-reacts", 0.0), ([30, 20], "under-reacts", 0.2)],
)
def test_a_causal_change_with_known_odds(leaning: list[int], verdict: str, reaction: float) -> None:
    """A pencil that leans should fall that way for sure: a reaction of 1 is right, 0 is none."""
    one = pair("A-09", [25, 25], "A25", leaning)
    assert (one.verdict, one.expected) == (verdict, 50.0)
    assert one.reaction == pytest.approx(reaction)
    assert one.interval is not None
    assert one.interval.low < one.interval.high


def test_a_reaction_beyond_what_is_possible_is_over() -> None:
    """Moving further than the odds do, from a base on the wrong side, is too much."""
    assert pair("A-09", [5, 45], "A25", [50, 0]).verdict == "over-reacts"


def test_a_change_of_the_picture_must_not_move() -> None:
    """A shift that chance does not explain is over-reaction; one that it does explain is no proof of anything."""
    moved = pair("A-07", [25, 25], "A-12", [45, 5])
    assert (moved.verdict, moved.expected, moved.shift) == ("over-reacts", 0.0, pytest.approx(40.0))
    assert pair("A-07", [25, 25], "A-12", [28, 22]).verdict == "no shift seen"


def test_causal_without_known_odds() -> None:
    """Only whether it moves can be told."""
    one = pair("A-03", [25, 25], "A-04", [5, 45])
    assert (one.verdict, one.expected, one.reaction) == ("moves", None, None)


def test_nothing_readable() -> None:
    """A side without a readable clip gives no number and no verdict."""
    one = pair("A-07", [0, 0], "A-12", [45, 5])
    assert (one.verdict, one.shift, one.q_value) == ("nothing to compare", None, None)


def test_only_pairs_that_were_read() -> None:
    """A variant without its base is no experiment."""
    tally = Tally(counts=Counts.of([1, 1], labels=SUITE.scene("A-12").labels), refused=0, failed=0, missing=0)
    assert reactions({"m": {"A-12": tally}}, SUITE) == {"m": ()}


def test_chance_shift_by_enumeration() -> None:
    """Is the mean over all ways to deal the same outcomes to two sides."""
    pool = [0, 0, 0, 1, 1, 2]
    shifts: list[float] = []
    for sides in product((0, 1), repeat=6):
        if sum(sides) == 2:
            a = np.bincount([x for x, side in zip(pool, sides, strict=True) if side], minlength=3)
            b = np.bincount([x for x, side in zip(pool, sides, strict=True) if not side], minlength=3)
            shifts.append(50 * float(np.abs(a / 2 - b / 4).sum()))
    assert chance_shift(Counts.of([1, 1, 0]), Counts.of([2, 1, 1])) == pytest.approx(np.mean(shifts))
