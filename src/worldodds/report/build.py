"""From sources of outcomes to the page: what is compared with what, and which clips are shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from worldodds.audit_sources import measured_judge
from worldodds.certificates import Quoted, quoted
from worldodds.judged import Measured, judged
from worldodds.report.judge_view import judge_views
from worldodds.report.page import PUBLISHED, Page, build_page, write_page
from worldodds.report.strips import Watched, cut_strips
from worldodds.row import Row
from worldodds.scene import Suite, digest
from worldodds.scorecard import Scorecard
from worldodds.sources import Source, load, published
from worldodds.suites.inputs import PAPER
from worldodds.suites.published import published_models, published_source
from worldodds.tally import settle
from worldodds.votes import votes_of


def report_sources(
    sources: Sequence[str | Path],
    output: Path,
    *,
    suite: str | Path | None = None,
    reader: str | None = None,
    judge: str | None = None,
    certificates: Sequence[Path] = (),
) -> tuple[Scorecard, ...]:
    """Write the page of some run folders, tables or bins folders, and return the scorecards it shows.

    ``judge`` is an audit's JSON file or a truth to measure the reader by, as for `measured_judge`; ``certificates``
    are files beside those that are kept.

    Raises:
        SourceError: nothing to read, or several readers where one must be chosen; see `worldodds.sources.load`.
        InputError: the audit is of another reader.
    """
    source = load(*sources, suite=suite, reader=reader)
    measured = measured_judge(source, sources, judge) if judge else None
    return write_report(source, output, readers=quoted(source, sources, certificates), measured=measured)


def write_report(
    source: Source, output: Path, *, readers: Sequence[Quoted] | None = None, measured: Measured | None = None
) -> tuple[Scorecard, ...]:
    """Write the page of a source beside the published models, and return the scorecards it shows.

    Every model, published or not, is scored over exactly the scenes that the source has. ``readers`` are who read the
    clips (by default as far as the source itself tells), ``measured`` is an audit of them.
    """
    page = page_of(source, readers=readers, measured=measured)
    write_page(page, output)
    return page.cards


def page_of(source: Source, *, readers: Sequence[Quoted] | None = None, measured: Measured | None = None) -> Page:
    """Score a source over the scenes it has, beside the published models, and cut its clips to strips."""
    scenes = {row.scene for row in source.rows}
    shown = replace(source, suite=source.suite.only([s for s in source.suite.scene_ids if s in scenes]))
    cards = shown.score()
    origin = published_source(source.suite)
    return build_page(
        cards,
        published=_published(source.suite, cards, shown.suite.scene_ids),
        citation=origin.citation if origin else None,
        published_reader=origin.reader if origin else None,
        filmed_from=_filmed_from(shown),
        strips=cut_strips(watched(source)),
        judges=judge_views(
            quoted(source, ()) if readers is None else readers,
            cards,
            votes_of(source),
            judged(cards, measured) if measured else None,
        ),
    )


def watched(source: Source) -> list[Watched]:
    """Return the clips on disk with what was read in each, votes settled, in index order."""
    votes: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in source.rows:
        votes[row.model, row.scene, row.index].append(row)
    return [
        Watched(
            model=model,
            scene=scene,
            index=index,
            path=source.clips[model, scene, index],
            reading=settle([row.reading for row in sorted(rows, key=lambda row: row.vote)]),
        )
        for (model, scene, index), rows in sorted(votes.items())
        if (model, scene, index) in source.clips
    ]


def _published(suite: Suite, cards: Sequence[Scorecard], scene_ids: Sequence[str]) -> list[Scorecard]:
    """Score the paper's models by their proper names; one that the source itself holds is not shown twice."""
    names = {model.key: model.name for model in published_models(suite)}
    ours = [_outcomes(card) for card in cards]
    found = published(suite, scene_ids)
    return [replace(card, model=names.get(card.model, card.model)) for card in found if _outcomes(card) not in ours]


def _outcomes(card: Scorecard) -> list[tuple[str, tuple[int, ...]]]:
    return [(cell.measurement.scene.id, cell.measurement.counts.counts) for cell in card.cells]


def _filmed_from(source: Source) -> dict[str, str]:
    """Name, by model, the frames and prompts of the scenes shown; equal names were filmed alike."""
    return {
        model: _film({scene: scenes.get(scene) for scene in source.suite.scene_ids})
        for model, scenes in source.filmed.items()
    }


def _film(scenes: Mapping[str, str | None]) -> str:
    """Name the film of all scenes: the paper's where each of them is, else by a hash."""
    return PUBLISHED if set(scenes.values()) == {PAPER} else f"frames and prompts {digest(scenes)[:8]}"
