from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from worldodds.outcome import Counts
from worldodds.report.text import print_scores
from worldodds.report.words import headline, verdict_words
from worldodds.scene import Suite
from worldodds.scorecard import Scorecard, score
from worldodds.tally import Tally


def printed(cards: tuple[Scorecard, ...], *, verbose: bool = False, width: int = 100) -> list[str]:
    console = Console(file=StringIO(), width=width, color_system=None)
    print_scores(cards, console, verbose=verbose)
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_one_line_a_scene(cards: tuple[Scorecard, ...]) -> None:
    """A model is its mnTV, its verdicts in words, and one line a scene with the numbers of the scorecard."""
    lines = printed(cards)
    assert "collapsed  read by tracker" in lines
    assert "All 3 scenes are miscalibrated." in lines
    (dice,) = [line for line in lines if line.startswith("  dice") and "miscalibrated" in line]
    assert dice.split()[:6] == ["dice", "32/32", "1.00", "0.833", "0.159", "0.802"]


def test_open_cells_have_a_line_of_their_own(cards: tuple[Scorecard, ...]) -> None:
    """What failed or was refused stands below the table, never in it."""
    assert "  ball: incomplete: 3 failed; 2 refused" in printed(cards)


def test_why_there_is_no_mean(cards: tuple[Scorecard, ...]) -> None:
    """Where mnTV is missing the reason stands in its place."""
    assert any(line.startswith("mnTV – (1 of 3 scenes missing (galton_board)") for line in printed(cards))


@pytest.mark.parametrize("verbose", [False, True])
def test_fits_a_hundred_columns_without_colour(cards: tuple[Scorecard, ...], *, verbose: bool) -> None:
    """No line is longer than 100 columns, and none holds an escape code."""
    lines = printed(cards, verbose=verbose)
    assert max(map(len, lines)) <= 100
    assert not any("\x1b" in line for line in lines)


def test_verbose_adds_the_other_numbers(cards: tuple[Scorecard, ...]) -> None:
    """Chi-squared, band, excess and the certified tolerance are there on request, and only then."""
    assert not any("null band" in line for line in printed(cards))
    verbose = printed(cards, verbose=True)
    assert sum("null band" in line for line in verbose) == len(cards)
    assert any("tested cells" in line for line in verbose)


def test_markup_in_names_is_text(suite: Suite) -> None:
    """A model called like console markup is printed as it is."""
    seen = Tally(counts=Counts.of([9, 7], labels=("left", "right")), refused=0, failed=0, missing=0)
    cards = score({"[bold]lab[/bold]": {"ball": seen}}, suite.only(["ball"]))
    assert "[bold]lab[/bold]" in printed(cards)


def test_calibrated_is_said_of_the_readable_only(suite: Suite) -> None:
    """With nulls about, a certified cell is calibrated among readable, with its scorability."""
    seen = Counts.of([30, 30], labels=("left", "right"), unreadable=20)
    tally = Tally(counts=seen, refused=0, failed=0, missing=0)
    (card,) = score({"m": {"ball": tally}}, suite.only(["ball"]))
    assert verdict_words(card.cells[0]) == "calibrated among readable, ρ = 0.75 (within 0.2)"
    assert headline(card) == "The one scene is calibrated within 0.2 among readable clips."
