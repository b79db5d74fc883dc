"""Times the statistics of one core against plain numpy done the paper's way, and measures the coverage of intervals.

    python benchmarks/statistics.py              ratios against the baseline below, which must give the same numbers
    python benchmarks/statistics.py --coverage   coverage of the intervals of mean scores and of single cells

Times are processor seconds; set OMP_NUM_THREADS=1. The baseline follows the procedure that CaliBench describes
(arXiv 2608.16829): one multinomial a cell and resample, in a Python loop; 50,000 Monte Carlo tables a test.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import TypeVar

import numpy as np
from coverage_study import print_coverage
from numpy.typing import NDArray
from scipy.stats import binom

from worldodds.outcome import Counts, Reference
from worldodds.statistics.bulk import measure_many, p_values_of_many
from worldodds.statistics.exact import multinomial_test
from worldodds.statistics.interval import jackknife, percentile_bootstraps
from worldodds.statistics.inversion import invert
from worldodds.statistics.shapes import shapes

OUTCOMES = Path(__file__).parent.parent / "tests" / "reference" / "calibench_outcomes.csv"
FORK, BOARD = Reference.uniform(2), Reference.binomial(10)
REFERENCES = {
    "galton_board_real": BOARD,
    "galton_board": BOARD,
    "ball": FORK,
    "walking": FORK,
    "pendulum": FORK,
    "dice": Reference.uniform(6),
    "cards": Reference.uniform(4),
    "lottery": Reference.uniform(20),
    "roulette": Reference.of(["18/37", "18/37", "1/37"]),
}
T = TypeVar("T")
Models = dict[str, list[tuple[Counts, Reference]]]


def published_models() -> Models:
    """Cells of the six published models, in the paper's order of scenes."""
    cells: dict[tuple[str, str], Counts] = {}
    with OUTCOMES.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seen = row["outcomes"].split()
            counts = [seen.count(str(j)) for j in range(1, REFERENCES[row["scene"]].k + 1)]
            cells[row["scene"], row["model"]] = Counts.of(counts, unreadable=seen.count("-"))
    names = ["wan", "seedance", "happyhorse", "veo31", "runway45", "cosmos3_super"]
    return {name: [(cells[scene, name], odds) for scene, odds in REFERENCES.items()] for name in names}


def timed(work: Callable[[], T], times: int = 1) -> tuple[T, float]:
    """Return the result and the shortest time of several."""
    taken = []
    for _ in range(times):
        start = process_time()
        result = work()
        taken.append(process_time() - start)
    return result, min(taken)


# ---------------------------------------------------------------------------------------------- the plain way


def plain_floors(reference: Reference, n_max: int) -> list[float]:
    """Mean total variation by summing over each binomial law."""
    table = [0.0]
    for n in range(1, n_max + 1):
        x = np.arange(n + 1)
        table.append(sum((np.abs(x - n * p) * binom.pmf(x, n, p)).sum() for p in reference.probabilities) / (2 * n))
    return table


def plain_score(counts: NDArray[np.int64], total: int, p0: NDArray[np.float64], table: list[float]) -> float:
    """Score of one cell from its counts, nulls last."""
    valid = counts[:-1]
    n = int(np.sum(valid))
    if n == 0:
        return 1.0
    tv, rho = 0.5 * float(np.sum(np.abs(valid / n - p0))), n / total
    return (1 - rho) + rho * (tv - table[n]) / (1 - table[n])


def plain_bootstrap(models: Models, resamples: int) -> NDArray[np.float64]:
    """Mean scores (resamples, models): a loop over resample, model and cell."""
    rng = np.random.default_rng(0)
    tables = {id(odds): plain_floors(odds, 32) for odds in REFERENCES.values()}
    cells = [[(c.array, c.n_total, r.probabilities, tables[id(r)]) for c, r in model] for model in models.values()]
    means = np.empty((resamples, len(cells)))
    for b in range(resamples):
        for j, model in enumerate(cells):
            scores = []
            for counts, total, p0, table in model:
                share = np.append(counts, total - counts.sum()) / total
                scores.append(plain_score(rng.multinomial(total, share), total, p0, table))
            means[b, j] = np.mean(scores)
    return means


