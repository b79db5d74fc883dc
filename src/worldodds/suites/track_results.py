"""What PAWBench published: the results of eleven models on two tracks, and its interventions."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from worldodds.placement import Track
from worldodds.scene import Suite
from worldodds.suites import builtin_suites, find_suite
from worldodds.toml_file import read_toml

RESULTS_FORMAT = "worldodds.published-tracks/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTrack:
    """One track of one model as published, in percent; a group without a passing scene is not in ``groups``."""

    average: float
    scene_pass_rate: float
    groups: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTracks:
    """One model's published results."""

    key: str
    name: str
    tracks: Mapping[Track, PublishedTrack]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """One figure of an experiment that changed prompts, noise, training or the judge; None where none was published."""

    experiment: str
    model: str
    condition: str
    metric: str
    value: float | None
    unit: str
    source: str
    note: str


def published_tracks(suite: Suite) -> tuple[PublishedTracks, ...]:
    """Return the models with published tracks, in the paper's order; none for a suite without any.

    >>> [model.name for model in published_tracks(find_suite("pawbench"))][:2]
    ['HappyHorse', 'Veo3.1 Fast']
    """
    file = _results(suite)
    return tuple(
        PublishedTracks(key=m.key, name=m.name, tracks={"calibration": m.calibration, "coverage": m.coverage})
        for m in (file.models if file else ())
    )


def tracks_citation(suite: Suite) -> str | None:
    """Return where the published tracks come from, in one line; None for a suite without any."""
    file = _results(suite)
    return f"{file.paper}, {file.source} @{file.commit}; judge {file.reader}" if file else None


def interventions(suite: Suite) -> tuple[Intervention, ...]:
    """Return every published figure of an intervention; none for a suite without any."""
    path = _published(suite) / "interventions.csv"
    if not path.is_file():
        return ()
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{**row, "value": row["value"] or None} for row in csv.DictReader(file)]
    return msgspec.convert(tuple(rows), tuple[Intervention, ...], strict=False)


def judge_agreement(suite: Suite, *, consensus: str = "high") -> tuple[int, int] | None:
    """Return how many of the clips that people were clear about the judge read as they did, and of how many.

    ``consensus`` is ``"high"`` (6 or 7 of 7 people agree), ``"moderate"``, ``"low"`` or ``"overall"``.
    """
    found = {
        i.metric: i.value
        for i in interventions(suite)
        if i.experiment == "human_agreement" and i.condition.startswith(consensus) and i.value is not None
    }
    return (int(found["exact_matches"]), int(found["videos"])) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    key: str
    name: str
    calibration: PublishedTrack
    coverage: PublishedTrack


@dataclass(frozen=True, slots=True, kw_only=True)
class _ResultsFile:
    format: str
    paper: str
    source: str
    commit: str
    reader: str
    models: tuple[_Model, ...]


def _results(suite: Suite) -> _ResultsFile | None:
    path = _published(suite) / "results.toml"
    return read_toml(path, _ResultsFile, RESULTS_FORMAT) if path.is_file() else None


def _published(suite: Suite) -> Path:
    """Return the folder of figures: the suite's own, or that of the package's suite of the same id."""
    own = suite.folder / "published"
    return own if own.is_dir() or suite.id not in builtin_suites() else find_suite(suite.id).folder / "published"
