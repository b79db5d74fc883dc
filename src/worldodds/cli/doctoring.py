"""What this machine lacks."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

MISSING = 2


def doctor(*, json: Annotated[bool, Parameter(negative=())] = False) -> int:
    """Name what is missing on this machine, and the package that brings it; leave with 2 where something needed is.

    Parameters
    ----------
    json
        Print a JSON document (format worldodds.doctor/1).
    """
    from worldodds.doctor import examine, scenes_that_work

    findings = examine()
    scenes = scenes_that_work(findings)
    if json:
        from worldodds.interop.doctor_json import doctor_document
        from worldodds.interop.json_text import as_json

        print(as_json(doctor_document(findings, scenes)))
    else:
        from worldodds.cli.screen import console, table

        screen = console()
        rows = table("", "what", "needed for", "found")
        for finding in findings:
            mark = "ok" if finding.there else "optional" if finding.optional else "MISSING"
            rows.add_row(mark, finding.name, finding.needed_for, finding.detail)
        screen.print(rows, markup=False)
        for finding in findings:
            if not finding.there:
                screen.print(f"\nFor {finding.name}: {finding.fix}", markup=False)
        able = [scene for scene, lack in scenes.items() if lack is None]
        screen.print(f"\nScenes that can be filmed here: {', '.join(able) or 'none'}.")
        for scene, lack in scenes.items():
            if lack is not None:
                screen.print(f"{scene} lacks {lack}.")
    return MISSING if any(not finding.there and not finding.optional for finding in findings) else 0
