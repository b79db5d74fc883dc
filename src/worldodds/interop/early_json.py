"""What a score's JSON says of a model that was stopped early; part of ``worldodds.score/1``."""

from __future__ import annotations

from dataclasses import dataclass

from worldodds.early import NOT_COMPARABLE, Early, EarlyCell


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyEntry:
    """A model whose rollouts were bought until its verdicts stood: the rule, and what was saved.

    ``family`` says by which procedure the cells of the run share ``alpha``. Costs are null where none is known.
    """

    early_e: float
    final_level: float
    horizon: int
    family: str
    alpha: float
    planned: int
    bought: int
    saved: int
    cost_usd: float | None
    saved_usd: float | None
    comparable: bool
    why_not_comparable: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyCellEntry:
    """One cell under the rule. ``used`` readings led to the verdict; ``e_value`` is null where it passes every bound.

    ``q_value`` is the false discovery rate at which the cell is declared, by the anytime p-values of its run.
    """

    planned: int
    bought: int
    saved: int
    used: int
    stopped_by: str | None
    e_value: float | None
    anytime_p: float
    q_value: float
    cost_usd: float | None
    saved_usd: float | None


def early_entry(early: Early) -> EarlyEntry:
    """Put a model's part into the shape of the document."""
    return EarlyEntry(
        early_e=early.rule.early_e,
        final_level=early.rule.final_level,
        horizon=early.rule.horizon,
        family=early.rule.family,
        alpha=early.rule.alpha,
        planned=early.planned,
        bought=early.bought,
        saved=early.saved,
        cost_usd=early.cost_usd,
        saved_usd=early.saved_usd,
        comparable=False,
        why_not_comparable=NOT_COMPARABLE,
    )


def early_cell_entry(cell: EarlyCell) -> EarlyCellEntry:
    """Put a cell's part into the shape of the document."""
    return EarlyCellEntry(
        planned=cell.planned,
        bought=cell.bought,
        saved=cell.saved,
        used=cell.used,
        stopped_by=cell.stopped_by,
        e_value=cell.e_value,
        anytime_p=cell.anytime_p,
        q_value=cell.q_value,
        cost_usd=cell.cost_usd,
        saved_usd=cell.saved_usd,
    )
