"""The shape of the JSON of scored tracks (format ``worldodds.tracks/1``); its schema is made of these types."""

from __future__ import annotations

from dataclasses import dataclass

from worldodds.placement import Track


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeEntry:
    """An interval in percent, or why there is none."""

    low: float | None
    high: float | None
    level: float | None
    method: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictEntry:
    """What exact tests say of a calibration scene; ``q_value`` is Benjamini-Hochberg over all cells given."""

    verdict: str
    p_value: float | None
    q_value: float | None
    certified_delta: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackSceneEntry:
    """One scene, in percent. ``tvd`` is for calibration and ``coverage`` for coverage scenes; null unless it counts.

    ``floor`` is what the metric reaches with nothing behind it: the mean TVD of a calibrated model at this n, or the
    coverage of a model with one outcome only that is read with the judge's error. ``fair`` is the coverage of equal
    odds, ``sure`` that by outcomes seen too often to be misread. ``status`` is pass, fail, blocked, no_reference or
    missing.
    """

    n: int
    nulls: int
    unreadable: int | None
    out_of_schema: int | None
    open: int
    status: str
    reason: str | None
    group: str
    counts: dict[str, int] | None
    reference: dict[str, str] | None
    certainty: dict[str, str]
    tvd: float | None
    coverage: float | None
    floor: float | None
    corrected: float | None
    interval: RangeEntry
    test: VerdictEntry | None
    fair: float | None
    sure: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LawEntry:
    """The null law of the calibration average: its mean, quantiles, and the chance of the observed average or more."""

    mean: float
    q95: float
    q99: float
    p_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialEntry:
    """The means over what was read, whatever is open; every hole is named."""

    average: float | None
    reason: str | None
    scene_pass_rate: float | None
    passing: int
    groups: dict[str, float | None]
    averaged_scenes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSizeEntry:
    """How many scenes of a group pass, of how many."""

    passing: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackEntry:
    """One track of one model, in percent: the published numbers first (``--partial`` replaces them), ours after them.

    ``status`` is ok, blocked, no_reference or missing; ``holes`` says by scene what is lacking.
    """

    metric: str
    status: str
    is_partial: bool
    average: float | None
    average_reason: str | None
    scene_pass_rate: float | None
    passing: int
    of: int
    groups: dict[str, float | None]
    group_sizes: dict[str, GroupSizeEntry]
    averaged_scenes: tuple[str, ...]
    holes: dict[str, str]
    partial: PartialEntry
    interval: RangeEntry
    floor: float | None
    corrected: float | None
    fair: float | None
    sure: float | None
    null_law: LawEntry | None
    null_law_at: dict[str, LawEntry]
    scenes: dict[str, TrackSceneEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTrackEntry:
    """One track of one model as the paper published it, in percent."""

    average: float
    scene_pass_rate: float
    groups: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracksModelEntry:
    """One model; its tracks are never combined."""

    tracks: dict[Track, TrackEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class TracksDocument:
    """Everything that ``worldodds score`` found for a suite of tracks.

    ``references_given`` are odds from the command line, ``set_aside`` rows that could not be used.
    """

    format: str
    worldodds_version: str
    suite: str
    suite_version: str
    suite_hash: str
    reader: str | None
    rollouts: int
    gate: int
    judge_error: float
    references_given: dict[str, str]
    set_aside: tuple[str, ...]
    models: dict[str, TracksModelEntry]
    published: dict[str, dict[Track, PublishedTrackEntry]]
    published_source: str | None
