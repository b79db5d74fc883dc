"""All cells of all models together: verdicts that know their family, and each model's headline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from worldodds.early import Early, EarlyCell
from worldodds.errors import InputError
from worldodds.extras import need
from worldodds.measurement import Measurement, measure
from worldodds.scene import Suite
from worldodds.statistics.checks import check_level
from worldodds.statistics.equivalence import Equivalence, certify
from worldodds.statistics.interval import Estimate, jackknife
from worldodds.statistics.multiplicity import benjamini_hochberg, bonferroni
from worldodds.tally import Tally

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["miscalibrated", "calibrated", "undecided", "illegible"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One measured cell with what only the whole family can tell: corrected p-values and the verdict.

    Of a model that stops early, ``early`` holds what its rule says of the cell: the verdict is that rule's, ``g_q`` is
    over the cells of its own run by anytime p-values, and a cell that stopped before its horizon has no fixed-n test.
    """

    measurement: Measurement
    verdict: Verdict
    g_q: float | None
    chi2_q: float | None
    chi2_bonferroni: float | None
    equivalence: Equivalence | None
    early: EarlyCell | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """One model's result on one suite, read by one reader.

    ``mntv`` is None, with ``mntv_reason``, where scenes are missing and no partial average was asked for; ``averaged``
    names the scenes in it. ``interval`` is for the official score, None with it. ``family_size`` counts the cells that
    were tested together. ``early`` is set for a model that stops early: its mnTV is over rollouts that were bought
    until the verdicts stood, so it has no interval and is compared with no other.
    """

    model: str
    reader: str | None
    suite: Suite
    cells: tuple[Cell, ...]
    mntv: float | None
    mntv_reason: str | None
    averaged: tuple[str, ...]
    missing_scenes: tuple[str, ...]
    interval: Estimate | None
    family_size: int
    early: Early | None = None

    def cell(self, scene_id: str) -> Cell:
        """Return the cell of a scene; raises UnknownNameError with the nearest name."""
        scene = self.suite.scene(scene_id)
        for cell in self.cells:
            if cell.measurement.scene.id == scene.id:
                return cell
        raise InputError(f"{self.model} was not filmed in scene {scene_id!r}")

    @property
    def open(self) -> int:
        """How many rollouts or readings have failed or are missing."""
        return sum(c.measurement.tally.failed + c.measurement.tally.missing for c in self.cells)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row a cell; needs pandas (``pip install 'worldodds[tables]'``)."""
        from worldodds.interop.score_json import cell_entry

        rows: list[dict[str, Any]] = [
            {"model": self.model, "scene": cell.measurement.scene.id, **cell_entry(cell, self.suite)}
            for cell in self.cells
        ]
        return need("pandas", "tables").json_normalize(rows)


def score(
    tallies: Mapping[str, Mapping[str, Tally]],
    suite: Suite,
    *,
    reader: str | None = None,
    partial: bool = False,
    delta: float = 0.2,
    alpha: float = 0.05,
    early: Mapping[str, Early] | None = None,
) -> tuple[Scorecard, ...]:
    """Score every model given, in that order; their cells with enough valid outcomes form the family of tests.

    ``tallies`` holds, by model and then scene id, what was counted. ``partial`` averages over the scenes there are.
    A cell is miscalibrated where the exact G-test rejects after Benjamini-Hochberg at ``alpha``, else calibrated where
    equivalence within ``delta`` is certified, else undecided; illegible with too few valid outcomes to test. The models
    in ``early`` keep the verdicts of their own rule, and are in no other's family.

    Raises:
        StatisticsError: ``delta`` or ``alpha`` outside (0, 1).
        UnknownNameError: a scene that the suite does not have.
    """
    check_level("delta", delta)
    check_level("alpha", alpha)
    for by_scene in tallies.values():
        for scene_id in by_scene:
            suite.scene(scene_id)
    measured = {
        model: [measure(by_scene[s.id], s) for s in suite.scenes if s.id in by_scene]
        for model, by_scene in tallies.items()
    }
    early = early or {}
    everything = [m for model, cells in measured.items() if model not in early for m in cells]
    judged = dict(zip(map(id, everything), _judge(everything, delta, alpha), strict=True))
    size = sum(m.g is not None for m in everything)
    return tuple(
        _card(model, [judged[id(m)] for m in cells], suite, reader, partial, size)
        if model not in early
        else _early_card(
            _card(model, [_early_cell(m, early[model], delta, alpha) for m in cells], suite, reader, partial, 0),
            early[model],
        )
        for model, cells in measured.items()
    )


def best_first(cards: Iterable[Scorecard]) -> tuple[Scorecard, ...]:
    """Return scorecards by their mnTV, lowest first, those without one last."""
    return tuple(sorted(cards, key=lambda card: (card.mntv is None, card.mntv or 0.0, card.model)))


def _judge(cells: Sequence[Measurement], delta: float, alpha: float) -> list[Cell]:
    chi2 = [m.chi2.p_value if m.chi2 else None for m in cells]
    g_q = benjamini_hochberg([m.g.p_value if m.g else None for m in cells])
    certified = [_certify(m, delta, alpha) for m in cells]
    return [
        Cell(measurement=m, verdict=_verdict(m, q, e, alpha), g_q=q, chi2_q=cq, chi2_bonferroni=cb, equivalence=e)
        for m, q, cq, cb, e in zip(cells, g_q, benjamini_hochberg(chi2), bonferroni(chi2), certified, strict=True)
    ]


def _certify(measurement: Measurement, delta: float, alpha: float) -> Equivalence | None:
    reference = measurement.scene.reference
    if measurement.g is None or reference is None:
        return None
    return certify(measurement.counts, reference, delta=delta, alpha=alpha)


def _verdict(measurement: Measurement, q: float | None, equivalence: Equivalence | None, alpha: float) -> Verdict:
    if q is None or equivalence is None:
        return "illegible" if measurement.scene.reference is not None else "undecided"
    if q <= alpha:
        return "miscalibrated"
    return "calibrated" if equivalence.certified else "undecided"


def _card(
    model: str, cells: Sequence[Cell], suite: Suite, reader: str | None, partial: bool, family_size: int
) -> Scorecard:
    scored = [c.measurement for c in cells if c.measurement.score is not None]
    have = tuple(m.scene.id for m in scored)
    missing = tuple(scene_id for scene_id in suite.scene_ids if scene_id not in have)
    reason = _no_mean(have, missing, suite, partial)
    scores = [m.score for m in scored if m.score is not None]
    pairs = [(m.counts, m.scene.reference) for m in scored if m.scene.reference]
    return Scorecard(
        model=model,
        reader=reader,
        suite=suite,
        cells=tuple(cells),
        mntv=None if reason else sum(scores) / len(scores),
        mntv_reason=reason,
        averaged=() if reason else have,
        missing_scenes=missing,
        interval=None if reason else jackknife(pairs),
        family_size=family_size,
    )


def _early_card(card: Scorecard, early: Early) -> Scorecard:
    told = "rollouts were bought until the verdicts stood, and no interval for a fixed n holds then"
    interval = card.interval and Estimate(value=card.interval.value, standard_error=None, interval=None, reason=told)
    return replace(card, early=early, family_size=len(early.cells), interval=interval)


def _early_cell(measurement: Measurement, early: Early, delta: float, alpha: float) -> Cell:
    cell = early.cells.get(measurement.scene.id)
    if cell is None:  # no odds, so no test either
        return _judge([measurement], delta, alpha)[0]
    whole = cell.p_value is not None
    m = measurement if whole else replace(measurement, g=None, chi2=None, reason=cell.reason)
    certified = _certify(m, delta, alpha)
    verdict: Verdict = "calibrated" if certified and certified.certified else "undecided"
    if cell.declared or cell.illegible:
        verdict = "miscalibrated" if cell.declared else "illegible"
    return Cell(
        measurement=m,
        verdict=verdict,
        g_q=cell.q_value,
        chi2_q=None,
        chi2_bonferroni=None,
        equivalence=certified,
        early=cell,
    )


def _no_mean(have: Sequence[str], missing: Sequence[str], suite: Suite, partial: bool) -> str | None:
    if not have:
        return "no scene with known odds has a clip that was read"
    if not missing or partial:
        return None
    unknown = [scene_id for scene_id in missing if suite.scene(scene_id).reference is None]
    holes = f"; no reference odds: {', '.join(unknown)}" if unknown else ""
    of = len(suite.scenes)
    return f"{len(missing)} of {of} scenes missing ({', '.join(missing)}{holes}); --partial averages over the others"
