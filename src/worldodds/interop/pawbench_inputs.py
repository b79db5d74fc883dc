"""The official PAWBench package of inputs: its references, prompts and pictures into a suite of one's own."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from worldodds.errors import SceneError, SourceError, StatisticsError
from worldodds.interop.files import parse_json, read_text, write_bytes
from worldodds.outcome import Reference
from worldodds.placement import Track
from worldodds.scene import Scene, Suite, load_suite
from worldodds.tracks import placement_of

FORMAT = "pawbench.benchmark_inputs/v1"
_PROMPTS = ("prompt", "generation_prompt", "prompt_path", "generation_prompt_path", "action")
_CLIP = re.compile(r"[rR]([0-9]{3,})\.(mp4|mov|webm|avi)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialScene:
    """What the official package says of one scene."""

    scene: Scene
    prompt: str
    picture: Path
    reference: Reference | None


def read_benchmark(folder: Path, suite: Suite) -> tuple[OfficialScene, ...]:
    """Read ``manifest.json`` and its table of scenes.

    Raises:
        SourceError: a file is missing or wrong, a scene is unknown, its labels are others, or a path leads out of the
            folder; the message names the row.
    """
    manifest = parse_json(read_text(folder / "manifest.json"), str(folder / "manifest.json"))
    if not isinstance(manifest, dict) or manifest.get("schema_version") != FORMAT:
        raise SourceError(f"{folder / 'manifest.json'}: schema_version: write {FORMAT!r}")
    table = inside(folder, manifest.get("scene_table"), "manifest.json: scene_table")
    lines = [line for line in read_text(table).split("\n") if line.strip()]
    found = [
        _scene(folder, parse_json(line, f"{table}: row {number}"), suite, f"{table}: row {number}")
        for number, line in enumerate(lines, start=1)
    ]
    ids = [one.scene.id for one in found]
    if twice := [name for name in ids if ids.count(name) > 1]:
        raise SourceError(f"{table}: scene {twice[0]!r} is here twice; keep one")
    return tuple(found)


def import_benchmark(folder: Path, suite: Suite, into: Path) -> Suite:
    """Write a suite with the official prompts, pictures and references of a package that you have; ours fill the rest.

    The holes of the suite (A-04, A-11) are filled by it. Nothing is downloaded; what is imported keeps its own licence.

    Raises:
        SourceError: the package is wrong, or ``into`` exists already.
    """
    official = {one.scene.id: one for one in read_benchmark(folder, suite)}
    if into.exists():
        raise SourceError(f"{into}: this exists already; give a new folder")
    part = into.with_name(f".{into.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(suite.folder, part)
    try:
        (part / "frames").mkdir(exist_ok=True)
        for one in official.values():
            _write_scene(one, part)
        load_suite(part)
    except SceneError:
        shutil.rmtree(part)
        raise
    part.rename(into)
    return load_suite(into)


def clips_of(folder: Path, suite: Suite) -> tuple[dict[tuple[str, int], Path], list[str]]:
    """Return the clips of a folder ``<scene>/r000.mp4`` by scene and index, and what else lies there, in words.

    Set aside are folders of unknown scenes, foreign files, indices beyond the protocol, a second clip of a slot, and
    links that lead out of the folder.
    """
    clips: dict[tuple[str, int], Path] = {}
    told: list[str] = []
    for path in sorted(folder.glob("*/*")):
        scene = path.parent.name
        match = _CLIP.fullmatch(path.name)
        index = int(match[1]) if match else -1
        if scene not in suite.scene_ids:
            told.append(f"{path}: no scene is called {scene!r} in suite {suite.id!r}")
        elif not match or not path.is_file():
            told.append(f"{path}: not a clip called r000.mp4, r001.mp4 ...")
        elif index >= suite.protocol.rollouts:
            told.append(f"{path}: index {index} is beyond the protocol's {suite.protocol.rollouts} rollouts")
        elif not path.resolve().is_relative_to(folder.resolve()):
            told.append(f"{path}: leads out of the folder")
        elif (first := clips.setdefault((scene, index), path)) != path:
            told.append(f"{path}: the slot has a clip already, {first.name}")
    return clips, told


def inside(folder: Path, name: object, at: str) -> Path:
    """Return a file named by a package; raises SourceError where it leads out of its folder."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise SourceError(f"{folder}: {at}: {name!r} is no path")
    target = folder / name
    if not target.resolve().is_relative_to(folder.resolve()):
        raise SourceError(f"{folder}: {at}: {name!r} leads out of the package's folder; keep all files inside it")
    return target


