"""Scores as a paper wants them: two tables in Markdown or LaTeX, and the figures as SVG and PDF."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from worldodds.headline import populations, ranks
from worldodds.report.words import interval_of, number, span
from worldodds.scorecard import Scorecard, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Format = Literal["md", "tex"]

_MARKS: dict[Verdict, str] = {"miscalibrated": "*", "calibrated": "=", "undecided": "", "illegible": "?"}
_COLOURS: dict[Verdict, str] = {
    "miscalibrated": "#b2442c",
    "calibrated": "#2b7a4b",
    "undecided": "#3b6ea0",
    "illegible": "#a8a49a",
}
_KEY = "* miscalibrated (exact G, Benjamini-Hochberg), = calibrated within {delta}, ? illegible; no mark: undecided."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(cards: Sequence[Scorecard], form: Format) -> str:
    """Return the models' means and their scores scene by scene as text in Markdown or LaTeX (booktabs)."""
    draw: Callable[[_Sheet], str] = _markdown if form == "md" else _latex
    return "\n\n".join(draw(sheet) for sheet in (_means(cards), _scenes(cards)))


def _means(cards: Sequence[Scorecard]) -> _Sheet:
    beside, places = populations(cards), ranks(cards)
    rows: list[tuple[str, ...]] = []
    for card in cards:
        population, place = beside.get(card.model), places.get(card.model)
        rows.append(
            (
                f"{card.model} (stopped early)" if card.early else card.model,
                number(card.mntv),
                span(interval_of(card)),
                number(population.mean.estimate) if population else number(None),
                span(population.mean.interval if population else None),
                f"{place[0]}–{place[1]}" if place else number(None),
            )
        )
    header = ("model", "mnTV", "95% jackknife", "population", "95% inversion", "rank")
    caption = "mnTV of each model; lower is better, 0 is calibrated."
    if any(card.early for card in cards):
        caption += " Of a model that was stopped early it is comparable with no other."
    return _Sheet(caption=caption, header=header, rows=tuple(rows))


def _scenes(cards: Sequence[Scorecard]) -> _Sheet:
    suite = cards[0].suite
    found = {(c.model, x.measurement.scene.id): x for c in cards for x in c.cells}
    delta = next((x.equivalence.delta for x in found.values() if x.equivalence), 0.2)
    rows = tuple(
        (
            scene_id,
            *(
                f"{number(cell.measurement.score)}{_MARKS[cell.verdict]}" if cell else number(None)
                for cell in (found.get((card.model, scene_id)) for card in cards)
            ),
        )
        for scene_id in suite.scene_ids
    )
    caption = f"Scores by scene. {_KEY.format(delta=f'{delta:g}')}"
    return _Sheet(caption=caption, header=("scene", *(card.model for card in cards)), rows=rows)


def _markdown(sheet: _Sheet) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(map(_plain, cells)) + " |"

    rule = "| " + " | ".join(["---", *(["---:"] * (len(sheet.header) - 1))]) + " |"
    return "\n".join([sheet.caption, "", line(sheet.header), rule, *map(line, sheet.rows)])


def _plain(text: str) -> str:
    """Write a cell so that a page made of it shows what it says: no tags, marks or links of a model's name."""
    text = html.escape(text.replace("\\", "\\\\"), quote=False)
    for mark in "|*`":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("](", "]\\(")


def _latex(sheet: _Sheet) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join(_escaped(cell) for cell in cells) + r" \\"

    body = [r"\midrule", *map(line, sheet.rows), r"\bottomrule", r"\end{tabular}"]
    head = [r"\begin{tabular}{l" + "r" * (len(sheet.header) - 1) + "}", r"\toprule", line(sheet.header)]
    return "\n".join([f"% {sheet.caption}", *head, *body])


def _escaped(text: str) -> str:
    plain = {"\\": r"\textbackslash{}", "–": "--", "−": "$-$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    plain |= {letter: f"\\{letter}" for letter in "&%$#_{}"}
    return "".join(plain.get(letter, letter) for letter in text)


def save_figures(cards: Sequence[Scorecard], folder: Path) -> list[Path]:
    """Write the forest of means and the scores by scene, each as SVG and PDF, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    for name, draw in (("means", _forest), ("scenes", _dots)):
        figure = draw(cards)
        for ending in ("svg", "pdf"):
            path = folder / f"{name}.{ending}"
            # no date: the same scores give the same file
            figure.savefig(path, bbox_inches="tight", metadata={"Date" if ending == "svg" else "CreationDate": None})
            made.append(path)
    return made


def _blank(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update({"svg.hashsalt": "worldodds", "svg.fonttype": "none", "pdf.fonttype": 42, "font.size": 9})
    figure = Figure(figsize=(width, height))
    axes = figure.subplots()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.axvline(0, color="#555555", linewidth=0.8)
    return figure, axes


def _forest(cards: Sequence[Scorecard]) -> Figure:
    figure, axes = _blank(5.5, 0.6 + 0.32 * len(cards))
    beside = populations(cards)
    for y, card in enumerate(reversed(cards)):
        if card.mntv is None:
            continue
        if interval := interval_of(card):
            axes.plot([interval.low, interval.high], [y, y], color=_COLOURS["undecided"], linewidth=1.6)
        axes.plot(card.mntv, y, "o", color=_COLOURS["undecided"], markersize=5)
        mean = beside[card.model].mean
        axes.plot([mean.interval.low, mean.interval.high], [y - 0.22] * 2, color="#8a867c", linewidth=1)
        axes.plot(mean.estimate, y - 0.22, "d", color="#8a867c", markersize=3.5)
    axes.set_yticks(range(len(cards)), [card.model for card in reversed(cards)])
    axes.set_xlabel("mnTV (dots, jackknife) and population score (diamonds, path inversion), 95%")
    return figure


def _dots(cards: Sequence[Scorecard]) -> Figure:
    suite = cards[0].suite
    figure, axes = _blank(5.5, 0.8 + 0.42 * len(suite.scenes))
    offsets = np.linspace(0.28, -0.28, len(cards)) if len(cards) > 1 else np.zeros(1)
    markers = "osD^vPX*<>"
    for place, card in enumerate(cards):
        marker = markers[place % len(markers)]
        for cell in card.cells:
            y = len(suite.scenes) - 1 - suite.scene_ids.index(cell.measurement.scene.id)
            if cell.measurement.score is not None:
                colour = _COLOURS[cell.verdict]
                axes.plot(cell.measurement.score, y + offsets[place], marker, color=colour, markersize=4)
        axes.plot([], [], marker, color="#333333", markersize=4, label=card.model)
    axes.set_yticks(range(len(suite.scenes)), [scene.title for scene in reversed(suite.scenes)])
    axes.set_xlabel("score: red miscalibrated, green calibrated, blue undecided, grey illegible")
    axes.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.4, -0.14), ncols=3)
    return figure
