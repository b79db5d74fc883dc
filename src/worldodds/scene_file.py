"""Scenes and suites into TOML: what `worldodds.scene` reads, written so that a person can go on from there."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from worldodds.errors import SceneError
from worldodds.outcome import Reference
from worldodds.scene import SCENE_FORMAT, SUITE_FORMAT, Scene, Suite, load_suite

_WIDTH = 110
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def save_suite(suite: Suite, into: Path) -> Suite:
    """Write a suite, frames included, to a new folder, and return it as read from there; it appears by rename.

    Raises:
        SceneError: the folder exists already, or the suite cannot be read back.
    """
    if into.exists():
        raise SceneError(f"{into}: this exists already; give a new folder")
    part = into.with_name(f".{into.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        for scene in suite.scenes:
            save_scene(scene, part)
        (part / "suite.toml").write_text(suite_toml(suite), encoding="utf-8")
        load_suite(part)
    except SceneError:
        shutil.rmtree(part)
        raise
    part.rename(into)
    return load_suite(into)


def save_scene(scene: Scene, folder: Path) -> Path:
    """Write a scene into a suite's folder, its frame as ``frames/<id>.png`` (or as it ends), and return the file."""
    name = None
    if scene.frame is not None:
        name = f"frames/{scene.id}{scene.frame.suffix.lower()}"
        (folder / "frames").mkdir(exist_ok=True)
        if scene.frame.resolve() != (folder / name).resolve():
            shutil.copyfile(scene.frame, folder / name)
    path = folder / f"{scene.id}.toml"
    path.write_text(scene_toml(scene, frame=name), encoding="utf-8")
    return path


def suite_toml(suite: Suite) -> str:
    """Return the text of ``suite.toml``."""
    head = {"format": SUITE_FORMAT, "id": suite.id, "title": suite.title, "version": suite.version}
    lines = _pairs({**head, "source": suite.source})
    lines += ["scenes = [", *(f"  {_value(scene_id)}," for scene_id in suite.scene_ids), "]"]
    films = _table("films", suite.films) if suite.films else []
    return _text([*lines, *_table("protocol", suite.protocol.identity), *films])


def scene_toml(scene: Scene, *, frame: str | None) -> str:
    """Return the text of a scene's file; ``frame`` is the picture's path within the suite's folder."""
    lines = _pairs({"format": SCENE_FORMAT, "id": scene.id, "title": scene.title, "prompt": scene.prompt})
    lines += _pairs({"labels": list(scene.labels)})
    lines += _pairs({"frame": frame} if frame else {}) + _pairs({"ordered": True} if scene.ordered else {})
    lines += _table("readout", {"evidence": scene.readout.evidence, "question": scene.readout.question})
    if not scene.readout.nulls:
        lines += _pairs({"nulls": []})
    for null in scene.readout.nulls:
        lines += ["", "[[readout.nulls]]", *_pairs(msgspec.to_builtins(null))]
    if scene.reference is not None:
        lines += _table("reference", _odds(scene.reference, scene.reason))
    if scene.placement is not None:
        placed = msgspec.to_builtins(scene.placement)
        lines += _table("placement", {key: value for key, value in placed.items() if value not in (None, {})})
    return _text([*lines, *(_table("geometry", scene.geometry) if scene.geometry else [])])


def _odds(reference: Reference, reason: str) -> dict[str, Any]:
    odds = reference.odds
    if reference.counts is not None:
        counts = dict(zip(reference.labels, reference.counts, strict=True))
        return {"kind": "counts", "counts": counts, "source": reason}
    if len(set(odds)) == 1:
        return {"kind": "uniform", "reason": reason}
    return {"kind": "odds", "odds": [str(share) for share in odds], "reason": reason}


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _table(name: str, pairs: Mapping[str, Any]) -> list[str]:
    return ["", f"[{name}]", *_pairs(pairs)]


def _pairs(pairs: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_long(value) or _value(value)}" for key, value in pairs.items()]


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _long(value: Any) -> str | None:
    """Break a long sentence into lines where TOML lets that change nothing."""
    if not isinstance(value, str) or len(value) < _WIDTH or " ".join(value.split()) != value:
        return None
    words = _quoted(value)[1:-1]
    lines = textwrap.wrap(words, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return '"""\n' + " \\\n".join(lines) + '\\\n"""'


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    """Quote a text: JSON's strings are TOML's, but for the one sign that TOML wants escaped too."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")
