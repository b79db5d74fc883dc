"""Plots over all scenes: mean scores with intervals, scorability against TV, and the reliability diagram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from worldodds.report.svg import Scale, at, element, picture, place_labels, shorten, ticks
from worldodds.report.words import interval_of, mean_words, number, percent
from worldodds.scorecard import Scorecard


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model in a comparison: its scorecard, and whether it stands there for itself or as the paper published it."""

    card: Scorecard
    published: bool


def mean_axis(entries: Sequence[Entry]) -> Scale:
    """Return an axis of mnTV that holds every model's value and interval, and 0."""
    values = [0.0, 0.3]
    for entry in entries:
        interval = interval_of(entry.card)
        values += [entry.card.mntv] if entry.card.mntv is not None else []
        values += [interval.low, interval.high] if interval else []
    margin = 0.04 * (max(values) - min(values))
    return Scale(low=min(values) - margin, high=max(values) + margin)


def axis_strip(axis: Scale) -> Markup:
    """Draw the numbers along the mnTV axis, for the head of the table."""
    marks = [
        element("text", f"{value:g}".replace("-", "−"), x=at(axis(value)), y=12, class_="tick", text_anchor="middle")
        for value in ticks(axis.low, axis.high, 5)
    ]
    return picture(*marks, title="Axis of mnTV", desc="0 is calibrated; lower is better.", height=16, class_="meter")


def whisker(entry: Entry, axis: Scale) -> Markup:
    """Draw one model's mnTV as a dot with its interval as a line, on the shared axis."""
    card = entry.card
    marks = [
        element("line", x1=at(axis(v)), x2=at(axis(v)), y1=0, y2=26, class_="zero" if v == 0 else "grid")
        for v in ticks(axis.low, axis.high, 5)
    ]
    kind = "published" if entry.published else "own"
    if card.mntv is not None:
        interval = interval_of(card)
        if interval:
            ends = {"x1": at(axis(interval.low)), "x2": at(axis(interval.high))}
            marks.append(element("line", y1=13, y2=13, class_=f"whisker {kind}", **ends))
        marks.append(element("circle", cx=at(axis(card.mntv)), cy=13, r=5, class_=f"dot {kind}"))
    return picture(*marks, title=f"{card.model}: mnTV", desc=mean_words(card), height=26, class_="meter forest")


_Spot = tuple[Entry, float, float, float]


def scatter(entries: Sequence[Entry]) -> Markup | None:
    """Draw mean TV against mean scorability, each model hanging over the TV that a perfect model would show there.

    Models whose every clip is readable stand side by side in a lane of their own, since they would cover one another;
    the stem of a model below its floor is dashed.

    Means are over the scenes with a valid outcome (TV, floor) and over all scenes read (scorability), unweighted.
    Returns None where no model has both.
    """
    ours_first = sorted(entries, key=lambda entry: entry.published)  # their names choose their places first
    spots = [(entry, *means) for entry in ours_first if (means := _means(entry.card))]
    if not spots:
        return None
    width, height = 430.0, 330.0
    x, lane = _across([rho for _, rho, *_ in spots], width)
    y = Scale(low=0, high=_ceiling([tv for _, _, tv, _ in spots]), start=height - 42, end=14)
    marks = _frame(x, y, "scorability: share of clips with a readable outcome", "TV to the odds")
    if lane:
        marks.append(element("rect", x=x.end, y=y.end, width=lane, height=y.start - y.end, class_="lane"))
    points = list(zip(_apart(spots, x, lane), [y(tv) for _, _, tv, _ in spots], strict=True))
    for (entry, rho, tv, floor), (cx, cy) in zip(spots, points, strict=True):
        kind = "published" if entry.published else "own"
        told, foot = _spot_words(entry, rho, tv, floor), y(floor)
        stem = f"stem {kind} lucky" if tv < floor else f"stem {kind}"
        marks += [
            element("line", x1=cx, x2=cx, y1=cy, y2=foot, class_=stem),
            element("line", x1=cx - 5, x2=cx + 5, y1=foot, y2=foot, class_=f"foot {kind}"),
            element("circle", element("title", told), cx=cx, cy=cy, r=5.5, class_=f"dot {kind}"),
        ]
    names = [shorten(entry.card.model, 120) for entry, *_ in spots]
    for (lx, ly, anchor), name, (entry, *_) in zip(
        place_labels(points, names, width=width, height=height - 42), names, spots, strict=True
    ):
        kind = "name published" if entry.published else "name own"
        marks.append(element("text", name, x=lx, y=ly, text_anchor=anchor, class_=kind))
    desc = ". ".join(_spot_words(*spot) for spot in spots)
    title = "Scorability against total variation, a dot a model"
    return picture(*marks, title=title, desc=desc, width=width, height=height)


def below_floor(entries: Sequence[Entry]) -> int:
    """Count the models that come nearer to the odds than a perfect one does on average: by luck, at so few clips."""
    return sum(tv < floor for entry in entries if (means := _means(entry.card)) for _, tv, floor in [means])


_LANE, _MOST_LANE = 15.0, 120.0


def _across(shares: Sequence[float], width: float) -> tuple[Scale, float]:
    """Return the axis of scorability, and the width of the lane to its right for models with every clip readable."""
    full = sum(rho == 1 for rho in shares)
    lane = min(_MOST_LANE, _LANE * (full - 1)) if full > 1 else 0.0
    return Scale(low=_left(shares), high=1, start=44, end=width - 14 - lane), lane


