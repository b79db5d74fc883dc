"""Draw and tabulate how TVD and coverage move with readable clips and judge error: the figures of docs/readout-bias.md.

Everything is exact; nothing is simulated. Run it after a change and commit docs/figures.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from worldodds.outcome import Reference
from worldodds.statistics.coverage import expected_coverage
from worldodds.statistics.laws import total_variation_law
from worldodds.statistics.track import mean_tvd_law
from worldodds.suites import find_suite
from worldodds.suites.track_results import judge_agreement
from worldodds.tracks import placement_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOLDER = Path(__file__).parent.parent / "docs" / "figures"
SUITE = find_suite("pawbench")
KINDS = {"two outcomes": "A-01", "1 : 2 : 1": "A-06", "four": "A16", "Plinko": "A22", "die": "A-02", "two dice": "A21"}
COLOURS = ("#3a6f9f", "#b5452a", "#23714f", "#8a6d1a", "#6b4f9a", "#1d2025")
ERRORS = np.linspace(0, 0.25, 26)


def known_odds() -> list[Reference]:
    """Return the reference odds of the calibration scenes that have them."""
    return [s.reference for s in SUITE.scenes if s.reference and placement_of(s).track == "calibration"]


def disagreement(consensus: str) -> float:
    """Return the share of clips that the judge read otherwise than people who were clear about them."""
    found = judge_agreement(SUITE, consensus=consensus)
    assert found is not None
    return 1 - found[0] / found[1]


def misread(p: NDArray[np.float64], error: float) -> NDArray[np.float64]:
    """Return the odds of labels read with this share of false ones, spread equally, shape (k,)."""
    return (1 - error) * p + error * (1 - p) / (len(p) - 1)


def mean_tvd(truth: NDArray[np.float64], reference: NDArray[np.float64], n: int) -> float:
    """Return the mean TVD x 100 to ``reference`` of n clips with the odds ``truth``: binomial sums."""
    x = np.arange(n + 1)
    below = bdtr(x[:, None], n, np.clip(truth, 0, 1)[None, :])  # (n + 1, k)
    mass = np.diff(below, axis=0, prepend=0)
    return 50 * float((mass * np.abs(x[:, None] / n - reference)).sum())


def suite_mean(n: int, error: float, *, collapsed: bool) -> float:
    """Return the mean over scenes for a calibrated model, or for one that always shows its likeliest outcome."""
    values: list[float] = []
    for reference in known_odds():
        p = reference.probabilities
        truth = np.eye(len(p))[int(p.argmax())] if collapsed else p
        values.append(mean_tvd(misread(truth, error), p, n))
    return float(np.mean(values))


def tail(odds: Reference, n: int, tvd: float) -> float:
    """Return the chance that a calibrated model's TVD x 100 is ``tvd`` or more."""
    values, cumulative = total_variation_law(odds.odds or (), n)
    place = int(np.searchsorted(values, tvd / 100 - 1e-9))
    return 1.0 if place == 0 else float(1 - cumulative[place - 1])


