"""Commands that make and read clips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from worldodds.engine import Summary
    from worldodds.protocols import Generator, Reader
    from worldodds.scene import Suite

GeneratorSettings = Annotated[tuple[str, ...], Parameter(name="-G", negative=())]
ReaderSettings = Annotated[tuple[str, ...], Parameter(name="-R", negative=())]
Names = Annotated[tuple[str, ...], Parameter(negative=())]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]

DEMO_SCENES = ("galton_board", "ball", "dice")
DEMO_MODELS = ("fair", "collapsed", "murky")


def run(
    *,
    generator: str,
    output: Output,
    suite: str = "calibench",
    reader: Names = ("tracker",),
    scene: Names = (),
    n: Annotated[int | None, Parameter(name="-n")] = None,
    generator_settings: GeneratorSettings = (),
    reader_settings: ReaderSettings = (),
    workers: int | None = None,
) -> int:
    """Film the scenes of a suite with a world model, read every clip, and score.

    The same command again goes on where it stopped; a larger -n extends the run. Only what is missing is done.

    Parameters
    ----------
    generator
        The world model, such as simulator/fair.
    output
        The run's folder.
    suite
        A suite's name or its folder.
    reader
        Who reads the clips, such as tracker; may be given more than once.
    scene
        Film only this scene; may be given more than once.
    n
        Rollouts of each scene; the suite's protocol says how many by default.
    generator_settings
        A setting of the generator, key=value; may be given more than once.
    reader_settings
        A setting of the readers, key=value; may be given more than once.
    workers
        How many clips are worked on at once; one a core by default.
    """
    from worldodds.registry import make_generator, make_reader, parse_settings
    from worldodds.suites import find_suite

    chosen = find_suite(suite)
    maker = make_generator(generator, parse_settings(generator_settings))
    readers = [make_reader(name, parse_settings(reader_settings)) for name in reader]
    cut = chosen.only(scene) if scene else chosen
    summary = _film(cut, maker, readers, n, output, workers)
    return _finish(output, summary, readers[0].name if readers else None)


def read(
    folder: Path,
    /,
    *,
    reader: str,
    reader_settings: ReaderSettings = (),
    workers: int | None = None,
) -> int:
    """Let another reader read the clips of a run; what it has read already is kept.

    Parameters
    ----------
    folder
        The run's folder.
    reader
        Who reads, such as oracle or tracker.
    reader_settings
        A setting of the reader, key=value; may be given more than once.
    workers
        How many clips are read at once; one a core by default.
    """
    from worldodds.cli.watch import watching
    from worldodds.engine import read_clips
    from worldodds.registry import make_reader, parse_settings
    from worldodds.store import RunStore, need_run

    part = make_reader(reader, parse_settings(reader_settings))
    need_run(folder)
    with RunStore(folder) as store, watching(str(folder)) as watch:
        summary = read_clips(store, part, workers=workers, watch=watch)
    return _finish(folder, summary, part.name)


def demo(*, output: Output = Path("worldodds-demo"), n: Annotated[int, Parameter(name="-n")] = 32) -> int:
    """Film three scenes with three simulated world models, read every clip, measure, and make a page. No key, no GPU.

    Parameters
    ----------
    output
        The folder for the runs, the clips and the page.
    n
        Rollouts of each scene by each model.
    """
    from worldodds.cli.scoring import print_scores
    from worldodds.registry import make_generator, make_reader
    from worldodds.report import report_sources
    from worldodds.suites import find_suite

    suite = find_suite("calibench").only(DEMO_SCENES)
    folders = [output / name for name in DEMO_MODELS]
    open_now = [
        bool(_film(suite, make_generator(f"simulator/{folder.name}"), [make_reader("tracker")], n, folder, None).open)
        for folder in folders
    ]
    page = output / "page.html"
    print_scores(report_sources(folders, page, reader="tracker"))
    print(f"\nEverything lies in {output}/ (runs, clips, ledgers). The page: {page.resolve()}")
    return 3 if any(open_now) else 0


def _film(
    suite: Suite, maker: Generator, readers: list[Reader], n: int | None, folder: Path, workers: int | None
) -> Summary:
    from worldodds.cli.watch import watching
    from worldodds.engine import plan, run
    from worldodds.store import RunStore

    whole = plan(suite, maker, readers, n)
    with RunStore(folder) as store, watching(maker.name) as watch:
        return run(whole, store, workers=workers, watch=watch)


def _finish(folder: Path, summary: Summary, reader: str | None) -> int:
    """Print the scores of a run and what is still open."""
    from worldodds.cli import tracks
    from worldodds.cli.scoring import print_scores
    from worldodds.sources import load

    if reader is not None and summary.clips:
        source = load(folder, reader=reader)
        if source.suite.protocol.aggregate == "tracks":
            tracks.print_source(source)
        else:
            print_scores(source.score(partial=True))
    for line in summary.open[:20]:
        print(f"open: {line}")
    if summary.open:
        more = f" ({len(summary.open)} in all)" if len(summary.open) > 20 else ""
        print(f"Still open{more}. The same command again takes them up; {folder} keeps all that was done.")
    return 3 if summary.open else 0
