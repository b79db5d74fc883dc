"""From readings to counts: votes are settled, statuses are kept apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from worldodds.errors import InputError
from worldodds.outcome import Counts
from worldodds.rollout import Reading, RolloutStatus
from worldodds.scene import Scene

_NULLS = ("unreadable", "out_of_schema")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is known of one rollout: what became of it, and what one reader saw in it, a reading a vote."""

    index: int
    seed: int
    rollout: RolloutStatus
    votes: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The counts of one cell, and beside them what never enters a denominator."""

    counts: Counts
    refused: int
    failed: int
    missing: int

    @property
    def complete(self) -> bool:
        """Whether nothing is open: no rollout and no reading failed or missing."""
        return not (self.failed or self.missing)


def tally(seen: Iterable[Seen], scene: Scene) -> Tally:
    """Count the outcomes of one cell.

    A refused rollout is the provider's refusal; a failed or missing one, and a failed or missing reading, is open.
    None of them is a null.

    Raises:
        InputError: a reading has a label the scene does not have.
    """
    labels: Counter[str] = Counter()
    states: Counter[str] = Counter()
    for one in seen:
        if one.rollout != "done":
            states[one.rollout] += 1
            continue
        reading = settle(one.votes)
        if reading.status != "outcome":
            states[reading.status] += 1
        elif reading.label in scene.labels:
            labels[reading.label] += 1
        else:
            raise InputError(f"rollout {one.index}: {reading.label!r} is not an outcome of scene {scene.id!r}")
    counts = Counts(
        labels=scene.labels,
        counts=tuple(labels[label] for label in scene.labels),
        unreadable=states["unreadable"],
        out_of_schema=states["out_of_schema"],
    )
    return Tally(counts=counts, refused=states["refused"], failed=states["failed"], missing=states["missing"])


def settle(votes: Sequence[Reading]) -> Reading:
    """Return what the votes on one clip say together: the most common answer, where null is one candidate.

    A tie between answers is unreadable; where null wins, the commoner kind of null is kept. Votes that failed or are
    missing leave the clip open unless they could not have changed the answer.

    >>> settle([Reading.saw("red"), Reading.saw("red"), Reading(status="failed")]).label
    'red'
    >>> settle([Reading.saw("red"), Reading.saw("black"), Reading(status="unreadable")]).status
    'unreadable'
    """
    if not votes:
        return Reading(status="missing")
    if len(votes) == 1:
        return votes[0]
    answers = Counter(vote.label if vote.status == "outcome" else None for vote in votes if _answered(vote))
    open_votes = [vote for vote in votes if not _answered(vote)]
    ranked = answers.most_common() or [(None, 0)]
    (answer, first), second = ranked[0], ranked[1][1] if len(ranked) > 1 else 0
    if open_votes and first <= second + len(open_votes):
        return open_votes[0]
    if first == second:
        return Reading(status="unreadable", reason="the votes are tied")
    return Reading.saw(answer) if answer is not None else _null(votes, open_votes)


def _null(votes: Sequence[Reading], open_votes: Sequence[Reading]) -> Reading:
    """Return the commoner kind of null; open, while it is not certain which kind that will be."""
    nulls = Counter(vote.status for vote in votes if vote.status in _NULLS)
    lead = nulls["out_of_schema"] - nulls["unreadable"]
    if open_votes and (lead <= len(open_votes) if lead > 0 else lead + len(open_votes) > 0):
        return open_votes[0]
    return Reading(status="out_of_schema" if lead > 0 else "unreadable")


def votes_wanted(votes: Sequence[Reading]) -> tuple[int, ...]:
    """Return which votes to ask now: the fewest that could settle a clip; none once nothing could change its answer.

    ``votes`` are all that may be asked, failed and missing ones among them. Asking by this rule until it returns
    nothing settles every clip as all the votes would.

    >>> missing = Reading(status="missing")
    >>> votes_wanted([missing] * 3), votes_wanted([Reading.saw("red"), Reading.saw("red"), missing])
    ((0, 1), ())
    """
    if not votes or settled(votes):
        return ()
    # what was never asked goes first: a vote that failed may fail again
    open_votes = sorted((vote.status == "failed", place) for place, vote in enumerate(votes) if not _answered(vote))
    answers = Counter(vote.label if vote.status == "outcome" else None for vote in votes if _answered(vote))
    first, second, *_ = [*(count for _, count in answers.most_common(2)), 0, 0]
    enough = (len(open_votes) + second - first) // 2 + 1
    return tuple(place for _, place in open_votes[: max(1, enough)])


def settled(votes: Sequence[Reading]) -> bool:
    """Say whether a clip has its answer, whatever the votes that failed or are missing would be."""
    return _answered(settle(votes))


def _answered(vote: Reading) -> bool:
    return vote.status == "outcome" or vote.status in _NULLS