def table() -> str:
    """Return, in Markdown, what a calibrated model scores by kind of scene, and how often it reaches 20."""
    head = "| reference | " + " | ".join(f"n = {n}: mean | 95% below | 20 or more" for n in (50, 30, 20)) + " |"
    lines = [head, "|---|" + "---|" * 9]
    for name, scene in KINDS.items():
        odds = SUITE.scene(scene).reference
        assert odds is not None
        cells: list[str] = []
        for n in (50, 30, 20):
            values, cumulative = total_variation_law(odds.odds or (), n)
            mean = 100 * float(values @ np.diff(cumulative, prepend=0))
            high = 100 * float(values[np.searchsorted(cumulative, 0.95)])
            cells += [f"{mean:.1f}", f"{high:.1f}", f"{100 * tail(odds, n, 20):.2g}%"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def suite_table() -> str:
    """Return, in Markdown, the law of the average over the scenes with known odds."""
    lines = ["| readable clips a scene | mean | 95% below | 99% below |", "|---|---|---|---|"]
    for n in (50, 40, 30, 20):
        law = mean_tvd_law([(odds, n) for odds in known_odds()])
        lines.append(f"| {n} | {law.mean:.1f} | {law.quantile(0.95):.1f} | {law.quantile(0.99):.1f} |")
    return "\n".join(lines)


def draw_floor(axes: Axes) -> None:
    """Draw the floor of TVD against readable clips, by kind of scene."""
    sizes = np.arange(5, 51)
    for (name, scene), colour in zip(KINDS.items(), COLOURS, strict=True):
        odds = SUITE.scene(scene).reference
        assert odds is not None
        floors = [mean_tvd(odds.probabilities, odds.probabilities, int(n)) for n in sizes]
        axes.plot(sizes, floors, color=colour, label=name)
    axes.axhline(20, color="#5b616b", linestyle=":", linewidth=1)
    axes.axvline(20, color="#5b616b", linestyle=":", linewidth=1)
    axes.set(xlabel="readable clips", ylabel="mean TVD × 100 of a calibrated model", xlim=(5, 50), ylim=(0, 45))


def draw_judge(axes: Axes) -> None:
    """Draw the suite's mean TVD against the judge's share of false labels, for both ends of the scale."""
    for n, style in ((50, "-"), (20, "--")):
        for collapsed, colour in ((True, COLOURS[1]), (False, COLOURS[0])):
            values = [suite_mean(n, float(error), collapsed=collapsed) for error in ERRORS]
            name = "always the likeliest outcome" if collapsed else "calibrated"
            axes.plot(100 * ERRORS, values, style, color=colour, label=f"{name}, n = {n}")
    axes.set(xlabel="false labels, % of readable clips", ylabel="mean TVD × 100 over the suite", ylim=(0, None))


def draw_coverage(axes: Axes) -> None:
    """Draw coverage against readable clips: equal odds, and one outcome read with the judge's errors."""
    sizes = np.arange(1, 51)
    for k, colour in ((4, COLOURS[0]), (6, COLOURS[2]), (10, COLOURS[4])):
        axes.plot(
            sizes,
            [expected_coverage(Reference.uniform(k), int(n)) for n in sizes],
            color=colour,
            label=f"equal odds, {k} labels",
        )
    for error, style in ((0.02, ":"), (disagreement("high"), "--"), (disagreement("overall"), "-")):
        one = [expected_coverage([1] + [0] * 5, int(n), false_label=error) for n in sizes]
        axes.plot(sizes, one, style, color=COLOURS[1], label=f"one of 6 labels, {100 * error:.1f}% misread")
    axes.axvline(20, color="#5b616b", linestyle=":", linewidth=1)
    axes.set(xlabel="readable clips", ylabel="mean coverage, %", xlim=(1, 50), ylim=(0, 101))


def main() -> None:
    """Write the three figures and print the tables."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "worldodds", "axes.spines.top": False, "axes.spines.right": False})
    FOLDER.mkdir(exist_ok=True)
    for name, draw in (("floor", draw_floor), ("judge", draw_judge), ("coverage", draw_coverage)):
        figure, axes = plt.subplots(figsize=(8.2, 4.0), layout="constrained")
        draw(axes)
        axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))
        figure.savefig(FOLDER / f"readout-{name}.svg", metadata={"Date": None})
        plt.close(figure)
        print(FOLDER / f"readout-{name}.svg")
    print(table(), suite_table(), sep="\n\n")
    for label in ("high", "overall"):
        e = disagreement(label)
        print(
            label, round(100 * e, 1), [round(suite_mean(n, e, collapsed=c), 1) for n in (50, 20) for c in (False, True)]
        )
    print("no error", [round(suite_mean(n, 0, collapsed=c), 1) for n in (50, 20) for c in (False, True)])
    print(
        "coverage of one of 6",
        [
            [
                round(expected_coverage([1] + [0] * 5, n, false_label=e), 1)
                for e in (0.02, disagreement("high"), disagreement("overall"))
            ]
            for n in (20, 50)
        ],
    )


if __name__ == "__main__":
    main()
