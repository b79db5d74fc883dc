"""The page of an exam: what a reader got right under which condition, and every misread clip to look at."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from worldodds._version import __version__
from worldodds.exam.optics import DEGRADATIONS
from worldodds.exam.sitting import CLEAN, Answer
from worldodds.interop.exam_json import FAILED, NULL, ConditionEntry, ExamDocument, count
from worldodds.interop.files import write_bytes
from worldodds.scene import Scene

MOST_CLIPS = 150  # on one page


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A confusion matrix with the counts of its clips: rows are truths, columns what was read."""

    title: str
    truths: tuple[str, ...]
    reads: tuple[str, ...]
    entry: ConditionEntry


def write_exam_page(document: ExamDocument, answers: Sequence[Answer], scenes: Sequence[Scene], output: Path) -> None:
    """Write one self-contained page; it appears by rename."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("worldodds.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    misread = [answer for answer in answers if answer.result != "agree"]
    page = environment.get_template("exam.html.j2").render(
        version=__version__,
        exam=document,
        scenes=scenes,
        matrices={scene.id: _matrices(scene, answers) for scene in scenes},
        misread={scene.id: [a for a in misread if a.scene == scene.id] for scene in scenes},
        most=max(1, MOST_CLIPS // max(1, len(scenes))),
        uri=_uri,
        percent=_percent,
        total=len(answers),
        right=len(answers) - len(misread),
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(output, page.encode())


def _matrices(scene: Scene, answers: Sequence[Answer]) -> list[Matrix]:
    """Return the scene's three matrices: clean clips, degraded ones, and those with nothing to tell."""
    conditions = {a.condition for a in answers if a.scene == scene.id}
    groups = {
        "Clean": conditions & {CLEAN},
        "Degraded": conditions & set(DEGRADATIONS),
        "Nothing to tell": conditions - {CLEAN, *DEGRADATIONS},
    }
    made: list[Matrix] = []
    for title, group in groups.items():
        mine = [a for a in answers if a.scene == scene.id and a.condition in group]
        if mine:
            entry = count(mine)
            truths = tuple(label for label in (*scene.labels, NULL) if label in entry.confusion)
            read = {name for row in entry.confusion.values() for name in row}
            reads = tuple(label for label in (*scene.labels, NULL, FAILED) if label in read)
            made.append(Matrix(title=title, truths=truths, reads=reads, entry=entry))
    return made


def _uri(frame: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(frame).decode()}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
