"""A model whose rollouts were bought until its verdicts stood: what the rule made of every cell, and what was saved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from worldodds.outcome import Reference
from worldodds.statistics.monitor import Monitor
from worldodds.statistics.multiplicity import benjamini_hochberg
from worldodds.statistics.waves import EarlyRule, Step, next_wave

NOT_COMPARABLE = (
    "rollouts were bought until the verdicts stood, which biases the score; the protocol fixes their number"
)
_LARGEST = 700.0  # of a log e-value that is still written as a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """What became of a cell's rollouts: here or refused, still open, and paid for (None: no cost is known)."""

    rollouts: int
    open: int
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyCell:
    """One cell under the rule. The rule used the first ``used`` readings of those there are.

    ``bought`` counts rollouts that are here or were refused, ``open`` those that may yet be bought; the rest of
    ``planned`` was saved. ``declared`` says that the family calls the cell miscalibrated, ``q_value`` at which false
    discovery rate, by anytime p-values. ``e_value`` is the largest so far, None beyond every bound; ``p_value`` is that
    of exact G, only where the cell ran to its horizon. ``cost_usd`` is None where no cost is known.
    """

    planned: int
    bought: int
    open: int
    used: int
    stopped_by: str | None
    declared: bool
    e_value: float | None
    anytime_p: float
    q_value: float
    p_value: float | None
    reason: str
    cost_usd: float | None = None

    @property
    def illegible(self) -> bool:
        """Say whether the cell was given up, or ended, with too few valid outcomes to test."""
        ended = self.stopped_by == "illegible" or (self.stopped_by == "horizon" and self.p_value is None)
        return ended and not self.declared

    @property
    def saved(self) -> int:
        """Rollouts that the verdict did not need."""
        return self.planned - self.bought - self.open

    @property
    def saved_usd(self) -> float | None:
        """What they would have cost, at the mean cost of those bought."""
        return None if self.cost_usd is None or not self.bought else self.cost_usd / self.bought * self.saved


@dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    """All cells of one model that stops early, by scene id; scenes without known odds are not among them."""

    rule: EarlyRule
    cells: Mapping[str, EarlyCell]

    @property
    def planned(self) -> int:
        """Rollouts at most."""
        return sum(cell.planned for cell in self.cells.values())

    @property
    def bought(self) -> int:
        """Rollouts that are here or were refused."""
        return sum(cell.bought for cell in self.cells.values())

    @property
    def saved(self) -> int:
        """Rollouts that no verdict needed."""
        return sum(cell.saved for cell in self.cells.values())

    @property
    def cost_usd(self) -> float | None:
        """What was paid, where that is known of any cell."""
        return _sum([cell.cost_usd for cell in self.cells.values()])

    @property
    def saved_usd(self) -> float | None:
        """What was not paid, about; None where no cost is known."""
        return _sum([cell.saved_usd for cell in self.cells.values()])


def follow(
    cells: Mapping[str, tuple[Reference, Sequence[Step]]], rule: EarlyRule, bought: Mapping[str, Bought]
) -> Early:
    """Follow the cells of one model by the rule that it was bought under.

    ``cells`` holds, by scene id, the odds and what is known of every rollout by index; ``bought`` what became of them.
    """
    family = next_wave(list(cells.values()), rule).family
    q_values = benjamini_hochberg([cell.anytime_p for cell in family.cells])
    states = zip(cells, family.cells, family.declared, q_values, strict=True)
    found = {scene: _cell(cell, d, q, bought[scene], rule) for scene, cell, d, q in states}
    decided_by_others = [
        scene for scene, cell in found.items() if not (cell.stopped_by or cell.open or "missing" in cells[scene][1])
    ]
    told = "another reader's readings decided when to stop, and by these alone the verdict does not stand"
    return Early(rule=rule, cells=found | {scene: replace(found[scene], reason=told) for scene in decided_by_others})


def _cell(cell: Monitor, declared: bool, q_value: float | None, bought: Bought, rule: EarlyRule) -> EarlyCell:
    assert q_value is not None
    return EarlyCell(
        planned=rule.horizon,
        bought=bought.rollouts,
        open=bought.open,
        used=cell.used,
        stopped_by=cell.stopped_by,
        declared=declared,
        e_value=math.exp(cell.max_log_e) if cell.max_log_e <= _LARGEST else None,
        anytime_p=cell.anytime_p,
        q_value=q_value,
        p_value=cell.p_value,
        reason=cell.reason,
        cost_usd=bought.cost_usd,
    )


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return math.fsum(known) if known else None
