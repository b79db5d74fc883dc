"""From sources to scored tracks: what is beyond the protocol is set aside and named, what is known by hand is given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from worldodds.beside_tracks import Beside, beside_tracks
from worldodds.errors import SourceError
from worldodds.given_odds import parse_references, with_references
from worldodds.interop.pawbench_metrics import is_metrics, read_metrics
from worldodds.outcome import Reference
from worldodds.scene import Suite
from worldodds.sources import Source, load, suite_of
from worldodds.suites import find_suite
from worldodds.suites.track_results import judge_agreement
from worldodds.tally import Tally
from worldodds.tracks import TrackCard, score_tracks

NO_JUDGE_ERROR = 0.0
SUITE = "pawbench"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackScores:
    """Every model of some sources scored on its tracks, with what stands beside.

    ``given`` are the reference odds given by hand, ``set_aside`` what could not be used, a sentence each;
    ``judge_error`` is the share of false labels that coverage was held against.
    """

    suite: Suite
    reader: str | None
    cards: tuple[TrackCard, ...]
    tallies: Mapping[str, Mapping[str, Tally]]
    beside: Mapping[str, Beside]
    given: Mapping[str, Reference]
    set_aside: tuple[str, ...]
    judge_error: float


def has_tracks(paths: Sequence[str | Path], suite: str | Path | None = None) -> bool:
    """Say whether these sources, of this suite, are scored on tracks."""
    if suite is not None:
        return find_suite(suite).protocol.aggregate == "tracks"
    return any(is_metrics(Path(path)) for path in paths) or suite_of(paths).protocol.aggregate == "tracks"


def score_track_sources(
    *paths: str | Path,
    suite: str | Path | None = None,
    reader: str | None = None,
    name: str | None = None,
    references: Sequence[str] = (),
    delta: float = 0.2,
) -> TrackScores:
    """Score run folders, tables, and rows, checkpoints or ``metrics.json`` of the official evaluator.

    The word ``published`` adds nothing: what the paper published stands beside every score. ``references`` gives
    odds by hand, such as ``A-04=red:1/4,blue:3/4``; ``delta`` is the total variation within which calibration is
    certified.

    Raises:
        SourceError, InputError: nothing to read, a source is wrong, or odds are given that cannot be.
    """
    figures = [Path(path) for path in paths if is_metrics(Path(path))]
    words = [path for path in paths if str(path) == "published" and not Path(path).exists()]
    others = [path for path in paths if Path(path) not in figures and path not in words]
    source = load(*others, suite=suite, reader=reader, name=name) if others or not (figures or words) else None
    chosen = source.suite if source else find_suite(suite or SUITE)
    told = parse_references(references, chosen)
    scores = score_track_source(source, references=told, delta=delta) if source else _nothing(chosen, told)
    return _with_figures(scores, figures)


def source_of_tracks(path: str | Path, *, suite: str | Path | None = None, reader: str | None = None) -> Source:
    """Read one source of a suite of tracks; its own suite by default, else pawbench.

    Raises:
        SourceError: the source is wrong, or its suite has no tracks.
    """
    chosen = suite if suite is not None or has_tracks([path]) else SUITE
    source = load(path, suite=chosen, reader=reader)
    if source.suite.protocol.aggregate != "tracks":
        raise SourceError(f"{path}: suite {source.suite.id!r} has no tracks; name one that has with --suite")
    return source


def score_track_source(
    source: Source, *, references: Mapping[str, Reference] | None = None, delta: float = 0.2
) -> TrackScores:
    """Score every model of a source on its tracks."""
    given = dict(references or {})
    suite = with_references(source.suite, given)
    kept, beyond = within_protocol(source)
    tallies = replace(kept, suite=suite).tallies()
    agreed = judge_agreement(suite)
    error = 1 - agreed[0] / agreed[1] if agreed else NO_JUDGE_ERROR
    cards = score_tracks(tallies, suite, reader=source.reader)
    return TrackScores(
        suite=suite,
        reader=source.reader,
        cards=cards,
        tallies=tallies,
        beside=beside_tracks(cards, tallies, suite, judge_error=error, delta=delta),
        given=given,
        set_aside=(*source.set_aside, *beyond),
        judge_error=error,
    )


def within_protocol(source: Source) -> tuple[Source, tuple[str, ...]]:
    """Keep of every cell the first rollouts, as many as the protocol has, and name the cells that have more."""
    most = source.suite.protocol.rollouts
    indices: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in source.rows:
        indices[row.model, row.scene].add(row.index)
    last = {cell: sorted(seen)[most - 1] for cell, seen in indices.items() if len(seen) > most}
    if not last:
        return source, ()
    told = tuple(
        f"{model}, scene {scene}: {len(indices[model, scene])} rollouts, and the protocol has {most}; "
        f"those after index {index} are set aside"
        for (model, scene), index in last.items()
    )
    rows = tuple(row for row in source.rows if row.index <= last.get((row.model, row.scene), row.index))
    return replace(source, rows=rows), told


def _nothing(suite: Suite, given: Mapping[str, Reference]) -> TrackScores:
    empty = Source(suite=suite, rows=(), reader=None, clips={}, filmed={})
    return score_track_source(empty, references=given)


def _with_figures(scores: TrackScores, files: Sequence[Path]) -> TrackScores:
    """Add the models of ``metrics.json`` files, which know figures but no single rollout."""
    for file in files:
        read = read_metrics(file, scores.suite)
        names = {card.model for card in scores.cards}
        if again := [card.model for card in read.cards if card.model in names]:
            raise SourceError(f"{file}: model {again[0]!r} is in another source too; give each model once")
        beside = beside_tracks(read.cards, {}, scores.suite, judge_error=scores.judge_error)
        scores = replace(
            scores,
            cards=(*scores.cards, *read.cards),
            beside={**scores.beside, **beside},
            set_aside=(*scores.set_aside, *read.differences),
        )
    return scores
