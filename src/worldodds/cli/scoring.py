"""Commands that turn readings into numbers, tables and pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from worldodds.cli.screen import open_code

if TYPE_CHECKING:
    from worldodds.certificates import Quoted
    from worldodds.judged import Judged
    from worldodds.scorecard import Scorecard
    from worldodds.sources import Source

Sources = Annotated[tuple[Path, ...], Parameter(negative=())]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
Json = Annotated[bool, Parameter(negative=())]
Judge = Annotated[str | None, Parameter(name=["--judge", "--judge-audit"])]
Certificates = Annotated[tuple[Path, ...], Parameter(negative=())]
Verbose = Annotated[bool, Parameter(name=["--verbose", "-v"], negative=())]


def score(
    *sources: Path,
    suite: str | None = None,
    reader: str | None = None,
    name: str | None = None,
    partial: Json = False,
    reference: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    delta: float = 0.2,
    json: Json = False,
    format: Literal["md", "tex"] | None = None,  # noqa: A002 - the option is called --format
    figures: Path | None = None,
    judge: Judge = None,
    certificate: Certificates = (),
    verbose: Verbose = False,
) -> int:
    """Score sources: how far each model is from the odds, scene by scene, with exact tests.

    Parameters
    ----------
    sources
        Run folders, tables of outcomes (.csv, .parquet, .jsonl), folders of CaliBench's *_bins.json files, or the word
        published for what the suite's paper published.
    suite
        A suite's name or its folder; a run's own by default, else calibench.
    reader
        Whose readings count, where a source was read by several.
    name
        Another name for the only model.
    partial
        Average over the scenes there are, and name them.
    reference
        For a suite of tracks: the odds of a scene whose own are not known, such as A-04=red:1/4,blue:3/4.
    delta
        Call a scene calibrated where equivalence within this total variation is certified.
    json
        Print everything as JSON (format worldodds.score/1, or worldodds.tracks/1 for a suite of tracks).
    format
        Print tables for a paper, in Markdown or LaTeX.
    figures
        Write the figures for a paper, as SVG and PDF, into this folder.
    judge
        Allow for the errors of whoever read the clips: an audit (the JSON of worldodds audit), or labels to measure
        them by, as --truth of worldodds audit.
    certificate
        A reader's certificate (worldodds exam --certificate FILE), beside those that are kept here; may be given again.
    verbose
        Print more columns.
    """
    from worldodds.certificates import quoted
    from worldodds.cli import tracks
    from worldodds.scorecard import best_first
    from worldodds.sources import load
    from worldodds.track_scores import has_tracks

    if has_tracks(sources, suite):
        tracks.refuse(format=format, figures=figures, judge=judge)
        given = {"suite": suite, "reader": reader, "name": name, "references": reference, "delta": delta}
        return tracks.score_tracks(sources, given, partial=partial, json=json, verbose=verbose)
    if reference:
        tracks.refuse_reference()
    source = load(*sources, suite=suite, reader=reader, name=name)
    cards = source.score(partial=partial, delta=delta)
    allowed = _allow_for(judge, source, sources, cards) if judge else None
    readers = quoted(source, sources, certificate)
    if figures is not None:
        from worldodds.report.paper import save_figures

        save_figures(best_first(cards), figures)
    if json:
        from worldodds.interop.score_json import score_json

        print(score_json(cards, source.suite, source.reader, allowed, readers))
    elif format:
        from worldodds.report.paper import tables

        print(tables(best_first(cards), format))
    else:
        print_scores(cards, verbose=verbose, allowed=allowed, readers=readers)
    return 3 if any(card.open for card in cards) else 0


def report(
    *sources: Path,
    output: Output = Path("report.html"),
    suite: str | None = None,
    reader: str | None = None,
    reference: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    judge: Judge = None,
    certificate: Certificates = (),
) -> int:
    """Make one self-contained page from sources, beside the published models.

    Parameters
    ----------
    sources
        As for score.
    output
        The page's file.
    suite
        A suite's name or its folder; a run's own by default, else calibench.
    reader
        Whose readings count, where a source was read by several.
    reference
        As for score.
    judge
        As for score.
    certificate
        As for score.
    """
    from worldodds.cli import tracks
    from worldodds.report import report_sources
    from worldodds.track_scores import has_tracks

    if has_tracks(sources, suite):
        tracks.refuse(format=None, figures=None, judge=judge)
        return tracks.report_tracks(sources, output, suite=suite, reader=reader, references=reference)
    if reference:
        tracks.refuse_reference()
    cards = report_sources(sources, output, suite=suite, reader=reader, judge=judge, certificates=certificate)
    print(f"The page: {output.resolve()}")
    return 3 if any(card.open for card in cards) else 0


def export(source: Path, /, *, output: Output, suite: str | None = None, reader: str | None = None) -> int:
    """Write every reading of a source as a table, one row a reading, all statuses; scoring it gives the same numbers.

    A file ending in .eval becomes a log of inspect_ai instead, with pictures of every clip, to open with inspect view;
    a name without an ending becomes a folder of CaliBench's own files, <scene>_<model>_bins.json.

    Parameters
    ----------
    source
        As for score.
    output
        A file ending in .csv, .parquet or .jsonl, or in .eval; or a new folder.
    suite
        A suite's name or its folder; a run's own by default, else calibench.
    reader
        Whose readings to write, where the source was read by several.
    """
    from worldodds.interop.tables import write_rows
    from worldodds.sources import load

    loaded = load(source, suite=suite, reader=reader)
    if output.suffix == ".eval":
        return _export_log(loaded, output)
    if not output.suffix:
        return _export_bins(loaded, output)
    write_rows(loaded.rows, output, loaded.suite)
    print(f"{len(loaded.rows)} rows in {output}")
    return open_code(loaded)


def _export_bins(source: Source, output: Path) -> int:
    from worldodds.interop.calibench import write_bins

    left = write_bins(source.rows, output, source.suite)
    print(f"{len(list(output.glob('*_bins.json')))} files in {output}, one a scene and model")
    if left:
        print(f"Left out, for the format has outcomes and nulls only: {len(left)} refused, failed or missing rollouts")
    merged = sum(row.reading.status == "out_of_schema" for row in source.rows)
    if merged:
        print(f"The format has one kind of null: {merged} readings that were out of schema come back as unreadable")
    read = {row.scene for row in source.rows}
    if any(scene.id in read and scene.reference and scene.reference.counts for scene in source.suite.scenes):
        print("The format holds no odds, so none that were counted in an experiment either: they stay in the suite")
    if source.suite.id != "calibench":
        print(f"Score it with its suite: worldodds score {output} --suite {source.suite.folder}")
    return open_code(source)


def _export_log(source: Source, output: Path) -> int:
    from datetime import UTC, datetime

    from worldodds.interop.inspect_log import write_inspect_log

    samples = write_inspect_log(source, output, created=datetime.now(UTC))
    print(f"{samples} samples in {output}; look at them: inspect view --log-dir {output.resolve().parent}")
    return open_code(source)


def _allow_for(judge: str, source: Source, paths: Sequence[Path], cards: Sequence[Scorecard]) -> Judged:
    """Measure whoever read the source, and carry the errors into its scorecards."""
    from worldodds.audit_sources import measured_judge
    from worldodds.judged import judged

    return judged(cards, measured_judge(source, paths, judge))


def print_scores(
    cards: Sequence[Scorecard],
    *,
    verbose: bool = False,
    allowed: Judged | None = None,
    readers: Sequence[Quoted] = (),
) -> None:
    """Print one table a model."""
    from worldodds.cli.screen import console
    from worldodds.report import text
    from worldodds.scorecard import best_first

    text.print_scores(best_first(cards), console(), verbose=verbose, allowed=allowed, judges=readers)
