"""Many cells bought side by side: who is declared miscalibrated, asked again after every round of rollouts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics.monitor import Monitor, StoppingRule
from worldodds.statistics.multiplicity import e_bh, running_bh

FamilyMethod = Literal["running_bh", "e_bh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Cells that share one false discovery rate.

    ``"running_bh"`` runs Benjamini-Hochberg on anytime p-values; ``"e_bh"`` runs e-BH on e-values, valid under any
    dependence between the cells. Every planned cell is in the family from the start. A cell stops when it is declared,
    never at a fixed e-value: that would freeze its p-value too high for the others' sake.
    """

    cells: tuple[Monitor, ...]
    method: FamilyMethod = "running_bh"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.method not in ("running_bh", "e_bh"):
            raise StatisticsError(f"method: {self.method!r} is not known; give 'running_bh' or 'e_bh'")

    @classmethod
    def of(
        cls, references: Sequence[Reference], *, rule: StoppingRule | None = None, method: FamilyMethod = "running_bh"
    ) -> Family:
        """Make a family with one fresh cell a reference."""
        cells = tuple(Monitor(reference=r, rule=rule or StoppingRule(), alone=False) for r in references)
        return cls(cells=cells, method=method)

    @property
    def declared(self) -> list[bool]:
        """Cells that are called miscalibrated as things stand."""
        if self.method == "running_bh":
            return running_bh([cell.anytime_p for cell in self.cells], alpha=self.alpha)
        # the e-value now: the largest so far is no e-value
        return e_bh([math.exp(min(cell.log_e, 700.0)) for cell in self.cells], alpha=self.alpha)

    def settle(self) -> None:
        """Stop every declared cell, reopen one that no longer is; to be called after each round."""
        for cell, declared in zip(self.cells, self.declared, strict=True):
            cell.declare(miscalibrated=declared)

    @property
    def used(self) -> int:
        """Rollouts bought so far, over all cells."""
        return sum(cell.used for cell in self.cells)

    @property
    def verdicts(self) -> list[str | None]:
        """Verdict of each cell; ``None`` while it is open."""
        held = [None if cell.worth_buying else "undecided" for cell in self.cells]
        return [
            "miscalibrated" if declared else "illegible" if cell.verdict == "illegible" else rest
            for declared, cell, rest in zip(self.declared, self.cells, held, strict=True)
        ]


def replay_family(
    cells: Sequence[tuple[Reference, Sequence[int | None]]],
    *,
    rule: StoppingRule | None = None,
    method: FamilyMethod = "running_bh",
) -> Family:
    """Buy all cells' readings again, one a cell and round, stopping each as soon as the family declares it.

    Raises:
        StatisticsError: no readings, an outcome outside 0 .. k-1, an unknown method.

    >>> die = Reference.uniform(6)
    >>> family = replay_family([(die, [5] * 32), (die, [0, 1, 2, 3, 4, 5] * 5)])
    >>> family.verdicts, family.used
    (['miscalibrated', None], 35)
    """
    if not any(readings for _, readings in cells):
        raise StatisticsError("cells: there are no readings to replay; give at least one")
    family = Family.of([reference for reference, _ in cells], rule=rule, method=method)
    while True:
        wanted = [cell.worth_buying and cell.used < len(r) for cell, (_, r) in zip(family.cells, cells, strict=True)]
        if not any(wanted):
            break
        for cell, (_, readings), buy in zip(family.cells, cells, wanted, strict=True):
            if buy:
                cell.feed(readings[cell.used])
        family.settle()
    return family
