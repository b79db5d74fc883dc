from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.outcome import Counts
from worldodds.report.overview import Entry, reliability, scatter, whisker
from worldodds.report.overview import mean_axis as axis_of
from worldodds.report.plots import BOTTOM, bars, chance_ranges, readable_meter, tallest, tv_meter
from worldodds.report.svg import Scale, element, place_labels, ticks
from worldodds.scorecard import Scorecard


@given(st.text(), st.text())
def test_whatever_is_given_is_text(text: str, value: str) -> None:
    """Neither text nor an attribute can leave its place, whatever it holds."""
    drawn = str(element("text", text, class_=value))
    inside = drawn.removeprefix('<text class="').removesuffix("</text>")
    assert not set(inside.replace('">', "", 1)) & set('<>"')


@given(st.floats(-5, 5), st.floats(0.01, 5), st.integers(2, 8))
def test_ticks_lie_within_and_are_few(low: float, width: float, about: int) -> None:
    """Ticks lie between the ends, evenly, and there are not many more than asked for."""
    found = ticks(low, low + width, about)
    assert 1 <= len(found) <= about + 1
    assert all(low - 1e-6 <= tick <= low + width + 1e-6 for tick in found)


@given(st.integers(1, 40), st.lists(st.integers(1, 9), min_size=2, max_size=8))
def test_chance_ranges_hold_what_they_promise(n: int, weights: list[int]) -> None:
    """A perfect model's share lies in its range at least 95% of the time; each side holds at most 2.5%."""
    from scipy.stats import binom

    odds = np.array(weights) / sum(weights)
    for p, (low, high) in zip(odds, chance_ranges(odds, n), strict=True):
        first, last = round(low * n), round(high * n)
        assert binom.cdf(last, n, p) - binom.cdf(first - 1, n, p) >= 0.95 - 1e-9
        assert binom.cdf(first - 1, n, p) <= 0.025 + 1e-9
        assert binom.sf(last, n, p) <= 0.025 + 1e-9


def test_bars_are_as_high_as_what_was_seen(cards: tuple[Scorecard, ...]) -> None:
    """Heights follow the shares; a share beyond the picture's top is drawn broken with its number."""
    near = next(card for card in cards if card.model == "near").cell("dice").measurement
    drawn = bars(near, model="near", top=0.4)
    heights = [float(height) for height in re.findall(r'height="([\d.]+)" class="seen"', drawn)]
    scale = Scale(low=0, high=0.4, start=BOTTOM, end=14)
    wanted = [BOTTOM - scale(count / near.counts.n) for count in near.counts.counts]
    assert heights == pytest.approx(wanted, abs=0.01)
    collapsed = next(card for card in cards if card.model == "collapsed").cell("dice").measurement
    assert ">100%</text>" in bars(collapsed, model="collapsed", top=0.4)


def test_the_scale_of_bars_keeps_the_odds_legible(cards: tuple[Scorecard, ...]) -> None:
    """A scene's plots share one height, at most about five times the largest odds."""
    dice = [card.cell("dice").measurement for card in cards]
    assert tallest(dice) == 1.0
    assert tallest(dice[:0]) == 0.1


def test_meters_say_what_they_draw(cards: tuple[Scorecard, ...]) -> None:
    """The text alternatives hold the numbers of the drawing."""
    assert "20 valid, 1 out of schema, 11 unreadable of 32" in readable_meter(
        Counts.of([8, 12], unreadable=11, out_of_schema=1)
    )
    deviation = next(card for card in cards if card.model == "collapsed").cell("ball").measurement.deviation
    assert deviation is not None
    assert "TV 0.500, outside the null band" in tv_meter(deviation)


def test_models_without_a_mean_have_no_dot(cards: tuple[Scorecard, ...]) -> None:
    """A model whose mnTV is None keeps its row on the axis, without a dot at any place."""
    patchy = Entry(card=next(card for card in cards if card.model == "patchy"), published=False)
    near = Entry(card=next(card for card in cards if card.model == "near"), published=True)
    axis = axis_of([patchy, near])
    assert "<circle" not in whisker(patchy, axis)
    assert 'class="dot published"' in whisker(near, axis)


def test_overviews_hold_one_mark_for_each_thing(cards: tuple[Scorecard, ...]) -> None:
    """The scatter has a dot for each model with a valid outcome, the reliability diagram one for each outcome."""
    drawn = scatter([Entry(card=card, published=False) for card in cards])
    assert drawn is not None
    assert drawn.count("<circle") == len(cards)
    near = reliability(next(card for card in cards if card.model == "near"))
    assert near is not None
    assert near.count("<circle") == 11 + 2 + 6


def test_names_do_not_cover_one_another() -> None:
    """Six models at nearly the same place get six places for their names that do not overlap."""
    points = [(200.0 + i, 100.0 + 2 * i) for i in range(6)]
    spots = place_labels(points, ["model"] * 6, width=400, height=300)
    boxes = [(x - 35 * (anchor == "end") - 17.5 * (anchor == "middle"), y) for x, y, anchor in spots]
    apart = [abs(a[0] - b[0]) >= 34 or abs(a[1] - b[1]) >= 9 for i, a in enumerate(boxes) for b in boxes[:i]]
    assert all(apart)


def test_unknown_odds_are_not_drawn(cards: tuple[Scorecard, ...]) -> None:
    """Without odds there are bars and no line, and nothing is outside anything."""
    m = cards[0].cell("ball").measurement
    drawn = bars(replace(m, scene=replace(m.scene, reference=None)), model="m", top=1.0)
    assert 'class="odds"' not in drawn
    assert "outside" not in drawn
