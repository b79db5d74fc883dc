"""Print what the natural worlds score, as Markdown: from the documents that ``worldodds worlds check`` printed.

    worldodds worlds check dice -n 5000 --json > benchmarks/results/natural/dice.json
    python scripts/natural_odds.py [--short]

``--short`` prints the table of the README, without it the one of docs/what-reality-scores.md. Distances are measured
again from the counts, so no physics runs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from worldodds.outcome import Counts
from worldodds.scene import Scene
from worldodds.statistics.distance import null_floor, score_of, total_variation
from worldodds.statistics.inversion import Population, invert
from worldodds.suites import find_suite
from worldodds.worlds.check import NaturalOdds, far_enough, measure_natural

FOLDER = Path(__file__).parents[1] / "benchmarks/results/natural"


def main() -> None:
    """Print one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    print(table(short=parser.parse_args().short))


def table(*, short: bool) -> str:
    """Return a table with a row a scene and the mean over all of them."""
    found = list(_measured())
    head = "| world | runs | distance from the reference (95%) |"
    rows = [f"| `{scene.id}` | {odds.counts.n_total:,} | {_span(odds.population)} |" for scene, odds in found]
    mean, score = _mean(found)
    if short:
        return "\n".join([head, "|---|---|---|", *rows, f"| mean | | {_span(mean)} |"])
    head += " TV | floor | G-test | certified | invalid |"
    rows = [row + _more(odds) for row, (_, odds) in zip(rows, found, strict=True)]
    told = f"mnTV at these n: {score:.4f}"
    return "\n".join([head, "|---" * 8 + "|", *rows, f"| mean | | {_span(mean)} | | | | | |", "", told])


def _measured() -> Iterator[tuple[Scene, NaturalOdds]]:
    for scene in find_suite("calibench").scenes:
        path = FOLDER / f"{scene.id}.json"
        if not path.is_file():
            continue
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["natural"]
        assert scene.reference is not None
        counts = Counts.of(list(told["counts"].values()), labels=scene.labels, unreadable=told["invalid"])
        yield scene, measure_natural(counts, told["reasons"], scene.reference, rng=np.random.default_rng(0))


def _mean(found: list[tuple[Scene, NaturalOdds]]) -> tuple[Population, float]:
    cells = [(odds.counts, scene.reference) for scene, odds in found if scene.reference]
    excess = [total_variation(*cell) / null_floor(cell[1], cell[0].n) for cell in cells]
    along = far_enough(min(excess), 1.0)
    mean = invert(cells, rng=np.random.default_rng(0), along=along).mean
    return mean, float(np.mean([score_of(*cell) for cell in cells]))


def _span(population: Population | None) -> str:
    assert population is not None
    interval = population.interval
    return f"{population.estimate:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def _more(odds: NaturalOdds) -> str:
    assert odds.g_p_value is not None
    p = f"p = {odds.g_p_value:.2g}" if odds.g_p_value >= 0.001 else "p < 0.001"
    numbers = f" {odds.tv:.4f} | {odds.floor:.4f} | {p} | {odds.certified_delta:.3f} |"
    return f"{numbers} {odds.counts.n_total - odds.counts.n} |"


if __name__ == "__main__":
    main()
