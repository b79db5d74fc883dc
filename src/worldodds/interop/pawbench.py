"""The official PAWBench evaluator's ``rows.jsonl`` and ``checkpoint.jsonl``: a bad row is set aside, by its number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from worldodds.errors import SourceError, UnknownNameError
from worldodds.interop.files import read_bytes
from worldodds.rollout import Reading
from worldodds.row import Row
from worldodds.scene import Scene, Suite

ROWS, CHECKPOINT, METRICS = "rows.jsonl", "checkpoint.jsonl", "metrics.json"
CHECKPOINT_FORMAT = "pawbench.checkpoint/v1"
NOT_FILMED = "missing_video"

_Slot = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Official:
    """The rows of an official file, and in a sentence each those that were set aside, with their place.

    A row that was set aside but names its slot leaves that slot open (a failed reading); it never becomes a null.
    """

    rows: list[Row]
    set_aside: list[str]


def is_official(path: Path) -> bool:
    """Say whether a path is rows or a checkpoint of the official evaluator, or a folder that holds one of them."""
    if path.is_dir():
        return any(is_official(path / name) for name in (ROWS, CHECKPOINT))
    if not path.is_file() or path.suffix.lower() != ".jsonl":
        return False
    with path.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
    return b'"scene_id"' in first and (b'"observation"' in first or b'"row"' in first)


def read_official(path: Path, suite: Suite) -> Official:
    """Read ``rows.jsonl`` or ``checkpoint.jsonl``, or the first of them that a folder holds.

    Set aside, with their row, are: broken lines (a broken last line of a checkpoint is an interrupted write), unknown
    scenes, labels outside the ontology, slots given twice and repeat indices beyond the protocol.

    Raises:
        SourceError: the file cannot be read, or no row of it can be used; the message names the first bad row.
    """
    file = path if path.is_file() else next(path / n for n in (ROWS, CHECKPOINT) if is_official(path / n))
    reader = _Reader(file, suite)
    for number, line in enumerate(read_bytes(file).split(b"\n"), start=1):
        if line.strip():
            reader.take(number, line)
    if not reader.found:
        first = reader.set_aside[0] if reader.set_aside else f"{file}: there are no rows"
        raise SourceError(f"{first}; no row of the file can be used")
    return Official(rows=list(reader.found.values()), set_aside=reader.set_aside)


class _BadRowError(Exception):
    """A row cannot be used; ``slot`` says whose place it leaves open, where that can be told."""

    def __init__(self, what: str, slot: _Slot | None = None) -> None:
        super().__init__(what)
        self.slot = slot


class _Reader:
    """Collects the rows of one file, the first of every slot."""

    def __init__(self, file: Path, suite: Suite) -> None:
        self.file, self.suite = file, suite
        self.scenes = {scene.id: scene for scene in suite.scenes}
        self.found: dict[_Slot, Row] = {}
        self.set_aside: list[str] = []
        self.samples: dict[tuple[str, str, str], int] = {}

    def take(self, number: int, line: bytes) -> None:
        where = f"{self.file}:{number}"
        try:
            self._keep(_unwrapped(line), number, where)
        except _BadRowError as error:
            self.set_aside.append(f"{self.file}: row {number}: {error}")
            if error.slot and error.slot not in self.found:
                scene, model, index = error.slot
                self.found[error.slot] = Row(
                    scene=scene,
                    model=model,
                    index=index,
                    seed=index,
                    reading=Reading(status="failed", reason=f"the row was set aside: {error}"),
                    where=where,
                )

    def _keep(self, fields: Mapping[str, Any], number: int, where: str) -> None:
        scene = self._scene(fields)
        slot = self._slot(fields, scene)
        row = _row(fields, scene, slot, where)
        if (first := self.found.get(slot)) is not None:
            self._duplicate(slot, first, row)
        sample = fields.get("sample_id")
        if isinstance(sample, str) and (other := self.samples.setdefault((*slot[:2], sample), number)) != number:
            raise _BadRowError(f"sample_id {sample!r} was used in row {other} already", slot)
        self.found[slot] = row

    def _scene(self, fields: Mapping[str, Any]) -> Scene:
        name = fields.get("scene_id")
        if scene := self.scenes.get(name) if isinstance(name, str) else None:
            return scene
        try:
            return self.suite.scene(str(name))
        except UnknownNameError as error:
            raise _BadRowError(str(error)) from None

    def _slot(self, fields: Mapping[str, Any], scene: Scene) -> _Slot:
        model, repeat, track = fields.get("model_or_lane"), fields.get("repeat_index"), fields.get("track")
        if not isinstance(model, str) or not model.strip() or not model.isprintable():
            raise _BadRowError(f"model_or_lane: {model!r} is no name")
        if isinstance(repeat, str) and re.fullmatch(r"[0-9]{1,9}", repeat.strip()):
            repeat = int(repeat)
        if type(repeat) is not int:
            raise _BadRowError(f"repeat_index: {repeat!r} is not a whole number")
        most = self.suite.protocol.rollouts
        if not 0 <= repeat < most:
            raise _BadRowError(f"repeat_index {repeat} of scene {scene.id!r} is beyond the protocol's 0 to {most - 1}")
        slot = (scene.id, model.strip(), repeat)
        if scene.placement and track is not None and track != scene.placement.track:
            raise _BadRowError(f"track: {track!r} given; scene {scene.id!r} is on {scene.placement.track!r}", slot)
        return slot

    def _duplicate(self, slot: _Slot, first: Row, again: Row) -> None:
        """Set the second row of a slot aside; where it says otherwise, neither can be trusted and the slot is open."""
        place = first.where.rpartition(":")[2]
        told = f"repeat_index {slot[2]} of scene {slot[0]!r}, model {slot[1]!r} was given in row {place} already"
        if (first.reading.status, first.reading.label) != (again.reading.status, again.reading.label):
            del self.found[slot]
            raise _BadRowError(f"{told}, with another reading; neither is used", slot)
        raise _BadRowError(f"{told}; the first is kept", slot)


def _unwrapped(line: bytes) -> Mapping[str, Any]:
    """Return a row's fields, also out of a line of a checkpoint."""
    try:
        fields = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _BadRowError(f"not valid JSON: {error}") from None
    if isinstance(fields, dict) and isinstance(inner := fields.get("row"), dict):
        return {"scene_id": fields.get("scene_id"), "repeat_index": fields.get("repeat_index"), **inner}
    if not isinstance(fields, dict):
        raise _BadRowError("not an object; a row is one with scene_id, model_or_lane, repeat_index and observation")
    return fields


