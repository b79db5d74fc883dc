"""Statuses are never mixed up: what is counted, what is a null, and what is only shown."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldodds.errors import InputError
from worldodds.rollout import Reading
from worldodds.suites import find_suite
from worldodds.tally import Seen, settle, settled, tally, votes_wanted

BALL = find_suite("calibench").scene("ball")
LEFT, RIGHT = Reading.saw("left"), Reading.saw("right")
UNREADABLE, OTHER = Reading(status="unreadable"), Reading(status="out_of_schema")
FAILED, MISSING = Reading(status="failed"), Reading(status="missing")

ANSWERS = st.sampled_from([LEFT, RIGHT, UNREADABLE, OTHER])
ROLLOUTS = st.sampled_from(["done", "refused", "failed", "missing"])


@given(st.lists(st.tuples(ROLLOUTS, st.sampled_from([LEFT, RIGHT, UNREADABLE, OTHER, FAILED, MISSING]))))
def test_every_rollout_is_counted_exactly_once(cells: list[tuple[str, Reading]]) -> None:
    """Outcomes, nulls, refused, failed and missing add up to the rollouts; only read clips are in N."""
    seen = [Seen(index=i, seed=i, rollout=r, votes=(v,)) for i, (r, v) in enumerate(cells)]  # type: ignore[arg-type]
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
        tally([Seen(index=3, seed=3, rollout="done", votes=(Reading.saw("hearts"),))], BALL)


VOTES = st.lists(
    st.sampled_from(
        [
            Reading.saw("a"),
            Reading.saw("b"),
            Reading.saw("c"),
            Reading(status="unreadable"),
            Reading(status="out_of_schema"),
        ]
    ),
    min_size=1,
    max_size=7,
)


@settings(max_examples=500)
@given(VOTES)
def test_asking_while_it_matters_settles_as_asking_all(votes: list[Reading]) -> None:
    """Stopping as soon as no vote could change the answer gives the answer of all the votes."""
    known = [Reading(status="missing")] * len(votes)
    while wanted := votes_wanted(known):
        for place in wanted:
            known[place] = votes[place]
    early, whole = settle(known), settle(votes)
    assert (early.status, early.label) == (whole.status, whole.label)


@given(VOTES, st.integers(0, 6))
def test_no_vote_is_asked_twice_or_in_vain(votes: list[Reading], failed: int) -> None:
    """Only votes that are open are asked, those never tried before those that failed, and never once it is settled."""
    known = [Reading(status="missing")] * len(votes)
    known[failed % len(votes)] = Reading(status="failed")
    while wanted := votes_wanted(known):
        assert all(known[place].status in ("missing", "failed") for place in wanted)
        assert known[wanted[0]].status == "missing" or all(vote.status != "missing" for vote in known)
        for place in wanted:
            known[place] = votes[place]
    assert settled(known)
    assert not settled([Reading(status="missing")] * len(votes))


def test_a_third_of_three_votes_is_saved_where_judges_agree() -> None:
    """Clips on which two votes agree cost two of three; a null of uncertain kind is asked about to the end."""
    missing = Reading(status="missing")
    assert votes_wanted([missing] * 3) == (0, 1)
    assert votes_wanted([Reading.saw("a"), Reading.saw("a"), missing]) == ()
    assert votes_wanted([Reading.saw("a"), Reading.saw("b"), missing]) == (2,)
    assert votes_wanted([Reading(status="unreadable"), Reading(status="out_of_schema"), missing]) == (2,)
    assert votes_wanted([Reading(status="unreadable"), Reading(status="unreadable"), missing]) == ()