def _apart(spots: Sequence[_Spot], x: Scale, lane: float) -> list[float]:
    """Return where each dot stands: by its scorability, and side by side, by TV, where that is 1."""
    full = sorted((i for i, (_, rho, *_) in enumerate(spots) if rho == 1), key=lambda i: -spots[i][2])
    step = lane / (len(full) - 1) if len(full) > 1 else 0.0
    beside = {i: place * step for place, i in enumerate(full)}
    return [x(rho) + beside.get(i, 0.0) for i, (_, rho, *_) in enumerate(spots)]


def _spot_words(entry: Entry, rho: float, tv: float, floor: float) -> str:
    name = f"{entry.card.model} (published)" if entry.published else entry.card.model
    return f"{name}: scorability {number(rho, 2)}, TV {number(tv)}, floor {number(floor)}"


def _means(card: Scorecard) -> tuple[float, float, float] | None:
    read = [c.measurement.counts.scorability for c in card.cells]
    shares = [rho for rho in read if rho is not None]
    far = [c.measurement.deviation for c in card.cells if c.measurement.deviation]
    if not far:
        return None
    mean = sum(d.tv for d in far) / len(far)
    return sum(shares) / len(shares), mean, sum(d.floor for d in far) / len(far)


def _left(values: Sequence[float]) -> float:
    """Round start of the scorability axis, with room to the left of the lowest value."""
    return next((low for low in (0.6, 0.4, 0.2) if min(values) >= low + 0.1), 0.0)


def _ceiling(values: Sequence[float]) -> float:
    return next((top for top in (0.2, 0.4, 0.6, 0.8) if max(values) <= 0.92 * top), 1.0)


def _frame(x: Scale, y: Scale, below: str, beside: str) -> list[Markup]:
    marks: list[Markup] = []
    for value in ticks(x.low, x.high, 4):
        marks.append(element("line", x1=x(value), x2=x(value), y1=y.start, y2=y.end, class_="grid"))
        marks.append(element("text", f"{value:g}", x=x(value), y=y.start + 16, class_="tick", text_anchor="middle"))
    for value in ticks(y.low, y.high, 4):
        marks.append(element("line", x1=x.start, x2=x.end, y1=y(value), y2=y(value), class_="grid"))
        marks.append(element("text", f"{value:g}", x=x.start - 7, y=y(value) + 4, class_="tick", text_anchor="end"))
    middle = (x.start + x.end) / 2
    marks.append(element("text", below, x=middle, y=y.start + 34, class_="legend", text_anchor="middle"))
    marks.append(
        element("text", beside, x=12, y=(y.start + y.end) / 2, class_="legend turned", text_anchor="middle",
                transform=f"rotate(-90 12 {(y.start + y.end) / 2:g})")
    )  # fmt: skip
    return marks


_SHARES = (0.0, 0.05, 0.25, 0.5, 1.0)


def reliability(card: Scorecard) -> Markup | None:
    """Draw observed frequency against odds, a dot for every outcome of every scene, its area growing with the clips.

    Both axes are square roots, so that rare outcomes are not crowded together. Returns None without a valid outcome.
    """
    dots = _shares(card)
    if not dots:
        return None
    side = 250.0
    x = Scale(low=0, high=1, start=40, end=side - 16, root=True)
    y = Scale(low=0, high=1, start=side - 44, end=12, root=True)
    marks: list[Markup] = []
    for share in _SHARES:
        name = percent(share)
        marks += [
            element("line", x1=x(share), x2=x(share), y1=y.start, y2=y.end, class_="grid"),
            element("line", x1=x.start, x2=x.end, y1=y(share), y2=y(share), class_="grid"),
            element("text", name, x=x(share), y=y.start + 15, class_="tick", text_anchor="middle"),
            element("text", name, x=x.start - 5, y=y(share) + 4, class_="tick", text_anchor="end"),
        ]
    marks.append(element("line", x1=x(0), y1=y(0), x2=x(1), y2=y(1), class_="diagonal"))
    for told, odds, seen, n in sorted(dots, key=lambda dot: -dot[3]):
        radius = 1.2 + 0.55 * math.sqrt(n)
        marks.append(element("circle", element("title", told), cx=x(odds), cy=y(seen), r=radius, class_="bubble"))
    marks.append(element("text", "odds", x=(x.start + x.end) / 2, y=side - 8, class_="legend", text_anchor="middle"))
    over = sum(seen > odds for _, odds, seen, _ in dots)
    never = sum(seen == 0 for _, _, seen, _ in dots)
    desc = (
        f"{len(dots)} outcomes of {len(card.cells)} scenes: {over} came up more often than their odds, "
        f"{never} never came up. A perfect model scatters about the diagonal."
    )
    title = f"{card.model}: how often each outcome came up against its odds"
    return picture(*marks, title=title, desc=desc, width=side, height=side, class_="plot reliability")


def _shares(card: Scorecard) -> list[tuple[str, float, float, int]]:
    """Words, odds, observed share and number of valid clips of each outcome."""
    dots: list[tuple[str, float, float, int]] = []
    for cell in card.cells:
        counts, reference = cell.measurement.counts, cell.measurement.scene.reference
        if not counts.n or reference is None:
            continue
        for label, count, odds in zip(counts.labels, counts.counts, reference.probabilities, strict=True):
            told = f"{cell.measurement.scene.title}, {label}: {count} of {counts.n}, odds {percent(float(odds))}"
            dots.append((told, float(odds), count / counts.n, counts.n))
    return dots
