"""One self-contained page: what models did with the odds, beside what was published, with clips to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from worldodds._version import __version__
from worldodds.errors import InputError
from worldodds.headline import Robustness, compared, populations, robustness
from worldodds.interop.files import write_bytes
from worldodds.report import overview, plots, words
from worldodds.report.environment import environment
from worldodds.report.judge_view import JudgeView
from worldodds.report.overview import Entry
from worldodds.report.strips import Strip
from worldodds.scene import Scene, Suite
from worldodds.scorecard import Cell, Scorecard
from worldodds.statistics.comparison import rank_ranges
from worldodds.statistics.inversion import Population

if TYPE_CHECKING:
    from jinja2 import Template

PUBLISHED = "published"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the page shows.

    ``published`` are the paper's models, recomputed over exactly the scenes of ``cards``; ``citation`` says where
    their outcomes come from, ``published_reader`` who read them. ``filmed_from`` names, by model, the frames and
    prompts a model was filmed from: only models with the same name there are ranked among one another, `PUBLISHED`
    joins the paper's, and a model that is not in it has no rank. ``judges`` are who read the clips of ``cards``.
    """

    cards: tuple[Scorecard, ...]
    published: tuple[Scorecard, ...] = ()
    citation: str | None = None
    published_reader: str | None = None
    filmed_from: Mapping[str, str] = field(default_factory=dict[str, str])
    strips: tuple[Strip, ...] = ()
    judges: tuple[JudgeView, ...] = ()

    @property
    def suite(self) -> Suite:
        """The suite, cut to the scenes shown."""
        return self.cards[0].suite

    @property
    def filmed_otherwise(self) -> tuple[str, ...]:
        """Models known to have been filmed from other frames or prompts than the published ones."""
        return tuple(c.model for c in self.cards if self.filmed_from.get(c.model, PUBLISHED) != PUBLISHED)

    @property
    def stopped_early(self) -> tuple[str, ...]:
        """Models whose rollouts were bought until their verdicts stood."""
        return tuple(c.model for c in self.cards if c.early)

    @property
    def filmed_from_unknown(self) -> tuple[str, ...]:
        """Models whose source does not say what they were filmed from."""
        return tuple(c.model for c in self.cards if c.model not in self.filmed_from)


def build_page(
    cards: Sequence[Scorecard],
    *,
    published: Sequence[Scorecard] = (),
    citation: str | None = None,
    published_reader: str | None = None,
    filmed_from: Mapping[str, str] | None = None,
    strips: Sequence[Strip] = (),
    judges: Sequence[JudgeView] = (),
) -> Page:
    """Put together what the page shows.

    Raises:
        InputError: no model at all, two models of one name, or scorecards over different scenes or suites.
    """
    if not cards:
        raise InputError("page: there is no model to show; give at least one scorecard")
    names = [card.model for card in cards]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"page: two sources are called {twice[0]!r}; give one of them another name")
    suite = cards[0].suite
    for card in (*cards, *published):
        if (card.suite.id, card.suite.scene_ids) != (suite.id, suite.scene_ids):
            raise InputError(
                f"page: {card.model!r} and {cards[0].model!r} were scored over different scenes; use the same"
            )
    return Page(
        cards=tuple(cards),
        published=tuple(published),
        citation=citation,
        published_reader=published_reader,
        filmed_from=dict(filmed_from or {}),
        strips=tuple(strips),
        judges=tuple(judges),
    )


def write_page(page: Page, path: Path) -> None:
    """Write the page; the file appears by rename."""
    write_bytes(path, render(page).encode())


def render(page: Page) -> str:
    """Return the page as HTML text: the same page gives the same text."""
    entries = _entries(page)
    survived = [robustness(page.cards), robustness(page.published)]
    return _template().render(
        page=page,
        suite=page.suite,
        entries=entries,
        axis=overview.mean_axis(entries),
        rank=ranks(page),
        populations=_populations(entries),
        scenes=[_scene_view(page, scene, survived) for scene in page.suite.scenes],
        settings=_settings(page),
        version=__version__,
    )


def _populations(entries: Sequence[Entry]) -> dict[tuple[str, bool], Population]:
    """Return the score at infinitely many rollouts, by a model's name and whether it is published."""
    found: dict[tuple[str, bool], Population] = {}
    for published in (False, True):
        cards = [entry.card for entry in entries if entry.published is published]
        found |= {(model, published): inversion.mean for model, inversion in populations(cards).items()}
    return found


