"""Marks: what counts as right, how sure a share is where clips go together, and how many votes are worth asking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.exam.grades import Grade, advise_votes, grade, together, weighted_interval
from worldodds.exam.sitting import Answer
from worldodds.rollout import Reading
from worldodds.statistics.agreement import share_interval
from worldodds.tally import settle

SAID = {
    "l": Reading.saw("left"),
    "r": Reading.saw("right"),
    "u": Reading(status="unreadable"),
    "-": Reading(status="missing"),
}


def _answer(votes: str, *, truth: str | None = "left", seed: int = 0, condition: str = "clean") -> Answer:
    cast = tuple(SAID[vote] for vote in votes)
    return Answer(scene="ball", condition=condition, seed=seed, truth=truth, reading=settle(cast), votes=cast)


def test_a_grade_counts_each_kind_of_wrong() -> None:
    """Labels that are not true are wrong labels and labels given to nulls, out of all labels that were given."""
    answers = [_answer("l"), _answer("r", seed=1), _answer("u", seed=2), _answer("u", truth=None, seed=3)]
    found = grade([*answers, _answer("l", truth=None, seed=4)])
    assert (found.n, found.right, found.wrong_label, found.failed) == (5, 2, 1, 0)
    assert (found.false_null, found.missed_null, found.false_labels) == ((1, 3), (1, 2), (2, 3))


@given(hits=st.integers(0, 40), misses=st.integers(0, 40))
def test_independent_clips_have_the_exact_interval(hits: int, misses: int) -> None:
    """Where each clip is worth one, the interval is Clopper and Pearson's."""
    n = max(1, hits + misses)
    hits = min(hits, n)
    mine, exact = weighted_interval(hits, n, float(n)), share_interval(hits, n)
    assert (mine.low, mine.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_clips_of_one_motion_are_worth_less() -> None:
    """Ten motions all of whose ten clips go together are known like ten clips, not like a hundred."""
    sure = [_answer("l" if seed < 5 else "r", seed=seed, condition=str(i)) for seed in range(10) for i in range(10)]
    assert grade(sure).weight < 10
    mixed = [_answer("lr"[(seed + i) % 2], seed=seed, condition=str(i)) for seed in range(10) for i in range(11)]
    assert grade(mixed).weight > 50
    assert type(grade(mixed).weight) is float  # a certificate is written from it


@pytest.mark.parametrize("vote", ["l", "r"])
def test_no_error_seen_is_no_certainty(vote: str) -> None:
    """All right, or all wrong, is worth the motions; the interval has a width and the bound is no zero."""
    found = grade([_answer(vote, seed=seed, condition=str(i)) for seed in range(6) for i in range(4)])
    assert found.weight == 6
    assert found.interval.high - found.interval.low > 0.3
    assert found.error_bound == pytest.approx(1 - 0.05 ** (1 / 6)) if vote == "l" else found.error_bound == 1


def test_scenes_add_up() -> None:
    """Counts and weights of two scenes together are their sums."""
    one, two = grade([_answer("l"), _answer("r", seed=1)]), grade([_answer("u", truth=None)])
    both = together([one, two])
    assert isinstance(both, Grade)
    assert (both.n, both.right, both.weight) == (3, 2, one.weight + two.weight)


def test_more_votes_are_recommended_where_they_help() -> None:
    """Three votes that mend what one gets wrong are worth asking; five that add nothing are not."""
    mended = [_answer("rllll", seed=seed) for seed in range(12)]
    advice = advise_votes([*mended, *(_answer("lll--", seed=99 + i) for i in range(30))], repeats=True)
    assert advice.recommended == 3
    assert [(t.votes, t.right) for t in advice.tried] == [(1, 30), (3, 42), (5, 42)]
    assert advice.tried[1].asked == 12 * 3 + 30 * 2
    assert "12 clips right that 1 misread" in advice.reason


def test_one_vote_is_enough_where_more_change_nothing() -> None:
    """A judge that is right alone needs no second vote; one that was asked once has not been tried."""
    advice = advise_votes([_answer("ll-", seed=seed) for seed in range(20)], repeats=True)
    assert advice.recommended == 1
    once = advise_votes([_answer("l", seed=seed) for seed in range(20)], repeats=True)
    assert (once.recommended, "votes=3" in once.reason) == (None, True)
    assert advise_votes([_answer("l")], repeats=False).recommended == 1