def plain_monte_carlo(seen: Counts, reference: Reference, draws: int = 50_000) -> float:
    """Chi-squared p-value of 50,000 simulated tables."""
    e = seen.n * reference.probabilities
    drawn = np.random.default_rng(0).multinomial(seen.n, reference.probabilities, size=draws)
    beyond = ((drawn - e) ** 2 / e).sum(axis=1) >= ((seen.array - e) ** 2 / e).sum() - 1e-9
    return float((beyond.sum() + 1) / (draws + 1))


# ------------------------------------------------------------------------------------------------- comparisons


def compare_bootstrap(models: Models, baseline_resamples: int) -> None:
    """Time the reproduction, one model's cells, and the jackknife against the loop."""
    means, plain = timed(lambda: plain_bootstrap(models, baseline_resamples))
    cells = list(models.values())
    same = percentile_bootstraps(cells, rng=np.random.default_rng(0), resamples=baseline_resamples)
    ends = np.percentile(means, [2.5, 97.5], axis=0).T
    gap = np.abs(np.array([(i.low, i.high) for i in same]) - ends).max()
    plain *= 50_000 / baseline_resamples
    found, ours = timed(lambda: percentile_bootstraps(cells, rng=np.random.default_rng(0)), 3)
    print(f"bootstrap, plain loop   {plain:8.2f} s for 50,000 resamples of 54 cells (timed on {baseline_resamples})")
    print(f"bootstrap, reproduction {ours:8.2f} s: {plain / ours:.0f} times faster, ends differ by {gap:.0e}")
    for name, interval in zip(models, found, strict=True):
        print(f"    {name:14s} [{interval.low:.4f}, {interval.high:.4f}]")
    _, fast = timed(lambda: vectorised_cells(models), 3)
    print(f"bootstrap, a cell a time{fast:8.2f} s: {plain / fast:.0f} times faster (another stream, same law)")
    _, jack = timed(lambda: [jackknife(model) for model in cells], 5)
    print(f"jackknife, 54 cells     {jack * 1e3:8.2f} ms: {plain / jack:,.0f} times faster")


def vectorised_cells(models: Models, resamples: int = 50_000) -> list[tuple[float, float]]:
    """Bootstrap cell by cell over the outcomes that were seen: unseen ones add a constant to the distance."""
    rng, ends = np.random.default_rng(0), []
    for model in models.values():
        total = np.zeros(resamples)
        for seen, odds in model:
            total += resampled_scores(seen, odds, rng, resamples)
        low, high = np.percentile(total / len(model), [2.5, 97.5])
        ends.append((float(low), float(high)))
    return ends


def resampled_scores(seen: Counts, odds: Reference, rng: np.random.Generator, resamples: int) -> NDArray[np.float64]:
    """Scores of one cell's resamples, looked up by what can differ: the counts seen, by outcome."""
    from worldodds.statistics.floor import floors

    kinds = np.append(seen.array, seen.n_total - seen.n)
    present = np.argsort(kinds, kind="stable")[np.count_nonzero(kinds == 0) :]  # rare ones first: quicker to draw
    drawn = rng.multinomial(seen.n_total, kinds[present] / seen.n_total, size=resamples)
    n = seen.n_total - drawn[:, present == odds.k].sum(axis=1)
    distance = np.zeros(resamples)
    sizes = np.maximum(np.arange(seen.n_total + 1), 1)
    for j, outcome in enumerate(present):
        if outcome == odds.k:
            continue
        table = np.abs(np.arange(seen.n_total + 1) / sizes[:, None] - odds.probabilities[outcome])
        distance += table.ravel()[n * (seen.n_total + 1) + drawn[:, j]]
    unseen = 1 - odds.probabilities[present[present < odds.k]].sum()
    tv, floor, rho = (distance + unseen) / 2, floors(odds, seen.n_total)[n], n / seen.n_total
    return np.where(n == 0, 1.0, 1 - rho + rho * (tv - floor) / (1 - floor))


