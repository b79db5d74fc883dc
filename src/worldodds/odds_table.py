"""A scene's reference odds as its TOML file gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference

ReferenceKind = Literal["uniform", "binomial", "odds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsTable:
    """The table ``[reference]``: equal odds, a binomial law, or odds one by one, and in words why they hold."""

    kind: ReferenceKind
    reason: str
    trials: int | None = None
    success: str | float | None = None
    odds: tuple[str | float, ...] | None = None

    def build(self, labels: tuple[str, ...]) -> Reference:
        """Return the reference for these labels; raises StatisticsError where a key is lacking or too many."""
        needs = {"uniform": (), "binomial": ("trials", "success"), "odds": ("odds",)}[self.kind]
        for key in ("trials", "success", "odds"):
            if (getattr(self, key) is not None) != (key in needs):
                verb = "needs" if key in needs else "does not take"
                raise StatisticsError(f"a {self.kind!r} reference {verb} the key {key!r}")
        if self.kind == "uniform":
            return Reference.uniform(labels)
        if self.kind == "binomial":
            assert self.trials is not None
            assert self.success is not None
            return Reference.binomial(self.trials, self.success, labels)
        assert self.odds is not None
        return Reference.of(self.odds, labels)
