"""What ``worldodds score --judge`` adds to the JSON of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from worldodds.judged import JudgedCell, Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCellEntry:
    """The cell with the judge's measured errors allowed for: exact G at their upper bound, and what people would see.

    ``survives`` is null where the verdict is not a rejection.
    """

    p_value: float | None
    survives: bool | None
    scorability: float
    odds: dict[str, float] | None
    tv: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEntry:
    """How the judge was measured: counts as in ``worldodds.audit/1``, and the bound on its share of false labels."""

    truth: str | None
    n: int
    agree: int
    false_null: tuple[int, int]
    missed_null: tuple[int, int]
    wrong_label: int
    error_bound: float


def judged_entry(cell: JudgedCell, labels: Sequence[str]) -> JudgedCellEntry:
    """Put one cell into the shape of its JSON entry."""
    odds = cell.corrected.odds
    return JudgedCellEntry(
        p_value=cell.p_value,
        survives=cell.survives,
        scorability=cell.corrected.scorability,
        odds=dict(zip(labels, odds, strict=True)) if odds else None,
        tv=cell.tv,
    )


def judge_entry(measured: Measured) -> JudgeEntry:
    """Put what was measured of a judge into the shape of its JSON entry."""
    errors = measured.errors
    return JudgeEntry(
        truth=measured.truth,
        n=measured.n,
        agree=measured.agree,
        false_null=(errors.false_null.errors, errors.false_null.trials),
        missed_null=(errors.missed_null.errors, errors.missed_null.trials),
        wrong_label=errors.wrong_label.errors,
        error_bound=measured.error_bound,
    )
