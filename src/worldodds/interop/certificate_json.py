"""A certificate (format ``worldodds.certificate/1``): what an exam has shown of one reader, as one version of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from worldodds._version import __version__
from worldodds.errors import InputError, SourceError
from worldodds.exam.grades import Grade, advise_votes, grade, together
from worldodds.exam.sitting import CLEAN, Answer
from worldodds.exam.staging import conditions_of, is_null
from worldodds.interop.exam_json import VALIDATED
from worldodds.interop.files import read_bytes, write_bytes
from worldodds.protocols import Reader, WaitingReader
from worldodds.rollout import Settings
from worldodds.scene import Scene, digest
from worldodds.spending import spending

FORMAT = "worldodds.certificate/1"
Value = str | int | float | bool | None
Count = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeEntry:
    """Clips counted: ``n`` is ``right`` and the four kinds of wrong. ``interval`` holds the share that is right at 95%.

    ``false_labels`` is (labels given that are not true, labels given); ``error_bound`` their share that the errors seen
    allow, one-sided at 95%. ``weight`` is how many independent clips these are worth: those of one motion under several
    conditions tend to go together (Korn and Graubard 1998).
    """

    n: int
    right: int
    interval: tuple[float, float]
    false_null: Count
    missed_null: Count
    wrong_label: int
    failed: int
    false_labels: Count
    error_bound: float
    weight: float

    def grade(self) -> Grade:
        """Return the counts, to be added up with those of other scenes."""
        return Grade(
            n=self.n,
            right=self.right,
            false_null=self.false_null,
            missed_null=self.missed_null,
            wrong_label=self.wrong_label,
            failed=self.failed,
            false_labels=self.false_labels,
            weight=self.weight,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneCertificateEntry:
    """One scene. ``question`` is a hash of its outcomes and read-out rules: another question is not certified.

    ``nulls`` has an entry for each null rule that the scene's simulated world can stage.
    """

    question: str
    total: GradeEntry
    clean: GradeEntry
    degraded: GradeEntry
    nulls: dict[str, GradeEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesTriedEntry:
    """What so many votes a clip gave: clips right, and questions asked where none is that could change nothing."""

    votes: int
    right: int
    asked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesAdviceEntry:
    """How many votes to ask; null where the exam cannot tell. ``reason`` says why."""

    recommended: int | None
    reason: str
    tried: tuple[VotesTriedEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateDocument:
    """All that a certificate says. ``served`` are the versions that an endpoint named; a reader of ours has none."""

    format: str
    worldodds_version: str
    made_at: str
    reader: str
    reader_settings: dict[str, Value]
    served: tuple[str, ...]
    generator: str
    generator_settings: dict[str, Value]
    n: int
    first_seed: int
    conditions: dict[str, str]
    scenes: dict[str, SceneCertificateEntry]
    total: GradeEntry
    votes: VotesAdviceEntry
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    seconds: float
    validated: str


def certificate_of(
    answers: Sequence[Answer],
    scenes: Sequence[Scene],
    *,
    reader: Reader,
    generator: tuple[str, Settings],
    n: int,
    first_seed: int,
    made_at: datetime,
    seconds: float,
) -> CertificateDocument:
    """Make a certificate of a whole exam: every condition of each of its scenes.

    Raises:
        InputError: some condition of a scene was left out.
    """
    entries = {scene.id: _scene_entry(scene, [a for a in answers if a.scene == scene.id]) for scene in scenes}
    spent = spending(vote for answer in answers for vote in answer.votes)
    advice = advise_votes(answers, repeats=isinstance(reader, WaitingReader))
    return CertificateDocument(
        format=FORMAT,
        worldodds_version=__version__,
        made_at=made_at.isoformat(timespec="seconds"),
        reader=reader.name,
        reader_settings=dict(reader.settings),
        served=spent.served,
        generator=generator[0],
        generator_settings=dict(generator[1]),
        n=n,
        first_seed=first_seed,
        conditions={name: what for scene in scenes for name, what in conditions_of(scene).items()},
        scenes=entries,
        total=grade_entry(together([entry.total.grade() for entry in entries.values()])),
        votes=VotesAdviceEntry(
            recommended=advice.recommended,
            reason=advice.reason,
            tried=tuple(VotesTriedEntry(votes=t.votes, right=t.right, asked=t.asked) for t in advice.tried),
        ),
        calls=spent.calls,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cost_usd=spent.cost_usd,
        seconds=round(seconds, 1),
        validated=VALIDATED,
    )


def question_of(scene: Scene) -> str:
    """Return a hash of what a reader is asked about a scene."""
    return digest(scene.read_identity)[:16]


def grade_entry(graded: Grade) -> GradeEntry:
    """Put a grade into the shape of its JSON entry."""
    spread = graded.interval
    return GradeEntry(
        n=graded.n,
        right=graded.right,
        interval=(spread.low, spread.high),
        false_null=graded.false_null,
        missed_null=graded.missed_null,
        wrong_label=graded.wrong_label,
        failed=graded.failed,
        false_labels=graded.false_labels,
        error_bound=graded.error_bound,
        weight=graded.weight,
    )


def certificate_bytes(document: CertificateDocument) -> bytes:
    """Return the document as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def write_certificate(document: CertificateDocument, path: Path) -> None:
    """Write a certificate; the file appears by rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, certificate_bytes(document))


def read_certificate(path: Path) -> CertificateDocument:
    """Read a certificate back.

    Raises:
        SourceError: not such a document, or of another format.
    """
    try:
        document = msgspec.json.decode(read_bytes(path), type=CertificateDocument)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise SourceError(f"{path}: not a certificate: {error}; make one with: worldodds exam --reader NAME") from None
    if document.format != FORMAT:
        raise SourceError(f"{path}: format {document.format!r}; this worldodds reads {FORMAT!r}")
    return document


def _scene_entry(scene: Scene, answers: Sequence[Answer]) -> SceneCertificateEntry:
    by_condition: Mapping[str, list[Answer]] = {
        name: [a for a in answers if a.condition == name] for name in conditions_of(scene)
    }
    if left := [name for name, mine in by_condition.items() if not mine]:
        raise InputError(f"scene {scene.id!r} was not examined under {left[0]!r}: a part of the exam certifies nothing")
    degraded = [a for name, mine in by_condition.items() if name != CLEAN and not is_null(name) for a in mine]
    return SceneCertificateEntry(
        question=question_of(scene),
        total=grade_entry(grade(answers)),
        clean=grade_entry(grade(by_condition[CLEAN])),
        degraded=grade_entry(grade(degraded)),
        nulls={name: grade_entry(grade(mine)) for name, mine in by_condition.items() if is_null(name)},
    )
