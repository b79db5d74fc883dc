"""The page of an exam: what a reader got right under which condition, and every misread clip to look at."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from worldodds._version import __version__
from worldodds.exam.optics import DEGRADATIONS
from worldodds.exam.sitting import CLEAN, Answer, conditions_of
from worldodds.interop.exam_json import FAILED, NULL, ConditionEntry, ExamDocument, count
from worldodds.interop.files import write_bytes
from worldodds.report.environment import environment
from worldodds.scene import Scene

MOST_CLIPS = 150  # on one page


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A confusion matrix with the counts of its clips: rows are truths, columns what was read."""

    title: str
    truths: tuple[str, ...]
    reads: tuple[str, ...]
    entry: ConditionEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Misread:
    """The misread clips of a scene under one condition: how many of how many, and those that are shown."""

    condition: str
    count: int
    of: int
    shown: tuple[Answer, ...]


def write_exam_page(document: ExamDocument, answers: Sequence[Answer], scenes: Sequence[Scene], output: Path) -> None:
    """Write one self-contained page; it appears by rename."""
    misread = [answer for answer in answers if answer.result != "agree"]
    page = (
        environment()
        .get_template("exam.html.j2")
        .render(
            version=__version__,
            exam=document,
            scenes=scenes,
            matrices={scene.id: _matrices(scene, answers) for scene in scenes},
            misread={scene.id: _misread(scene, answers, MOST_CLIPS // max(1, len(scenes))) for scene in scenes},
            said=said,
            uri=_uri,
            percent=_percent,
            total=len(answers),
            right=len(answers) - len(misread),
        )
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


def _misread(scene: Scene, answers: Sequence[Answer], most: int) -> list[Misread]:
    """Gather the scene's misread clips by condition, clean ones first; each condition shows its share of ``most``."""
    mine = {name: [a for a in answers if a.scene == scene.id and a.condition == name] for name in conditions_of(scene)}
    wrong = {name: found for name, found in mine.items() if any(a.result != "agree" for a in found)}
    each = max(1, most // max(1, len(wrong)))
    made: list[Misread] = []
    for name, found in wrong.items():
        bad = sorted((a for a in found if a.result != "agree"), key=lambda a: a.seed)
        made.append(Misread(condition=name, count=len(bad), of=len(found), shown=tuple(bad[:each])))
    return made


def said(answer: Answer) -> str:
    """Say what was read, by which rule, and how the votes fell where there are several.

    >>> from worldodds.rollout import Reading
    >>> cast = (Reading.saw("left"), Reading.saw("left"), Reading(status="missing"))
    >>> said(Answer(scene="ball", condition="clean", seed=0, truth="right", reading=cast[0], votes=cast))
    'left; votes: left, left'
    """
    reading = answer.reading
    told = reading.label or reading.status.replace("_", " ")
    told += f" ({reading.reason.replace('_', ' ')})" if reading.reason else ""
    cast = [vote.label or vote.status.replace("_", " ") for vote in answer.votes if vote.status != "missing"]
    told += f"; votes: {', '.join(cast)}" if len(cast) > 1 else ""
    # a judge keeps its whole record there, which is for the ledger; our own readers a short note
    note = "" if not reading.raw or reading.raw.startswith("{") else f"; {reading.raw}"
    return told + note


def _uri(frame: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(frame).decode()}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
