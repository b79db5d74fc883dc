"""One generated clip (`Rollout`) and what one reader saw in it (`Reading`), with the statuses that never mix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

RolloutStatus = Literal["done", "refused", "failed", "missing"]
ReadingStatus = Literal["outcome", "unreadable", "out_of_schema", "failed", "missing"]

Settings = Mapping[str, str | int | float | bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """A whole, decodable video file. It is all that a reader is given: readers never learn which model made it."""

    path: Path
    sha256: str
    seconds: float
    frames: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One clip asked of a generator: scene, index and seed, what became of it, and what it cost."""

    scene: str
    index: int
    seed: int
    status: RolloutStatus
    clip: Clip | None = None
    served_version: str | None = None
    cost_usd: float | None = None
    message: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class State:
    """What became of a rollout, in few words: a ledger tells ten thousand of these in no time."""

    scene: str
    index: int
    seed: int
    status: RolloutStatus
    sha256: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one reader saw in one clip at one vote.

    ``label`` is set for the status ``outcome`` only. ``reason`` names the null rule, or the cause of a failure.
    """

    status: ReadingStatus
    label: str | None = None
    reason: str | None = None
    raw: str | None = None

    @classmethod
    def saw(cls, label: str, raw: str | None = None) -> Reading:
        """Make a reading of one of the scene's labels."""
        return cls(status="outcome", label=label, raw=raw)

    @classmethod
    def without_raw(cls, status: ReadingStatus, label: str | None, reason: str | None) -> Reading:
        """Make a reading that leaves out the reader's raw words."""
        return cls(status=status, label=label, reason=reason)
