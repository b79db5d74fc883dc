"""Scenes and suites: data in TOML and PNG, validated once, then trusted."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec

from worldodds.errors import SceneError, StatisticsError, UnknownNameError, nearest
from worldodds.odds_table import OddsTable
from worldodds.outcome import Reference, check_labels
from worldodds.placement import Placement
from worldodds.suite_protocol import Protocol
from worldodds.toml_file import read_toml

SCENE_FORMAT = "worldodds.scene/1"
SUITE_FORMAT = "worldodds.suite/1"

NullKind = Literal["unreadable", "out_of_schema"]
Evidence = Literal["last frame", "whole clip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NullRule:
    """One way a clip can end without a listed outcome, and which of the two nulls it then is."""

    name: str
    kind: NullKind
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOut:
    """How an outcome is read from a clip: from which evidence, by which question, with which nulls."""

    evidence: Evidence
    question: str
    nulls: tuple[NullRule, ...]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A conditioning frame, an action prompt, a finite list of outcomes, and (where known) how often each should come.

    ``ordered`` says that neighbouring labels are near misses. ``geometry`` is what a reader may know of the layout
    beforehand, in fractions of the frame's width and height. ``frame`` is None for a scene that can be scored only.
    """

    id: str
    title: str
    prompt: str
    labels: tuple[str, ...]
    readout: ReadOut
    reference: Reference | None
    reason: str
    frame: Path | None = None
    ordered: bool = False
    geometry: Mapping[str, Any] = field(default_factory=dict[str, Any])
    placement: Placement | None = None

    @cached_property
    def frame_sha256(self) -> str | None:
        """Hash of the conditioning frame's bytes."""
        return hashlib.sha256(self.frame.read_bytes()).hexdigest() if self.frame else None

    @property
    def film_identity(self) -> dict[str, Any]:
        """What a generator sees of the scene; together with its settings and the seed it keys a rollout."""
        return {"scene": self.id, "frame": self.frame_sha256, "prompt": self.prompt}

    @property
    def read_identity(self) -> dict[str, Any]:
        """What a reader is asked; together with the clip and the reader's settings it keys a reading."""
        return {"labels": self.labels, "readout": msgspec.to_builtins(self.readout)}

    @property
    def identity(self) -> dict[str, Any]:
        """All of the scene's content, reference included: what the suite's hash covers."""
        odds = self.reference.odds if self.reference else None
        return {
            **self.film_identity,
            **self.read_identity,
            "odds": [str(o) for o in odds] if odds else None,
            **({"counts": self.reference.counts} if self.reference and self.reference.counts else {}),
            "ordered": self.ordered,
            "geometry": self.geometry,
            **({"placement": msgspec.to_builtins(self.placement)} if self.placement else {}),
        }

    def null_kind(self, rule: str) -> NullKind:
        """Return which null the named rule is; raises UnknownNameError for a rule the scene does not have."""
        for null in self.readout.nulls:
            if null.name == rule:
                return null.kind
        names = [null.name for null in self.readout.nulls]
        raise UnknownNameError(f"Scene {self.id!r} has no null rule called {rule!r}.{nearest(rule, names)}")

    def label_of(self, outcome: str) -> str:
        """Return the label meant by ``outcome``: a whole number is always the 1-based position, else a label.

        Raises:
            UnknownNameError: neither a label nor a number from 1 to k.
        """
        text = outcome.strip()
        k = len(self.labels)
        if re.fullmatch(r"[+-]?[0-9]+", text):
            if len(text) < 10 and 1 <= int(text) <= k:
                return self.labels[int(text) - 1]
            raise UnknownNameError(f"outcome {text[:40]} is beyond scene {self.id!r}; it has outcomes 1 to {k}")
        if text in self.labels:
            return text
        if re.fullmatch(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
            raise UnknownNameError(f"outcome {text[:40]} is not whole; scene {self.id!r} has outcomes 1 to {k}")
        raise UnknownNameError(
            f"{text[:40]!r} is not an outcome of scene {self.id!r}.{nearest(text[:40], self.labels)}"
        )

    def name_of(self, label: str) -> str:
        """Return how a label is written so that `label_of` reads it back: its number where it looks like another's."""
        looks_whole = re.fullmatch(r"[+-]?[0-9]+", label) is not None
        return str(self.labels.index(label) + 1) if looks_whole else label


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Scenes in display order plus the protocol that scores them.

    ``films`` are hashes of the scenes' frames and prompts, by scene id, where they are those that a paper's models were
    filmed from; see `worldodds.suites.inputs`.
    """

    id: str
    title: str
    version: str
    source: str
    protocol: Protocol
    scenes: tuple[Scene, ...]
    folder: Path
    films: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def content_hash(self) -> str:
        """Hash over all scene texts, references and frame bytes, and the protocol."""
        return digest({"protocol": self.protocol.identity, "scenes": [scene.identity for scene in self.scenes]})

    @cached_property
    def _by_id(self) -> dict[str, Scene]:
        return {scene.id: scene for scene in self.scenes}

    @property
    def scene_ids(self) -> tuple[str, ...]:
        """Scene ids in display order."""
        return tuple(scene.id for scene in self.scenes)

    def scene(self, scene_id: str) -> Scene:
        """Return the scene of that id; raises UnknownNameError with the nearest one."""
        if scene := self._by_id.get(scene_id):
            return scene
        known = nearest(scene_id, self.scene_ids)
        raise UnknownNameError(f"No scene is called {scene_id!r} in suite {self.id!r}.{known}")

    def only(self, scene_ids: Sequence[str]) -> Suite:
        """Return the suite cut to some scenes, in the suite's order."""
        wanted = {self.scene(scene_id).id for scene_id in scene_ids}
        kept = tuple(scene for scene in self.scenes if scene.id in wanted)
        return replace(self, scenes=kept)


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: object) -> str:
    """Return a value's canonical JSON: sorted keys, no spaces."""
    return _CANONICAL.encode(value)


