"""The JSON of ``worldodds score --json`` (format ``worldodds.score/1``), strict; its schema is made of these types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from worldodds._version import __version__
from worldodds.certificates import Quoted
from worldodds.headline import Robustness, percentiles, populations, ranks, robustness
from worldodds.interop.early_json import EarlyCellEntry, EarlyEntry, early_cell_entry, early_entry
from worldodds.interop.experiment_json import COUNTED, ExperimentEntry, experiment_entry
from worldodds.interop.judged_json import JudgedCellEntry, JudgeEntry, judge_entry, judged_entry
from worldodds.interop.readers_json import ReaderEntry, reader_entry
from worldodds.judged import Judged, JudgedCell, unaudited
from worldodds.scene import Suite
from worldodds.scorecard import Cell, Scorecard
from worldodds.statistics.exact import GoodnessOfFit
from worldodds.statistics.interval import Interval
from worldodds.statistics.inversion import Inversion, Population

FORMAT = "worldodds.score/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestEntry:
    """An exact test; ``q_value`` is Benjamini-Hochberg over the family."""

    statistic: float | None
    p_value: float
    q_value: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustEntry:
    """What the verdict of a rejected cell survives: so many wrong labels (5 is "5 or more"), any nulls."""

    wrong_labels_survived: int
    survives_any_nulls: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationEntry:
    """The score at infinitely many rollouts, median-unbiased, by path inversion; approximate for single cells."""

    estimate: float
    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMissEntry:
    """For outcomes with an order: Wasserstein-1 distance in steps, and its mean by chance alone."""

    wasserstein: float
    floor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEntry:
    """One scene of one model. ``n_total`` counts the clips read, nulls included; ``n`` the valid outcomes."""

    protocol_n: int
    n_total: int
    n: int
    unreadable: int
    out_of_schema: int
    refused: int
    failed: int
    missing: int
    counts: dict[str, int]
    scorability: float | None
    tv: float | None
    floor: float | None
    null_band: tuple[float, float] | None
    excess: float | None
    score: float | None
    tv_total: float | None
    modal_share: float | None
    effective_outcomes: float | None
    collapsed: bool
    chi2: TestEntry | None
    g: TestEntry | None
    verdict: str
    delta: float | None
    certified_delta: float | None
    robust: RobustEntry | None
    population: PopulationEntry | None
    near_miss: NearMissEntry | None
    reason: str | None
    judged: JudgedCellEntry | None = None
    early: EarlyCellEntry | None = None
    experiment: ExperimentEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalEntry:
    """An interval; its ends are null, with a reason, where the data cannot give one."""

    low: float | None
    high: float | None
    level: float | None
    method: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalsEntry:
    """The paper's interval, reproduced (it lies too high), and the jackknife's."""

    percentile: IntervalEntry
    jackknife: IntervalEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class RankEntry:
    """Places the model may hold among those scored with it, true for all at once; 1 is best."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One model. ``mntv`` is null, with a reason, where scenes are missing and no partial average was asked for."""

    mntv: float | None
    mntv_reason: str | None
    interval: IntervalEntry
    intervals: IntervalsEntry
    population: PopulationEntry | None
    rank: RankEntry | None
    averaged_scenes: tuple[str, ...]
    missing_scenes: tuple[str, ...]
    family_size: int
    cells: dict[str, CellEntry]
    judged: PopulationEntry | None = None
    early: EarlyEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDocument:
    """Everything that ``worldodds score`` found."""

    format: str
    worldodds_version: str
    suite: str
    suite_version: str
    suite_hash: str
    reader: str | None
    models: dict[str, ModelEntry]
    judge: JudgeEntry | None = None
    judge_reason: str | None = None
    readers: tuple[ReaderEntry, ...] = ()


def score_document(
    cards: Sequence[Scorecard],
    suite: Suite,
    reader: str | None,
    allowed: Judged | None = None,
    readers: Sequence[Quoted] = (),
) -> ScoreDocument:
    """Put scorecards into the shape of the JSON document, with all that stands beside the official scores.

    ``allowed`` holds the same cards with their judge's measured errors allowed for, ``readers`` who read the clips,
    each with its certificate.
    """
    beside = _Beside(populations(cards), percentiles(cards), ranks(cards), robustness(cards), allowed)
    measured = allowed.measured if allowed else None
    return ScoreDocument(
        format=FORMAT,
        worldodds_version=__version__,
        suite=suite.id,
        suite_version=suite.version,
        suite_hash=suite.content_hash,
        reader=reader,
        models={card.model: _model_entry(card, beside) for card in cards},
        judge=judge_entry(measured) if measured else None,
        judge_reason=unaudited(reader, measured),
        readers=tuple(map(reader_entry, readers)),
    )


def score_json(
    cards: Sequence[Scorecard],
    suite: Suite,
    reader: str | None,
    allowed: Judged | None = None,
    readers: Sequence[Quoted] = (),
) -> str:
    """Return the document as indented JSON text."""
    document = score_document(cards, suite, reader, allowed, readers)
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def cell_entry(cell: Cell, suite: Suite) -> dict[str, Any]:
    """Return one cell's entry as plain values, without what needs the other cells and simulation."""
    return msgspec.to_builtins(_cell_entry(cell, suite, None, None))


