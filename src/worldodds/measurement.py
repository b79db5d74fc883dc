"""One cell measured: from what was seen in one scene of one model to its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from worldodds.outcome import Counts
from worldodds.scene import Scene
from worldodds.statistics.checks import LEAST_VALID
from worldodds.statistics.distance import (
    cell_score,
    effective_outcomes,
    excess,
    modal_share,
    null_band,
    null_floor,
    total_variation,
    tv_total,
    wasserstein,
    wasserstein_floor,
)
from worldodds.statistics.exact import GoodnessOfFit, multinomial_test
from worldodds.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """For scenes whose outcomes have an order: how many steps off, and how many by chance alone."""

    steps: float
    floor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """How far the valid outcomes of a cell lie from their odds, as the protocol measures it."""

    tv: float
    floor: float
    null_band: tuple[float, float]
    excess: float
    modal_share: float
    effective_outcomes: float
    near_miss: NearMiss | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One scene of one model. What cannot be told is None, and ``reason`` then says why.

    ``deviation`` needs one valid outcome and a known reference; ``score`` one clip read; the exact tests ``chi2`` and
    ``g`` four valid outcomes.
    """

    scene: Scene
    tally: Tally
    deviation: Deviation | None
    score: float | None
    tv_total: float | None
    chi2: GoodnessOfFit | None
    g: GoodnessOfFit | None
    reason: str | None

    @property
    def counts(self) -> Counts:
        """What was seen, and the nulls."""
        return self.tally.counts

    @property
    def collapsed(self) -> bool:
        """Whether two or more valid outcomes were all the same, though the odds allow others."""
        reference = self.scene.reference
        certain = reference is not None and 1 in reference.odds
        return self.counts.n > 1 and max(self.counts.counts) == self.counts.n and not certain


def measure(tally: Tally, scene: Scene) -> Measurement:
    """Measure one cell by the protocol of CaliBench (arXiv 2608.16829), with exact tests in place of simulated ones.

    Cells with fewer than four valid outcomes are not tested.
    """
    counts, reference = tally.counts, scene.reference
    known = reference is not None and counts.n_total > 0
    deviation = _deviation(counts, scene) if known and counts.n else None
    tested = known and counts.n >= LEAST_VALID
    return Measurement(
        scene=scene,
        tally=tally,
        deviation=deviation,
        score=_score(counts, deviation) if known else None,
        tv_total=tv_total(counts, reference) if known and reference else None,
        chi2=multinomial_test(counts, reference, statistic="chi2") if tested and reference else None,
        g=multinomial_test(counts, reference, statistic="g") if tested and reference else None,
        reason=_reason(counts, scene),
    )


def _deviation(counts: Counts, scene: Scene) -> Deviation:
    reference = scene.reference
    assert reference is not None
    tv, floor = total_variation(counts, reference), null_floor(reference, counts.n)
    near_miss = None
    if scene.ordered:
        near_miss = NearMiss(steps=wasserstein(counts, reference), floor=wasserstein_floor(reference, counts.n))
    return Deviation(
        tv=tv,
        floor=floor,
        null_band=null_band(reference, counts.n),
        excess=excess(tv, floor),
        modal_share=modal_share(counts),
        effective_outcomes=effective_outcomes(counts),
        near_miss=near_miss,
    )


def _score(counts: Counts, deviation: Deviation | None) -> float:
    rho = counts.scorability
    assert rho is not None
    return cell_score(rho, deviation.tv, deviation.floor) if deviation else 1.0


def _reason(counts: Counts, scene: Scene) -> str | None:
    if counts.n_total == 0:
        return "no clip was read"
    if scene.reference is None:
        return "the scene has no reference odds"
    if counts.n < LEAST_VALID:
        return f"{counts.n} valid outcome{'' if counts.n == 1 else 's'}; a test needs {LEAST_VALID}"
    return None
