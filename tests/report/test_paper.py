"""Tables and figures for a paper say what the scorecards say, the same every time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from worldodds.report.paper import save_figures, tables
from worldodds.scorecard import Scorecard, best_first
from worldodds.sources import published
from worldodds.suites import find_suite


@pytest.fixture(scope="module")
def cards() -> tuple[Scorecard, ...]:
    suite = find_suite("calibench")
    return best_first(published(suite, ["ball", "pendulum", "dice"]))


def test_markdown_has_every_score_with_its_mark(cards: tuple[Scorecard, ...]) -> None:
    """Stars are escaped, since Markdown would eat them."""
    text = tables(cards, "md")
    for card in cards:
        for cell in card.cells:
            score = cell.measurement.score
            assert score is not None
            mark = {"miscalibrated": "\\*", "calibrated": "=", "illegible": "?"}.get(cell.verdict, "")
            assert f"{score:.3f}{mark} |".replace("-", "−") in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert [line.count("|") for line in lines] == [7] * 8 + [8] * 5, "every row has as many cells as its header"


def test_markdown_passes_no_markup_on(cards: tuple[Scorecard, ...]) -> None:
    """A model called <script> is shown, not run; nor does it become a link, code or another cell."""
    name = "a<script>alert(1)</script>|`b`[c](d)\\e"
    text = tables([replace(cards[0], model=name), *cards[1:]], "md")
    assert "<" not in text
    written = "a&lt;script&gt;alert(1)&lt;/script&gt;\\|\\`b\\`[c]\\(d)\\\\e"
    assert text.count(written) == 2, "in the table of means and above the scores by scene"


def test_latex_escapes_names(cards: tuple[Scorecard, ...]) -> None:
    """A model called a_b&c% does not break the table."""
    text = tables([replace(cards[0], model="a_b&c%"), *cards[1:]], "tex")
    assert r"a\_b\&c\% &" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2


def test_figures_are_the_same_every_time(cards: tuple[Scorecard, ...], tmp_path: Path) -> None:
    """SVG and PDF, byte for byte, with the words as text."""
    first, second = save_figures(cards, tmp_path / "a"), save_figures(cards, tmp_path / "b")
    assert [path.name for path in first] == ["means.svg", "means.pdf", "scenes.svg", "scenes.pdf"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert "Die in a box" in first[2].read_text()
