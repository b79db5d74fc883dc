"""What stands beside PAWBench's numbers: floors, intervals, verdicts, and what chance or a judge alone gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from worldodds.outcome import Counts, Reference
from worldodds.placement import Track
from worldodds.scene import Suite
from worldodds.scorecard import Cell, score
from worldodds.statistics.coverage import expected_coverage, sure_coverage, tvd_percent
from worldodds.statistics.distance import excess, null_floor
from worldodds.statistics.interval import Estimate
from worldodds.statistics.track import MeanLaw, mean_coverage_interval, mean_tvd_interval, mean_tvd_law
from worldodds.tally import Tally
from worldodds.tracks import TRACKS, SceneMetric, TrackCard, TrackResult, placement_of

NULL_SIZES = (50, 40, 30, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideScene:
    """What stands beside one scene's metric, in percent; None where there is nothing readable or no reference.

    ``floor`` is what the metric reaches with nothing behind it: the mean TVD of a calibrated model at this n, or the
    coverage of a model with one outcome only whose clips are read with the judge's error. ``corrected`` is the TVD
    with its floor taken out (0 is calibrated). ``fair`` is the coverage that equal odds reach, ``sure`` the coverage
    by outcomes seen too often to be the judge's errors.
    """

    floor: float | None = None
    corrected: float | None = None
    interval: Estimate | None = None
    cell: Cell | None = None
    fair: float | None = None
    sure: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideTrack:
    """What stands beside a track's average, over the scenes in its partial average.

    ``own_law`` is the null law of the average at the run's own readable counts, ``laws`` the same over all scenes with
    known odds at 50, 40, 30 and 20 readable rollouts each; both for the calibration track only.
    """

    scenes: Mapping[str, BesideScene]
    interval: Estimate | None
    floor: float | None
    corrected: float | None
    fair: float | None
    sure: float | None
    own_law: MeanLaw | None
    laws: Mapping[int, MeanLaw]


Beside = Mapping[Track, BesideTrack]


def beside_tracks(
    cards: Sequence[TrackCard],
    tallies: Mapping[str, Mapping[str, Tally]],
    suite: Suite,
    *,
    judge_error: float,
    delta: float = 0.2,
) -> dict[str, Beside]:
    """Return by model and track what stands beside the published numbers.

    Verdicts are Benjamini-Hochberg over the calibration cells of all models given, calibration certified within
    ``delta``. ``judge_error`` is the share of false labels that coverage is held against.
    """
    cells = _cells(tallies, suite, delta)
    laws = null_laws(suite)
    return {
        card.model: {
            track: _track(result, cells.get(card.model, {}), laws if track == "calibration" else {}, judge_error)
            for track, result in card.tracks.items()
        }
        for card in cards
    }


def null_laws(suite: Suite) -> dict[int, MeanLaw]:
    """Return the null law of the calibration average over all scenes with known odds, by readable rollouts a scene.

    Scenes whose odds were counted in an experiment are not among them.
    """
    measured = [s.reference for s in suite.scenes if placement_of(s).track == "calibration"]
    known = [reference for reference in measured if reference and reference.counts is None]
    return {n: mean_tvd_law([(reference, n) for reference in known]) for n in NULL_SIZES} if known else {}


def _cells(tallies: Mapping[str, Mapping[str, Tally]], suite: Suite, delta: float) -> dict[str, dict[str, Cell]]:
    known = [s.id for s in suite.scenes if s.reference and placement_of(s).track == TRACKS[0]]
    if not known:
        return {}
    some = {m: {s: t for s, t in scenes.items() if s in known} for m, scenes in tallies.items()}
    cards = score(some, suite.only(known), partial=True, delta=delta)
    return {card.model: {cell.measurement.scene.id: cell for cell in card.cells} for card in cards}


def _track(
    result: TrackResult, cells: Mapping[str, Cell], laws: Mapping[int, MeanLaw], judge_error: float
) -> BesideTrack:
    scenes = {s.scene.id: _scene(s, cells.get(s.scene.id), judge_error) for s in result.scenes}
    averaged = [s for s in result.scenes if s.scene.id in result.partial.averaged]
    pairs = [(s.counts, s.scene.reference) for s in averaged if s.counts and s.scene.reference]
    sizes = [(s.scene.reference, s.n) for s in averaged if s.scene.reference]
    # an average over a scene whose odds only its source knows has no law of ours
    certain = all(reference.counts is None for reference, _ in sizes)  # nor has one over odds that were counted
    own = mean_tvd_law(sizes) if laws and certain and sizes and len(sizes) == len(averaged) else None
    chosen = [scenes[s.scene.id] for s in averaged]
    return BesideTrack(
        scenes=scenes,
        interval=_mean_interval(result.track, [s.counts for s in averaged if s.counts], pairs),
        floor=_mean([one.floor for one in chosen]),
        corrected=_mean([one.corrected for one in chosen]),
        fair=_mean([one.fair for one in chosen]),
        sure=_mean([one.sure for one in chosen]),
        own_law=own,
        laws=laws,
    )


def _mean_interval(
    track: Track, counts: Sequence[Counts], pairs: Sequence[tuple[Counts, Reference]]
) -> Estimate | None:
    if track == "coverage":
        return _within(mean_coverage_interval(counts)) if counts else None
    return _within(mean_tvd_interval(pairs)) if pairs else None


def _within(estimate: Estimate) -> Estimate:
    """Cut an interval at 0 and 100 percent."""
    if estimate.interval is None:
        return estimate
    low, high = max(0.0, estimate.interval.low), min(100.0, estimate.interval.high)
    return replace(estimate, interval=replace(estimate.interval, low=low, high=high))


def _scene(scene: SceneMetric, cell: Cell | None, judge_error: float) -> BesideScene:
    counts, reference = scene.counts, scene.scene.reference
    k = len(scene.scene.labels)
    if not scene.n:
        return BesideScene(cell=cell)
    if placement_of(scene.scene).track == "coverage":
        return BesideScene(
            floor=expected_coverage([1] + [0] * (k - 1), scene.n, false_label=judge_error),
            interval=_within(mean_coverage_interval([counts])) if counts else None,
            fair=expected_coverage(Reference.uniform(k), scene.n),
            sure=sure_coverage(counts, false_label=judge_error) if counts else None,
        )
    if reference is None:
        return BesideScene(cell=cell)
    floor = null_floor(reference, scene.n)
    tvd = tvd_percent(counts, reference) if counts else scene.metric
    return BesideScene(
        floor=100 * floor,
        corrected=100 * excess(tvd / 100, floor) if tvd is not None else None,
        interval=_within(mean_tvd_interval([(counts, reference)])) if counts else None,
        cell=cell,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