def _row(fields: Mapping[str, Any], scene: Scene, slot: _Slot, where: str) -> Row:
    reading = _reading(fields, scene, slot)
    missing = reading.status == "missing"
    return Row(
        scene=scene.id,
        model=slot[1],
        index=slot[2],
        seed=slot[2],
        reading=reading,
        rollout_status="missing" if missing else "done",
        where=where,
    )


def _reading(fields: Mapping[str, Any], scene: Scene, slot: _Slot) -> Reading:
    seen, label, code = (fields.get(key) for key in ("observation", "outcome_label", "failure_code"))
    readout = fields.get("outcome_readout")
    raw = msgspec.json.encode(readout).decode() if readout else None
    if seen == "outcome":
        if label in scene.labels:
            return Reading.saw(label, raw)
        raise _BadRowError(f"outcome_label: {label!r} is not an outcome of scene {scene.id!r}", slot)
    if label is not None:
        raise _BadRowError(f"outcome_label: {label!r} on a row that is no outcome ({seen!r})", slot)
    if seen == "null_observation":
        outside = isinstance(readout, dict) and readout.get("outcome_in_schema") == "OUT_OF_SCHEMA"
        return Reading(status="out_of_schema" if outside else "unreadable", raw=raw)
    if seen != "infrastructure_failure":
        raise _BadRowError(
            f"observation: {seen!r} is not one of outcome, null_observation, infrastructure_failure", slot
        )
    if not isinstance(code, str) or not code:
        raise _BadRowError("a failure without its failure_code", slot)
    return Reading(status="missing" if code == NOT_FILMED else "failed", reason=code, raw=raw)
