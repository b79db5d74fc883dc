"""Coverage of the three intervals of the mean score, and of single cells, on twelve truths.

A truth is nine cells (odds, scorability) at 32 rollouts. ``theta_N`` is the mean official score at 32 rollouts,
``theta`` the population score, the mean of ``(1 - rho) + rho TV``. The percentile bootstrap and the jackknife are held
to ``theta_N``, which is what they estimate, and path inversion to ``theta``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from worldodds.outcome import Counts, Reference
from worldodds.statistics.interval import jackknife, percentile_bootstrap, score_rows
from worldodds.statistics.inversion import invert

N = 32
Cells = list[tuple[Counts, Reference]]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What a model really does: odds (k,) and scorability of each cell."""

    name: str
    references: list[Reference]
    odds: list[Floats]
    rho: list[float]

    def population(self) -> Floats:
        """Population score of each cell."""
        tv = [np.abs(p - r.probabilities).sum() / 2 for p, r in zip(self.odds, self.references, strict=True)]
        return np.array([1 - rho + rho * t for rho, t in zip(self.rho, tv, strict=True)])

    def draw(self, rng: np.random.Generator) -> Cells:
        """One data set."""
        cells: Cells = []
        for reference, p, rho in zip(self.references, self.odds, self.rho, strict=True):
            *counts, nulls = rng.multinomial(N, [*(p * rho), 1 - rho])
            cells.append((Counts.of(counts, unreadable=int(nulls)), reference))
        return cells

    def expected(self, rng: np.random.Generator, draws: int = 100_000) -> float:
        """Mean official score at N rollouts."""
        means = []
        for reference, p, rho in zip(self.references, self.odds, self.rho, strict=True):
            drawn = rng.multinomial(N, [*(p * rho), 1 - rho], size=draws)
            means.append(score_rows(drawn[:, :-1], np.array(N), reference).mean())
        return float(np.mean(means))


def truths(models: dict[str, Cells]) -> list[Truth]:
    """Calibrated, spiked, collapsed, and like each published model (counts smoothed lightly)."""
    references = [reference for _, reference in models["wan"]]
    p0 = [r.probabilities for r in references]
    mode = [np.eye(r.k)[int(np.argmax(r.probabilities))] for r in references]

    def blend(name: str, share: float, rho: float) -> Truth:
        mixed = [(1 - share) * p + share * m for p, m in zip(p0, mode, strict=True)]
        return Truth(name=name, references=references, odds=mixed, rho=[rho] * len(references))

    found = [
        blend("calibrated", 0.0, 1.0),
        blend("calibrated, rho .75", 0.0, 0.75),
        blend("spike .3", 0.3, 0.95),
        blend("95% collapsed", 0.95, 0.95),
        blend("collapsed", 1.0, 1.0),
    ]
    for name, cells in models.items():
        odds = [(c.array + 0.5 * r.probabilities) / (c.n + 0.5) for c, r in cells]
        rho = [(c.n + 0.5) / (c.n_total + 1) for c, _ in cells]
        found.append(Truth(name=f"like {name}", references=references, odds=odds, rho=rho))
    even = [p + 0.25 / (1 - p.max()) * (m - p) for p, m in zip(p0, mode, strict=True)]
    found.append(Truth(name="spike, TV .25", references=references, odds=even, rho=[0.96] * len(references)))
    return found


def print_coverage(models: dict[str, Cells], repeats: int) -> None:
    """Print one line a truth; ``low`` marks inversion coverage below 0.93 by a binomial test at 1%.

    On a model that has collapsed for good the bootstrap's interval is a point, which happens to be ``theta_N``.
    """
    print(f"{repeats} data sets a truth; percentile and jackknife against theta_N, inversion against theta")
    print(f"{'truth':22s} theta_N  theta  percentile  jackknife  inversion (width)  cells: mean, least")
    for number, truth in enumerate(truths(models)):
        print(line_of(truth, repeats, np.random.default_rng([7, number])), flush=True)


def line_of(truth: Truth, repeats: int, rng: np.random.Generator) -> str:
    """Measure one truth."""
    theta_n, cells = truth.expected(rng), truth.population()
    theta = float(cells.mean())
    hits, width = {"percentile": 0, "jackknife": 0, "inversion": 0}, 0.0
    by_cell, tried = np.zeros(len(cells)), dict.fromkeys(hits, 0)
    for _ in range(repeats):
        data = truth.draw(rng)
        plain = percentile_bootstrap(data, rng=rng, resamples=1000)
        jack = jackknife(data).interval
        ours = invert(data, rng=rng, repeats=400)
        tried = {name: tried[name] + (name != "jackknife" or jack is not None) for name in tried}
        hits["percentile"] += plain.low - 1e-9 <= theta_n <= plain.high + 1e-9
        hits["jackknife"] += jack is not None and jack.low <= theta_n <= jack.high
        hits["inversion"] += ours.mean.interval.low - 1e-9 <= theta <= ours.mean.interval.high + 1e-9
        width += ours.mean.interval.high - ours.mean.interval.low
        by_cell += [
            c.interval.low - 1e-9 <= t <= c.interval.high + 1e-9 for c, t in zip(ours.cells, cells, strict=True)
        ]
    low = binomtest(hits["inversion"], repeats, 0.93, alternative="less").pvalue < 0.01
    shares = "      ".join(
        f"{hits[name] / tried[name]:.3f}" if tried[name] else "none "  # the jackknife declines a wholly collapsed model
        for name in ("percentile", "jackknife", "inversion")
    )
    least = by_cell.min() / repeats
    return (
        f"{truth.name:22s} {theta_n:.3f}    {theta:.3f}  {shares} ({width / repeats:.3f}){' low' if low else '    '}"
        f"  {by_cell.mean() / repeats:.3f}, {least:.3f}"
    )
