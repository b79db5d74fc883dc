"""PAWBench's two tracks as published: TVD x 100 and coverage of every scene, means over those that pass, pass rates.

Beside the official reading, where one open rollout blocks a whole track, stands ours: the same means over what was
read, with every hole named. Source: PAWBench (arXiv 2608.27345).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from worldodds.errors import InputError
from worldodds.outcome import Counts
from worldodds.placement import Placement, Track
from worldodds.scene import Protocol, Scene, Suite
from worldodds.statistics.coverage import coverage_percent, scene_pass_rate, track_mean, tvd_percent
from worldodds.tally import Tally

TRACKS: tuple[Track, ...] = get_args(Track)

SceneStatus = Literal["pass", "fail", "blocked", "no_reference", "missing"]
TrackStatus = Literal["ok", "blocked", "no_reference", "missing"]
NO_REFERENCE = "no reference odds are known; give them with --reference, or import the official benchmark"


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneMetric:
    """One scene of one model. ``nulls`` are unreadable and out of schema; ``open`` planned rollouts without a reading.

    ``passes`` is None where the open rollouts still decide about the gate. ``metric`` is in percent, and there where
    the gate is passed for sure; officially it counts only where ``status`` is ``pass``. ``counts`` is None where the
    source gives no more than figures.
    """

    scene: Scene
    counts: Counts | None
    n: int
    nulls: int
    open: int
    passes: bool | None
    metric: float | None
    status: SceneStatus
    reason: str | None = None

    @property
    def official(self) -> float | None:
        """The scene's metric as published: None unless it passes."""
        return self.metric if self.status == "pass" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """Means over a track's scenes, in percent; what cannot be told is None, and ``reason`` says why.

    ``averaged`` names the scenes in the average, ``holes`` by scene what keeps the others, or a part of them, out.
    """

    average: float | None
    reason: str | None
    scene_pass_rate: float | None
    passing: int
    groups: Mapping[str, float | None]
    averaged: tuple[str, ...]
    holes: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackResult:
    """One track of one model: ``official`` as published, ``partial`` over what was read with its holes named."""

    track: Track
    status: TrackStatus
    scenes: tuple[SceneMetric, ...]
    official: Aggregate
    partial: Aggregate


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackCard:
    """One model's two tracks; they are never combined, and nobody is ranked by them."""

    model: str
    reader: str | None
    suite: Suite
    tracks: Mapping[Track, TrackResult]

    @property
    def open(self) -> int:
        """How many planned rollouts of the scenes that were begun have no reading."""
        return sum(scene.open for result in self.tracks.values() for scene in result.scenes if scene.counts)


def score_tracks(
    tallies: Mapping[str, Mapping[str, Tally]], suite: Suite, *, reader: str | None = None
) -> tuple[TrackCard, ...]:
    """Score every model given, in that order; ``tallies`` holds, by model and then scene id, what was counted.

    Raises:
        InputError: the suite has no tracks.
        UnknownNameError: a scene that the suite does not have.
    """
    if suite.protocol.aggregate != "tracks":
        raise InputError(f"suite {suite.id!r} has no tracks; it is scored by {suite.protocol.aggregate}")
    for by_scene in tallies.values():
        for scene_id in by_scene:
            suite.scene(scene_id)
    return tuple(
        card_of(model, [scene_metric(s, by_scene.get(s.id), suite.protocol) for s in suite.scenes], suite, reader)
        for model, by_scene in tallies.items()
    )


def card_of(model: str, scenes: Sequence[SceneMetric], suite: Suite, reader: str | None = None) -> TrackCard:
    """Put a model's scenes together to its two tracks."""
    parts: dict[Track, list[SceneMetric]] = {
        track: [s for s in scenes if placement_of(s.scene).track == track] for track in TRACKS
    }
    return TrackCard(
        model=model,
        reader=reader,
        suite=suite,
        tracks={track: track_result(track, part) for track, part in parts.items() if part},
    )


def scene_metric(scene: Scene, tally: Tally | None, protocol: Protocol) -> SceneMetric:
    """Measure one scene; a planned rollout that was refused, failed or is not there is open and blocks it.

    The gate can be settled before all are there: it is passed at ``gate`` readable ones, and failed at too many nulls.
    """
    if tally is None:
        return SceneMetric(
            scene=scene,
            counts=None,
            n=0,
            nulls=0,
            open=protocol.rollouts,
            passes=None,
            metric=None,
            status="missing",
            reason="no rollout is there",
        )
    counts = tally.counts
    nulls = counts.n_total - counts.n
    passes = True if counts.n >= (protocol.gate or 1) else False if nulls > protocol.most_nulls else None
    known = placement_of(scene).track == "coverage" or scene.reference is not None
    metric = _metric(scene, counts) if passes and known else None
    unread = max(0, protocol.rollouts - counts.n_total)
    status, reason = _standing(tally, unread, passes=passes, known=known)
    return SceneMetric(
        scene=scene,
        counts=counts,
        n=counts.n,
        nulls=nulls,
        open=unread,
        passes=passes,
        metric=metric,
        status=status,
        reason=reason,
    )