def ranks(page: Page) -> dict[tuple[str, bool], str]:
    """Return between which ranks each model lies, by its name and whether it is published: ``"1–2 of 3"``.

    Ranks are given among models filmed alike and averaged over the same scenes, and hold for all of a group at once.
    A model that is alone in its group, or has no mnTV, has none.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[Entry]] = defaultdict(list)
    for entry in _entries(page):
        film = PUBLISHED if entry.published else page.filmed_from.get(entry.card.model)
        if film and entry.card.mntv is not None and entry.card.early is None:
            groups[film, entry.card.averaged].append(entry)
    told: dict[tuple[str, bool], str] = {}
    for group in groups.values():
        # numbered, since one of ours may be called like one of theirs
        numbered = [replace(entry.card, model=str(i)) for i, entry in enumerate(group)]
        for i, (best, worst) in rank_ranges(compared(numbered)).items():
            entry = group[int(i)]
            places = f"{best}" if best == worst else f"{best}–{worst}"
            told[entry.card.model, entry.published] = f"{places} of {len(group)}"
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class CellView:
    """One cell as the page shows it; ``cell`` is None where the model was not filmed in the scene.

    ``robust`` says what a rejection survives, empty where there is none.
    """

    model: str
    cell: Cell | None
    robust: str
    strips: tuple[Strip, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneView:
    """One scene as the page shows it: ours side by side, then the published; ``tops`` are the heights of their bars."""

    scene: Scene
    own: tuple[CellView, ...]
    published: tuple[CellView, ...]
    tops: tuple[float, float]


def _entries(page: Page) -> list[Entry]:
    ours = [Entry(card=card, published=False) for card in page.cards]
    theirs = [Entry(card=card, published=True) for card in page.published]
    return sorted(ours + theirs, key=lambda e: (e.card.mntv is None, e.card.mntv or 0.0, e.published, e.card.model))


def _scene_view(page: Page, scene: Scene, survived: Sequence[Mapping[tuple[str, str], Robustness]]) -> SceneView:
    strips: dict[str, list[Strip]] = defaultdict(list)
    for strip in page.strips:
        if strip.scene == scene.id:
            strips[strip.model].append(strip)
    own = tuple(_cell_view(card, scene, survived[0], strips[card.model]) for card in page.cards)
    published = tuple(_cell_view(card, scene, survived[1], ()) for card in page.published)
    return SceneView(scene=scene, own=own, published=published, tops=(_top(own), _top(published)))


def _cell_view(
    card: Scorecard, scene: Scene, survived: Mapping[tuple[str, str], Robustness], strips: Sequence[Strip]
) -> CellView:
    cell = next((cell for cell in card.cells if cell.measurement.scene.id == scene.id), None)
    robust = survived.get((card.model, scene.id))
    told = words.robust_words(robust) if robust else ""
    return CellView(model=card.model, cell=cell, robust=told, strips=tuple(strips))


def _top(views: Sequence[CellView]) -> float:
    return plots.tallest([view.cell.measurement for view in views if view.cell])


def _settings(page: Page) -> dict[str, float]:
    """Tolerance and error rate of the verdicts, where any cell was tested."""
    found = [c.equivalence for card in (*page.cards, *page.published) for c in card.cells if c.equivalence]
    return {"delta": found[0].delta, "alpha": found[0].alpha} if found else {}


def _breakable(name: str) -> Markup:
    """Let a long name such as ``simulator/fair`` break after its slash."""
    return Markup("/<wbr>").join(name.split("/"))


def _typeset(p: float | None) -> str:
    """Write a p-value with powers of ten as in print.

    >>> _typeset(2e-12), _typeset(0.25)
    ('2·10⁻¹²', '0.250')
    """
    mantissa, _, exponent = words.p_value(p).partition("e")
    return f"{mantissa}·10{exponent.translate(_RAISED)}" if exponent else mantissa


@cache
def _template() -> Template:
    pages = environment()
    pages.filters.update(number=words.number, p_value=_typeset, span=words.span, breakable=_breakable)
    pages.filters["capitalize_first"] = words.capitalize_first
    return pages.get_template("page.html.j2", globals={"plots": plots, "overview": overview, "words": words})
