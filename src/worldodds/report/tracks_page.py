"""One self-contained page for a suite of tracks: averages beside their pass rates, every scene, and the families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from worldodds._version import __version__
from worldodds.errors import InputError
from worldodds.families import Reaction, reactions
from worldodds.interop.files import write_bytes
from worldodds.placement import Track
from worldodds.report import words
from worldodds.report.environment import environment
from worldodds.report.svg import Scale, at, element, picture, ticks
from worldodds.report.tracks_text import TITLES, beside_words, track_words
from worldodds.suites.track_results import PublishedTrack, published_tracks, tracks_citation
from worldodds.track_scores import TrackScores
from worldodds.tracks import TRACKS

if TYPE_CHECKING:
    from jinja2 import Template

PERCENT = Scale(low=0, high=100, start=0.01, end=0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One model in a track's table, ours or as published; the average never stands without its pass rate."""

    name: str
    published: bool
    average: float | None
    scene_pass_rate: float | None
    groups: Mapping[str, float | None]
    interval: tuple[float, float] | None = None


def write_tracks_page(scores: TrackScores, path: Path) -> None:
    """Write the page; the file appears by rename.

    Raises:
        InputError: there is no model to show.
    """
    write_bytes(path, render(scores).encode())


def render(scores: TrackScores) -> str:
    """Return the page as HTML text: the same scores give the same text."""
    if not scores.cards:
        raise InputError("page: there is no model to show; give a run, a table, or rows of the official evaluator")
    return _template().render(
        scores=scores,
        suite=scores.suite,
        tracks=[t for t in TRACKS if any(t in card.tracks for card in scores.cards)],
        titles=TITLES,
        lines={track: lines(scores, track) for track in TRACKS},
        bands={track: chance_band(scores, track) for track in TRACKS},
        families=reactions(scores.tallies, scores.suite),
        citation=tracks_citation(scores.suite),
        version=__version__,
    )


def lines(scores: TrackScores, track: Track) -> list[Line]:
    """Return all models of one track, best average first; ours are over what was read, which their holes tell."""
    found = [_published(model.name, model.tracks[track]) for model in published_tracks(scores.suite)]
    for card in scores.cards:
        if track in card.tracks and card.tracks[track].status != "missing":
            shown, estimate = card.tracks[track].partial, scores.beside[card.model][track].interval
            ends = estimate.interval if estimate else None
            found.append(
                Line(
                    name=card.model,
                    published=False,
                    average=shown.average,
                    scene_pass_rate=shown.scene_pass_rate,
                    groups=shown.groups,
                    interval=(ends.low, ends.high) if ends else None,
                )
            )
    sign = 1 if track == "calibration" else -1
    return sorted(found, key=lambda line: (line.average is None, sign * (line.average or 0), line.name))


def chance_band(scores: TrackScores, track: Track) -> tuple[float, float] | None:
    """Return where a calibrated model's average lies in 98 of 100 runs at 50 readable rollouts a scene."""
    laws = [scores.beside[card.model][track].laws for card in scores.cards if track in card.tracks]
    law = laws[0].get(scores.suite.protocol.rollouts) if laws else None
    return (law.quantile(0.01), law.quantile(0.99)) if law else None


def strip(line: Line, band: tuple[float, float] | None) -> Markup:
    """Draw one model's average on an axis from 0 to 100, over the band of chance."""
    marks = [
        element("line", x1=at(PERCENT(v)), x2=at(PERCENT(v)), y1=0, y2=26, class_="grid") for v in (0, 25, 50, 75, 100)
    ]
    if band:
        marks.append(_span(band, 3, 20, "band"))
    kind = "published" if line.published else "own"
    if line.interval:
        ends = {"x1": at(PERCENT(line.interval[0])), "x2": at(PERCENT(line.interval[1]))}
        marks.append(element("line", y1=13, y2=13, class_=f"whisker {kind}", **ends))
    if line.average is not None:
        marks.append(element("circle", cx=at(PERCENT(line.average)), cy=13, r=5, class_=f"dot {kind}"))
    told = f"{words.number(line.average, 1)}, SPR {words.number(line.scene_pass_rate, 0)}%"
    return picture(*marks, title=f"{line.name}: average", desc=told, height=26, class_="meter forest")


def percent_axis() -> Markup:
    """Draw the numbers of the axis from 0 to 100 percent."""
    marks = [
        element("text", f"{v:g}", x=at(PERCENT(v)), y=12, class_="tick", text_anchor="middle") for v in ticks(0, 100, 4)
    ]
    return picture(*marks, title="Axis in percent", desc="From 0 to 100 percent.", height=16, class_="meter")


def reaction_strip(one: Reaction) -> Markup:
    """Draw one pair: what chance alone shifts (band), what should have shifted (tick), what did (dot)."""
    marks = [
        element("line", x1=at(PERCENT(v)), x2=at(PERCENT(v)), y1=0, y2=26, class_="grid") for v in (0, 25, 50, 75, 100)
    ]
    if one.chance is not None:
        marks.append(_span((0, one.chance), 7, 12, "band"))
    if one.expected is not None:
        x = at(PERCENT(one.expected))
        marks.append(element("line", x1=x, x2=x, y1=3, y2=23, class_="floor"))
    if one.shift is not None:
        wrong = one.verdict in ("over-reacts", "under-reacts")
        marks.append(element("circle", cx=at(PERCENT(one.shift)), cy=13, r=5, class_="tv outside" if wrong else "tv"))
    told = (
        f"shift {words.number(one.shift, 1)}, by chance {words.number(one.chance, 1)}, "
        f"expected {words.number(one.expected, 1)}: {one.verdict}"
    )
    return picture(*marks, title=f"{one.member.id} against {one.base.id}", desc=told, height=26, class_="meter")


def by_cue(found: Sequence[Reaction]) -> list[tuple[str, str, list[Reaction]]]:
    """Part a model's pairs by what changed: the physics, or only the picture."""
    titles = {"causal": "The physics changed: it should move", "non-causal": "Only the picture changed: it should stay"}
    parts = [(cue, title, [one for one in found if one.variant.cue == cue]) for cue, title in titles.items()]
    return [part for part in parts if part[2]]


def _span(ends: tuple[float, float], y: float, height: float, kind: str) -> Markup:
    low, high = PERCENT(ends[0]), PERCENT(ends[1])
    return element("rect", x=at(low), width=at(high - low), y=y, height=height, class_=kind)


def _published(name: str, figures: PublishedTrack) -> Line:
    return Line(
        name=name,
        published=True,
        average=figures.average,
        scene_pass_rate=figures.scene_pass_rate,
        groups=figures.groups,
    )


@cache
def _template() -> Template:
    pages = environment()
    pages.filters.update(number=words.number, p_value=words.p_value, span=words.span)
    tools = {
        "strip": strip,
        "percent_axis": percent_axis,
        "reaction_strip": reaction_strip,
        "by_cue": by_cue,
        "track_words": track_words,
        "beside_words": beside_words,
    }
    return pages.get_template("tracks.html.j2", globals=tools)
