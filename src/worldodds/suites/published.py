"""Figures that papers published for a suite, shipped beside its scenes in our own compact form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from worldodds.rollout import Reading
from worldodds.row import Row
from worldodds.scene import Scene, Suite
from worldodds.suites import builtin_suites, find_suite
from worldodds.toml_file import read_toml

PUBLISHED_FORMAT = "worldodds.published/1"
_NULL = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedModel:
    """A model as a paper filmed it: what it is called, what was served, and with which settings."""

    key: str
    name: str
    served_id: str
    length: str
    resolution: str
    settings: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSource:
    """Where published figures come from, and who read the clips."""

    paper: str
    repository: str
    commit: str
    reader: str

    @property
    def citation(self) -> str:
        """Return paper, repository and commit in one line."""
        return f"{self.paper}, {self.repository} @{self.commit}"


def published_source(suite: Suite) -> PublishedSource | None:
    """Return where the suite's published outcomes come from; None for a suite without any.

    >>> from worldodds.suites import find_suite
    >>> published_source(find_suite("calibench")).citation
    'arXiv 2608.16829, odysseyml/CaliBench @4533e87'
    """
    file = _read(suite, "outcomes.toml", _OutcomesFile)
    if file is None:
        return None
    return PublishedSource(paper=file.paper, repository=file.source, commit=file.commit, reader=file.reader)


def published_models(suite: Suite) -> tuple[PublishedModel, ...]:
    """Return the models with published outcomes, in the paper's order; none for a suite without any."""
    file = _read(suite, "outcomes.toml", _OutcomesFile)
    return tuple(PublishedModel(key=key, **fields) for key, fields in file.models.items()) if file else ()


def published_readings(suite: Suite) -> tuple[Row, ...]:
    """Return every published reading of the suite's scenes (all models), none for a suite without any.

    Nulls come as ``unreadable``: the paper keeps one kind only. The suite may be cut to some scenes, or be a run's copy
    of one in the package; a scene whose labels were changed since has no published readings.
    """
    file = _read(suite, "outcomes.toml", _OutcomesFile)
    if file is None:
        return ()
    return tuple(
        _row(suite.scene(scene), model, seed, outcome, file.reader)
        for model, cells in file.outcomes.items()
        for scene, text in cells.items()
        if _knows(suite, scene)
        for seed, outcome in enumerate(text.split())
    )


def human_readings(suite: Suite) -> tuple[Row, ...]:
    """Return what people saw in some of the published clips, for measuring judges; none for a suite without any."""
    file = _read(suite, "human_labels.toml", _LabelsFile)
    if file is None:
        return ()
    return tuple(
        _row(suite.scene(scene), model, seed, outcome, file.reader)
        for scene, cells in file.labels.items()
        if _knows(suite, scene)
        for model, text in cells.items()
        for seed, outcome in _pairs(text)
    )


def _pairs(text: str) -> Iterator[tuple[int, str]]:
    for pair in text.split():
        seed, _, outcome = pair.partition(":")
        yield int(seed), outcome


def _row(scene: Scene, model: str, seed: int, outcome: str, reader: str) -> Row:
    null = outcome == _NULL
    reading = Reading(status="unreadable") if null else Reading.saw(scene.label_of(outcome))
    where = f"published/{model}/{scene.id}:{seed}"
    return Row(scene=scene.id, model=model, index=seed, seed=seed, reading=reading, reader=reader, where=where)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OutcomesFile:
    format: str
    paper: str
    source: str
    commit: str
    reader: str
    models: dict[str, dict[str, str]]
    outcomes: dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LabelsFile:
    format: str
    paper: str
    source: str
    commit: str
    reader: str
    labels: dict[str, dict[str, str]]


_File = TypeVar("_File", _OutcomesFile, _LabelsFile)


def _read(suite: Suite, name: str, shape: type[_File]) -> _File | None:
    path = _home(suite).folder / "published" / name
    return read_toml(path, shape, PUBLISHED_FORMAT) if path.is_file() else None


def _home(suite: Suite) -> Suite:
    """Return the suite that has the figures: this one, or the package's of the same id (copies in runs go without)."""
    own = (suite.folder / "published").is_dir() or suite.id not in builtin_suites()
    return suite if own else find_suite(suite.id)


def _knows(suite: Suite, scene: str) -> bool:
    """Say whether the suite has the scene, with the outcomes that the figures were counted by."""
    return scene in suite.scene_ids and suite.scene(scene).labels == _home(suite).scene(scene).labels
