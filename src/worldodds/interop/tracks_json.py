"""The JSON of ``worldodds score`` for a suite of tracks (format ``worldodds.tracks/1``); its schema is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from worldodds._version import __version__
from worldodds.beside_tracks import Beside, BesideScene, BesideTrack
from worldodds.given_odds import written
from worldodds.placement import Track
from worldodds.statistics.interval import Estimate
from worldodds.statistics.track import MeanLaw
from worldodds.suites.track_results import PublishedTrack, published_tracks, tracks_citation
from worldodds.track_scores import TrackScores
from worldodds.tracks import Aggregate, SceneMetric, TrackCard, TrackResult, by_group, placement_of

FORMAT = "worldodds.tracks/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeEntry:
    """An interval in percent, or why there is none."""

    low: float | None
    high: float | None
    level: float | None
    method: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictEntry:
    """What exact tests say of a calibration scene; ``q_value`` is Benjamini-Hochberg over all cells given."""

    verdict: str
    p_value: float | None
    q_value: float | None
    certified_delta: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackSceneEntry:
    """One scene, in percent. ``tvd`` is for calibration and ``coverage`` for coverage scenes; null unless it counts.

    ``floor`` is what the metric reaches with nothing behind it: the mean TVD of a calibrated model at this n, or the
    coverage of a model with one outcome only that is read with the judge's error. ``fair`` is the coverage of equal
    odds, ``sure`` that by outcomes seen too often to be misread. ``status`` is pass, fail, blocked, no_reference or
    missing.
    """

    n: int
    nulls: int
    unreadable: int | None
    out_of_schema: int | None
    open: int
    status: str
    reason: str | None
    group: str
    counts: dict[str, int] | None
    reference: dict[str, str] | None
    certainty: dict[str, str]
    tvd: float | None
    coverage: float | None
    floor: float | None
    corrected: float | None
    interval: RangeEntry
    test: VerdictEntry | None
    fair: float | None
    sure: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LawEntry:
    """The null law of the calibration average: its mean, quantiles, and the chance of the observed average or more."""

    mean: float
    q95: float
    q99: float
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialEntry:
    """The means over what was read, whatever is open; every hole is named."""

    average: float | None
    reason: str | None
    scene_pass_rate: float | None
    passing: int
    groups: dict[str, float | None]
    averaged_scenes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSizeEntry:
    """How many scenes of a group pass, of how many."""

    passing: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackEntry:
    """One track of one model, in percent: the published numbers first (``--partial`` replaces them), ours after them.

    ``status`` is ok, blocked, no_reference or missing; ``holes`` says by scene what is lacking.
    """

    metric: str
    status: str
    is_partial: bool
    average: float | None
    average_reason: str | None
    scene_pass_rate: float | None
    passing: int
    of: int
    groups: dict[str, float | None]
    group_sizes: dict[str, GroupSizeEntry]
    averaged_scenes: tuple[str, ...]
    holes: dict[str, str]
    partial: PartialEntry
    interval: RangeEntry
    floor: float | None
    corrected: float | None
    fair: float | None
    sure: float | None
    null_law: LawEntry | None
    null_law_at: dict[str, LawEntry]
    scenes: dict[str, TrackSceneEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTrackEntry:
    """One track of one model as the paper published it, in percent."""

    average: float
    scene_pass_rate: float
    groups: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracksModelEntry:
    """One model; its tracks are never combined."""

    tracks: dict[Track, TrackEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracksDocument:
    """Everything that ``worldodds score`` found for a suite of tracks.

    ``references_given`` are odds from the command line, ``set_aside`` rows that could not be used.
    """

    format: str
    worldodds_version: str
    suite: str
    suite_version: str
    suite_hash: str
    reader: str | None
    rollouts: int
    gate: int
    judge_error: float
    references_given: dict[str, str]
    set_aside: tuple[str, ...]
    models: dict[str, TracksModelEntry]
    published: dict[str, dict[Track, PublishedTrackEntry]]
    published_source: str | None


def tracks_document(scores: TrackScores, *, partial: bool = False) -> TracksDocument:
    """Put scored tracks into the shape of the JSON document."""
    suite = scores.suite
    return TracksDocument(
        format=FORMAT,
        worldodds_version=__version__,
        suite=suite.id,
        suite_version=suite.version,
        suite_hash=suite.content_hash,
        reader=scores.reader,
        rollouts=suite.protocol.rollouts,
        gate=suite.protocol.gate or 0,
        judge_error=scores.judge_error,
        references_given={scene_id: written(reference) for scene_id, reference in scores.given.items()},
        set_aside=scores.set_aside,
        models={card.model: _model(card, scores.beside[card.model], partial) for card in scores.cards},
        published={
            model.name: {track: _published(figures) for track, figures in model.tracks.items()}
            for model in published_tracks(suite)
        },
        published_source=tracks_citation(suite),
    )


def tracks_json(scores: TrackScores, *, partial: bool = False) -> str:
    """Return the document as indented JSON text."""
    return msgspec.json.format(msgspec.json.encode(tracks_document(scores, partial=partial)), indent=2).decode()


def _published(figures: PublishedTrack) -> PublishedTrackEntry:
    return PublishedTrackEntry(
        average=figures.average, scene_pass_rate=figures.scene_pass_rate, groups=dict(figures.groups)
    )


def _model(card: TrackCard, beside: Beside, partial: bool) -> TracksModelEntry:
    return TracksModelEntry(
        tracks={track: _track(result, beside[track], partial) for track, result in card.tracks.items()}
    )


def _track(result: TrackResult, beside: BesideTrack, partial: bool) -> TrackEntry:
    shown = result.partial if partial else result.official
    average = result.partial.average
    return TrackEntry(
        metric="tvd_percent" if result.track == "calibration" else "coverage_percent",
        status=result.status,
        is_partial=partial,
        average=_rounded(shown.average),
        average_reason=shown.reason,
        scene_pass_rate=_rounded(shown.scene_pass_rate),
        passing=shown.passing,
        of=len(result.scenes),
        groups=_groups(shown),
        group_sizes={
            group: GroupSizeEntry(passing=sum(bool(s.passes) for s in members), of=len(members))
            for group, members in by_group(result.scenes).items()
        },
        averaged_scenes=shown.averaged,
        holes=dict(shown.holes),
        partial=_partial(result.partial),
        interval=_range(beside.interval),
        floor=beside.floor,
        corrected=beside.corrected,
        fair=beside.fair,
        sure=beside.sure,
        null_law=_law(beside.own_law, average) if beside.own_law else None,
        null_law_at={str(n): _law(law, None) for n, law in beside.laws.items()},
        scenes={s.scene.id: _scene(s, beside.scenes[s.scene.id], partial) for s in result.scenes},
    )


def _partial(aggregate: Aggregate) -> PartialEntry:
    return PartialEntry(
        average=_rounded(aggregate.average),
        reason=aggregate.reason,
        scene_pass_rate=_rounded(aggregate.scene_pass_rate),
        passing=aggregate.passing,
        groups=_groups(aggregate),
        averaged_scenes=aggregate.averaged,
    )


def _scene(scene: SceneMetric, beside: BesideScene, partial: bool) -> TrackSceneEntry:
    value = _rounded(scene.metric if partial else scene.official)
    placement, counts, reference = placement_of(scene.scene), scene.counts, scene.scene.reference
    calibration = placement.track == "calibration"
    odds = zip(reference.labels, reference.odds or (), strict=False) if reference else ()
    return TrackSceneEntry(
        n=scene.n,
        nulls=scene.nulls,
        unreadable=counts.unreadable if counts else None,
        out_of_schema=counts.out_of_schema if counts else None,
        open=scene.open,
        status=scene.status,
        reason=scene.reason,
        group=placement.group,
        counts=dict(zip(counts.labels, counts.counts, strict=True)) if counts else None,
        reference={label: str(share) for label, share in odds} or None,
        certainty=dict(placement.certainty),
        tvd=value if calibration else None,
        coverage=None if calibration else value,
        floor=beside.floor,
        corrected=beside.corrected,
        interval=_range(beside.interval),
        test=_verdict(beside),
        fair=beside.fair,
        sure=beside.sure,
    )


def _verdict(beside: BesideScene) -> VerdictEntry | None:
    if (cell := beside.cell) is None:
        return None
    return VerdictEntry(
        verdict=cell.verdict,
        p_value=cell.measurement.g.p_value if cell.measurement.g else None,
        q_value=cell.g_q,
        certified_delta=cell.equivalence.certified_delta if cell.equivalence else None,
    )


def _law(law: MeanLaw, observed: float | None) -> LawEntry:
    return LawEntry(
        mean=law.mean,
        q95=law.quantile(0.95),
        q99=law.quantile(0.99),
        p_value=None if observed is None else law.p_value(observed),
    )


def _range(estimate: Estimate | None) -> RangeEntry:
    found = estimate.interval if estimate else None
    if found is None:
        why = estimate.reason if estimate else "nothing to average, or figures without counts"
        return RangeEntry(low=None, high=None, level=None, method=None, reason=why)
    return RangeEntry(low=found.low, high=found.high, level=found.level, method=found.method, reason=None)


def _groups(aggregate: Aggregate) -> dict[str, float | None]:
    groups: Mapping[str, float | None] = aggregate.groups
    return {group: _rounded(value) for group, value in groups.items()}


def _rounded(value: float | None) -> float | None:
    """Round to 12 decimals, as published."""
    return None if value is None else round(value, 12)
