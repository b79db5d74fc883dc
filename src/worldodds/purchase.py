"""One clip on its way from being wanted to being here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worldodds.decisions import Action, Decision
from worldodds.job import JobState, Order
from worldodds.rollout import Clip, Rollout, RolloutStatus
from worldodds.scene import Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One clip to be bought: its key in the ledger, what to film, and the folder to fetch it to."""

    key: str
    scene: Scene
    index: int
    seed: int
    part: Path


@dataclass(slots=True, kw_only=True)
class Purchase:
    """A wanted clip with its order, its job, and what has gone wrong so far (failures in a row, of one call)."""

    wanted: Wanted
    order: Order
    job: str | None = None
    since: float = 0.0  # when the job was submitted, or taken up again
    timed: bool = False  # whether ``since`` is when it was submitted
    may_rebuy: bool = False  # an earlier run lost sight of it, and the user says to buy it again
    submits: int = 0
    failures: int = 0
    downloads: int = 0
    gone: int = 0
    state: JobState | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """A clip that was downloaded, decoded whole, and looked at."""

    clip: Clip
    picture: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call brought: its result, or the error it raised."""

    purchase: Purchase
    action: Action
    result: Any


def rollout_of(purchase: Purchase, decision: Decision, result: object) -> Rollout:
    """Return what became of a purchase that has ended."""
    wanted, state = purchase.wanted, purchase.state or JobState(status="waiting")
    statuses: dict[str | None, RolloutStatus] = {"done": "done", "refused": "refused"}
    return Rollout(
        scene=wanted.scene.id,
        index=wanted.index,
        seed=wanted.seed,
        status=statuses.get(decision.line, "failed"),
        clip=result.clip if isinstance(result, Fetched) else None,
        served_version=state.served_version,
        cost_usd=state.cost_usd,
        message=decision.message,
        details={**state.details, "job": purchase.job} if purchase.job else state.details,
    )
