"""Turn CaliBench's per-rollout files into the compact form that the suite ships.

Usage: python make_calibench_published.py outcomes_main.csv human_labels.csv FOLDER
Input: `scene,model,seed,outcome` and `scene,model,seed,human_label`, taken from odysseyml/CaliBench @4533e87.
Output: FOLDER/outcomes.toml below its hand-written head (kept as it is, up to `[outcomes.`), FOLDER/human_labels.toml
likewise.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

Cells = dict[str, dict[str, dict[int, str]]]


def main(outcomes: str, human_labels: str, folder: str) -> None:
    """Rewrite the tables of both files."""
    models = _cells(outcomes, "outcome", ("model", "scene"))
    lines = [
        line
        for model, scenes in models.items()
        for line in (
            f"\n[outcomes.{model}]",
            *(f'{scene} = "{" ".join(c[s] for s in sorted(c))}"' for scene, c in scenes.items()),
        )
    ]
    _replace(Path(folder) / "outcomes.toml", "\n[outcomes.", lines)
    labels = _cells(human_labels, "human_label", ("scene", "model"))
    lines = [
        line
        for scene, by_model in labels.items()
        for line in (
            f"\n[labels.{scene}]",
            *(f'{model} = "{" ".join(f"{s}:{c[s]}" for s in sorted(c))}"' for model, c in by_model.items()),
        )
    ]
    _replace(Path(folder) / "human_labels.toml", "\n[labels.", lines)


def _cells(path: str, column: str, by: tuple[str, str]) -> Cells:
    cells: Cells = defaultdict(lambda: defaultdict(dict))
    with Path(path).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cells[row[by[0]]][row[by[1]]][int(row["seed"])] = row[column] or "-"
    return cells


def _replace(path: Path, mark: str, lines: list[str]) -> None:
    head, _, _ = path.read_text(encoding="utf-8").partition(mark)
    path.write_text(head.rstrip("\n") + "\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
