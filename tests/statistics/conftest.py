"""The published outcomes of CaliBench and its references, for the tests of statistics."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import pytest

from worldodds.outcome import Counts, Reference
from worldodds.statistics import benjamini_hochberg, multinomial_test

REFERENCE = Path(__file__).parent.parent / "reference"
SCENES = ["galton_board_real", "galton_board", "ball", "walking", "pendulum", "dice", "cards", "lottery", "roulette"]
MODELS = ["wan", "seedance", "happyhorse", "veo31", "runway45", "cosmos3_super"]


@pytest.fixture(scope="session")
def references() -> dict[str, Reference]:
    """Odds of the nine scenes."""
    fork, board = Reference.uniform(2), Reference.binomial(10)
    return {
        "galton_board_real": board,
        "galton_board": board,
        **dict.fromkeys(("ball", "walking", "pendulum"), fork),
        "dice": Reference.uniform(6),
        "cards": Reference.uniform(4),
        "lottery": Reference.uniform(20),
        "roulette": Reference.of(["18/37", "18/37", "1/37"]),
    }


@pytest.fixture(scope="session")
def published(references: dict[str, Reference]) -> dict[tuple[str, str], Counts]:
    """Counts of the 54 published cells, by scene and model."""
    cells: dict[tuple[str, str], Counts] = {}
    with (REFERENCE / "calibench_outcomes.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seen = row["outcomes"].split()
            counts = [seen.count(str(j)) for j in range(1, references[row["scene"]].k + 1)]
            cells[row["scene"], row["model"]] = Counts.of(counts, unreadable=seen.count("-"))
    return cells


@pytest.fixture(scope="session")
def models(
    published: dict[tuple[str, str], Counts], references: dict[str, Reference]
) -> dict[str, list[tuple[Counts, Reference]]]:
    """Nine cells of each published model, both in the paper's order."""
    return {model: [(published[scene, model], references[scene]) for scene in SCENES] for model in MODELS}


@pytest.fixture(scope="session")
def cell_table() -> list[dict[str, str]]:
    """Every published cell as recomputed by an independent implementation, rounded; empty where there is no value."""
    with (REFERENCE / "calibench_cells.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class Grid:
    """The 54 published cells with their outcomes in order of seeds: 0-based, None a null."""

    outcomes: dict[tuple[str, str], list[int | None]]
    references: dict[str, Reference]
    published: dict[tuple[str, str], Counts]

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Return (scene, model) of every cell."""
        return list(self.outcomes)

    @property
    def cells(self) -> list[tuple[Counts, Reference]]:
        """Return counts and reference of every cell."""
        return [(self.published[key], self.references[key[0]]) for key in self.keys]

    @property
    def readings(self) -> list[tuple[Reference, list[int | None]]]:
        """Return reference and outcomes of every cell, as a replay takes them."""
        return [(self.references[scene], seen) for (scene, _), seen in self.outcomes.items()]

    @property
    def rejected(self) -> set[tuple[str, str]]:
        """Return the cells that exact G rejects after Benjamini-Hochberg over those with four valid outcomes."""
        p_values = [multinomial_test(c, r).p_value if c.n >= 4 else None for c, r in self.cells]
        q_values = benjamini_hochberg(p_values)
        return {key for key, q in zip(self.keys, q_values, strict=True) if q is not None and q <= 0.05}


@pytest.fixture(scope="session")
def grid(references: dict[str, Reference], published: dict[tuple[str, str], Counts]) -> Grid:
    """Return the published outcomes one by one."""
    with (REFERENCE / "calibench_outcomes.csv").open(newline="", encoding="utf-8") as file:
        outcomes = {
            (row["scene"], row["model"]): [None if o == "-" else int(o) - 1 for o in row["outcomes"].split()]
            for row in csv.DictReader(file)
        }
    return Grid(outcomes=outcomes, references=references, published=published)