class _Beside(NamedTuple):
    """All that stands beside the official scores, by model, or by model and scene id."""

    populations: Mapping[str, Inversion]
    percentiles: Mapping[str, Interval]
    ranks: Mapping[str, tuple[int, int]]
    robustness: Mapping[tuple[str, str], Robustness]
    judged: Judged | None


def _model_entry(card: Scorecard, beside: _Beside) -> ModelEntry:
    jackknife = card.interval.interval if card.interval else None
    own = _interval_entry(jackknife, card.interval.reason if card.interval else card.mntv_reason)
    population, rank = beside.populations.get(card.model), beside.ranks.get(card.model)
    allowed = beside.judged.populations.get(card.model) if beside.judged else None
    scored = [cell.measurement.scene.id for cell in card.cells if cell.measurement.score is not None]
    alone = dict(zip(scored, population.cells, strict=True)) if population else {}
    return ModelEntry(
        mntv=card.mntv,
        mntv_reason=card.mntv_reason,
        interval=own,
        intervals=IntervalsEntry(
            percentile=_interval_entry(beside.percentiles.get(card.model), own.reason or COUNTED), jackknife=own
        ),
        population=_population_entry(population.mean) if population else None,
        rank=RankEntry(low=rank[0], high=rank[1]) if rank else None,
        averaged_scenes=card.averaged,
        missing_scenes=card.missing_scenes,
        family_size=card.family_size,
        cells={
            (scene_id := cell.measurement.scene.id): _cell_entry(
                cell,
                card.suite,
                beside.robustness.get((card.model, scene_id)),
                alone.get(scene_id),
                beside.judged.cells.get((card.model, scene_id)) if beside.judged else None,
            )
            for cell in card.cells
        },
        judged=_population_entry(allowed.mean) if allowed else None,
        early=early_entry(card.early) if card.early else None,
    )


def _interval_entry(interval: Interval | None, reason: str | None) -> IntervalEntry:
    if interval is None:
        return IntervalEntry(low=None, high=None, level=None, method=None, reason=reason)
    if interval.low == interval.high:
        told = "every resample scores the same, so a bootstrap cannot see the spread"
        return IntervalEntry(low=None, high=None, level=interval.level, method=interval.method, reason=told)
    return IntervalEntry(
        low=interval.low, high=interval.high, level=interval.level, method=interval.method, reason=None
    )


def _population_entry(population: Population) -> PopulationEntry:
    interval = population.interval
    return PopulationEntry(estimate=population.estimate, low=interval.low, high=interval.high, level=interval.level)


def _cell_entry(
    cell: Cell,
    suite: Suite,
    robust: Robustness | None,
    population: Population | None,
    allowed: JudgedCell | None = None,
) -> CellEntry:
    m, counts, d = cell.measurement, cell.measurement.counts, cell.measurement.deviation
    near = d.near_miss if d else None
    return CellEntry(
        protocol_n=suite.protocol.rollouts,
        n_total=counts.n_total,
        n=counts.n,
        unreadable=counts.unreadable,
        out_of_schema=counts.out_of_schema,
        refused=m.tally.refused,
        failed=m.tally.failed,
        missing=m.tally.missing,
        counts=dict(zip(counts.labels, counts.counts, strict=True)),
        scorability=counts.scorability,
        tv=d.tv if d else None,
        floor=d.floor if d else None,
        null_band=d.null_band if d else None,
        excess=d.excess if d else None,
        score=m.score,
        tv_total=m.tv_total,
        modal_share=d.modal_share if d else None,
        effective_outcomes=d.effective_outcomes if d else None,
        collapsed=m.collapsed,
        chi2=_test_entry(m.chi2, cell.chi2_q),
        g=_test_entry(m.g, cell.g_q),
        verdict=cell.verdict,
        delta=cell.equivalence.delta if cell.equivalence else None,
        certified_delta=cell.equivalence.certified_delta if cell.equivalence else None,
        robust=_robust_entry(robust) if robust else None,
        population=_population_entry(population) if population else None,
        near_miss=NearMissEntry(wasserstein=near.steps, floor=near.floor) if near else None,
        reason=m.reason,
        judged=judged_entry(allowed, counts.labels) if allowed else None,
        early=early_cell_entry(cell.early) if cell.early else None,
        experiment=experiment_entry(m.scene),
    )


def _robust_entry(robust: Robustness) -> RobustEntry:
    return RobustEntry(wrong_labels_survived=robust.wrong_labels_survived, survives_any_nulls=robust.survives_any_nulls)


def _test_entry(test: GoodnessOfFit | None, q_value: float | None) -> TestEntry | None:
    if test is None or q_value is None:
        return None
    finite = test.statistic if test.statistic != float("inf") else None
    return TestEntry(statistic=finite, p_value=test.p_value, q_value=q_value, method=test.method)
