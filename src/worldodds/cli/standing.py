"""The command that tells where a run stands and what closes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
        import json as codec

        print(codec.dumps(_document(found), indent=2))
    else:
        _print(found)
    return 3 if found.open else 0


def _document(found: Status) -> dict[str, Any]:
    from worldodds._version import __version__

    return {
        "format": "worldodds.status/1",
        "worldodds_version": __version__,
        "run": str(found.folder),
        "generator": found.generator,
        "reader": found.reader,
        "scenes": {
            cell.scene: {"rollouts": cell.rollouts, "score_bounds": list(cell.bounds) if cell.bounds else None}
            for cell in found.cells
        },
        "open": list(found.open),
        "close_with": list(found.close),
        "mntv_bounds": list(found.bounds) if found.bounds else None,
        "spent_usd": round(found.spent_usd, 6),
        "warnings": list(found.twins),
    }


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
