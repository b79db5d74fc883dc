"""Scenes and suites: data in TOML and PNG, validated once, then trusted."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from worldodds.errors import SceneError, StatisticsError, UnknownNameError, nearest
from worldodds.outcome import Reference, check_labels

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
    beforehand, in fractions of the frame's width and height. ``frame`` is None for a scene that can be scored, not filmed.
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
            "ordered": self.ordered,
            "geometry": self.geometry,
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
        if re.fullmatch(r"[+-]?\d+", text):
            if 1 <= int(text) <= len(self.labels):
                return self.labels[int(text) - 1]
            raise UnknownNameError(f"outcome {text} is beyond scene {self.id!r}; it has outcomes 1 to {len(self.labels)}")
        if re.fullmatch(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?", text):
            raise UnknownNameError(f"outcome {text} is not whole; scene {self.id!r} has outcomes 1 to {len(self.labels)}")
        if text in self.labels:
            return text
        raise UnknownNameError(f"{text!r} is not an outcome of scene {self.id!r}.{nearest(text, self.labels)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How a suite is filmed and scored: rollouts a scene, and which aggregate is its headline."""

    rollouts: int
    aggregate: Literal["mntv"]
    min_valid: int = 4


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Scenes in display order plus the protocol that scores them."""

    id: str
    title: str
    version: str
    source: str
    protocol: Protocol
    scenes: tuple[Scene, ...]
    folder: Path

    @cached_property
    def content_hash(self) -> str:
        """Hash over all scene texts, references and frame bytes, and the protocol."""
        whole = {"protocol": msgspec.to_builtins(self.protocol), "scenes": [scene.identity for scene in self.scenes]}
        return digest(whole)

    @property
    def scene_ids(self) -> tuple[str, ...]:
        """Scene ids in display order."""
        return tuple(scene.id for scene in self.scenes)

    def scene(self, scene_id: str) -> Scene:
        """Return the scene of that id; raises UnknownNameError with the nearest one."""
        for scene in self.scenes:
            if scene.id == scene_id:
                return scene
        known = nearest(scene_id, self.scene_ids)
        raise UnknownNameError(f"No scene is called {scene_id!r} in suite {self.id!r}.{known}")

    def only(self, scene_ids: Sequence[str]) -> Suite:
        """Return the suite cut to some scenes, in the suite's order."""
        wanted = {self.scene(scene_id).id for scene_id in scene_ids}
        kept = tuple(scene for scene in self.scenes if scene.id in wanted)
        return replace(self, scenes=kept)


