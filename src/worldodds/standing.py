"""Where every cell stands while rollouts are being bought, and what a finished source would have cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from worldodds.errors import SourceError
from worldodds.outcome import Reference
from worldodds.sources import Source
from worldodds.statistics.family import replay_family
from worldodds.statistics.monitor import Monitor, StoppingRule, replay
from worldodds.stopping import odds_of, why_not_followed


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
    """All cells, by model and scene id. ``changed`` names cells whose verdict differs from the fixed-n one.

    ``left_out`` says by scene id why a scene that was read cannot be followed.
    """

    rule: StoppingRule
    cells: Mapping[str, Mapping[str, CellStanding]]
    changed: tuple[tuple[str, str], ...]
    left_out: Mapping[str, str]

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


def standing(source: Source, rule: StoppingRule, *, family: bool = False) -> Standing:
    """Feed every cell's readings in index order until the rule stops, as if they were bought one by one.

    With ``family`` the cells of a model are declared together, as a run that stops early declares them; always so those
    of a model that was made by such a run.

    Raises:
        SourceError: no scene with known odds was read.
    """
    cells: dict[str, dict[str, CellStanding]] = {}
    sequences = source.sequences()
    read = {name for scenes in sequences.values() for name, readings in scenes.items() if readings}
    whys = {scene.id: why_not_followed(scene) for scene in source.suite.scenes if scene.id in read}
    left_out = {name: why for name, why in whys.items() if why}
    for model, scenes in sequences.items():
        known = {name: odds for name in scenes if scenes[name] and (odds := odds_of(source.suite.scene(name)))}
        if known:
            together = family or model in source.early
            follow = _follow_family if together else _follow_each
            cells[model] = follow(known, {name: scenes[name] for name in known}, rule)
    if not cells:
        told = "".join(f" ({name}: {why})" for name, why in [*left_out.items()][:1])
        raise SourceError(f"no clip of a scene with known odds was read{told}; there is nothing to follow")
    fixed = {(card.model, cell.measurement.scene.id): cell.verdict for card in source.score() for cell in card.cells}
    changed = tuple(
        (model, scene_id)
        for model, scenes in cells.items()
        for scene_id, cell in scenes.items()
        if cell.verdict is not None and _rejected(cell.verdict) != _rejected(fixed[model, scene_id])
    )
    return Standing(rule=rule, cells=cells, changed=changed, left_out=left_out)


def _rejected(verdict: str) -> bool:
    return verdict == "miscalibrated"


Readings = Mapping[str, list[int | None]]


def _follow_each(known: Mapping[str, Reference], readings: Readings, rule: StoppingRule) -> dict[str, CellStanding]:
    """Let every cell stop for itself."""
    found: dict[str, CellStanding] = {}
    for name, reference in known.items():
        (cell,) = replay([(reference, readings[name])], rule=rule).cells
        found[name] = _cell(cell, len(readings[name]), cell.verdict)
    return found


def _follow_family(known: Mapping[str, Reference], readings: Readings, rule: StoppingRule) -> dict[str, CellStanding]:
    """Let the cells of one model be declared together, a reading each a round."""
    family = replay_family([(reference, readings[name]) for name, reference in known.items()], rule=rule)
    found: dict[str, CellStanding] = {}
    for name, cell, declared in zip(known, family.cells, family.declared, strict=True):
        alone = cell.verdict
        verdict = "miscalibrated" if declared else "undecided" if alone == "miscalibrated" else alone
        found[name] = _cell(cell, len(readings[name]), verdict)
    return found


def _cell(cell: Monitor, available: int, verdict: str | None) -> CellStanding:
    certain = math.isinf(cell.max_log_e) or cell.max_log_e > 700
    return CellStanding(
        available=available,
        used=cell.used,
        n=cell.counts.n,
        worth_buying=cell.worth_buying,
        verdict=verdict,
        stopped_by=cell.stopped_by,
        e_value=None if certain else math.exp(cell.max_log_e),
        anytime_p=cell.anytime_p,
        p_value=cell.p_value,
        reason=cell.reason,
    )
