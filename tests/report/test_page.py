from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from worldodds.errors import InputError
from worldodds.outcome import Counts
from worldodds.report import report_sources
from worldodds.report.overview import Entry, below_floor, scatter
from worldodds.report.page import PUBLISHED, Page, _typeset, build_page, ranks, render, write_page
from worldodds.report.words import number, span, verdict_words
from worldodds.scene import Suite
from worldodds.scorecard import Scorecard, score
from worldodds.suites import find_suite
from worldodds.tally import Tally

VOID = {"meta", "input", "img", "wbr", "br", "link", "hr"}


class Outline(HTMLParser):
    """Reads a page strictly: every element closed in order; keeps what the tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.svgs: list[list[str]] = []
        self.rows: list[list[str]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if self.open and self.open[-1] == "svg":
            self.svgs[-1].append(tag)
        if tag == "svg":
            self.svgs.append([])
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)
        if ("td" in self.open or "th" in self.open) and "svg" not in self.open:
            self.rows[-1][-1] += data

    def attributes(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.tags if name in attrs]


@pytest.fixture(scope="module")
def outline(page: Page) -> Outline:
    return Outline(render(page))


def test_every_element_is_closed(page: Page, outline: Outline) -> None:
    """The page is well-formed: elements close in the order in which they opened."""
    assert outline.open == []
    assert render(page).startswith("<!doctype html>")


def test_ids_are_unique_and_links_lead_somewhere(outline: Outline) -> None:
    """Every id is used once, and every link and label within the page has its target."""
    ids = outline.attributes("id")
    assert len(ids) == len(set(ids))
    targets = [href.removeprefix("#") for href in outline.attributes("href")]
    assert set(targets) | set(outline.attributes("aria-labelledby")) <= set(ids)


def test_nothing_is_fetched(page: Page, outline: Outline) -> None:
    """The page needs no other file: no address in src or href, no import or url() in its styles, no script."""
    assert all(src.startswith("data:image/jpeg;base64,") for src in outline.attributes("src"))
    assert all(href.startswith("#") for href in outline.attributes("href"))
    tags = {tag for tag, _ in outline.tags}
    assert not tags & {"script", "link", "iframe", "object", "embed"}
    text = render(page)
    assert not re.search(r"url\(|@import", text)
    assert "://" not in text


def test_every_picture_has_words(outline: Outline) -> None:
    """Every plot is an image with a title and a description; every frame says what it shows."""
    drawings = [attrs for tag, attrs in outline.tags if tag == "svg"]
    assert len(drawings) > 20
    assert all(attrs["role"] == "img" for attrs in drawings)
    assert all(children[:2] == ["title", "desc"] for children in outline.svgs)
    assert all(attrs.get("alt") for tag, attrs in outline.tags if tag == "img")


def test_tables_have_captions_and_headed_rows(page: Page) -> None:
    """Each table is captioned, and each row and column has a header cell with a scope."""
    text = render(page)
    assert text.count("<table") == text.count("<caption") == 1 + len(page.suite.scenes)
    assert '<th scope="row">' in text
    assert "<th>" not in text


def test_headings_never_skip_a_level(outline: Outline) -> None:
    """One h1; no heading lies more than one level below the one before it."""
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_models_scenes_and_verdicts_are_shown(page: Page, outline: Outline) -> None:
    """Every model, every scene and every cell's verdict stands on the page."""
    text = " ".join("".join(outline.text).split())
    for card in (*page.cards, *page.published):
        assert card.model in text
        for cell in card.cells:
            assert verdict_words(cell) in text
    for scene in page.suite.scenes:
        assert scene.title in text


def test_numbers_are_the_scorecards(page: Page, outline: Outline) -> None:
    """The tables hold exactly the scorecards' values, row by row."""
    rows = [[" ".join(field.split()) for field in row] for row in outline.rows]
    for published, cards in ((False, page.cards), (True, page.published)):
        for card in cards:
            name = f"{card.model} published" if published else card.model
            for cell in card.cells:
                m, d = cell.measurement, cell.measurement.deviation
                wanted = [
                    name, str(m.counts.n_total), str(m.counts.n), number(m.counts.scorability),
                    *(number(x) for x in ((d.tv, d.floor) if d else (None, None))),
                    span(d.null_band if d else None), number(d.excess if d else None), number(m.score),
                    _typeset(m.g.p_value if m.g else None), _typeset(cell.g_q),
                ]  # fmt: skip
                assert any(row[: len(wanted)] == wanted for row in rows), wanted


def test_open_cells_are_marked(page: Page) -> None:
    """A cell with failed clips is called incomplete, with how many; a scene that was not filmed says so."""
    text = render(page)
    assert "incomplete: 3 failed; 2 refused" in text
    assert "Incomplete: 3 rollouts or readings are still open." in text
    assert "Not filmed in this scene." in text


