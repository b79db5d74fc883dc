"""What a run tells whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One step of a run, as told to whoever watches; a reading says whose it is, and of which rollout (its key)."""

    step: Literal["film", "read"]
    scene: str
    done: int
    total: int
    status: str
    label: str | None = None
    cost_usd: float | None = None
    reader: str | None = None
    rollout: str | None = None


Watcher = Callable[[Progress], None]


def unwatched(_: Progress) -> None:
    """Watch nothing."""
