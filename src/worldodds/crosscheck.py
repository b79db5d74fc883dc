"""Both papers' rules face to face: one source scored by mnTV and by TVD with its pass rate, and why they disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from worldodds.early import NOT_COMPARABLE
from worldodds.errors import SourceError
from worldodds.sources import Source
from worldodds.statistics.coverage import coverage_percent, scene_pass_rate, track_mean, tvd_percent
from worldodds.statistics.distance import cell_score, excess, null_floor
from worldodds.tally import Tally

GATE_SHARE = 0.4  # PAWBench asks for 20 readable of 50


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossCell:
    """One scene of one model by both rules.

    ``score`` is CaliBench's: nulls cost, and what chance alone gives is taken out. ``tvd`` is PAWBench's, in percent
    of the readable clips; None where fewer than 40 percent of the clips are readable, for then the scene is left out.
    """

    scene: str
    n: int
    n_total: int
    score: float
    tv: float | None
    floor: float | None
    excess: float | None
    tvd: float | None
    coverage: float | None

    @property
    def passes(self) -> bool:
        """Whether PAWBench's rule measures the scene."""
        return self.tvd is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossModel:
    """One model by both rules, and its place by each; 1 is best. ``mnTV`` = ``by_nulls`` + ``by_odds``.

    A model that was stopped early holds no place, and ``why_not_comparable`` says why.
    """

    model: str
    cells: tuple[CrossCell, ...]
    mntv: float
    by_nulls: float
    by_odds: float
    tvd: float | None
    scene_pass_rate: float
    mntv_place: int | None
    tvd_place: int | None
    why_not_comparable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Two models that the rules put in different order, with what each rule sees."""

    better_by_mntv: str
    better_by_tvd: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosscheck:
    """All models by both rules, best by mnTV first, and the pairs in which the rules disagree.

    Models that were stopped early come last, and are in no pair.
    """

    scenes: tuple[str, ...]
    gate: float
    models: tuple[CrossModel, ...]
    swaps: tuple[Swap, ...]


def crosscheck(source: Source) -> Crosscheck:
    """Score every model of a source by both papers' rules, over its scenes with known odds that all models have.

    PAWBench's gate (20 readable of 50) is taken as a share, since other protocols film other numbers of rollouts.

    Raises:
        SourceError: no scene with known odds was read for all models.
    """
    tallies = source.tallies()
    known = [scene.id for scene in source.suite.scenes if scene.reference is not None]
    shared = [s for s in known if tallies and all(_read(by_scene.get(s)) for by_scene in tallies.values())]
    if not shared:
        raise SourceError("no scene with known odds was read for all models; there is nothing to compare by both rules")
    models = [_model(model, [_cell(source, s, by_scene[s]) for s in shared]) for model, by_scene in tallies.items()]
    placed = _placed([model for model in models if model.model not in source.early])
    stopped = [replace(model, why_not_comparable=NOT_COMPARABLE) for model in models if model.model in source.early]
    everything = (*placed, *sorted(stopped, key=lambda m: (m.mntv, m.model)))
    return Crosscheck(scenes=tuple(shared), gate=GATE_SHARE, models=everything, swaps=_swaps(placed))


def _read(tally: Tally | None) -> bool:
    return tally is not None and tally.counts.n_total > 0


def _cell(source: Source, scene_id: str, tally: Tally) -> CrossCell:
    counts, reference = tally.counts, source.suite.scene(scene_id).reference
    assert reference is not None
    rho = counts.n / counts.n_total
    tv = tvd_percent(counts, reference) / 100 if counts.n else None
    floor = null_floor(reference, counts.n) if counts.n else None
    return CrossCell(
        scene=scene_id,
        n=counts.n,
        n_total=counts.n_total,
        score=cell_score(rho, tv, floor),
        tv=tv,
        floor=floor,
        excess=excess(tv, floor) if tv is not None and floor is not None else None,
        tvd=100 * tv if tv is not None and rho >= GATE_SHARE else None,
        coverage=coverage_percent(counts) if counts.n else None,
    )


def _model(model: str, cells: Sequence[CrossCell]) -> CrossModel:
    nulls = sum(1 - cell.n / cell.n_total for cell in cells) / len(cells)
    mntv = sum(cell.score for cell in cells) / len(cells)
    return CrossModel(
        model=model,
        cells=tuple(cells),
        mntv=mntv,
        by_nulls=nulls,
        by_odds=mntv - nulls,
        tvd=track_mean([cell.tvd for cell in cells]),
        scene_pass_rate=scene_pass_rate([cell.passes for cell in cells]),
        mntv_place=None,
        tvd_place=None,
    )


def _placed(models: Sequence[CrossModel]) -> tuple[CrossModel, ...]:
    by_tvd = sorted((m.tvd, m.model) for m in models if m.tvd is not None)
    places: Mapping[str, int] = {name: i for i, (_, name) in enumerate(by_tvd, start=1)}
    ordered = sorted(models, key=lambda m: (m.mntv, m.model))
    return tuple(
        replace(model, mntv_place=i, tvd_place=places.get(model.model)) for i, model in enumerate(ordered, start=1)
    )


def _swaps(models: Sequence[CrossModel]) -> tuple[Swap, ...]:
    return tuple(
        Swap(better_by_mntv=a.model, better_by_tvd=b.model, why=_why(a, b))
        for i, a in enumerate(models)
        for b in models[i + 1 :]
        if a.tvd is not None and b.tvd is not None and b.tvd < a.tvd
    )


def _why(a: CrossModel, b: CrossModel) -> str:
    """Say what mnTV charges ``b`` for and TVD does not see: nulls, and scenes that the gate leaves out."""
    told: list[str] = []
    if b.by_nulls > a.by_nulls:
        told.append(f"nulls cost {b.model} {b.by_nulls:.2f} of its mnTV and {a.model} {a.by_nulls:.2f}, TVD not at all")
    left = [cell.scene for cell, other in zip(b.cells, a.cells, strict=True) if not cell.passes and other.passes]
    if left:
        told.append(f"the gate leaves {', '.join(left)} out of {b.model}'s TVD and in {a.model}'s")
    same = [(c.tvd, o.tvd) for c, o in zip(b.cells, a.cells, strict=True) if c.tvd is not None and o.tvd is not None]
    if same and sum(x for x, _ in same) >= sum(y for _, y in same):
        told.append(f"over the {len(same)} scenes that pass for both, {b.model} is not nearer to the odds")
    return "; ".join(told) or f"{b.model} is nearer to the odds by TVD, and chance explains more of it (floors differ)"
