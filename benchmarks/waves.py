"""What buying in waves costs and keeps on CaliBench's nine scenes: false discoveries, power, rollouts; prints a table.

python benchmarks/waves.py 200
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from worldodds.outcome import Counts, Reference
from worldodds.statistics import benjamini_hochberg, multinomial_test, spiked
from worldodds.statistics.waves import EarlyRule, next_wave
from worldodds.suites import find_suite

RULE = EarlyRule()
CASES = {
    "all calibrated": (0, 0.0),
    "3 of 9 off by 0.35": (3, 0.35),
    "all off by 0.35": (9, 0.35),
    "all off by 0.5": (9, 0.5),
}


def in_waves(cells: Sequence[tuple[Reference, list[int]]]) -> tuple[list[bool], int]:
    """Return what is declared and how many rollouts are bought."""
    family = next_wave(cells, RULE).family
    return family.declared, sum(min(RULE.horizon, -(-cell.used // RULE.wave) * RULE.wave) for cell in family.cells)


def after_all(cells: Sequence[tuple[Reference, list[int]]]) -> tuple[list[bool], int]:
    """Return what exact G with Benjamini-Hochberg rejects once everything is bought."""
    tests = [
        multinomial_test(Counts(labels=r.labels, counts=tuple(seen.count(i) for i in range(r.k))), r)
        for r, seen in cells
    ]
    q_values = benjamini_hochberg([test.p_value for test in tests])
    return [q is not None and q <= RULE.alpha for q in q_values], RULE.horizon * len(cells)


def main(repeats: int) -> None:
    """Simulate models of each kind and print what both ways find."""
    references = [scene.reference for scene in find_suite("calibench").scenes if scene.reference]
    rng = np.random.default_rng(5)
    print("| model | way | false discovery rate | power | rollouts of 288 |\n|---|---|---|---|---|")
    for name, (off, tv) in CASES.items():
        odds = [spiked(r, tv) if i < off else r.probabilities for i, r in enumerate(references)]
        found: dict[str, list[tuple[float, float, int]]] = {"after all": [], "in waves": []}
        for _ in range(repeats):
            draws = [rng.choice(r.k, size=RULE.horizon, p=q).tolist() for r, q in zip(references, odds, strict=True)]
            cells = list(zip(references, draws, strict=True))
            for way, (declared, bought) in zip(found, (after_all(cells), in_waves(cells)), strict=True):
                false = sum(declared[off:]) / max(1, sum(declared))
                found[way].append((false, sum(declared[:off]) / max(1, off), bought))
        for way, rows in found.items():
            rate, power, bought = np.mean(rows, axis=0)
            print(f"| {name} | {way} | {rate:.3f} | {f'{power:.2f}' if off else '–'} | {bought:.0f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
