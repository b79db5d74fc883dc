"""Statuses are never mixed up: what is counted, what is a null, and what is only shown."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.errors import InputError
from worldodds.rollout import Reading
from worldodds.suites import find_suite
from worldodds.tally import Seen, settle, tally

BALL = find_suite("calibench").scene("ball")
LEFT, RIGHT = Reading.saw("left"), Reading.saw("right")
UNREADABLE, OTHER = Reading(status="unreadable"), Reading(status="out_of_schema")
FAILED, MISSING = Reading(status="failed"), Reading(status="missing")

ANSWERS = st.sampled_from([LEFT, RIGHT, UNREADABLE, OTHER])
ROLLOUTS = st.sampled_from(["done", "refused", "failed", "missing"])


@given(st.lists(st.tuples(ROLLOUTS, st.sampled_from([LEFT, RIGHT, UNREADABLE, OTHER, FAILED, MISSING]))))
def test_every_rollout_is_counted_exactly_once(cells: list[tuple[str, Reading]]) -> None:
    """Outcomes, nulls, refused, failed and missing add up to the rollouts; only read clips are in N."""
    seen = [Seen(index=i, rollout=r, votes=(v,)) for i, (r, v) in enumerate(cells)]  # type: ignore[arg-type]
    found = tally(seen, BALL)
    read = [v for r, v in cells if r == "done" and v.status not in ("failed", "missing")]
    assert found.counts.n_total == len(read)
    assert found.counts.n == sum(v.status == "outcome" for v in read)
    assert found.counts.n_total + found.refused + found.failed + found.missing == len(cells)


@pytest.mark.parametrize(
    ("votes", "answer"),
    [
        ([LEFT, LEFT, RIGHT], LEFT),
        ([LEFT, RIGHT], Reading(status="unreadable", reason="the votes are tied")),
        ([LEFT, RIGHT, UNREADABLE], Reading(status="unreadable", reason="the votes are tied")),
        ([LEFT, LEFT, UNREADABLE, OTHER, OTHER], OTHER),
        ([UNREADABLE, OTHER, LEFT], UNREADABLE),
        ([OTHER, OTHER, LEFT], OTHER),
        ([LEFT, LEFT, FAILED], LEFT),
        ([LEFT, FAILED, FAILED], FAILED),
        ([LEFT, RIGHT, MISSING], MISSING),
        ([], MISSING),
    ],
)
def test_votes_are_settled_by_the_rules_of_the_design(votes: list[Reading], answer: Reading) -> None:
    """Null is one candidate; a tie is unreadable; the commoner null is kept; open votes may keep a clip open."""
    for order in set(permutations(range(len(votes)))):
        assert settle([votes[i] for i in order]).status == answer.status
        assert settle([votes[i] for i in order]).label == answer.label


@given(st.lists(ANSWERS, min_size=1, max_size=4), st.integers(1, 2))
def test_a_decided_clip_stays_decided_however_open_votes_end(known: list[Reading], open_votes: int) -> None:
    """A clip is settled with votes open only if every possible ending gives the same answer."""
    settled = settle([*known, *[MISSING] * open_votes])
    if settled.status == "missing":
        return
    for ending in product([LEFT, RIGHT, UNREADABLE, OTHER], repeat=open_votes):
        full = settle([*known, *ending])
        both_null = {full.status, settled.status} <= {"unreadable", "out_of_schema"}
        assert both_null or (full.status, full.label) == (settled.status, settled.label)


def test_a_label_of_another_scene_is_refused() -> None:
    """It is never counted as something else."""
    with pytest.raises(InputError, match="'hearts' is not an outcome of scene 'ball'"):
        tally([Seen(index=3, rollout="done", votes=(Reading.saw("hearts"),))], BALL)
