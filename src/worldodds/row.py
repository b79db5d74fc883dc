"""One reading as a flat row: what files of outcomes hold, what runs export, and what a tally begins with."""

from __future__ import annotations

from dataclasses import dataclass, field

from worldodds.rollout import Reading, RolloutStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one reader saw (or did not) in one rollout of one model, and where that was written down.

    ``index`` is the rollout's place in its cell and the order in which statistics take it; files that do not have it
    are taken in order of ``seed``. ``rollout_status`` says what became of the clip: unless it is ``done``, the
    reading's status is ``missing``. ``stop`` is the rule by which its model was stopped early, empty where it was not.
    ``cost_usd`` is what the clip has cost, ``where`` is ``file:row``, for messages; both take no part in comparisons.
    """

    scene: str
    model: str
    index: int
    seed: int
    reading: Reading
    rollout_status: RolloutStatus = "done"
    reader: str = ""
    vote: int = 0
    clip_sha256: str | None = None
    stop: str = ""
    cost_usd: float | None = field(default=None, compare=False)
    where: str = field(default="", compare=False)
