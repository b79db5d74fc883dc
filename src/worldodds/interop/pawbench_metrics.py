"""The official evaluator's ``metrics.json``: figures in, checked against one another, and out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from worldodds.errors import SourceError
from worldodds.interop.files import read_bytes
from worldodds.placement import Track
from worldodds.scene import Suite
from worldodds.tracks import (
    NO_REFERENCE,
    TRACKS,
    Aggregate,
    SceneMetric,
    SceneStatus,
    TrackCard,
    TrackResult,
    by_group,
    card_of,
)

FORMAT = "pawbench.metrics/v1"
METRIC: Mapping[Track, str] = {"calibration": "calibration_tvd_percent", "coverage": "coverage_percent"}
_SAME = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The models of a ``metrics.json``, and where its means differ from those that its own scenes give."""

    cards: tuple[TrackCard, ...]
    differences: tuple[str, ...]


def is_metrics(path: Path) -> bool:
    """Say whether a path is a ``metrics.json`` of the official evaluator."""
    return path.is_file() and path.suffix == ".json" and FORMAT.encode() in path.read_bytes()[:4096]


def read_metrics(path: Path, suite: Suite) -> Figures:
    """Read figures; a scene that the suite does not have is named and left out.

    Raises:
        SourceError: the file is no such document; the message names the key.
    """
    try:
        file = msgspec.json.decode(read_bytes(path), type=_File)
    except msgspec.DecodeError as error:
        raise SourceError(f"{path}: not a document of format {FORMAT}: {error}") from None
    told: list[str] = []
    scenes: dict[str, list[SceneMetric]] = {}
    for track in file.tracks.values():
        for model, result in track.models.items():
            found = scenes.setdefault(model, [])
            for entry in result.scenes:
                if entry.scene_id in suite.scene_ids:
                    found.append(_scene(entry, suite))
                else:
                    told.append(f"{path}: no scene is called {entry.scene_id!r} in suite {suite.id!r}; it is left out")
    cards = tuple(card_of(model, _all(found, suite), suite) for model, found in scenes.items())
    return Figures(cards=cards, differences=(*told, *_differences(path, file, cards)))


def metrics_json(cards: Sequence[TrackCard]) -> str:
    """Return scored tracks in the official format; a scene without reference odds has no metric there."""
    found = {
        track: _track([(card.model, card.tracks[track]) for card in cards if track in card.tracks]) for track in TRACKS
    }
    blockers = [blocker for entry in found.values() for blocker in entry["blockers"]]
    whole = {
        "schema_version": FORMAT,
        "status": "blocked" if blockers else "ok",
        "blockers": blockers,
        "tracks": found,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


class _Metric(msgspec.Struct):
    value: float | None = None


class _Scene(msgspec.Struct):
    scene_id: str
    valid_outcomes: int
    null_observations: int
    status: SceneStatus
    infrastructure_failures: int = 0
    metric: _Metric | None = None


class _Rate(msgspec.Struct):
    value: float | None = None


class _Result(msgspec.Struct):
    scenes: list[_Scene]
    track_average: float | _Metric | None = None
    scene_pass_rate: _Rate | None = None


class _Track(msgspec.Struct):
    models: dict[str, _Result]


class _File(msgspec.Struct):
    schema_version: str
    tracks: dict[str, _Track]


def _scene(entry: _Scene, suite: Suite) -> SceneMetric:
    value = entry.metric.value if entry.metric else None
    unmeasured = entry.status == "pass" and value is None
    still_open = f"{entry.infrastructure_failures} rollouts are open"
    return SceneMetric(
        scene=suite.scene(entry.scene_id),
        counts=None,
        n=entry.valid_outcomes,
        nulls=entry.null_observations,
        open=entry.infrastructure_failures,
        passes=entry.status == "pass",
        metric=value if entry.status == "pass" else None,
        status="no_reference" if unmeasured else entry.status,
        reason=NO_REFERENCE if unmeasured else still_open if entry.infrastructure_failures else None,
    )


def _all(found: Sequence[SceneMetric], suite: Suite) -> list[SceneMetric]:
    by_id = {scene.scene.id: scene for scene in found}
    most = suite.protocol.rollouts
    return [by_id.get(s.id) or _absent(s.id, suite, most) for s in suite.scenes]


def _absent(scene_id: str, suite: Suite, most: int) -> SceneMetric:
    return SceneMetric(
        scene=suite.scene(scene_id),
        counts=None,
        n=0,
        nulls=0,
        open=most,
        passes=None,
        metric=None,
        status="missing",
        reason="the file has no figures of it",
    )


def _differences(path: Path, file: _File, cards: Sequence[TrackCard]) -> list[str]:
    told: list[str] = []
    for card in cards:
        for track, result in card.tracks.items():
            written = file.tracks[track].models.get(card.model) if track in file.tracks else None
            average = written.track_average if written else None
            value = average.value if isinstance(average, _Metric) else average
            ours = result.official.average
            if value is not None and ours is not None and abs(value - ours) > _SAME:
                told.append(
                    f"{path}: {card.model}, {track}: track_average {value:g} is not the mean {ours:g} of its scenes"
                )
    return told


def _track(results: Sequence[tuple[str, TrackResult]]) -> dict[str, Any]:
    models = {model: _model(result) for model, result in results}
    blockers = [blocker for entry in models.values() for blocker in entry["blockers"]]
    return {"status": "blocked" if blockers else "ok", "blockers": blockers, "models": models}


def _model(result: TrackResult) -> dict[str, Any]:
    official: Aggregate = result.official
    blocked = [s.scene.id for s in result.scenes if s.status in ("blocked", "missing")]
    of = len(result.scenes)
    return {
        "status": "blocked" if blocked else "ok",
        "blockers": [f"{scene_id}: {official.holes[scene_id]}" for scene_id in blocked],
        "scenes": [_scene_entry(scene, result.track) for scene in result.scenes],
        "groups": {
            group: {
                "passing_scenes": sum(s.status in ("pass", "no_reference") for s in members),
                "scene_denominator": len(members),
                "metric": {"name": METRIC[result.track], "value": _rounded(official.groups[group])},
            }
            for group, members in by_group(result.scenes).items()
        },
        "track_average": {"name": METRIC[result.track], "value": _rounded(official.average)},
        "scene_pass_rate": {
            "passing_scenes": official.passing,
            "scene_denominator": of,
            "value": _rounded(official.scene_pass_rate),
        },
    }


def _scene_entry(scene: SceneMetric, track: Track) -> dict[str, Any]:
    status = {"missing": "blocked", "no_reference": "pass"}.get(scene.status, scene.status)
    return {
        "scene_id": scene.scene.id,
        "expected_rollouts": scene.n + scene.nulls + scene.open,
        "valid_outcomes": scene.n,
        "null_observations": scene.nulls,
        "infrastructure_failures": scene.open,
        "status": status,
        "metric": {"name": METRIC[track], "value": _rounded(scene.official)},
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 12)
