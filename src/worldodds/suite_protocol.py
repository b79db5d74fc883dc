"""How a suite is filmed and scored: how many rollouts a scene, and by which aggregate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

Aggregate = Literal["mntv", "tracks"]

MOST_ROLLOUTS = 100_000  # of one scene: more is a slip of the finger


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How a suite is filmed and scored: rollouts a scene, and which aggregate is its headline.

    ``gate`` is for the aggregate ``tracks``: how many of the rollouts must be readable for a scene to be measured.
    """

    rollouts: int
    aggregate: Aggregate
    gate: int | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """The protocol's content; what a suite does not set is left out."""
        return {key: value for key, value in msgspec.to_builtins(self).items() if value is not None}

    @property
    def most_nulls(self) -> int:
        """How many nulls a scene may have and still pass the gate; all of them without a gate."""
        return self.rollouts - (self.gate or 0)

    @property
    def fault(self) -> str | None:
        """What is wrong with it, as ``key: what``; None where nothing is."""
        if not 1 <= self.rollouts <= MOST_ROLLOUTS:
            return f"rollouts: {self.rollouts} given; it must lie between 1 and {MOST_ROLLOUTS}"
        if (self.gate is not None) != (self.aggregate == "tracks"):
            verb = "does not take" if self.gate is not None else "needs"
            return f"gate: the aggregate {self.aggregate!r} {verb} this key"
        if self.gate is not None and not 1 <= self.gate <= self.rollouts:
            return f"gate: {self.gate} given; it must lie between 1 and rollouts = {self.rollouts}"
        return None
