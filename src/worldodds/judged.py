"""A judge's measured errors carried into the result: which verdicts withstand them, and the score without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from worldodds.outcome import Reference
from worldodds.scorecard import Cell, Scorecard
from worldodds.statistics.inversion import Inversion, invert
from worldodds.statistics.judge import Corrected, JudgeError, correct
from worldodds.statistics.robustness import p_with_error_rate, survives_error_rate

JUDGES = ("vlm", "gemini", "anthropic")
_HOPELESS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured of a judge: its errors, over how many clips, against whom."""

    errors: JudgeError
    n: int
    agree: int
    truth: str | None

    @property
    def error_bound(self) -> float:
        """The share of false labels that its errors allow at 95% confidence."""
        return self.errors.false_label_bound()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCell:
    """One cell with the judge's errors allowed for.

    ``p_value`` is the exact-G one valid at the error bound, ``survives`` whether a rejection stays one then; both None
    where nothing was tested. ``corrected`` is what people would probably have seen, ``tv`` its total variation.
    """

    p_value: float | None
    survives: bool | None
    corrected: Corrected
    tv: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """All cells, and by model the score with an interval that the judge's errors have widened."""

    measured: Measured
    populations: Mapping[str, Inversion]
    cells: Mapping[tuple[str, str], JudgedCell]


def judged(cards: Sequence[Scorecard], measured: Measured, *, seed: int = 0) -> Judged:
    """Carry a judge's measured errors into scorecards.

    Verdicts are tested anew at the upper bound of the error rate, Benjamini-Hochberg over the same family; the score
    is estimated with rates drawn from what was counted, so that few labels give a wide interval. Models that were
    stopped early are left out: these tests are for an n that was fixed beforehand.
    """
    cards = [card for card in cards if card.early is None]
    cells = [(card.model, cell) for card in cards for cell in card.cells if _scored(cell)]
    bound = measured.error_bound
    pairs = [(cell.measurement.counts, _reference(cell)) for _, cell in cells]
    stays = survives_error_rate(pairs, rate=bound) if bound < _HOPELESS else [False] * len(pairs)
    return Judged(
        measured=measured,
        populations={card.model: _population(card, measured.errors, seed) for card in cards if card.mntv is not None},
        cells={
            (model, cell.measurement.scene.id): _judged_cell(cell, measured.errors, bound, stay)
            for (model, cell), stay in zip(cells, stays, strict=True)
        },
    )


def unaudited(reader: str | None, measured: Measured | None = None) -> str | None:
    """Say that a model read the clips and nobody has measured it; None where that is not so.

    >>> unaudited("tracker"), unaudited("vlm/some-model")[:24]
    (None, 'vlm/some-model is an una')
    """
    judges = [name for name in (reader or "").split(" + ") if name.partition("/")[0] in JUDGES]
    if measured is not None or not judges:
        return None
    return f"{' and '.join(judges)} is an unaudited judge: how it errs is not known, and no verdict allows for it"


def _population(card: Scorecard, errors: JudgeError, seed: int) -> Inversion:
    rng = np.random.default_rng(seed)
    pairs = [(cell.measurement.counts, _reference(cell)) for cell in card.cells if _scored(cell)]
    return invert(pairs, rng=rng, misreading=errors.misreading(rng))


def _judged_cell(cell: Cell, errors: JudgeError, bound: float, stays: bool) -> JudgedCell:
    m, reference = cell.measurement, _reference(cell)
    corrected = correct(m.counts, errors)
    tv = None
    if corrected.odds is not None:
        tv = float(np.abs(np.array(corrected.odds) - reference.probabilities).sum() / 2)
    p = None
    if m.g is not None:
        p = p_with_error_rate(m.counts, reference, rate=bound) if bound < _HOPELESS else 1.0
    rejected = cell.verdict == "miscalibrated"
    return JudgedCell(p_value=p, survives=stays if rejected else None, corrected=corrected, tv=tv)


def _scored(cell: Cell) -> bool:
    return cell.measurement.score is not None


def _reference(cell: Cell) -> Reference:
    reference = cell.measurement.scene.reference
    assert reference is not None
    return reference
