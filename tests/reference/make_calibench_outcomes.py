"""Turn the published per-rollout outcomes of CaliBench into one line a cell.

Usage: python make_calibench_outcomes.py outcomes_main.csv > calibench_outcomes.csv
Source: odysseyml/CaliBench @4533e87 (outcomes of the main grid), arXiv 2608.16829.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path


def main(path: str) -> None:
    """Print ``scene,model,outcomes``: the 1-based outcomes in seed order, ``-`` for a null."""
    cells: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    with Path(path).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cells[row["scene"], row["model"]][int(row["seed"])] = row["outcome"] or "-"
    print("scene,model,outcomes")
    for (scene, model), outcomes in cells.items():
        print(f"{scene},{model},{' '.join(outcomes[seed] for seed in sorted(outcomes))}")


if __name__ == "__main__":
    main(sys.argv[1])