def digest(value: object) -> str:
    """Return the sha256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def load_suite(folder: Path) -> Suite:
    """Read ``suite.toml`` and one TOML a scene from a folder.

    Raises:
        SceneError: a file is missing or wrong; the message names the file, the key and the fix.
    """
    path = folder / "suite.toml"
    if not path.is_file():
        raise SceneError(f"{folder}: no suite here; a suite is a folder with a suite.toml and one TOML file a scene")
    file = read_toml(path, _SuiteFile, SUITE_FORMAT)
    if fault := file.protocol.fault:
        raise SceneError(f"{path}: protocol.{fault}")
    if twice := [name for name in file.scenes if file.scenes.count(name) > 1]:
        raise SceneError(f"{path}: scenes: {twice[0]!r} is listed twice; list each scene once")
    scenes = tuple(load_scene(_inside(folder, f"{name}.toml", path, "scenes")) for name in file.scenes)
    if not scenes:
        raise SceneError(f"{path}: scenes: the list is empty; name at least one scene")
    ids = [scene.id for scene in scenes]
    if twice := [name for name in ids if ids.count(name) > 1]:
        raise SceneError(f"{path}: scenes: two files have the id {twice[0]!r}; ids must differ")
    homeless = [scene.id for scene in scenes if scene.placement is None]
    if file.protocol.aggregate == "tracks" and homeless:
        raise SceneError(f"{path}: scene {homeless[0]!r} has no table [placement]; tracks need its track and group")
    return Suite(
        id=file.id,
        title=file.title,
        version=file.version,
        source=file.source,
        protocol=file.protocol,
        scenes=scenes,
        folder=folder,
        films=file.films,
    )


def load_scene(path: Path) -> Scene:
    """Read one scene from its TOML file.

    Raises:
        SceneError: the file is missing or wrong; the message names the file, the key and the fix.
    """
    file = read_toml(path, _SceneFile, SCENE_FORMAT)
    if file.id != path.stem:
        raise SceneError(f"{path}: id: {file.id!r} differs from the file's name; call the file {file.id}.toml")
    frame = _inside(path.parent, file.frame, path, "frame") if file.frame else None
    if frame and not frame.is_file():
        raise SceneError(
            f"{path}: frame: there is no file {file.frame!r} beside the scene; leave the key out to score only"
        )
    _check_texts(path, file)
    try:
        reference = file.reference.build(file.labels) if file.reference else None
    except StatisticsError as error:
        raise SceneError(f"{path}: reference: {error}") from None
    nulls = [null.name for null in file.readout.nulls]
    if twice := [name for name in nulls if nulls.count(name) > 1]:
        raise SceneError(f"{path}: readout.nulls: {twice[0]!r} is named twice; null rules need names of their own")
    return Scene(
        id=file.id,
        title=file.title,
        prompt=file.prompt,
        labels=file.labels,
        readout=file.readout,
        reference=reference,
        reason=file.reference.told if file.reference else "",
        frame=frame,
        ordered=file.ordered,
        geometry=file.geometry,
        placement=file.placement,
    )


def _check_texts(path: Path, file: _SceneFile) -> None:
    """Refuse blank texts, labels that cannot be told apart once trimmed, and geometry that has no place in JSON."""
    texts = {"title": file.title, "prompt": file.prompt, "readout.question": file.readout.question}
    texts |= {f"readout.nulls: {null.name!r}: rule": null.rule for null in file.readout.nulls}
    if blank := [key for key, text in texts.items() if not text.strip()]:
        raise SceneError(f"{path}: {blank[0]}: it is blank; write at least one sentence")
    try:
        check_labels(file.labels)
    except StatisticsError as error:
        raise SceneError(f"{path}: {error}") from None
    if untidy := [label for label in file.labels if not label or label != label.strip()]:
        raise SceneError(f"{path}: labels: {untidy[0]!r} is blank or begins or ends with a space; trim it")
    try:
        digest(file.geometry)
    except (TypeError, ValueError) as error:
        raise SceneError(f"{path}: geometry: it may hold texts, finite numbers, lists and tables: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _SceneFile:
    format: str
    id: str
    title: str
    prompt: str
    labels: tuple[str, ...]
    readout: ReadOut
    reference: OddsTable | None = None
    frame: str | None = None
    ordered: bool = False
    geometry: dict[str, Any] = field(default_factory=dict[str, Any])
    placement: Placement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _SuiteFile:
    format: str
    id: str
    title: str
    version: str
    source: str
    protocol: Protocol
    scenes: tuple[str, ...]
    films: dict[str, str] = field(default_factory=dict[str, str])


def _inside(folder: Path, name: str, path: Path, key: str) -> Path:
    """Resolve a file named by a suite, refusing one that leads out of its folder."""
    target = folder / name
    if "\0" in name or not target.resolve().is_relative_to(folder.resolve()):
        raise SceneError(f"{path}: {key}: {name!r} leads out of the suite's folder; keep all files inside it")
    return target
