"""Tables for the terminal: families as experiments, and both papers' rules face to face."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from worldodds.crosscheck import Crosscheck
from worldodds.families import Reaction
from worldodds.report.words import NOTHING, number, p_value, span

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STYLES = {"over-reacts": "red", "under-reacts": "red", "as it should": "green"}


def print_families(found: Mapping[str, Sequence[Reaction]], console: Console) -> None:
    """Print every model's pairs: what changed, how far the outcomes shifted, how far they should have."""
    from rich.text import Text

    for model, some in found.items():
        console.print(Text(model, style="bold"))
        if not some:
            console.print(Text("  no scene was read together with a variant of it\n", style="dim"))
            continue
        for cue, title in (
            ("causal", "The physics changed: the odds should move"),
            ("non-causal", "Only the picture changed: the odds should stay"),
        ):
            part = [one for one in some if one.variant.cue == cue]
            if part:
                console.print(Text(f"  {title}", style="dim"))
                console.print(_pairs(part))
                console.print()


def print_crosscheck(found: Crosscheck, console: Console) -> None:
    """Print all models by both rules, then the pairs in which they disagree and why."""
    from rich.text import Text

    table = _table("model", "mnTV", "place", "of it nulls", "of it odds", "TVD", "place", "SPR %")
    for m in found.models:
        by_mntv, by_tvd = (NOTHING if place is None else str(place) for place in (m.mntv_place, m.tvd_place))
        cells = (number(m.by_nulls), number(m.by_odds), number(m.tvd, 1), by_tvd, number(m.scene_pass_rate, 0))
        table.add_row(Text(m.model), number(m.mntv), by_mntv, *cells)
    console.print(table)
    told = f"Over {len(found.scenes)} scenes; a scene passes with {found.gate:.0%} of its clips readable."
    console.print(Text(told + " Places are by the bare numbers, within which chance is not told apart.\n", style="dim"))
    for m in found.models:
        if m.why_not_comparable:
            told = f"{m.model} was stopped early, and holds no place: {m.why_not_comparable}"
            console.print(Text(told, style="yellow"))
    for swap in found.swaps:
        console.print(
            Text.assemble(f"{swap.better_by_mntv} is better by mnTV, {swap.better_by_tvd} by TVD: ", (swap.why, "dim"))
        )
    if not found.swaps and sum(m.mntv_place is not None for m in found.models) > 1:
        console.print(Text("Both rules put the models in the same order."))


def _pairs(some: Sequence[Reaction]) -> Table:
    from rich.text import Text

    table = _table("variant", "of", "shift", "chance", "expected", "reaction", "q", "verdict", "what changed")
    for one in some:
        reaction = number(one.reaction, 2)
        if one.interval:
            reaction = f"{reaction} ({span(one.interval, 2)})"
        table.add_row(
            Text(one.member.id),
            one.base.id,
            number(one.shift, 1),
            number(one.chance, 1),
            number(one.expected, 1),
            reaction,
            p_value(one.q_value),
            Text(one.verdict, style=_STYLES.get(one.verdict, "")),
            Text(one.variant.changes, style="dim"),
        )
    return table


def _table(first: str, *others: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False, header_style="dim")
    table.add_column(first, justify="left", no_wrap=True)
    for name in others:
        words = name in ("verdict", "what changed", "of")
        table.add_column(name, justify="left" if words else "right", no_wrap=name != "what changed", overflow="fold")
    return table
