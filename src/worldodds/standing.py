"""Where every cell stands while rollouts are being bought, and what a finished source would have cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from worldodds.errors import SourceError
from worldodds.sources import Source
from worldodds.statistics.monitor import Monitor, StoppingRule


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStanding:
    """One cell under a stopping rule: what was used of what there is, the evidence, and what is worth buying next."""

    available: int
    used: int
    n: int
    worth_buying: int
    verdict: str | None
    stopped_by: str | None
    e_value: float | None
    anytime_p: float
    p_value: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """All cells, by model and scene id. ``changed`` names cells whose verdict differs from the fixed-n one."""

    rule: StoppingRule
    cells: Mapping[str, Mapping[str, CellStanding]]
    changed: tuple[tuple[str, str], ...]

    @property
    def rollouts(self) -> int:
        """Rollouts there are."""
        return sum(cell.available for scenes in self.cells.values() for cell in scenes.values())

    @property
    def used(self) -> int:
        """Rollouts that the rule would have bought."""
        return sum(cell.used for scenes in self.cells.values() for cell in scenes.values())

    @property
    def saved_share(self) -> float:
        """Share of the rollouts that was not needed."""
        return 1 - self.used / self.rollouts


def standing(source: Source, rule: StoppingRule) -> Standing:
    """Feed every cell's readings in index order until the rule stops, as if they were bought one by one.

    Raises:
        SourceError: no scene with known odds was read.
    """
    cells: dict[str, dict[str, CellStanding]] = {}
    for model, scenes in source.sequences().items():
        for scene_id, readings in scenes.items():
            reference = source.suite.scene(scene_id).reference
            if reference is not None and reference.odds is not None and readings:
                monitor = Monitor(reference=reference, rule=rule)
                cells.setdefault(model, {})[scene_id] = _follow(monitor, readings)
    if not cells:
        raise SourceError("no clip of a scene with known odds was read; there is nothing to follow")
    fixed = {(card.model, cell.measurement.scene.id): cell.verdict for card in source.score() for cell in card.cells}
    changed = tuple(
        (model, scene_id)
        for model, scenes in cells.items()
        for scene_id, cell in scenes.items()
        if cell.verdict is not None and _rejected(cell.verdict) != _rejected(fixed[model, scene_id])
    )
    return Standing(rule=rule, cells=cells, changed=changed)


def _rejected(verdict: str) -> bool:
    return verdict == "miscalibrated"


def _follow(monitor: Monitor, readings: list[int | None]) -> CellStanding:
    for reading in readings:
        if not monitor.worth_buying:
            break
        monitor.feed(reading)
    certain = math.isinf(monitor.max_log_e) or monitor.max_log_e > 700
    return CellStanding(
        available=len(readings),
        used=monitor.used,
        n=monitor.counts.n,
        worth_buying=monitor.worth_buying,
        verdict=monitor.verdict,
        stopped_by=monitor.stopped_by,
        e_value=None if certain else math.exp(monitor.max_log_e),
        anytime_p=monitor.anytime_p,
        p_value=monitor.p_value,
        reason=monitor.reason,
    )
