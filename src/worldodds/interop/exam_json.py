"""The JSON of ``worldodds exam``: one type, from which the schema is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worldodds._version import __version__
from worldodds.exam.sitting import Answer, conditions_of
from worldodds.scene import Scene
from worldodds.statistics.agreement import share_interval

VALIDATED = "validated on simulated clips only"
NULL, FAILED = "null", "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionEntry:
    """Clips of a scene under one condition: ``n`` is the sum of the five counts that follow.

    ``agree_interval`` is Clopper-Pearson at 95% for agree / n. ``confusion`` counts, for each truth (a label, or null),
    what was read (a label, null, or failed).
    """

    n: int
    agree: int
    false_null: int
    missed_null: int
    wrong_label: int
    failed: int
    agree_interval: tuple[float, float]
    confusion: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamDocument:
    """What ``worldodds exam`` found."""

    format: str
    worldodds_version: str
    reader: str
    reader_settings: dict[str, str | int | float | bool | None]
    generator: str
    generator_settings: dict[str, str | int | float | bool | None]
    n: int
    first_seed: int
    validated: str
    conditions: dict[str, str]
    scenes: dict[str, dict[str, ConditionEntry]]


def exam_document(
    answers: Sequence[Answer],
    scenes: Sequence[Scene],
    *,
    reader: tuple[str, Mapping[str, str | int | float | bool | None]],
    generator: tuple[str, Mapping[str, str | int | float | bool | None]],
    n: int,
    first_seed: int,
) -> ExamDocument:
    """Count answers by scene and condition; ``reader`` and ``generator`` are name and settings."""
    told: dict[str, str] = {}
    for scene in scenes:
        for name, what in conditions_of(scene).items():
            told.setdefault(name, what)
    sat = {name: [a for a in answers if a.condition == name] for name in told}
    return ExamDocument(
        format="worldodds.exam/1",
        worldodds_version=__version__,
        reader=reader[0],
        reader_settings=dict(reader[1]),
        generator=generator[0],
        generator_settings=dict(generator[1]),
        n=n,
        first_seed=first_seed,
        validated=VALIDATED,
        conditions={name: what for name, what in told.items() if sat[name]},
        scenes={
            scene.id: {
                name: count(mine)
                for name, all_scenes in sat.items()
                if (mine := [a for a in all_scenes if a.scene == scene.id])
            }
            for scene in scenes
        },
    )


def count(answers: Sequence[Answer]) -> ConditionEntry:
    """Count the answers of one scene and condition (or of several together)."""
    results = Counter(answer.result for answer in answers)
    confusion: dict[str, dict[str, int]] = {}
    for answer in answers:
        read = answer.reading.label or (FAILED if answer.result == "failed" else NULL)
        row = confusion.setdefault(answer.truth or NULL, {})
        row[read] = row.get(read, 0) + 1
    spread = share_interval(results["agree"], len(answers))
    return ConditionEntry(
        n=len(answers),
        agree=results["agree"],
        false_null=results["false_null"],
        missed_null=results["missed_null"],
        wrong_label=results["wrong_label"],
        failed=results["failed"],
        agree_interval=(spread.low, spread.high),
        confusion=confusion,
    )
