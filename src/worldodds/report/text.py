"""Tables for the terminal: one calm line a scene, everything else on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from worldodds.headline import Robustness, populations, ranks, robustness
from worldodds.judge_words import screen_lines
from worldodds.judged import Judged, unaudited
from worldodds.report.words import (
    early_lines,
    early_words,
    headline,
    judge_lines,
    mean_words,
    number,
    open_words,
    p_value,
    percent,
    population_words,
    rank_words,
    robust_words,
    span,
    verdict_words,
)
from worldodds.scorecard import Cell, Scorecard, Verdict
from worldodds.statistics.inversion import Inversion

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from worldodds.certificates import Quoted

_STYLES: dict[Verdict, str] = {"miscalibrated": "red", "undecided": "yellow", "calibrated": "green", "illegible": "dim"}


def print_scores(
    cards: Sequence[Scorecard],
    console: Console,
    *,
    verbose: bool = False,
    allowed: Judged | None = None,
    judges: Sequence[Quoted] = (),
) -> None:
    """Print every model: its mnTV, its verdicts, and a table of its scenes; ``verbose`` adds a second table.

    ``allowed`` holds the same models with their judge's measured errors allowed for, ``judges`` who read them.

    Fits 100 columns, and says the same without colour.
    """
    beside, places = populations(cards), ranks(cards)
    survived = robustness(cards) if verbose else {}
    for i, card in enumerate(cards):
        if i:
            console.print()
        _print_head(card, beside.get(card.model), places, console)
        _print_judge(card, allowed, judges, console)
        if card.cells:
            _print_cells(card, survived, console, verbose=verbose)


def _print_head(
    card: Scorecard, population: Inversion | None, places: Mapping[str, tuple[int, int]], console: Console
) -> None:
    from rich.text import Text

    reader = f"  read by {card.reader}" if card.reader else ""
    console.print(Text.assemble((card.model, "bold"), (reader, "dim")))
    console.print(Text(mean_words(card)), soft_wrap=False)
    if population:
        console.print(Text(population_words(population.mean)))
    if card.model in places:
        console.print(Text(rank_words(places[card.model], len(places))))
    console.print(Text(headline(card)))
    for line in early_lines(card):
        console.print(Text(line, style="yellow"))
    if card.averaged and card.missing_scenes:
        console.print(Text(f"Averaged over {', '.join(card.averaged)}; missing: {', '.join(card.missing_scenes)}."))


def _print_judge(card: Scorecard, allowed: Judged | None, judges: Sequence[Quoted], console: Console) -> None:
    from rich.text import Text

    for line in screen_lines(card.model, judges):
        console.print(Text(f"{line}."))

    if told := unaudited(card.reader, allowed.measured if allowed else None):
        console.print(Text(f"{told}.", style="yellow"))
    for line in judge_lines(card, allowed) if allowed else ():
        console.print(Text(line))


def _print_cells(
    card: Scorecard, survived: Mapping[tuple[str, str], Robustness], console: Console, *, verbose: bool
) -> None:
    from rich.padding import Padding
    from rich.text import Text

    console.print(Padding(_scenes(card.cells), (1, 0, 0, 2), expand=False))
    for cell in card.cells:
        if (reference := cell.measurement.scene.reference) and reference.uncertainty:
            console.print(Text(f"  {cell.measurement.scene.id}: {reference.uncertainty}"))
        if cell.early:
            console.print(Text(f"  {cell.measurement.scene.id}: {early_words(cell.early)}"))
        if told := open_words(cell.measurement.tally):
            style = "" if cell.measurement.tally.complete else "yellow"
            console.print(Text(f"  {cell.measurement.scene.id}: {told}", style=style))
    if verbose:
        robust = {scene: survives for (model, scene), survives in survived.items() if model == card.model}
        console.print(Padding(_details(card.cells, robust), (1, 0, 0, 2), expand=False))
        console.print(Text(f"  q: Benjamini-Hochberg over {card.family_size} tested cells", style="dim"))


def _scenes(cells: Sequence[Cell]) -> Table:
    from rich.text import Text

    table = _table("scene", "valid/read", "ρ", "TV", "floor", "score", "G p", "q")
    table.add_column("verdict", justify="left", overflow="fold")
    for cell in cells:
        m, d = cell.measurement, cell.measurement.deviation
        table.add_row(
            Text(m.scene.id),
            f"{m.counts.n}/{m.counts.n_total}",
            number(m.counts.scorability, 2),
            number(d.tv if d else None),
            number(d.floor if d else None),
            number(m.score),
            p_value(m.g.p_value if m.g else None),
            p_value(cell.g_q),
            Text(verdict_words(cell), style=_STYLES[cell.verdict]),
        )
    return table


def _details(cells: Sequence[Cell], survived: Mapping[str, Robustness]) -> Table:
    from rich.text import Text

    table = _table("scene", "chi2", "p", "null band", "excess", "modal", "eff. k", "certified")
    table.add_column("verdict survives", justify="left", no_wrap=True)
    for cell in cells:
        m, d = cell.measurement, cell.measurement.deviation
        table.add_row(
            Text(m.scene.id),
            number(m.chi2.statistic, 1) if m.chi2 else number(None),
            p_value(m.chi2.p_value if m.chi2 else None),
            span(d.null_band if d else None, 2),
            number(d.excess if d else None),
            percent(d.modal_share) if d else number(None),
            number(d.effective_outcomes if d else None, 1),
            number(cell.equivalence.certified_delta if cell.equivalence else None, 2),
            Text(robust_words(survived[m.scene.id]) if m.scene.id in survived else ""),
        )
    return table


def _table(first: str, *others: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False, header_style="dim")
    table.add_column(first, justify="left", no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
