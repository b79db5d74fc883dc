"""CaliBench's own files: a folder of ``<scene>_<model>_bins.json``, one file a cell, read and written."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from worldodds.errors import SourceError, UnknownNameError, nearest
from worldodds.interop.files import parse_json, read_text, write_bytes
from worldodds.interop.rows import Place, check_unique
from worldodds.rollout import Reading
from worldodds.row import Row
from worldodds.scene import Scene, Suite
from worldodds.tally import settle

ENDING = "_bins.json"
_KEYS = ("scene", "model", "num_bins", "rollouts")


def read_bins(path: Path, suite: Suite) -> list[Row]:
    """Read a folder of bins files, or a single one; a null bin is ``unreadable`` (the format has one kind of null).

    Raises:
        SourceError, UnknownNameError: a file is wrong; the message names the file, the rollout and the nearest name.
    """
    files = sorted(path.glob(f"*{ENDING}")) if path.is_dir() else [path]
    if not files:
        raise SourceError(f"{path}: there is no file called <scene>_<model>{ENDING} in this folder")
    rows = [row for file in files for row in _read_cell(file, suite)]
    check_unique(rows)
    return rows


def write_bins(rows: Iterable[Row], folder: Path, suite: Suite) -> list[Row]:
    """Write one bins file a cell, and return the rows that the format cannot hold.

    It knows outcomes and nulls only: refused, failed and missing rollouts and failed readings are left out, never
    written as nulls, and handed back so that they can be shown. Both kinds of null are written as null, a reader's
    votes on a clip as what they come to.

    Raises:
        SourceError: a rule of early stopping, which the files cannot name; several readers of one rollout; two cells
            that would share a file; or a folder that holds bins files or is not writable.
    """
    rows = list(rows)
    if stopped := next((row.model for row in rows if row.stop), None):
        told = f"{stopped} was stopped early, which bins files cannot say, so its verdicts would be others"
        raise SourceError(f"{told}; write a table (.csv), or run it with --stop never first")
    if any(folder.glob(f"*{ENDING}")):
        raise SourceError(f"{folder}: there are bins files here already, which would be mixed in; name a new folder")
    kept, left = _split(_settled(rows))
    _check_single(kept)
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(kept, key=lambda row: row.index):
        cells.setdefault((row.scene, row.model), []).append(row)
    names = {cell: f"{cell[0]}_{re.sub(r'[^A-Za-z0-9_.-]+', '-', cell[1])}{ENDING}" for cell in cells}
    if len(set(names.values())) < len(names):
        raise SourceError(f"{folder}: two models have names that differ only in signs; rename one of them")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"{folder}: cannot be made: {error.strerror}; name a folder you may write to") from None
    for cell, members in cells.items():
        text = json.dumps(_cell(suite.scene(cell[0]), members), indent=2, ensure_ascii=False)
        write_bytes(folder / names[cell], (text + "\n").encode())
    return left


def _settled(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield what the votes of one reader on one clip come to."""
    clips: dict[tuple[str, str, int, int, str], list[Row]] = defaultdict(list)
    for row in rows:
        clips[row.scene, row.model, row.index, row.seed, row.reader].append(row)
    for votes in clips.values():
        if len({row.vote for row in votes}) < len(votes):
            yield from votes  # no votes, but the same said twice
        else:
            ordered = sorted(votes, key=lambda row: row.vote)
            yield replace(ordered[0], reading=settle([row.reading for row in ordered]))


def _split(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    kept: list[Row] = []
    left: list[Row] = []
    for row in rows:
        readable = row.rollout_status == "done" and row.reading.status in ("outcome", "unreadable", "out_of_schema")
        (kept if readable else left).append(row)
    return kept, left


def _check_single(rows: Iterable[Row]) -> None:
    first: dict[tuple[str, str, int], Row] = {}
    for row in rows:
        other = first.setdefault((row.scene, row.model, row.seed), row)
        if other is not row:
            raise SourceError(
                f"{row.where or row.scene}: seed {row.seed} of scene {row.scene!r}, model {row.model!r} has several "
                f"readings; a bins file holds one, so choose a reader"
            )


def _cell(scene: Scene, rows: Iterable[Row]) -> dict[str, Any]:
    members = list(rows)
    bins = [scene.labels.index(row.reading.label) + 1 if row.reading.label is not None else None for row in members]
    return {
        "scene": scene.id,
        "model": members[0].model,
        "num_bins": len(scene.labels),
        "rollouts": [{"seed": row.seed, "bin": number} for row, number in zip(members, bins, strict=True)],
    }


def _read_cell(path: Path, suite: Suite) -> list[Row]:
    cell = parse_json(read_text(path), str(path))
    scene = _check_cell(path, cell, suite)
    return [
        _read_rollout(item, scene, cell["model"], Place(path=path, number=number, unit="rollout"))
        for number, item in enumerate(cell["rollouts"], start=1)
    ]


def _check_cell(path: Path, cell: object, suite: Suite) -> Scene:
    if not isinstance(cell, dict):
        raise SourceError(f"{path}: not an object; a bins file holds one with the keys {', '.join(_KEYS)}")
    if lacking := [key for key in _KEYS if key not in cell]:
        raise SourceError(f"{path}: there is no key {lacking[0]!r}.{nearest(lacking[0], [str(key) for key in cell])}")
    try:
        scene = suite.scene(str(cell["scene"]))
    except UnknownNameError as error:
        raise UnknownNameError(f"{path}: scene: {error}") from None
    model, num_bins, rollouts = cell["model"], cell["num_bins"], cell["rollouts"]
    if not isinstance(model, str) or not model.strip() or not model.isprintable():
        raise SourceError(f"{path}: model: {model!r} is no name; write one in printable characters")
    if type(num_bins) is not int or num_bins != len(scene.labels):
        raise SourceError(f"{path}: num_bins: {num_bins!r} given; scene {scene.id!r} has {len(scene.labels)} outcomes")
    if not isinstance(rollouts, list) or not rollouts:
        raise SourceError(f"{path}: rollouts: there are none; it should be a list with one entry a rollout")
    return scene


def _read_rollout(item: object, scene: Scene, model: str, place: Place) -> Row:
    if not isinstance(item, Mapping) or not {"seed", "bin"} <= set(item):
        raise SourceError(f'{place}: not an object with "seed" and "bin"; write {{"seed": 0, "bin": 1}}')
    seed, number = item["seed"], item["bin"]
    if type(seed) is not int:
        raise SourceError(f"{place}: seed: {seed!r} is not a whole number; write one such as 0 or 17")
    if number is not None and (type(number) is not int or not 1 <= number <= len(scene.labels)):
        raise SourceError(f"{place}: bin: {number!r} is not one of 1 to {len(scene.labels)}, nor null")
    reading = Reading(status="unreadable") if number is None else Reading.saw(scene.labels[number - 1])
    return Row(scene=scene.id, model=model.strip(), index=seed, seed=seed, reading=reading, where=place.where)
