"""Label Studio's JSON: one task a clip, the outcomes as choices that each task brings along."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from worldodds.errors import SourceError, nearest
from worldodds.interop.files import parse_json, read_text
from worldodds.labelling.sheet import Task
from worldodds.rollout import Reading
from worldodds.scene import Scene

INTERFACE = """<View>
  <Header value="$question"/>
  <Video name="clip" value="$video"/>
  <Choices name="outcome" toName="clip" value="$outcomes" choice="single-radio" required="true"/>
  <TextArea name="note" toName="clip" placeholder="Note" maxSubmissions="1" editable="true"/>
  <TextArea name="annotator" toName="clip" placeholder="Who labels" maxSubmissions="1" editable="true"/>
</View>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One person's answer to one task; ``where`` names the task for messages."""

    where: str
    rollout: str
    annotator: str
    choice: str
    note: str | None

    def reading(self, scene: Scene) -> Reading:
        """Return the answer as a reading of the scene; raises SourceError for a choice that it does not have."""
        known = choices(scene)
        if self.choice not in known:
            raise SourceError(f"{self.where}: {self.choice[:60]!r} is no choice.{nearest(self.choice, known)}")
        one = known[self.choice]
        return Reading(status=one.status, label=one.label, reason=one.reason, raw=self.note)


def clip_name(task: Task) -> str:
    """Return a clip's name for others' eyes: it says nothing, and is the same at every export."""
    return f"{task.rollout_key[:20]}{task.clip.path.suffix}"


def choices(scene: Scene) -> dict[str, Reading]:
    """Return every choice of a scene and what it means: its labels, both nulls, and every null rule."""
    nulls = {f"{null.kind}: {null.name}": Reading(status=null.kind, reason=null.name) for null in scene.readout.nulls}
    plain = {"unreadable": Reading(status="unreadable"), "out_of_schema": Reading(status="out_of_schema")}
    return nulls | plain | {label: Reading.saw(label) for label in scene.labels}


def tasks_json(tasks: Sequence[Task], labels: Mapping[str, Mapping[str, Reading]], url: str) -> bytes:
    """Return the tasks as Label Studio imports them; ``labels`` are by annotator and rollout."""
    documents = [
        {
            "data": _data(task, url),
            "annotations": [
                {"result": _result(name, own[task.rollout_key], task.scene)}
                for name, own in labels.items()
                if task.rollout_key in own
            ],
        }
        for task in tasks
    ]
    return msgspec.json.format(msgspec.json.encode(documents), indent=1) + b"\n"


def read_tasks(path: Path) -> Iterator[Annotation]:
    """Read what people answered from Label Studio's export (JSON); skipped and unanswered tasks have none.

    Raises:
        SourceError: not such a file; the message names the task.
    """
    tasks = parse_json(read_text(path), str(path))
    if not isinstance(tasks, list):
        raise SourceError(f"{path}: not Label Studio's tasks; export the project as JSON (a list of tasks)")
    for number, task in enumerate(tasks, 1):  # pyright: ignore[reportUnknownArgumentType]
        where = f"{path}: task {number}"
        try:
            one = msgspec.convert(task, _Task)
        except msgspec.ValidationError as error:
            raise SourceError(f"{where}: not a task of ours: {error}") from None
        for annotation in one.annotations:
            if not annotation.was_cancelled and (found := _annotation(where, one.data.rollout, annotation)):
                yield found


class _Data(msgspec.Struct):
    rollout: str


class _Item(msgspec.Struct):
    from_name: str = ""
    value: dict[str, Any] = {}


class _Annotated(msgspec.Struct):
    result: list[_Item] = []
    was_cancelled: bool = False
    completed_by: int | dict[str, Any] | None = None


class _Task(msgspec.Struct):
    data: _Data
    annotations: list[_Annotated] = []


def _annotation(where: str, rollout: str, given: _Annotated) -> Annotation | None:
    picked = [
        choice for item in given.result if item.from_name == "outcome" for choice in item.value.get("choices", [])
    ]
    if not picked:
        return None
    if len(picked) > 1:
        raise SourceError(f"{where}: {len(picked)} outcomes are chosen; two labels are no label, keep one")
    return Annotation(
        where=where,
        rollout=rollout,
        annotator=_text(given, "annotator") or _who(given.completed_by),
        choice=str(picked[0]),
        note=_text(given, "note"),
    )


def _text(given: _Annotated, name: str) -> str | None:
    texts = [text for item in given.result if item.from_name == name for text in item.value.get("text", [])]
    return " ".join(map(str, texts)).strip() or None


def _who(completed_by: int | dict[str, Any] | None) -> str:
    """Return a name for a user of Label Studio: what stands before the @ of the address, else the number."""
    if isinstance(completed_by, dict):
        mail = str(completed_by.get("email") or "").partition("@")[0]
        return re.sub(r"[^A-Za-z0-9._-]", "-", mail).lstrip("._-") or f"user-{completed_by.get('id', 0)}"
    return f"user-{completed_by or 0}"


def _data(task: Task, url: str) -> dict[str, Any]:
    rules = {f"{null.kind}: {null.name}": null.rule for null in task.scene.readout.nulls}
    return {
        "video": f"{url}{clip_name(task)}",
        "rollout": task.rollout_key,
        "scene": task.scene.id,
        "question": task.scene.readout.question,
        "outcomes": [{"value": name, "hint": rules.get(name, "")} for name in _listed(task.scene)],
    }


def _listed(scene: Scene) -> list[str]:
    """Return the choices in the order in which they are shown: the outcomes first."""
    return [*scene.labels, *(name for name in choices(scene) if name not in scene.labels)]


def _result(annotator: str, answer: Reading, scene: Scene) -> list[dict[str, Any]]:
    known = choices(scene)
    meant = Reading(status=answer.status, label=answer.label, reason=answer.reason)
    choice = next(name for name, one in known.items() if one == meant)
    texts = {"note": answer.raw, "annotator": annotator}
    return [
        {"id": "outcome", "from_name": "outcome", "to_name": "clip", "type": "choices", "value": {"choices": [choice]}},
        *(
            {"id": name, "from_name": name, "to_name": "clip", "type": "textarea", "value": {"text": [text]}}
            for name, text in texts.items()
            if text
        ),
    ]
