"""A scene's reference odds as its TOML file gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from worldodds.errors import StatisticsError, nearest
from worldodds.outcome import Reference

ReferenceKind = Literal["uniform", "binomial", "odds", "counts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsTable:
    """The table ``[reference]``: equal odds, a binomial law, odds one by one, or what an experiment showed.

    ``reason`` says in words why they hold; with ``counts``, by label, ``source`` says whose experiment it was.
    """

    kind: ReferenceKind
    reason: str | None = None
    trials: int | None = None
    success: str | float | None = None
    odds: tuple[str | float, ...] | None = None
    counts: dict[str, int] | None = None
    source: str | None = None

    @property
    def told(self) -> str:
        """Why the odds hold: the reason, or whose experiment they were counted in."""
        return self.reason or self.source or ""

    def build(self, labels: tuple[str, ...]) -> Reference:
        """Return the reference for these labels; raises StatisticsError where a key is lacking or too many."""
        needs = _NEEDS[self.kind]
        for key in ("trials", "success", "odds", "counts", "source"):
            if (getattr(self, key) is not None) != (key in needs):
                verb = "needs" if key in needs else "does not take"
                raise StatisticsError(f"a {self.kind!r} reference {verb} the key {key!r}")
        if self.reason is None and self.source is None:
            raise StatisticsError(f"a {self.kind!r} reference needs the key 'reason', why the odds hold")
        if self.source is not None and not self.source.strip():
            raise StatisticsError("source: it is blank; say whose experiment the odds were counted in")
        if self.kind == "uniform":
            return Reference.uniform(labels)
        if self.kind == "binomial":
            assert self.trials is not None
            assert self.success is not None
            return Reference.binomial(self.trials, self.success, labels)
        if self.counts is not None:
            return Reference.observed(_in_order(self.counts, labels), labels)
        assert self.odds is not None
        return Reference.of(self.odds, labels)


_NEEDS: dict[ReferenceKind, tuple[str, ...]] = {
    "uniform": (),
    "binomial": ("trials", "success"),
    "odds": ("odds",),
    "counts": ("counts", "source"),
}


def _in_order(counts: dict[str, int], labels: tuple[str, ...]) -> list[int]:
    """Return counts in the labels' order; each label must be there, with 0 where the experiment never showed it."""
    if unknown := [label for label in counts if label not in labels]:
        raise StatisticsError(f"counts: {unknown[0]!r} is no label of the scene.{nearest(unknown[0], labels)}")
    if lacking := [label for label in labels if label not in counts]:
        raise StatisticsError(f"counts: none for {lacking[0]!r}; give 0 if the experiment never showed it")
    return [counts[label] for label in labels]
