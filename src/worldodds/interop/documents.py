"""The JSON of ``plan``, ``compare`` and ``monitor``: one type a document, from which the schemas are made."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from worldodds._version import __version__
from worldodds.comparison import Comparison, Pair
from worldodds.interop.money_json import BillEntry, bill_entry
from worldodds.plans import SuitePlan
from worldodds.quotes import Quote
from worldodds.standing import CellStanding, Standing
from worldodds.statistics.experiment_plan import ExperimentPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedEntry:
    """Mean rollouts with early stopping: if the model is calibrated, and if it is off by the total variation asked."""

    at_reference: float
    at_tv: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenePlanEntry:
    """What a scene shows at n, and the rollouts it needs; nulls included. None: the spike cannot reach that far."""

    detectable_tv: float | None
    certifiable_delta: float | None
    n_to_detect: int | None
    n_to_certify: int
    n_to_certify_by_formula: int
    expected_n: ExpectedEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalsEntry:
    """Sums over the scenes."""

    rollouts: int
    n_to_certify: int
    expected_at_reference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDocument:
    """What ``worldodds plan`` found; ``bill`` where a generator was named."""

    format: str
    worldodds_version: str
    suite: str
    suite_hash: str
    n: int
    tv: float
    delta: float
    power: float
    scorability: float
    scenes: dict[str, ScenePlanEntry]
    totals: TotalsEntry
    no_reference: tuple[str, ...]
    uncertain: dict[str, ExperimentPlan] = field(default_factory=dict[str, ExperimentPlan])
    bill: BillEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneTestEntry:
    """Whether the odds differ in one scene; null with a reason where one side has nothing to compare."""

    statistic: float | None
    p_value: float | None
    q_value: float | None
    n: int
    method: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEntry:
    """Two models: a's mnTV minus b's, with an interval that holds for all pairs together."""

    a: str
    b: str
    difference: float
    low: float | None
    high: float | None
    level: float
    distinguishable: bool
    reason: str | None
    scenes: dict[str, SceneTestEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareDocument:
    """What ``worldodds compare`` found over the scenes that all models have."""

    format: str
    worldodds_version: str
    scenes: tuple[str, ...]
    left_out: tuple[str, ...]
    pairs: tuple[PairEntry, ...]
    ranks: dict[str, tuple[int, int]]
    ties: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingEntry:
    """One cell under the stopping rule. ``e_value`` is null where it is beyond every bound."""

    available: int
    used: int
    n: int
    worth_buying: int
    verdict: str | None
    stopped_by: str | None
    e_value: float | None
    anytime_p: float
    p_value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorDocument:
    """What ``worldodds monitor`` found; ``verdicts_changed`` counts rejections that differ from the fixed-n ones.

    ``left_out`` says by scene id why a scene that was read cannot be followed.
    """

    format: str
    worldodds_version: str
    early_e: float
    final_level: float
    horizon: int
    rollouts: int
    used: int
    saved_share: float
    verdicts: dict[str, dict[str, str | None]]
    verdicts_changed: int
    cells: dict[str, dict[str, StandingEntry]]
    left_out: dict[str, str] = field(default_factory=dict[str, str])


Document = PlanDocument | CompareDocument | MonitorDocument


def as_json(document: Document) -> str:
    """Return a document as indented JSON text."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def plan_document(plan: SuitePlan, quote: Quote | None = None) -> PlanDocument:
    """Put a plan, and what it costs, into the shape of its JSON document."""
    scenes = {
        scene_id: ScenePlanEntry(
            detectable_tv=scene.detectable_tv,
            certifiable_delta=scene.certifiable_delta,
            n_to_detect=scene.n_to_detect,
            n_to_certify=scene.n_to_certify,
            n_to_certify_by_formula=scene.n_by_formula,
            expected_n=ExpectedEntry(at_reference=scene.expected_at_reference, at_tv=scene.expected_at_tv),
        )
        for scene_id, scene in plan.scenes.items()
    }
    return PlanDocument(
        format="worldodds.plan/1",
        worldodds_version=__version__,
        suite=plan.suite.id,
        suite_hash=plan.suite.content_hash,
        n=plan.n,
        tv=plan.tv,
        delta=plan.delta,
        power=plan.power,
        scorability=plan.scorability,
        scenes=scenes,
        totals=TotalsEntry(
            rollouts=plan.rollouts,
            n_to_certify=sum(scene.n_to_certify for scene in scenes.values()),
            expected_at_reference=plan.expected_at_reference,
        ),
        no_reference=plan.unknown,
        uncertain=dict(plan.uncertain),
        bill=bill_entry(quote) if quote else None,
    )


def compare_document(comparison: Comparison) -> CompareDocument:
    """Put a comparison into the shape of its JSON document."""
    return CompareDocument(
        format="worldodds.compare/1",
        worldodds_version=__version__,
        scenes=comparison.scenes,
        left_out=comparison.left_out,
        pairs=tuple(_pair_entry(pair) for pair in comparison.pairs),
        ranks=dict(comparison.ranks),
        ties=comparison.ties,
    )


def _pair_entry(pair: Pair) -> PairEntry:
    d = pair.difference
    return PairEntry(
        a=d.a,
        b=d.b,
        difference=d.difference,
        low=d.low,
        high=d.high,
        level=d.level,
        distinguishable=d.distinguishable,
        reason=d.reason,
        scenes={
            name: SceneTestEntry(
                statistic=scene.test.statistic,
                p_value=scene.test.p_value,
                q_value=scene.q_value,
                n=scene.test.n,
                method=scene.test.method,
                reason=scene.test.reason or None,
            )
            for name, scene in pair.scenes.items()
        },
    )


def monitor_document(standing: Standing) -> MonitorDocument:
    """Put where the cells stand into the shape of its JSON document."""
    return MonitorDocument(
        format="worldodds.monitor/1",
        worldodds_version=__version__,
        early_e=standing.rule.early_e,
        final_level=standing.rule.final_level,
        horizon=standing.rule.horizon,
        rollouts=standing.rollouts,
        used=standing.used,
        saved_share=standing.saved_share,
        verdicts={model: {s: c.verdict for s, c in scenes.items()} for model, scenes in standing.cells.items()},
        verdicts_changed=len(standing.changed),
        cells={model: {s: _standing_entry(c) for s, c in scenes.items()} for model, scenes in standing.cells.items()},
        left_out=dict(standing.left_out),
    )


def _standing_entry(cell: CellStanding) -> StandingEntry:
    return StandingEntry(
        available=cell.available,
        used=cell.used,
        n=cell.n,
        worth_buying=cell.worth_buying,
        verdict=cell.verdict,
        stopped_by=cell.stopped_by,
        e_value=cell.e_value,
        anytime_p=cell.anytime_p,
        p_value=cell.p_value,
        reason=cell.reason or None,
    )