def digest(value: object) -> str:
    """Return the sha256 of a value's canonical JSON (sorted keys, no spaces)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def load_suite(folder: Path) -> Suite:
    """Read ``suite.toml`` and one TOML a scene from a folder.

    Raises:
        SceneError: a file is missing or wrong; the message names the file, the key and the fix.
    """
    path = folder / "suite.toml"
    if not path.is_file():
        raise SceneError(f"{folder}: no suite here; a suite is a folder with a suite.toml and one TOML file a scene")
    file = _read(path, _SuiteFile, SUITE_FORMAT)
    if twice := [name for name in file.scenes if file.scenes.count(name) > 1]:
        raise SceneError(f"{path}: scenes: {twice[0]!r} is listed twice; list each scene once")
    scenes = tuple(load_scene(_inside(folder, f"{name}.toml", path, "scenes")) for name in file.scenes)
    if not scenes:
        raise SceneError(f"{path}: scenes: the list is empty; name at least one scene")
    return Suite(
        id=file.id,
        title=file.title,
        version=file.version,
        source=file.source,
        protocol=file.protocol,
        scenes=scenes,
        folder=folder,
    )


def load_scene(path: Path) -> Scene:
    """Read one scene from its TOML file.

    Raises:
        SceneError: the file is missing or wrong; the message names the file, the key and the fix.
    """
    file = _read(path, _SceneFile, SCENE_FORMAT)
    if file.id != path.stem:
        raise SceneError(f"{path}: id: {file.id!r} differs from the file's name; call the file {file.id}.toml")
    frame = _inside(path.parent, file.frame, path, "frame") if file.frame else None
    if frame and not frame.is_file():
        raise SceneError(f"{path}: frame: there is no file {file.frame!r} beside the scene; leave the key out to score only")
    try:
        check_labels(file.labels)
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
        reason=file.reference.reason if file.reference else "",
        frame=frame,
        ordered=file.ordered,
        geometry=file.geometry,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReferenceFile:
    kind: Literal["uniform", "binomial", "odds"]
    reason: str
    trials: int | None = None
    success: str | float | None = None
    odds: tuple[str | float, ...] | None = None

    def build(self, labels: tuple[str, ...]) -> Reference:
        needs = {"uniform": (), "binomial": ("trials", "success"), "odds": ("odds",)}[self.kind]
        for key in ("trials", "success", "odds"):
            if (getattr(self, key) is not None) != (key in needs):
                verb = "needs" if key in needs else "does not take"
                raise StatisticsError(f"a {self.kind!r} reference {verb} the key {key!r}")
        if self.kind == "uniform":
            return Reference.uniform(labels)
        if self.kind == "binomial":
            assert self.trials is not None and self.success is not None
            return Reference.binomial(self.trials, self.success, labels)
        assert self.odds is not None
        return Reference.of(self.odds, labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SceneFile:
    format: str
    id: str
    title: str
    prompt: str
    labels: tuple[str, ...]
    readout: ReadOut
    reference: _ReferenceFile | None = None
    frame: str | None = None
    ordered: bool = False
    geometry: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class _SuiteFile:
    format: str
    id: str
    title: str
    version: str
    source: str
    protocol: Protocol
    scenes: tuple[str, ...]


_File = TypeVar("_File", _SceneFile, _SuiteFile)


def _read(path: Path, shape: type[_File], format_name: str) -> _File:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SceneError(f"{path}: there is no such file; check the list of scenes in suite.toml") from None
    except UnicodeDecodeError as error:
        raise SceneError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{path}: not valid TOML: {error}") from None
    if raw.get("format") != format_name:
        raise SceneError(f"{path}: format: {raw.get('format')!r} is not {format_name!r}")
    _refuse_unknown(path, raw, shape, "")
    try:
        return msgspec.convert(raw, shape)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        key = f"{where.rstrip('`')}: " if where else ""
        raise SceneError(f"{path}: {key}{what[:1].lower()}{what[1:]}") from None


def _refuse_unknown(path: Path, raw: object, shape: object, at: str) -> None:
    """Name a misspelt key and the nearest right one (msgspec ignores unknown keys of dataclasses)."""
    if isinstance(raw, list):
        for i, item in enumerate(raw):
            _refuse_unknown(path, item, shape, f"{at}[{i}]")
        return
    fields: Mapping[str, Any] = getattr(shape, "__dataclass_fields__", {})
    if not isinstance(raw, dict) or not fields:
        return
    for key, value in raw.items():
        where = f"{at}.{key}" if at else key
        if key not in fields:
            raise SceneError(f"{path}: {where}: there is no such key.{nearest(key, fields)}")
        _refuse_unknown(path, value, _NESTED.get(key), where)


_NESTED: Mapping[str, object] = {
    "readout": ReadOut,
    "nulls": NullRule,
    "reference": _ReferenceFile,
    "protocol": Protocol,
}


def _inside(folder: Path, name: str, path: Path, key: str) -> Path:
    """Resolve a file named by a suite, refusing one that leads out of its folder."""
    target = folder / name
    if not target.resolve().is_relative_to(folder.resolve()):
        raise SceneError(f"{path}: {key}: {name!r} leads out of the suite's folder; keep all files inside it")
    return target
