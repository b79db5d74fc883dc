"""The pendulum's mixing curve as a picture: P(left) against the time at which one looks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from worldodds.errors import InputError
from worldodds.worlds.mixing import MixingPoint

BAND = 0.05  # around 1/2: how near CaliBench found P(left) to stay from 3 s on
CLIP_S = 3.5  # at which the clip of the scene ends


def save_mixing_plot(points: Sequence[MixingPoint], path: Path) -> None:
    """Draw the curve with its exact 95% intervals into an .svg, .pdf or .png file.

    Raises:
        InputError: another ending.
    """
    if path.suffix not in (".svg", ".pdf", ".png"):
        raise InputError(f"{path}: a plot is written as .svg, .pdf or .png")
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "worldodds", "svg.fonttype": "path", "font.size": 9}):
        figure = Figure(figsize=(6.4, 3.2), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        horizons = [point.horizon_s for point in points]
        axes.axhspan(0.5 - BAND, 0.5 + BAND, color="0.9", label=f"1/2 ± {BAND}")
        axes.axvline(CLIP_S, color="0.6", linewidth=0.8, linestyle=":", label="the clip ends")
        axes.fill_between(horizons, [p.low for p in points], [p.high for p in points], color="tab:blue", alpha=0.3)
        axes.plot(horizons, [p.share for p in points], color="tab:blue", linewidth=1.2)
        axes.set(xlabel="horizon (s)", ylabel="P(left)", ylim=(-0.02, 1.02), xlim=(horizons[0], horizons[-1]))
        axes.set_title(f"{points[0].n:,} releases, 95% Clopper-Pearson intervals", fontsize=9)
        axes.legend(frameon=False, fontsize=8, loc="lower right")
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
