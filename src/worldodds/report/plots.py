"""Plots of one cell: what was seen against the odds, how much could be read, and how far off it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from worldodds.measurement import Deviation, Measurement
from worldodds.outcome import Counts
from worldodds.report.svg import Scale, at, element, picture, shorten, ticks
from worldodds.report.words import number, percent

WIDTH, HEIGHT = 330, 172
LEFT, RIGHT, TOP, BOTTOM = 36, 326, 10, 148


def chance_ranges(odds: NDArray[np.float64], n: int, *, level: float = 0.95) -> list[tuple[float, float]]:
    """Return the central range of each outcome's share in ``n`` clips of a perfect model (binomial, exact).

    >>> chance_ranges(np.array([0.5, 0.5]), 32)[0]
    (0.34375, 0.65625)
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
    """Return a round height that holds the bars of all these cells, so that they can be compared side by side."""
    highest = 0.05
    for m in measurements:
        if m.counts.n:
            highest = max(highest, *(m.counts.array / m.counts.n))
        if m.scene.reference and m.scene.reference.odds:
            highest = max(highest, *m.scene.reference.probabilities)
    return next((top for top in (0.1, 0.2, 0.3, 0.4, 0.6, 0.8) if highest <= top), 1.0)


def bars(m: Measurement, *, model: str, top: float) -> Markup:
    """Draw the share of each outcome as a bar, its odds as a line across, and its chance range as a pale block."""
    labels, n = m.counts.labels, m.counts.n
    seen = m.counts.array / n if n else np.zeros(len(labels))
    odds = m.scene.reference.probabilities if m.scene.reference and m.scene.reference.odds else None
    chance = chance_ranges(odds, n) if odds is not None and n else None
    y = Scale(low=0, high=top, start=BOTTOM, end=TOP)
    pitch = (RIGHT - LEFT) / len(labels)
    marks = _percent_grid(y, top)
    for i, label in enumerate(labels):
        odds_here = float(odds[i]) if odds is not None else None
        range_here = chance[i] if chance else None
        marks.append(_bar(label, LEFT + (i + 0.5) * pitch, pitch, y, float(seen[i]), odds_here, range_here, m, i))
    marks.append(element("line", x1=LEFT, x2=RIGHT, y1=BOTTOM, y2=BOTTOM, class_="axis"))
    if not n:
        middle = (LEFT + RIGHT) / 2
        marks.append(element("text", "no valid outcome", x=middle, y=TOP + 14, class_="remark", text_anchor="middle"))
    title = f"{m.scene.title}, {model}: outcomes seen in {n} valid clips against the odds"
    return picture(*marks, title=title, desc=_bars_in_words(m, odds), width=WIDTH, height=HEIGHT, class_="plot bars")


def _percent_grid(y: Scale, top: float) -> list[Markup]:
    marks: list[Markup] = []
    for value in ticks(0, top, 3):
        at_y = y(value)
        if value:
            marks.append(element("line", x1=LEFT, x2=RIGHT, y1=at_y, y2=at_y, class_="grid"))
        marks.append(element("text", percent(value), x=LEFT - 6, y=at_y + 4, class_="tick", text_anchor="end"))
    return marks


def _bar(
    label: str,
    x: float,
    pitch: float,
    y: Scale,
    seen: float,
    odds: float | None,
    chance: tuple[float, float] | None,
    m: Measurement,
    i: int,
) -> Markup:
    wide, slim = min(pitch * 0.84, 54), min(pitch * 0.5, 32)
    outside = chance is not None and not chance[0] - 1e-9 <= seen <= chance[1] + 1e-9
    marks: list[Markup] = [element("title", _outcome_in_words(m, i, odds, chance))]
    if chance:
        high, low = y(chance[1]), y(chance[0])
        marks.append(element("rect", x=x - wide / 2, y=high, width=wide, height=max(1.5, low - high), class_="chance"))
    if seen:
        kind = "seen outside" if outside else "seen"
        marks.append(element("rect", x=x - slim / 2, y=y(seen), width=slim, height=BOTTOM - y(seen), class_=kind))
    elif outside:
        marks.append(element("circle", cx=x, cy=BOTTOM - 3.5, r=2.4, class_="never"))
    if odds is not None:
        marks.append(element("line", x1=x - wide / 2, x2=x + wide / 2, y1=y(odds), y2=y(odds), class_="odds"))
    small = "tick dense" if len(m.counts.labels) > 12 else "tick"
    name = shorten(label, pitch, letter=5.2 if len(m.counts.labels) > 12 else 6.0)
    marks.append(element("text", name, x=x, y=BOTTOM + 16, class_=small, text_anchor="middle"))
    return element("g", *marks)


def _outcome_in_words(m: Measurement, i: int, odds: float | None, chance: tuple[float, float] | None) -> str:
    count, n = m.counts.counts[i], m.counts.n
    told = f"{m.counts.labels[i]}: seen {count} of {n}"
    if n:
        told += f" ({percent(count / n)})"
    if odds is not None:
        told += f"; odds {percent(odds)}"
    if chance:
        told += f"; by chance {percent(chance[0])} to {percent(chance[1])}"
    return told


def _bars_in_words(m: Measurement, odds: NDArray[np.float64] | None) -> str:
    everything = range(len(m.counts.labels))
    return ". ".join(_outcome_in_words(m, i, None if odds is None else float(odds[i]), None) for i in everything) + "."


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
            block = element("rect", element("title", f"{name}: {count}"), x=at(start), y=4, width=at(count / total), height=10, class_=kind)  # fmt: skip
            marks.append(block)
            start += count / total
    told = ", ".join(f"{count} {name}" for name, count, _ in parts)
    return picture(*marks, title="Clips read", desc=f"{told} of {counts.n_total}.", height=18, class_="meter")


def tv_meter(deviation: Deviation) -> Markup:
    """Draw TV on an axis from 0 to 1, with the band in which a perfect model would lie and the floor it shows on average."""
    low, high = deviation.null_band
    inside = low - 1e-12 <= deviation.tv <= high + 1e-12
    marks = [
        element("line", x1="0%", x2="100%", y1=9, y2=9, class_="rail"),
        element("rect", x=at(low), y=4, width=at(max(high - low, 0.006)), height=10, class_="band"),
        element("line", x1=at(deviation.floor), x2=at(deviation.floor), y1=2, y2=16, class_="floor"),
        element("circle", cx=at(deviation.tv), cy=9, r=4.5, class_="tv" if inside else "tv outside"),
    ]
    where = "inside" if inside else "outside"
    desc = (
        f"TV {number(deviation.tv)}, {where} the null band {number(low)} to {number(high)}; floor {number(deviation.floor)}."
    )
    return picture(*marks, title="Total variation", desc=desc, height=18, class_="meter")