def test_a_cell_without_outcomes_is_drawn(page: Page) -> None:
    """Thirty-two nulls leave the odds in the plot, a score of 1, and no invented distance."""
    text = render(page)
    assert "no valid outcome" in text
    assert "illegible (0 valid)" in text
    assert not re.search(r"\b(nan|inf|None)\b", text)


def test_names_cannot_break_out(suite: Suite) -> None:
    """A model called like a tag is shown as text everywhere."""
    ball = suite.only(["ball"])
    seen = Tally(counts=Counts.of([9, 7], labels=("left", "right")), refused=0, failed=0, missing=0)
    name = '<script>alert("x")</script>&\'"'
    text = render(build_page(score({name: {"ball": seen}}, ball), filmed_from={name: "<b>"}))
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert Outline(text).open == []


@pytest.mark.parametrize("scenes", [["lottery"], ["ball", "roulette"], None])
def test_suites_of_all_sizes(scenes: list[str] | None) -> None:
    """One scene or nine, two outcomes or twenty, one model or ten."""
    whole = find_suite("calibench")
    cut = whole.only(scenes) if scenes else whole
    tallies = {
        f"model {i}": {
            s.id: Tally(counts=Counts.of([3] * len(s.labels), labels=s.labels), refused=0, failed=0, missing=i)
            for s in cut.scenes
        }
        for i in range(1 if scenes else 10)
    }
    assert Outline(render(build_page(score(tallies, cut)))).open == []


def test_ranks_only_among_models_filmed_alike(page: Page, cards: tuple[Scorecard, ...]) -> None:
    """Ours are ranked among ours, the paper's among the paper's; without mnTV or known frames there is no rank."""
    told = ranks(page)
    assert told["near", False] == "1 of 2"
    assert told["collapsed", False] == "2 of 2"
    assert ("patchy", False) not in told
    theirs = [told[card.model, True] for card in page.published]
    assert all(re.fullmatch(r"[1-6](–[1-6])? of 6", places) for places in theirs)
    joined = replace(page, filmed_from={"near": PUBLISHED})
    assert ranks(joined)["near", False] == "1 of 7"
    assert "other frames, prompts and reader than the paper" in render(page)


def test_the_same_page_is_the_same_text(page: Page, tmp_path: Path) -> None:
    """Rendering is pure; the file holds the rendered text and nothing half-written lies beside it."""
    path = tmp_path / "page.html"
    write_page(page, path)
    assert path.read_text(encoding="utf-8") == render(page)
    assert list(tmp_path.iterdir()) == [path]


def test_scorecards_that_cannot_be_compared_are_refused(cards: tuple[Scorecard, ...], suite: Suite) -> None:
    """No model, one name twice, or other scenes: one clear sentence each."""
    ball = suite.only(["ball"])
    seen = Tally(counts=Counts.of([9, 7], labels=("left", "right")), refused=0, failed=0, missing=0)
    other = score({"other": {"ball": seen}}, ball)
    with pytest.raises(InputError, match="no model to show"):
        build_page([])
    with pytest.raises(InputError, match="two sources are called 'near'"):
        build_page([cards[0], cards[0]])
    with pytest.raises(InputError, match=r"'other' and '.*' were scored over different scenes"):
        build_page([*cards, *other])


def test_the_page_tells_who_read(tmp_path: Path) -> None:
    """A judge of a paper's, measured by people: its errors with intervals, and what they leave of the verdicts."""
    report_sources(["published"], tmp_path / "p.html", judge="human")
    page = (tmp_path / "p.html").read_text()
    who = page.split('id="judges"')[1].split("</section>")[0]
    for told in ("152 of 162 clips read as people did", "4 of 107", "4 of 55", "2 of 103", "rejections stand"):
        assert told in who
    assert "certificate" not in who
    assert "unaudited" not in page


def test_dots_of_wholly_readable_models_stand_apart(cards: tuple[Scorecard, ...]) -> None:
    """No two dots of models whose every clip is readable lie on one another; one below its floor has a dashed stem."""
    entries = [Entry(card=card, published=False) for card in (*cards[:2], *cards[:2])]
    picture = str(scatter(entries))
    places = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', picture)
    assert len(set(places)) == len(places) == 4
    assert min(abs(float(a[0]) - float(b[0])) for a, b in combinations(places, 2)) >= 11
    assert picture.count("lucky") == 2 * below_floor([entries[0]]) > 0


def test_the_phone_keeps_every_column(page: Page) -> None:
    """Intervals and verdicts carry their own headings, for a screen too narrow for the table's."""
    text = render(page)
    assert text.count('data-label="95% interval"') == text.count('data-label="at infinitely many rollouts"')
    assert not re.search(r"\.forest-table \.(range|verdicts)[^{]*\{ display: none", text)
