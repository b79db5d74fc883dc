"""Commands that tell what differs, and when to stop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.text import Text

from worldodds.cli.planning import number
from worldodds.cli.screen import open_code
from worldodds.cli.whole import Rollouts

if TYPE_CHECKING:
    from rich.console import Console

    from worldodds.comparison import Comparison, Pair
    from worldodds.standing import Standing

Flag = Annotated[bool, Parameter(negative=())]


def compare(
    *sources: Path,
    suite: str | None = None,
    reader: str | None = None,
    paired: Flag = False,
    json: Flag = False,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative=())] = False,
) -> int:
    """Compare all models of the sources: differences that hold together, ties, and the scenes whose odds differ.

    Parameters
    ----------
    sources
        As for score.
    suite
        A suite's name or its folder; a run's own by default, else calibench.
    reader
        Whose readings count, where a source was read by several.
    paired
        The rollouts share their seeds (one model under two prompts or settings): compare them seed by seed.
    json
        Print everything as JSON (format worldodds.compare/1).
    verbose
        Print the test of every scene, pair by pair.
    """
    from worldodds.comparison import compare as compare_models
    from worldodds.sources import load

    source = load(*sources, suite=suite, reader=reader)
    comparison = compare_models(source, paired=paired)
    if json:
        from worldodds.interop.documents import as_json, compare_document

        print(as_json(compare_document(comparison)))
    else:
        _print_comparison(comparison, verbose=verbose)
    return open_code(source)


def monitor(
    *sources: Path,
    suite: str | None = None,
    reader: str | None = None,
    n: Rollouts = None,
    early_e: float = 100.0,
    final_level: float = 0.04,
    delta: float = 0.2,
    family: Flag = False,
    replay: Flag = False,
    json: Flag = False,
) -> int:
    """Tell where each cell stands while you buy rollouts one by one, and what is still worth buying.

    Parameters
    ----------
    sources
        As for score.
    suite
        A suite's name or its folder; a run's own by default, else calibench.
    reader
        Whose readings count, where a source was read by several.
    n
        The horizon, rollouts of a cell at most; by default as a run that stops early was told, else as the suite's
        protocol says.
    early_e
        Stop and call a cell miscalibrated once its e-value reaches this.
    final_level
        Level of the exact G-test at the horizon.
    delta
        The total variation within which calibration is certified at the horizon.
    family
        Let the scenes of a model be declared together, as run --stop early does: Benjamini-Hochberg after every round.
    replay
        Tell what a finished source would have cost, and whether any verdict would have changed.
    json
        Print everything as JSON (format worldodds.monitor/1).
    """
    from worldodds.sources import load
    from worldodds.standing import standing
    from worldodds.statistics.monitor import StoppingRule

    source = load(*sources, suite=suite, reader=reader)
    known = next((early.rule.horizon for early in source.early.values()), source.suite.protocol.rollouts)
    horizon = known if n is None else n
    rule = StoppingRule(horizon=horizon, early_e=early_e, final_level=final_level, delta=delta)
    found = standing(source, rule, family=family)
    if json:
        from worldodds.interop.documents import as_json, monitor_document

        print(as_json(monitor_document(found)))
    else:
        (_print_replay if replay else _print_standing)(found)
        for scene_id, why in found.left_out.items():
            print(f"{scene_id}: not followed, {why}.")
    return open_code(source)


def _print_scene_tests(pair: Pair, screen: Console) -> None:
    from worldodds.cli.screen import table

    rows = table("scene", ">valid", ">p", ">q", "test", title=f"{pair.difference.a} - {pair.difference.b}")
    for name, scene in pair.scenes.items():
        test = scene.test
        rows.add_row(
            name,
            str(test.n),
            number(test.p_value, ".2g"),
            number(scene.q_value, ".2g"),
            Text(test.reason or test.method),
        )
    screen.print()
    screen.print(rows)


def _print_comparison(comparison: Comparison, *, verbose: bool) -> None:
    from worldodds.cli.screen import console, table

    screen = console()
    rows = table("a", "b", ">mnTV a - b", ">95%, all pairs at once", "", "odds differ in")
    for pair in comparison.pairs:
        d = pair.difference
        band = f"{d.low:+.3f} to {d.high:+.3f}" if d.low is not None and d.high is not None else "-"
        moved = [name for name, scene in pair.scenes.items() if scene.q_value is not None and scene.q_value <= 0.05]
        where = f"{len(moved)} of {len(pair.scenes)} scenes"
        verdict = "distinguishable" if d.distinguishable else "tied"
        rows.add_row(Text(d.a), Text(d.b), f"{d.difference:+.3f}", band, verdict, where)
    screen.print(rows)
    for pair in comparison.pairs if verbose else ():
        _print_scene_tests(pair, screen)
    for pair in comparison.pairs:
        if pair.difference.reason:
            screen.print(f"{pair.difference.a} - {pair.difference.b}: {pair.difference.reason}", markup=False)
    ranks = [f"{m} {low}" if low == high else f"{m} {low}-{high}" for m, (low, high) in comparison.ranks.items()]
    screen.print(f"\nRanks that hold together: {', '.join(ranks)}", markup=False)
    screen.print(f"Tied sets: {'; '.join(' = '.join(group) for group in comparison.ties)}", markup=False)
    screen.print(f"Over the {len(comparison.scenes)} scenes that all models have: {', '.join(comparison.scenes)}.")
    if comparison.left_out:
        screen.print(f"Left out: {', '.join(comparison.left_out)}.")


def _print_replay(found: Standing) -> None:
    from collections import Counter

    stops = Counter(cell.stopped_by for scenes in found.cells.values() for cell in scenes.values())
    verdicts = Counter(cell.verdict or "open" for scenes in found.cells.values() for cell in scenes.values())
    print(f"{found.used} of {found.rollouts} rollouts needed: {found.saved_share:.1%} saved.")
    print(
        "Stopped by: " + ", ".join(f"{reason or 'nothing, still open'} {n}" for reason, n in stops.most_common()) + "."
    )
    print("Verdicts: " + ", ".join(f"{verdict} {n}" for verdict, n in verdicts.most_common()) + ".")
    changed = ", ".join(f"{model}/{scene}" for model, scene in found.changed)
    print(f"Rejections that differ from the fixed-n ones: {changed or 'none'}.")


def _print_standing(found: Standing) -> None:
    from worldodds.cli.screen import console, table

    rows = table("model", "scene", ">used", ">valid", ">e-value", ">anytime p", "stands at", ">worth buying")
    for model, scenes in found.cells.items():
        for scene_id, cell in scenes.items():
            rows.add_row(
                Text(model),
                scene_id,
                f"{cell.used} of {cell.available}",
                str(cell.n),
                "beyond bound" if cell.e_value is None else f"{cell.e_value:.3g}",
                f"{cell.anytime_p:.2g}",
                cell.verdict or "open",
                f"up to {cell.worth_buying}" if cell.worth_buying else "-",
            )
    screen = console()
    screen.print(rows)
    wanted = sum(cell.worth_buying for scenes in found.cells.values() for cell in scenes.values())
    screen.print(
        f"\nStill worth buying: up to {wanted} rollouts, in index order. Rule: e-value {found.rule.early_e:g}, else "
        f"exact G at {found.rule.final_level:g} after {found.rule.horizon}."
    )
