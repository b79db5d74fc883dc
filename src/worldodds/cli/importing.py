"""Commands that bring in the papers' own material."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from worldodds.cli.tracks import import_

app = App(name="import", help="The papers' own frames, prompts, outcomes and clips, from copies that you have.")
app.command(import_, name="pawbench")


@app.command
def calibench(checkout: Path, /, *, output: Annotated[Path, Parameter(name=["--output", "-o"])]) -> int:
    """Make a suite from a checkout of CaliBench: its frames and prompts, its outcomes, and its clips where it has any.

    Its code is read, never run. Models that you film with this suite may be ranked among the published ones.

    Parameters
    ----------
    checkout
        The root of the checkout, with scenes.py and conditioning_frames.
    output
        The new folder, for suite/, outcomes.csv and runs/.
    """
    from worldodds.bring_calibench import bring_calibench

    brought = bring_calibench(checkout, output)
    suite, outcomes = brought.suite, brought.outcomes
    print(f"{len(suite.scenes)} scenes with their frames and prompts: film them with --suite {suite.folder}")
    if outcomes.rows:
        models = {row.model for row in outcomes.rows}
        print(f"{len(outcomes.rows)} outcomes of {len(models)} models: worldodds score {output / 'outcomes.csv'}")
    for run in brought.runs:
        print(f"A run with its clips: {run}")
    if outcomes.set_aside:
        count = sum(outcomes.set_aside.values())
        print(f"Set aside: {count} bins files of other grids: {', '.join(sorted(outcomes.set_aside))}")
    if brought.reworded:
        print(f"Not the paper's prompts, hence no rank among the published: {', '.join(brought.reworded)}")
    for line in brought.open:
        print(f"Open: {line}")
    return 3 if brought.open else 0
