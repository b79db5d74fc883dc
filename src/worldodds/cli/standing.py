"""The command that tells where a run stands and what closes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from worldodds.status import Status

MOST_LINES = 20


def status(folder: Path, /, *, reader: str | None = None, json: Annotated[bool, Parameter(negative=())] = False) -> int:
    """Tell what of a run is open and the command that closes it; exit code 3 while anything is.

    Parameters
    ----------
    folder
        The run's folder.
    reader
        Whose readings count, where the run was read by several.
    json
        Print everything as JSON (format worldodds.status/1).
    """
    from worldodds.status import run_status

    found = run_status(folder, reader=reader)
    if json:
        from worldodds.interop.json_text import as_json
        from worldodds.interop.status_json import status_document

        print(as_json(status_document(found)))
    else:
        _print(found)
    return 3 if found.open else 0


def _print(found: Status) -> None:
    from worldodds.cli.screen import console, table

    screen = console()
    shown = ["done", "refused", "failed", "missing"]
    if any("not_needed" in cell.rollouts for cell in found.cells):
        shown.append("not_needed")
    rows = table("scene", *(f">{name.replace('_', ' ')}" for name in shown), ">score, at best", ">at worst")
    for cell in found.cells:
        counts = [str(cell.rollouts.get(name, 0)) for name in shown]
        ends = [f"{end:.3f}" for end in cell.bounds] if cell.bounds else ["-", "-"]
        rows.add_row(cell.scene, *counts, *ends)
    money = f", {found.spent_usd:.2f} USD spent or set aside" if found.spent_usd else ""
    screen.print(f"{found.generator} in {found.folder}{money}", markup=False)
    screen.print(rows)
    for line in found.twins:
        screen.print(f"warning: {line}", markup=False)
    if not found.open:
        screen.print("\nNothing is open.")
        return
    if found.bounds:
        low, high = found.bounds
        screen.print(f"\nUntil what is open is closed, mnTV lies between {low:.3f} and {high:.3f}.")
    for line in found.open[:MOST_LINES]:
        print(f"open: {line}")
    if len(found.open) > MOST_LINES:
        print(f"... {len(found.open)} in all")
    for command in found.close:
        print(f"closes it: {command}")
