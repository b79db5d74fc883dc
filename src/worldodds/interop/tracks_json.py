"""The JSON of ``worldodds score`` for a suite of tracks (format ``worldodds.tracks/1``), from scored tracks."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from worldodds._version import __version__
from worldodds.beside_tracks import Beside, BesideScene, BesideTrack
from worldodds.given_odds import written
from worldodds.interop.tracks_document import (
    GroupSizeEntry,
    LawEntry,
    PartialEntry,
    PublishedTrackEntry,
    RangeEntry,
    TrackEntry,
    TrackSceneEntry,
    TracksDocument,
    TracksModelEntry,
    VerdictEntry,
)
from worldodds.statistics.interval import Estimate
from worldodds.statistics.track import MeanLaw
from worldodds.suites.track_results import PublishedTrack, published_tracks, tracks_citation
from worldodds.track_scores import TrackScores
from worldodds.tracks import Aggregate, SceneMetric, TrackCard, TrackResult, by_group, placement_of

FORMAT = "worldodds.tracks/1"


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
    odds = zip(reference.labels, reference.odds, strict=True) if reference else ()
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
