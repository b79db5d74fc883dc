"""Score a table of outcomes that you have already: two models, one scene, no video needed."""

import tempfile
from pathlib import Path

from worldodds import load

# how often each face came up; "" is a clip in which nobody could tell
SEEN = {
    "even": {"1": 5, "2": 6, "3": 4, "4": 5, "5": 6, "6": 5, "": 1},
    "stuck_on_six": {"1": 1, "2": 0, "3": 2, "4": 1, "5": 2, "6": 24, "": 2},
}

rows = ["scene,model,seed,outcome"]
for model, counts in SEEN.items():
    outcomes = [face for face, times in counts.items() for _ in range(times)]
    rows += [f"dice,{model},{seed},{face}" for seed, face in enumerate(outcomes)]

with tempfile.TemporaryDirectory() as folder:
    table = Path(folder) / "outcomes.csv"
    table.write_text("\n".join(rows) + "\n")
    for card in load(table).only(["dice"]).score():
        cell = card.cell("dice")
        m = cell.measurement
        assert m.deviation is not None
        assert m.g is not None
        print(
            f"{card.model}: {m.counts.n} of {m.counts.n_total} readable, TV {m.deviation.tv:.3f} where a perfect model "
            f"shows {m.deviation.floor:.3f}, score {m.score:+.3f}, exact G p = {m.g.p_value:.2g}: {cell.verdict}"
        )
