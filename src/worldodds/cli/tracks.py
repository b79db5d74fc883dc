"""Commands for suites of tracks: scores as PAWBench publishes them, families, and both papers' rules side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from cyclopts import App, Parameter

from worldodds.errors import InputError, SourceError

if TYPE_CHECKING:
    from worldodds.sources import Source

Output = Annotated[Path, Parameter(name=["--output", "-o"])]
References = Annotated[tuple[str, ...], Parameter(negative=())]
Flag = Annotated[bool, Parameter(negative=())]


def refuse(**options: object) -> None:
    """Refuse options of `worldodds score` that a suite of tracks has no use for."""
    if given := [f"--{name}" for name, value in options.items() if value is not None]:
        raise InputError(f"{given[0]} is not for suites of tracks; --json gives all their numbers")


def refuse_reference() -> NoReturn:
    """Refuse odds given by hand for a suite whose scenes all have theirs."""
    raise InputError("--reference is for suites of tracks, such as pawbench; name one with --suite")


def score_tracks(sources: Sequence[Path], given: Mapping[str, Any], *, partial: bool, json: bool, verbose: bool) -> int:
    """Score sources on their tracks and print them; the code of `worldodds score` for such suites."""
    from worldodds.track_scores import score_track_sources

    scores = score_track_sources(*sources, **given)
    if json:
        from worldodds.interop.tracks_json import tracks_json

        print(tracks_json(scores, partial=partial))
    else:
        from worldodds.cli.screen import console
        from worldodds.report.tracks_text import print_tracks

        print_tracks(scores, console(), partial=partial, verbose=verbose)
    return 3 if any(card.open for card in scores.cards) else 0


def print_source(source: Source) -> None:
    """Print the tracks of a source over what was read, as `worldodds run` does while rollouts are open."""
    from worldodds.cli.screen import console
    from worldodds.report.tracks_text import print_tracks
    from worldodds.track_scores import score_track_source

    print_tracks(score_track_source(source), console(), partial=True)


def report_tracks(
    sources: Sequence[Path], output: Path, *, suite: str | None, reader: str | None, references: Sequence[str] = ()
) -> int:
    """Make the page of a suite of tracks; the code of `worldodds report` for such suites."""
    from worldodds.report.tracks_page import write_tracks_page
    from worldodds.track_scores import score_track_sources

    scores = score_track_sources(*sources, suite=suite, reader=reader, references=references)
    write_tracks_page(scores, output)
    print(f"The page: {output.resolve()}")
    return 3 if any(card.open for card in scores.cards) else 0


pawbench = App(name="pawbench", help="PAWBench's own files: its inputs in, its rows and metrics out.")


@pawbench.command(name="import")
def import_(benchmark: Path, /, *, output: Output) -> int:
    """Make a suite from the official package of inputs that you have: its prompts, pictures and reference odds.

    Parameters
    ----------
    benchmark
        The folder with the package's manifest.json.
    output
        The new suite's folder; use it with --suite.
    """
    from worldodds.interop.pawbench_inputs import import_benchmark
    from worldodds.suites import find_suite

    suite = import_benchmark(benchmark, find_suite("pawbench"), output)
    framed = sum(scene.frame is not None for scene in suite.scenes)
    print(f"{len(suite.scenes)} scenes in {output}, {framed} with a picture; use it with --suite {output}")
    return 0


@pawbench.command
def export(
    source: Path, /, *, output: Output, suite: str | None = None, reader: str | None = None, reference: References = ()
) -> int:
    """Write a source as the official evaluator would: rows.jsonl, checkpoint.jsonl and metrics.json.

    Parameters
    ----------
    source
        As for score.
    output
        The folder of the three files.
    suite
        A suite's name or its folder; a run's own by default.
    reader
        Whose readings to write, where the source was read by several.
    reference
        As for score.
    """
    from worldodds.cli.screen import console
    from worldodds.given_odds import parse_references
    from worldodds.interop.pawbench_out import write_official
    from worldodds.track_scores import score_track_source, source_of_tracks

    read = source_of_tracks(source, suite=suite, reader=reader)
    scores = score_track_source(read, references=parse_references(reference, read.suite))
    told = write_official(read.rows, scores.cards, output, scores.suite)
    for line in (*read.set_aside, *told):
        console().print(f"Set aside: {line}", style="yellow", markup=False)
    print(f"rows.jsonl, checkpoint.jsonl and metrics.json in {output}")
    return 0


@pawbench.command
def check(rollouts: Path, /, *, suite: str = "pawbench") -> int:
    """Tell which slots a folder of clips fills, and what else lies in it, before anything is read or paid for.

    Parameters
    ----------
    rollouts
        A folder with <scene>/r000.mp4 and so on; film it into a run with --generator folder/DIR.
    suite
        A suite's name or its folder.
    """
    from worldodds.interop.pawbench_inputs import clips_of
    from worldodds.suites import find_suite

    if not rollouts.is_dir():
        raise SourceError(f"{rollouts}: there is no such folder")
    chosen = find_suite(suite)
    clips, told = clips_of(rollouts, chosen)
    for line in told:
        print(f"Set aside: {line}")
    most = chosen.protocol.rollouts
    short = {scene: sum((scene, i) in clips for i in range(most)) for scene in chosen.scene_ids}
    for scene, there in short.items():
        if 0 < there < most:
            print(f"{scene}: {there} of {most} clips")
    if absent := [scene for scene, there in short.items() if not there]:
        print(f"No clip of {', '.join(absent)}.")
    print(f"{len(clips)} of {most * len(chosen.scenes)} slots are filled.")
    return 0 if len(clips) == most * len(chosen.scenes) else 3


@pawbench.command
def families(source: Path, /, *, suite: str | None = None, reader: str | None = None, json: Flag = False) -> int:
    """Tell whether the model moved when the physics did, and stayed when only the picture did.

    Parameters
    ----------
    source
        As for score.
    suite
        A suite's name or its folder; a run's own by default, else pawbench.
    reader
        Whose readings count, where the source was read by several.
    json
        Print everything as JSON (format worldodds.families/1).
    """
    from worldodds.families import reactions
    from worldodds.track_scores import source_of_tracks, within_protocol

    read = within_protocol(source_of_tracks(source, suite=suite, reader=reader))[0]
    found = reactions(read.tallies(), read.suite)
    if json:
        from worldodds.interop.families_json import families_json

        print(families_json(found))
    else:
        from worldodds.cli.screen import console
        from worldodds.report.families_text import print_families

        print_families(found, console())
    return 0


def crosscheck(source: Path, /, *, suite: str | None = None, reader: str | None = None, json: Flag = False) -> int:
    """Score one source by both papers' rules, mnTV and TVD with its pass rate, and say why they disagree.

    Parameters
    ----------
    source
        As for score; the word published for the outcomes that CaliBench published.
    suite
        A suite's name or its folder; a run's own by default, else calibench.
    reader
        Whose readings count, where the source was read by several.
    json
        Print everything as JSON (format worldodds.crosscheck/1).
    """
    from worldodds.crosscheck import crosscheck as check
    from worldodds.sources import load

    found = check(load(source, suite=suite, reader=reader))
    if json:
        from worldodds.interop.families_json import crosscheck_json

        print(crosscheck_json(found))
    else:
        from worldodds.cli.screen import console
        from worldodds.report.families_text import print_crosscheck

        print_crosscheck(found, console())
    return 0


@pawbench.command
def interventions() -> int:
    """List what was published of experiments with prompts, coupled noise, training and judges, each with its source."""
    from worldodds.cli.screen import console
    from worldodds.report.tracks_text import print_interventions
    from worldodds.suites import find_suite, track_results

    print_interventions(track_results.interventions(find_suite("pawbench")), console())
    return 0
