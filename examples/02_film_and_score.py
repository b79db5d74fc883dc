"""Film a simulated world that is wrong on purpose, read every clip by computer vision, and score it."""

import tempfile
from pathlib import Path

from worldodds import RunStore, Tracker, find_suite, load, make_generator, plan, run

ROLLOUTS = 12

suite = find_suite("calibench").only(["ball"])
# the fork's odds are 1/2 and 1/2; this world sends 95 in 100 balls to the right
model = make_generator("simulator/collapsed", {"favoured": "right,left", "favoured_share": 0.95, "size": "320x240"})

with tempfile.TemporaryDirectory() as parent:
    folder = Path(parent) / "run"
    with RunStore(folder) as store:
        summary = run(plan(suite, model, [Tracker()], ROLLOUTS), store)
        again = run(plan(suite, model, [Tracker()], ROLLOUTS), store)
    print(f"filmed {summary.filmed}, read {summary.read}, open {len(summary.open)}; again: filmed {again.filmed}")

    (card,) = load(folder).only(["ball"]).score()
    cell = card.cell("ball")
    assert cell.measurement.g is not None
    seen = dict(zip(cell.measurement.counts.labels, cell.measurement.counts.counts, strict=True))
    print(f"{card.model}: {seen}, exact G p = {cell.measurement.g.p_value:.2g}: {cell.verdict}")
