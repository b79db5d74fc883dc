"""The JSON of ``worlds check`` and ``worlds closure``: one type a document, from which the schemas are made."""

from __future__ import annotations

from dataclasses import dataclass

from worldodds._version import __version__
from worldodds.worlds.check import NaturalOdds, TargetOdds
from worldodds.worlds.closure import Closure, Part


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalInterval:
    """The population score at unlimited runs, ``1 - rho + rho TV``, with its interval."""

    estimate: float
    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalEntry:
    """Physics as it falls: ``n`` runs, of which ``invalid`` gave no valid outcome, for the ``reasons`` counted."""

    n: int
    counts: dict[str, int]
    invalid: int
    reasons: dict[str, int]
    tv: float | None
    floor: float | None
    g_p_value: float | None
    g_method: str | None
    certified_delta: float | None
    interval: NaturalInterval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FairEntry:
    """Rollouts with target odds, drawn from those runs: whether the last state of every one shows the target."""

    n: int
    target_equals_truth: bool
    unreached: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldsCheckDocument:
    """What ``worldodds worlds check`` found of one scene."""

    format: str
    worldodds_version: str
    scene: str
    first_seed: int
    natural: NaturalEntry
    fair: FairEntry


def worlds_check_document(
    scene: str, natural: NaturalOdds, fair: TargetOdds, *, first_seed: int
) -> WorldsCheckDocument:
    """Put what was found into the document's shape."""
    spread = natural.population
    counts = natural.counts
    return WorldsCheckDocument(
        format="worldodds.worlds_check/1",
        worldodds_version=__version__,
        scene=scene,
        first_seed=first_seed,
        natural=NaturalEntry(
            n=counts.n_total,
            counts=dict(zip(counts.labels, counts.counts, strict=True)),
            invalid=counts.n_total - counts.n,
            reasons=dict(natural.invalid),
            tv=natural.tv,
            floor=natural.floor,
            g_p_value=natural.g_p_value,
            g_method=natural.g_method,
            certified_delta=natural.certified_delta,
            interval=None
            if spread is None
            else NaturalInterval(
                estimate=spread.estimate,
                low=spread.interval.low,
                high=spread.interval.high,
                level=spread.interval.level,
                method=spread.interval.method,
            ),
        ),
        fair=FairEntry(n=fair.n, target_equals_truth=fair.target_equals_truth, unreached=fair.unreached),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEntry:
    """One part of the variance of outcomes, and its share of the whole with a 95% interval."""

    variance: float
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldsClosureDocument:
    """What ``worldodds worlds closure`` found: ``starts`` x ``noises`` runs, and their variance in three parts."""

    format: str
    worldodds_version: str
    scene: str
    first_seed: int
    starts: int
    noises: int
    total: float
    aliasing: PartEntry
    process_noise: PartEntry
    interaction: PartEntry


def worlds_closure_document(scene: str, found: Closure, *, first_seed: int) -> WorldsClosureDocument:
    """Put a split into the document's shape."""
    return WorldsClosureDocument(
        format="worldodds.worlds_closure/1",
        worldodds_version=__version__,
        scene=scene,
        first_seed=first_seed,
        starts=found.starts,
        noises=found.noises,
        total=found.total,
        aliasing=_part(found.aliasing),
        process_noise=_part(found.process_noise),
        interaction=_part(found.interaction),
    )


def _part(part: Part) -> PartEntry:
    return PartEntry(variance=part.variance, share=part.share, low=part.low, high=part.high)
