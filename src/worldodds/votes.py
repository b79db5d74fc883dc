"""How the votes of one reader agree among themselves, scene by scene, and what asking no needless one has saved."""

from __future__ import annotations

from dataclasses import dataclass

from worldodds.rollout import Reading
from worldodds.sources import Source
from worldodds.statistics.agreement import krippendorff_alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """Votes in one scene of one model: ``asked`` of ``planned`` over ``clips``, of which ``unanimous`` had one answer.

    ``alpha`` is Krippendorff's over the votes that were asked; None where all are the same or no clip has two.
    """

    model: str
    scene: str
    clips: int
    planned: int
    asked: int
    unanimous: int
    alpha: float | None


def votes_of(source: Source) -> tuple[Votes, ...]:
    """Count the votes of every cell; a vote that failed was asked and has no say."""
    found: list[Votes] = []
    for model, scenes in source.cells().items():
        for scene, seen in scenes.items():
            cast = [[vote for vote in one.votes if vote.status != "missing"] for one in seen if one.rollout == "done"]
            answers = [[_answer(vote) for vote in votes if vote.status != "failed"] for votes in cast]
            told = [votes for votes in answers if votes]
            found.append(
                Votes(
                    model=model,
                    scene=scene,
                    clips=len(cast),
                    planned=sum(len(one.votes) for one in seen if one.rollout == "done"),
                    asked=sum(map(len, cast)),
                    unanimous=sum(len(set(votes)) == 1 for votes in told),
                    alpha=krippendorff_alpha(told),
                )
            )
    return tuple(found)


def _answer(vote: Reading) -> str | None:
    return vote.label
