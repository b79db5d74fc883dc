"""False alarms, power, rollouts and false discoveries of the sequential rules, by simulation.

Usage: python benchmarks/sequential.py [--repeats 200] [--seed 0]
Every model always gives a readable outcome; alternatives are the paper's contamination spike.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldodds.outcome import Reference
from worldodds.statistics import benjamini_hochberg, e_bh, running_bh, spiked, three_way
from worldodds.statistics.bulk import p_values_of_many
from worldodds.statistics.sequential import log_e_of

Floats = NDArray[np.float64]
HORIZON, EARLY_E, FINAL_LEVEL = 32, 100.0, 0.04
FAMILIES = {
    "fork": Reference.uniform(2),
    "roulette": Reference.of(["18/37", "18/37", "1/37"]),
    "cards": Reference.uniform(4),
    "dice": Reference.uniform(6),
    "galton": Reference.binomial(10),
    "lottery": Reference.uniform(20),
}
SCENES = ["galton", "galton", "fork", "fork", "fork", "dice", "cards", "lottery", "roulette"]


@dataclass(frozen=True)
class Cells:
    """Simulated cells of one scene: log E after every rollout (cells, looks) and exact G at the horizon (cells,)."""

    log_e: Floats
    p: Floats


def simulate(reference: Reference, q: Floats, repeats: int, looks: int, rng: np.random.Generator) -> Cells:
    outcomes = np.minimum(np.searchsorted(np.cumsum(q), rng.random((repeats, looks)), side="right"), len(q) - 1)
    seen = np.eye(len(q), dtype=np.int64)[outcomes].cumsum(axis=1)
    log_e = log_e_of(seen.reshape(-1, len(q)), reference.probabilities).reshape(repeats, looks)
    return Cells(log_e=log_e, p=p_values_of_many(seen[:, min(looks, HORIZON) - 1], reference))


def false_alarms(repeats: int, rng: np.random.Generator) -> None:
    print(f"\nFalse alarms of calibrated cells ({repeats} a scene), level 0.05")
    print(f"{'scene':10}{'E >= 20 in 200 looks':>22}{'hybrid at 32':>14}{'exact G at 32':>15}")
    for name, reference in FAMILIES.items():
        cells = simulate(reference, reference.probabilities, repeats, 200, rng)
        crossed = (cells.log_e >= math.log(20)).any(axis=1)
        early = (cells.log_e[:, :HORIZON] >= math.log(EARLY_E)).any(axis=1)
        hybrid = early | (cells.p <= FINAL_LEVEL)
        print(f"{name:10}{crossed.mean():22.3f}{hybrid.mean():14.3f}{(cells.p <= 0.05).mean():15.3f}")


def rollouts(repeats: int, rng: np.random.Generator) -> None:
    print(f"\nMean rollouts to E >= 20, at most 200 (Wald's bound in brackets), {repeats} paths each")
    print(f"{'TV':6}" + "".join(f"{name:>12}" for name in FAMILIES))
    for tv in (0.1, 0.2, 0.35, 0.5):
        row = []
        for name, reference in FAMILIES.items():
            # the bent wheel favours red: green alone is seen at once
            q = spiked(reference, tv, spike=0 if name == "roulette" else None)
            divergence = float((q[q > 0] * np.log(q[q > 0] / reference.probabilities[q > 0])).sum())
            crossed = simulate(reference, q, repeats, 200, rng).log_e >= math.log(20)
            mean = np.where(crossed.any(axis=1), crossed.argmax(axis=1) + 1, 200).mean()
            row.append(f"{mean:6.0f} ({math.log(20) / divergence:3.0f})")
        print(f"{tv:<6}" + "".join(f"{entry:>12}" for entry in row))


def hybrid_power(repeats: int, rng: np.random.Generator) -> None:
    print(f"\nHybrid (E >= {EARLY_E:.0f}, else exact G at {FINAL_LEVEL}) against exact G at 0.05, N = {HORIZON}")
    print(f"{'TV':6}{'power fixed':>12}{'hybrid':>9}{'mean rollouts':>15}")
    for tv in (0.1, 0.2, 0.35, 0.5):
        fixed, hybrid, bought = [], [], []
        for reference in FAMILIES.values():
            cells = simulate(reference, spiked(reference, tv), repeats, HORIZON, rng)
            early = cells.log_e >= math.log(EARLY_E)
            fixed.append((cells.p <= 0.05).mean())
            hybrid.append((early.any(axis=1) | (cells.p <= FINAL_LEVEL)).mean())
            bought.append(np.where(early.any(axis=1), early.argmax(axis=1) + 1, HORIZON).mean())
        print(f"{tv:<6}{np.mean(fixed):12.3f}{np.mean(hybrid):9.3f}{np.mean(bought):15.1f}")


@dataclass(frozen=True)
class Outcome:
    """What one rule did with 54 cells."""

    declared: NDArray[np.bool_]
    bought: int


def fixed_bh(cells: Cells) -> Outcome:
    q_values = benjamini_hochberg(cells.p.tolist())
    return Outcome(np.array([q is not None and q <= 0.05 for q in q_values]), cells.log_e.size)


def fixed_e_then_bh(cells: Cells) -> Outcome:
    """The trap: stop each cell at E >= 250, run Benjamini-Hochberg on what is left."""
    crossed = cells.log_e >= math.log(250)
    bought = np.where(crossed.any(axis=1), crossed.argmax(axis=1) + 1, HORIZON)
    p = np.where(crossed.any(axis=1), 0.02, np.minimum(1.0, cells.p * 0.05 / 0.046))
    q_values = benjamini_hochberg(p.tolist())
    return Outcome(np.array([q is not None and q <= 0.05 for q in q_values]), int(bought.sum()))


def running(cells: Cells, rule: str) -> Outcome:
    """Buy one rollout a cell and round; a cell stops while the running set holds it."""
    tops, alpha = np.maximum.accumulate(np.maximum(cells.log_e, 0.0), axis=1), 1 / EARLY_E + FINAL_LEVEL
    stop = np.full(len(tops), HORIZON)
    still_open = np.ones(len(tops), dtype=bool)
    declared = np.zeros(len(tops), dtype=bool)
    for look in range(1, HORIZON + 1):
        now = (np.arange(len(tops)), np.minimum(look, stop) - 1)
        if rule == "e_bh":
            declared = np.array(e_bh(np.exp(np.minimum(cells.log_e[now], 700)).tolist()))
        else:
            p = np.minimum(1.0, alpha * EARLY_E * np.exp(-tops[now]))
            if look == HORIZON:
                p = np.where(still_open, np.minimum(p, alpha / FINAL_LEVEL * cells.p), p)
            declared = np.array(running_bh(np.minimum(p, 1.0).tolist()))
        stop[declared & still_open] = look
        still_open &= ~declared
    return Outcome(declared, int(stop.sum()))


RULES = {
    "BH, all 32": fixed_bh,
    "running BH": lambda cells: running(cells, "running_bh"),
    "e-BH": lambda cells: running(cells, "e_bh"),
    "TRAP: E >= 250, then BH": fixed_e_then_bh,
}


def false_discoveries(repeats: int, rng: np.random.Generator) -> None:
    print(f"\nFamilies of 54 cells ({repeats} each): false discovery rate, true positives, rollouts of {54 * HORIZON}")
    print(f"{'calibrated':12}{'rule':26}{'FDR':>7}{'TPR':>7}{'rollouts':>10}")
    for nulls in (24, 45, 54):
        families = simulate_families(nulls, repeats, rng)
        for rule, decide in RULES.items():
            results = [(decide(cells), is_null) for cells, is_null in families]
            false = [(r.declared & null).sum() / max(1, r.declared.sum()) for r, null in results]
            true = [(r.declared & ~null).sum() / max(1, (~null).sum()) for r, null in results]
            power = f"{np.mean(true):7.3f}" if nulls < 54 else f"{'-':>7}"
            bought = np.mean([r.bought for r, _ in results])
            print(f"{nulls:<12}{rule:26}{np.mean(false):7.3f}{power}{bought:10.0f}")


def simulate_families(nulls: int, repeats: int, rng: np.random.Generator) -> list[tuple[Cells, NDArray[np.bool_]]]:
    """Six models over nine scenes: which cells are calibrated is drawn, the others are spiked at TV 0.15 to 0.8."""
    is_null = np.array([rng.permutation(54) < nulls for _ in range(repeats)])
    log_e, p = np.zeros((repeats, 54, HORIZON)), np.zeros((repeats, 54))
    for cell in range(54):
        reference = FAMILIES[SCENES[cell % 9]]
        odds = reference.probabilities
        far = spiked(reference, min(0.15 + 0.65 * (cell // 9) / 5, 0.95 * (1 - odds[0])), spike=0)
        if SCENES[cell % 9] == "galton":
            far = spiked(reference, min(0.15 + 0.65 * (cell // 9) / 5, 0.95 * (1 - odds.max())))
        for null, q in ((True, odds), (False, far)):
            rows = np.flatnonzero(is_null[:, cell] == null)
            if len(rows):
                cells = simulate(reference, q, len(rows), HORIZON, rng)
                log_e[rows, cell], p[rows, cell] = cells.log_e, cells.p
    return [(Cells(log_e=log_e[r], p=p[r]), is_null[r]) for r in range(repeats)]


def three_verdicts(repeats: int, rng: np.random.Generator) -> None:
    print(f"\nThree-way verdict, delta 0.2, at most 128 rollouts, {repeats} paths each")
    print(f"{'scene':10}{'TV':>5}{'miscalibrated':>15}{'calibrated':>12}{'undecided':>11}{'rollouts':>10}")
    for name, tvs in (("fork", (0.0, 0.1, 0.3, 0.5)), ("dice", (0.0, 0.2))):
        for tv in tvs:
            q = spiked(FAMILIES[name], tv)
            ends = [three_way(rng.choice(len(q), size=128, p=q).tolist(), FAMILIES[name]) for _ in range(repeats)]
            shares = [np.mean([e.verdict == v for e in ends]) for v in ("miscalibrated", "calibrated", "undecided")]
            used = np.mean([e.used for e in ends])
            print(f"{name:10}{tv:5}{shares[0]:15.2f}{shares[1]:12.2f}{shares[2]:11.2f}{used:10.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng, start = np.random.default_rng(given.seed), time.perf_counter()
    false_alarms(2 * given.repeats, rng)
    rollouts(given.repeats, rng)
    hybrid_power(2 * given.repeats, rng)
    false_discoveries(given.repeats, rng)
    three_verdicts(given.repeats, rng)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
