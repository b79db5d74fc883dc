"""The terminal as our tables need it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from worldodds.sources import Source


class _Screen(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line to end quietly when the reader of our output has gone."""
        raise BrokenPipeError


def console() -> Console:
    """Return a console that is as wide as the terminal, and wide enough for our tables in a pipe or file."""
    plain = _Screen(emoji=False)
    return plain if plain.is_terminal else _Screen(width=110, emoji=False)


def table(*columns: str, title: str | None = None) -> Table:
    """Return a calm table: no boxes, words to the left and whole, numbers (columns marked with >) to the right."""
    made = Table(box=None, title=title, title_justify="left", pad_edge=False)
    for column in columns:
        right = column.startswith(">")
        made.add_column(column.removeprefix(">"), justify="right" if right else "left", no_wrap=right)
    return made


def open_code(source: Source) -> int:
    """Return exit code 3, and say why, where rollouts or readings of a source have failed or are missing; else 0."""
    if source.open:
        print(f"incomplete: {source.open} rollouts or readings failed or missing; they count nowhere", file=sys.stderr)
        return 3
    return 0
