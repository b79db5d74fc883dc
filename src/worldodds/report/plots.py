"""Plots of one cell: what was seen against the odds, how much could be read, and how far off it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from worldodds.measurement import Deviation, Measurement
from worldodds.outcome import Counts
from worldodds.report.svg import Scale, at, element, picture, shorten, ticks
from worldodds.report.words import number, percent, span

WIDTH, HEIGHT = 330, 172
LEFT, RIGHT, TOP, BOTTOM = 41, 326, 14, 148


def chance_ranges(odds: NDArray[np.float64], n: int, *, level: float = 0.95) -> list[tuple[float, float]]:
    """Return the central range of each outcome's share in ``n`` clips of a perfect model (binomial, exact).

    >>> chance_ranges(np.array([0.5, 0.5]), 32)[0]
    (0.3125, 0.6875)
    """
    from scipy.special import bdtr

    x = np.arange(n + 1)
    tail = (1 - level) / 2
    ranges: list[tuple[float, float]] = []
    for p in odds:
        below = bdtr(x.astype(float), n, float(p))
        ranges.append((float(np.argmax(below > tail) / n), float(np.argmax(below >= 1 - tail - 1e-12) / n)))
    return ranges


def tallest(measurements: Sequence[Measurement]) -> float:
    """Return a round height that holds the bars of all these cells, so that they can be compared side by side.

    At most five times the largest odds: where a model collapsed onto one of many outcomes its bar is drawn broken,
    with its height written above, and the odds stay legible.
    """
    highest, most_likely = 0.05, 0.0
    for m in measurements:
        if m.counts.n:
            highest = max(highest, *(m.counts.array / m.counts.n))
        if m.scene.reference:
            most_likely = max(most_likely, *m.scene.reference.probabilities)
    wanted = min(max(highest, most_likely), 5 * most_likely or 1.0)
    return next((top for top in (0.1, 0.2, 0.3, 0.4, 0.6, 0.8) if wanted <= top), 1.0)


def bars(m: Measurement, *, model: str, top: float) -> Markup:
    """Draw the share of each outcome as a bar, its odds as a line across, and its chance range as a pale block."""
    outcomes, n = _outcomes(m), m.counts.n
    y = Scale(low=0, high=top, start=BOTTOM, end=TOP)
    pitch = (RIGHT - LEFT) / len(outcomes)
    marks = _percent_grid(y, top)
    for i, bar in enumerate(outcomes):
        marks.append(_draw(bar, LEFT + (i + 0.5) * pitch, pitch, y, small=len(outcomes) > 12))
    marks.append(element("line", x1=LEFT, x2=RIGHT, y1=BOTTOM, y2=BOTTOM, class_="axis"))
    if not n:
        middle = (LEFT + RIGHT) / 2
        marks.append(element("text", "no valid outcome", x=middle, y=TOP + 14, class_="remark", text_anchor="middle"))
    title = f"{m.scene.title}, {model}: outcomes seen in {n} valid clips against the odds"
    desc = ". ".join(bar.words for bar in outcomes) + "."
    return picture(*marks, title=title, desc=desc, width=WIDTH, height=HEIGHT, class_="plot bars")


def _percent_grid(y: Scale, top: float) -> list[Markup]:
    marks: list[Markup] = []
    for value in ticks(0, top, 3):
        at_y = y(value)
        if value:
            marks.append(element("line", x1=LEFT, x2=RIGHT, y1=at_y, y2=at_y, class_="grid"))
        marks.append(element("text", percent(value), x=LEFT - 6, y=at_y + 4, class_="tick", text_anchor="end"))
    return marks


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bar:
    """One outcome: what is told of it, its share among the valid clips, its odds, and its chance range."""

    label: str
    words: str
    seen: float
    odds: float | None
    chance: tuple[float, float] | None

    @property
    def outside(self) -> bool:
        return self.chance is not None and not self.chance[0] - 1e-9 <= self.seen <= self.chance[1] + 1e-9


def _outcomes(m: Measurement) -> list[_Bar]:
    n = m.counts.n
    odds = m.scene.reference.probabilities if m.scene.reference else None
    chance = chance_ranges(odds, n) if odds is not None and n else None
    bars: list[_Bar] = []
    for i, (label, count) in enumerate(zip(m.counts.labels, m.counts.counts, strict=True)):
        p, reach = None if odds is None else float(odds[i]), chance[i] if chance else None
        told = _in_words(label, count, n, p, reach)
        bars.append(_Bar(label=label, words=told, seen=count / n if n else 0.0, odds=p, chance=reach))
    return bars


def _draw(bar: _Bar, x: float, pitch: float, y: Scale, *, small: bool) -> Markup:
    wide = min(pitch * 0.84, 54)
    marks: list[Markup] = [element("title", bar.words)]
    if bar.chance:
        high, low = y(bar.chance[1]), y(bar.chance[0])
        marks.append(element("rect", x=x - wide / 2, y=high, width=wide, height=max(1.5, low - high), class_="chance"))
    if bar.seen:
        marks += _column(bar, x, min(pitch * 0.5, 32), y)
    elif bar.outside:
        marks.append(element("circle", cx=x, cy=BOTTOM - 3.5, r=2.4, class_="never"))
    if bar.odds is not None:
        at_y = y(bar.odds)
        marks.append(element("line", x1=x - wide / 2, x2=x + wide / 2, y1=at_y, y2=at_y, class_="odds"))
    name = shorten(bar.label, pitch, letter=5.2 if small else 6.0)
    kind = "tick dense" if small else "tick"
    marks.append(element("text", name, x=x, y=BOTTOM + 16, class_=kind, text_anchor="middle"))
    return element("g", *marks)


def _column(bar: _Bar, x: float, slim: float, y: Scale) -> list[Markup]:
    """The bar itself; broken, with its height above it, where the picture is too low for it."""
    top, left = y(bar.seen), x - slim / 2
    kind = "seen outside" if bar.outside else "seen"
    marks = [element("rect", x=left, y=top, width=slim, height=BOTTOM - top, class_=kind)]
    if bar.seen > y.high + 1e-9:
        slash = {"x1": left - 2, "x2": left + slim + 2, "y1": top + 12, "y2": top + 8}
        marks.append(element("line", class_="broken", **slash))
        marks.append(element("text", percent(bar.seen), x=x, y=top - 3, class_="cut", text_anchor="middle"))
    return marks


def _in_words(label: str, count: int, n: int, odds: float | None, chance: tuple[float, float] | None) -> str:
    told = f"{label}: seen {count} of {n}"
    if n:
        told += f" ({percent(count / n)})"
    if odds is not None:
        told += f"; odds {percent(odds)}"
    if chance:
        told += f"; by chance {percent(chance[0])} to {percent(chance[1])}"
    return told


def readable_meter(counts: Counts) -> Markup:
    """Draw how the clips read divide into valid outcomes and the two kinds of null."""
    total = max(1, counts.n_total)
    parts = [
        ("valid", counts.n, "part valid"),
        ("out of schema", counts.out_of_schema, "part schema"),
        ("unreadable", counts.unreadable, "part blind"),
    ]
    marks, start = [element("rect", x="0%", y=4, width="100%", height=10, class_="trough")], 0.0
    for name, count, kind in parts:
        if count:
            hint = element("title", f"{name}: {count}")
            marks.append(element("rect", hint, x=at(start), y=4, width=at(count / total), height=10, class_=kind))
            start += count / total
    told = ", ".join(f"{count} {name}" for name, count, _ in parts)
    return picture(*marks, title="Clips read", desc=f"{told} of {counts.n_total}.", height=18, class_="meter")


def tv_meter(deviation: Deviation) -> Markup:
    """Draw TV on an axis from 0 to 1, with the null band of a perfect model and the floor it shows on average."""
    low, high = deviation.null_band
    inside = low - 1e-12 <= deviation.tv <= high + 1e-12
    marks = [
        element("line", x1="0%", x2="100%", y1=9, y2=9, class_="rail"),
        element("rect", x=at(low), y=4, width=at(max(high - low, 0.006)), height=10, class_="band"),
        element("line", x1=at(deviation.floor), x2=at(deviation.floor), y1=2, y2=16, class_="floor"),
        element("circle", cx=at(deviation.tv), cy=9, r=4.5, class_="tv" if inside else "tv outside"),
    ]
    where = "inside" if inside else "outside"
    band = f"the null band {span(deviation.null_band)}; floor {number(deviation.floor)}"
    desc = f"TV {number(deviation.tv)}, {where} {band}."
    return picture(*marks, title="Total variation", desc=desc, height=18, class_="meter")