def track_result(track: Track, scenes: Sequence[SceneMetric]) -> TrackResult:
    """Average a track officially and over what was read."""
    statuses = {scene.status for scene in scenes}
    status: TrackStatus = "ok"
    if statuses == {"missing"}:
        status = "missing"
    elif statuses & {"blocked", "missing"}:
        status = "blocked"
    elif "no_reference" in statuses:
        status = "no_reference"
    return TrackResult(
        track=track, status=status, scenes=tuple(scenes), official=_official(scenes, status), partial=_partial(scenes)
    )


def placement_of(scene: Scene) -> Placement:
    """Return a scene's track and group; raises InputError where it has none."""
    if scene.placement is None:
        raise InputError(f"scene {scene.id!r} has no track; it belongs to a suite that is scored otherwise")
    return scene.placement


def _metric(scene: Scene, counts: Counts) -> float:
    if placement_of(scene).track == "coverage":
        return coverage_percent(counts)
    assert scene.reference is not None
    return tvd_percent(counts, scene.reference)


def _standing(tally: Tally, unread: int, *, passes: bool | None, known: bool) -> tuple[SceneStatus, str | None]:
    if unread:
        told = {"failed": tally.failed, "refused": tally.refused}
        told["missing"] = unread - tally.failed - tally.refused
        listed = ", ".join(f"{number} {word}" for word, number in told.items() if number > 0)
        return "blocked", f"{unread} of {unread + tally.counts.n_total} rollouts are open ({listed})"
    if not passes:
        return "fail", f"{tally.counts.n} readable rollouts; the gate asks for more"
    return ("pass", None) if known else ("no_reference", NO_REFERENCE)


def _official(scenes: Sequence[SceneMetric], status: TrackStatus) -> Aggregate:
    blocked = status in ("blocked", "missing")
    enough = [s.status in ("pass", "no_reference") for s in scenes]
    holes = _holes(scenes)
    reason = None if any(enough) or holes else "no scene passes the gate"
    if holes:
        what = "the track is blocked by" if blocked else "no reference odds for"
        reason = f"{what} {_names(holes)}; --partial averages over what was read"
    return Aggregate(
        average=None if reason else track_mean([s.official for s in scenes]),
        reason=reason,
        scene_pass_rate=None if blocked else scene_pass_rate(enough),
        passing=sum(enough),
        groups={
            group: None if blocked or _lacks_odds(members) else track_mean([s.official for s in members])
            for group, members in by_group(scenes).items()
        },
        averaged=() if reason else tuple(s.scene.id for s in scenes if s.official is not None),
        holes=holes,
    )


def _partial(scenes: Sequence[SceneMetric]) -> Aggregate:
    averaged = tuple(s.scene.id for s in scenes if s.metric is not None)
    return Aggregate(
        average=track_mean([s.metric for s in scenes]),
        reason=None if averaged else "no scene has enough readable rollouts and known odds",
        scene_pass_rate=scene_pass_rate([bool(s.passes) for s in scenes]),
        passing=sum(bool(s.passes) for s in scenes),
        groups={group: track_mean([s.metric for s in members]) for group, members in by_group(scenes).items()},
        averaged=averaged,
        holes=_holes(scenes),
    )


def by_group(scenes: Sequence[SceneMetric]) -> dict[str, list[SceneMetric]]:
    """Return a track's scenes by group, in order of first appearance."""
    groups: dict[str, list[SceneMetric]] = {}
    for scene in scenes:
        groups.setdefault(placement_of(scene.scene).group, []).append(scene)
    return groups


def _holes(scenes: Sequence[SceneMetric]) -> dict[str, str]:
    return {s.scene.id: s.reason or s.status for s in scenes if s.status in ("blocked", "missing", "no_reference")}


def _lacks_odds(scenes: Sequence[SceneMetric]) -> bool:
    return any(scene.status == "no_reference" for scene in scenes)


def _names(holes: Mapping[str, str], most: int = 6) -> str:
    names = list(holes)
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"
