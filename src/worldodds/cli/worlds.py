"""Commands about the simulated worlds: what reality scores, how fast it forgets, and where its chance comes from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from worldodds.cli.whole import Count

if TYPE_CHECKING:
    from worldodds.interop.worlds_json import WorldsCheckDocument
    from worldodds.worlds.closure import Closure
    from worldodds.worlds.mixing import MixingPoint

Flag = Annotated[bool, Parameter(negative=())]
Workers = int | None

app = App(name="worlds", help="Run the physics of the simulated worlds, without drawing.")

HORIZONS_S = tuple(i / 8 for i in range(2, 49))  # 0.25 s to 6 s
LISTED_S = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0)


@app.command
def check(
    *scene: str,
    n: Count = 5000,
    first_seed: int = 500_000,
    workers: Workers = None,
    json: Flag = False,
) -> int:
    """Tell how far a world's natural odds are from its reference, and whether its truth is its last state's.

    Parameters
    ----------
    scene
        A scene of calibench; several may be given, all nine by default.
    n
        Runs of the physics of each scene.
    first_seed
        Start seeds are this and the following ones.
    workers
        How many runs at once; one a core by default.
    json
        Print a JSON document (format worldodds.worlds_check/1); of several scenes a list of them.
    """
    from worldodds.worlds import WORLDS

    found = [_check(name, n, first_seed, workers) for name in scene or WORLDS]
    if json:
        from worldodds.interop.json_text import as_json

        print(as_json(found[0] if len(found) == 1 else found))
    else:
        for document in found:
            _print_check(document)
    return 0


@app.command
def mixing(
    *,
    n: Count = 20_000,
    seed: int = 0,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> int:
    """Show how fast the double pendulum forgets its start: P(left) against the time at which one looks.

    Parameters
    ----------
    n
        Releases, all seen at every horizon.
    seed
        Of the jitter of the starts.
    output
        Draw the curve into this file (.svg, .pdf or .png).
    """
    import numpy as np

    from worldodds.worlds.mixing import mixing_curve

    points = mixing_curve(n, HORIZONS_S, rng=np.random.default_rng(seed))
    _print_mixing([point for point in points if point.horizon_s in LISTED_S])
    if output is not None:
        from worldodds.report.mixing_plot import save_mixing_plot

        save_mixing_plot(points, output)
        print(f"\nThe curve: {output}")
    return 0


@app.command
def closure(
    scene: str,
    *,
    m: Annotated[int, Parameter(name="-m")] = 20,
    r: Annotated[int, Parameter(name="-r")] = 20,
    first_seed: int = 700_000,
    workers: Workers = None,
    json: Flag = False,
) -> int:
    """Tell where a world's chance comes from: its hidden start, noise along the way, or only both together.

    Parameters
    ----------
    scene
        A scene whose world has process noise: walking, lottery or galton_board_real.
    m
        Hidden starts, each run under the same noises.
    r
        Noises.
    first_seed
        Start seeds are this and the following ones.
    workers
        How many starts at once; one a core by default.
    json
        Print a JSON document (format worldodds.worlds_closure/1).
    """
    from worldodds.cli.counting import counting
    from worldodds.interop.json_text import as_json
    from worldodds.interop.worlds_json import worlds_closure_document
    from worldodds.worlds import load_world
    from worldodds.worlds.closure import closure_runs, split

    world = load_world(scene)
    with counting(scene) as watch:
        table = closure_runs(world, m, r, first_seed=first_seed, workers=workers, watch=watch)
    found = split(table)
    if json:
        print(as_json(worlds_closure_document(scene, found, first_seed=first_seed)))
    else:
        _print_closure(scene, found)
    return 0


def _check(name: str, n: int, first_seed: int, workers: int | None) -> WorldsCheckDocument:
    import numpy as np

    from worldodds.cli.counting import counting
    from worldodds.errors import InputError
    from worldodds.interop.worlds_json import worlds_check_document
    from worldodds.suites import find_suite
    from worldodds.worlds import load_world
    from worldodds.worlds.check import natural_odds, run_physics, target_odds

    if n < 1:
        raise InputError(f"n: {n} runs tell nothing; give 1 or more")
    scene, world = find_suite("calibench").scene(name), load_world(name)
    with counting(name) as watch:
        runs = run_physics(world, range(first_seed, first_seed + n), workers=workers, watch=watch)
    rng = np.random.default_rng(first_seed)
    natural = natural_odds(scene, runs, rng=rng)
    return worlds_check_document(name, natural, target_odds(scene, world, runs, rng=rng), first_seed=first_seed)


def _print_check(document: WorldsCheckDocument) -> None:
    from worldodds.cli.screen import console

    natural, fair = document.natural, document.fair
    screen = console()
    screen.print(f"[bold]{document.scene}[/bold]  {natural.n} runs, {natural.invalid} invalid")
    screen.print("  counts     " + "  ".join(f"{label} {count}" for label, count in natural.counts.items()))
    if natural.reasons:
        screen.print("  invalid    " + "; ".join(f"{why} {count}" for why, count in natural.reasons.items()))
    if natural.tv is not None:
        screen.print(f"  TV         {natural.tv:.4f}  (a perfect world at this n: {natural.floor:.4f} on average)")
        spread = natural.interval
        assert spread is not None
        screen.print(f"  unlimited  {spread.estimate:.4f}  ({spread.low:.4f} to {spread.high:.4f}, {spread.method})")
        screen.print(f"  G          p = {natural.g_p_value:.3g}, {natural.g_method}", highlight=False)
        screen.print(f"  certified  within {natural.certified_delta:.4f} of the reference")
    same = "equals the target in every one" if fair.target_equals_truth else "DIFFERS from the target"
    screen.print(f"  fair       {fair.n} rollouts drawn: the outcome in the last state {same}")
    if fair.unreached:
        screen.print(f"             no run ended in {', '.join(fair.unreached)}: not drawn")
    screen.print()


def _print_mixing(points: Sequence[MixingPoint]) -> None:
    from worldodds.cli.screen import console, table

    rows = table(">horizon (s)", ">left", ">of", ">P(left)", ">95%")
    for p in points:
        rows.add_row(f"{p.horizon_s:g}", str(p.left), str(p.n), f"{p.share:.3f}", f"{p.low:.3f} to {p.high:.3f}")
    console().print(rows)


def _print_closure(scene: str, found: Closure) -> None:
    from worldodds.cli.screen import console, table

    screen = console()
    screen.print(f"[bold]{scene}[/bold]  {found.starts} hidden starts x {found.noises} noises\n")
    rows = table("its chance comes from", ">share", ">95%")
    words = ("the hidden start (aliasing)", "noise on the way", "both together")
    for what, part in zip(words, (found.aliasing, found.process_noise, found.interaction), strict=True):
        rows.add_row(what, f"{part.share:.2f}", f"{part.low:.2f} to {part.high:.2f}")
    screen.print(rows)
    screen.print("\nUnbiased shares of the variance of outcomes; one that is truly zero may come out below it.")
