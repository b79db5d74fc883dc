"""Commands that make and read clips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from worldodds.cli.whole import Rollouts
from worldodds.errors import InputError

if TYPE_CHECKING:
    from worldodds.cli.orders import Job
    from worldodds.engine import Summary

GeneratorSettings = Annotated[tuple[str, ...], Parameter(name="-G", negative=())]
ReaderSettings = Annotated[tuple[str, ...], Parameter(name="-R", negative=())]
Flag = Annotated[bool, Parameter(negative=())]
Names = Annotated[tuple[str, ...], Parameter(negative=())]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]

DEMO_SCENES = ("galton_board", "ball", "dice")
DEMO_MODELS = ("fair", "collapsed", "murky")


def run(
    experiment: Path | None = None,
    /,
    *,
    generator: str | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    suite: str | None = None,
    reader: Names = (),
    scene: Names = (),
    n: Rollouts = None,
    generator_settings: GeneratorSettings = (),
    reader_settings: ReaderSettings = (),
    workers: int | None = None,
    max_cost: float | None = None,
    prices: Path | None = None,
    rebuy: Flag = False,
    stop: Literal["early", "never"] | None = None,
    dry_run: Flag = False,
    json: Flag = False,
    json_log: Path | None = None,
) -> int:
    """Film the scenes of a suite with a world model, read every clip, and score.

    The same command again goes on where it stopped; a larger -n extends the run. Only what is missing is done.

    Parameters
    ----------
    experiment
        A TOML file that names generators, settings, readers and scenes; flags beside it count instead of its lines.
    generator
        The world model, such as simulator/fair, replicate/google/veo-3.1 or folder/clips.
    output
        The run's folder; with an experiment, the folder of its run folders.
    suite
        A suite's name or its folder; calibench by default.
    reader
        Who reads the clips, such as tracker (the default) or vlm/MODEL; may be given more than once. none: nobody yet.
    scene
        Film only this scene; may be given more than once.
    n
        Rollouts of each scene; the suite's protocol says how many by default.
    generator_settings
        A setting of the generator, key=value; may be given more than once.
    reader_settings
        A setting of the readers, key=value; may be given more than once.
    workers
        How many clips are worked on at once: one a core by default, or as many jobs as the provider is known to take.
    max_cost
        Stop buying clips before this many USD are spent, by the table of prices and by what the provider reports.
    prices
        A table of prices of your own, looked into before the one that comes with worldodds.
    rebuy
        Buy again what was perhaps bought: orders whose answer was lost, jobs that the provider has lost.
    stop
        early: buy each scene's rollouts in small waves until its verdict stands, as the first reader named reads them;
        the score is then comparable with no other. never: buy all. By default a run goes on as it was begun.
    dry_run
        Tell what would be filmed, what it costs and what it shows, and do nothing.
    json
        With --dry-run: print everything as JSON (format worldodds.dry_run/1).
    json_log
        A file that gets every step as a line of JSON.
    """
    from worldodds.cli.orders import Order, orders

    flags = Order(
        generator=generator,
        output=output,
        suite=suite,
        readers=reader,
        scenes=scene,
        n=n,
        generator_settings=generator_settings,
        reader_settings=reader_settings,
        workers=workers,
        max_cost=max_cost,
        prices=prices,
        rebuy=rebuy,
        stop=stop,
        json_log=json_log,
        experiment=experiment,
    )
    if json and not dry_run:
        raise InputError("--json prints what --dry-run tells; of a run that is made, worldodds score prints the scores")
    found = orders(flags)
    if dry_run:
        from worldodds.cli.money import print_dry_run

        return print_dry_run(found, json=json)
    codes: list[int] = []
    spent = 0.0
    for order in found:
        code, paid = _run_one(order, spent)
        codes.append(code)
        spent += paid
    return max(codes)


def _run_one(order: Job, spent_usd: float) -> tuple[int, float]:
    """Film and read one generator; return the exit code and what its run has cost."""
    summary, paid = _film(order, spent_usd)
    return _finish(order.folder, summary, order.readers[0].name if order.readers else None), paid


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
    from worldodds.run_folder import need_run
    from worldodds.store import RunStore

    part = make_reader(reader, parse_settings(reader_settings))
    need_run(folder)
    with RunStore(folder) as store, watching(str(folder)) as watch:
        summary = read_clips(store, part, workers=workers, watch=watch)
    return _finish(folder, summary, part.name)


def demo(
    *,
    output: Output = Path("worldodds-demo"),
    n: Rollouts = None,
    everything: Annotated[bool, Parameter(name="--all", negative=())] = False,
) -> int:
    """Film three scenes with three simulated world models, read every clip, measure, and make a page. No key, no GPU.

    Parameters
    ----------
    output
        The folder for the runs, the clips and the page.
    n
        Rollouts of each scene by each model: 32 by default, 8 with --all.
    everything
        Film all nine scenes instead, with the fair model only.
    """
    from worldodds.cli.orders import Job
    from worldodds.cli.scoring import print_scores
    from worldodds.registry import make_generator, make_reader
    from worldodds.report import report_sources
    from worldodds.suites import find_suite

    whole = find_suite("calibench")
    suite = whole if everything else whole.only(DEMO_SCENES)
    folders = [output / name for name in (("all-nine",) if everything else DEMO_MODELS)]
    n = n or (8 if everything else 32)
    open_now: list[bool] = []
    for folder in folders:
        preset = "fair" if everything else folder.name
        maker, readers = make_generator(f"simulator/{preset}"), (make_reader("tracker"),)
        summary, _ = _film(Job(suite=suite, generator=maker, readers=readers, n=n, folder=folder))
        open_now.append(bool(summary.open))
    page = output / "page.html"
    print_scores(report_sources(folders, page, reader="tracker"))
    print(f"\nEverything lies in {output}/ (runs, clips, ledgers). The page: {page.resolve()}")
    return 3 if any(open_now) else 0


def _film(order: Job, spent_usd: float = 0.0) -> tuple[Summary, float]:
    from worldodds.cli.orders import keep_experiment, purse_for
    from worldodds.cli.watch import watching
    from worldodds.engine import plan, run
    from worldodds.filming import Terms
    from worldodds.store import RunStore

    whole = plan(order.suite, order.generator, order.readers, order.n, stop=order.stop)
    terms = Terms(purse=purse_for(order, spent_usd), rebuy=order.rebuy)
    first = order.readers[0] if order.readers else None
    board = watching(order.generator.name, order.suite, order.json_log, reader=first)
    with RunStore(order.folder) as store, board as watch:
        if order.words:
            store.note("command", list(order.words))
        keep_experiment(order, store)
        return run(whole, store, workers=order.workers, watch=watch, terms=terms), terms.purse.spent_usd


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
    for line in summary.twins:
        print(f"warning: {line}")
    if summary.stopped:
        print(f"Buying stopped: {summary.stopped}")
    for line in summary.open[:20]:
        print(f"open: {line}")
    if summary.open:
        more = f" ({len(summary.open)} in all)" if len(summary.open) > 20 else ""
        print(f"Still open{more}. The same command again takes them up; {folder} keeps all that was done.")
        print(f"What closes each of them: worldodds status {folder}")
    return 3 if summary.open else 0