def _scene(folder: Path, row: object, suite: Suite, at: str) -> OfficialScene:
    if not isinstance(row, dict) or not isinstance(row.get("scene_id"), str):
        raise SourceError(f"{at}: not an object with a scene_id")
    if row["scene_id"] not in suite.scene_ids:
        raise SourceError(f"{at}: no scene is called {row['scene_id']!r} in suite {suite.id!r}")
    scene = suite.scene(row["scene_id"])
    labels = row.get("outcome_labels")
    if not isinstance(labels, list) or set(labels) != set(scene.labels):
        raise SourceError(f"{at}: outcome_labels: {labels!r} are not those of scene {scene.id!r}")
    return OfficialScene(
        scene=scene,
        prompt=_prompt(folder, row, at),
        picture=inside(folder, row.get("source_image_path"), f"{at}: source_image_path"),
        reference=_reference(row, scene, placement_of(scene).track, at),
    )


def _reference(row: Mapping[str, Any], scene: Scene, track: Track, at: str) -> Reference | None:
    odds = row.get("reference_distribution")
    if track == "coverage":
        return None
    if not isinstance(odds, dict) or not set(odds) <= set(scene.labels):
        raise SourceError(f"{at}: reference_distribution: odds for the labels of scene {scene.id!r} are asked for")
    try:
        # a label that the package leaves out cannot come: it is kept, with odds 0
        return Reference.of([odds.get(label, 0) for label in scene.labels], scene.labels)
    except StatisticsError as error:
        raise SourceError(f"{at}: reference_distribution: {error}") from None


def _prompt(folder: Path, row: Mapping[str, Any], at: str) -> str:
    key = next((key for key in _PROMPTS if isinstance(row.get(key), str) and row[key].strip()), None)
    if key is None:
        raise SourceError(f"{at}: no prompt; one of {', '.join(_PROMPTS)} is asked for")
    text = read_text(inside(folder, row[key], f"{at}: {key}")) if key.endswith("_path") else row[key]
    return text.strip()


def _write_scene(one: OfficialScene, into: Path) -> None:
    """Change a scene's file: the official picture, prompt and odds, everything else as it was."""
    name = f"frames/{one.scene.id}{one.picture.suffix.lower()}"
    if not one.picture.is_file():
        raise SourceError(f"{one.picture}: there is no such picture")
    shutil.copyfile(one.picture, into / name)
    path = into / f"{one.scene.id}.toml"
    text = re.sub(r"\A(#.*\n)+", "", path.read_text(encoding="utf-8"))  # what was not known is known now
    prompt = msgspec.json.encode(one.prompt).decode()  # a JSON string is a TOML string
    text = re.sub(
        r'^prompt = """.*?"""', lambda _: f'prompt = {prompt}\nframe = "{name}"', text, flags=re.MULTILINE | re.DOTALL
    )
    if one.reference is not None:
        odds = ", ".join(f'"{share}"' for share in one.reference.odds)
        table = (
            f'[reference]\nkind = "odds"\nodds = [{odds}]\nreason = "As in the official benchmark\'s own package."\n'
        )
        text = re.sub(r"^\[reference\].*", "", text, flags=re.MULTILINE | re.DOTALL).rstrip() + f"\n\n{table}"
        text = re.sub(r'reference = "[CIU]"', 'reference = "C"', text)
    write_bytes(path, text.encode())