def forget() -> None:
    """Empty what the exact tests remember, so that their time is that of a first call."""
    shapes.cache_clear()
    multinomial_test.__globals__["_test"].cache_clear()


def compare_tests(models: Models) -> None:
    """Time exact tests of the 44 cells with at least 4 valid outcomes against Monte Carlo."""
    cells = [cell for model in models.values() for cell in model if cell[0].n >= 4]
    monte_carlo, plain = timed(lambda: [plain_monte_carlo(*cell) for cell in cells])
    times, exact = {}, []
    for statistic in ("chi2", "g"):
        best = []
        for _ in range(3):
            forget()
            start = process_time()
            found = [multinomial_test(*cell, statistic=statistic).p_value for cell in cells]
            best.append(process_time() - start)
        times[statistic] = min(best)
        exact = exact or found
    gap = max(abs(a - b) for a, b in zip(monte_carlo, exact, strict=True))
    print(f"chi-squared, 50,000 draws {plain:6.3f} s for {len(cells)} cells")
    print(
        f"chi-squared, exact        {times['chi2']:6.3f} s: {plain / times['chi2']:.1f} times faster, {gap:.4f} apart"
    )
    print(f"G and chi-squared, exact  {times['g'] + times['chi2']:6.3f} s")


def time_inversion(models: Models) -> None:
    _, taken = timed(lambda: [invert(model, rng=np.random.default_rng(0)) for model in models.values()], 2)
    print(f"path inversion, 6 models  {taken:6.2f} s")


def time_bulk(cells: int = 100_000) -> None:
    """Cells per second through distance, floor, score and exact G."""
    rng = np.random.default_rng(0)
    print(f"in bulk, {cells:,} cells (n drawn up to the given one):")
    for name, reference, n_max in [
        ("20 equal", Reference.uniform(20), 50),
        ("6 equal", Reference.uniform(6), 50),
        ("roulette", REFERENCES["roulette"], 50),
        ("galton", BOARD, 32),
    ]:
        n = rng.integers(n_max // 2, n_max + 1, size=cells)
        counts = rng.multinomial(n, reference.probabilities)
        _, measured = timed(lambda c=counts, r=reference, z=n_max - n: measure_many(c, r, nulls=z))
        _, tested = timed(lambda c=counts, r=reference: p_values_of_many(c, r))
        rate = cells / (measured + tested)
        print(f"    {name:9s} n <= {n_max}: measures {measured:5.2f} s, exact G {tested:5.2f} s, {rate:9,.0f} a second")


def time_growth() -> None:
    """One exact G, first call, as outcomes and rollouts grow."""
    print("one exact G, ms (first call):")
    for name, reference in [*((f"{k} equal", Reference.uniform(k)) for k in (2, 4, 6, 11, 20)), ("galton", BOARD)]:
        row = []
        for n in (16, 32, 50, 100):
            counts = np.random.default_rng(n).multinomial(n, 0.8 * reference.probabilities + 0.2 / reference.k)
            forget()
            found, taken = timed(lambda c=counts, r=reference: multinomial_test(c, r))
            row.append(f"n={n}: {taken * 1e3:7.1f}{' ' if found.method == 'exact' else '*'}")
        print(f"    {name:9s} {'  '.join(row)}")
    print("    (* rounded so as never to be below, and within 0.5%)")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--coverage", action="store_true", help="measure coverage instead of speed")
    options.add_argument("--repeats", type=int, default=40, help="simulated data sets a truth (coverage)")
    options.add_argument(
        "--baseline-resamples", type=int, default=2000, help="resamples of the plain loop that are timed"
    )
    chosen = options.parse_args()
    models = published_models()
    if chosen.coverage:
        print_coverage(models, chosen.repeats)
        return
    compare_bootstrap(models, chosen.baseline_resamples)
    compare_tests(models)
    time_inversion(models)
    time_bulk()
    time_growth()


if __name__ == "__main__":
    main()
