"""Tables for the terminal: a track's average beside its pass rate, its groups, its scenes, and the published models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worldodds.beside_tracks import BesideScene, BesideTrack
from worldodds.placement import Track
from worldodds.report.words import NOTHING, number, p_value, span
from worldodds.suites.track_results import Intervention, PublishedTrack, published_tracks, tracks_citation
from worldodds.track_scores import TrackScores
from worldodds.tracks import TRACKS, Aggregate, SceneMetric, TrackResult, by_group

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

TITLES: dict[Track, str] = {"calibration": "Calibration (TVD × 100, lower is better)", "coverage": "Coverage (%)"}
MOST_TOLD = 12


def print_tracks(scores: TrackScores, console: Console, *, partial: bool = False, verbose: bool = False) -> None:
    """Print every model's tracks, then what was published; ``verbose`` adds a table of scenes to every track."""
    from rich.text import Text

    for scene_id, reference in scores.given.items():
        odds = ", ".join(f"{label} {share}" for label, share in zip(reference.labels, reference.odds, strict=True))
        console.print(Text(f"Reference odds given by hand: {scene_id} {odds}", style="yellow"))
    _print_set_aside(scores.set_aside, console)
    for card in scores.cards:
        console.print(Text.assemble((card.model, "bold"), (f"  read by {card.reader}" if card.reader else "", "dim")))
        for track, result in card.tracks.items():
            _print_track(result, scores.beside[card.model][track], console, partial=partial, verbose=verbose)
        console.print()
    for track in TRACKS:
        _print_published(scores, track, console, partial=partial)


def print_interventions(figures: Sequence[Intervention], console: Console) -> None:
    """Print published experiments: averages beside their pass rates, then all figures of other kinds."""
    from rich.text import Text

    found: dict[tuple[str, str, str], dict[str, float | None]] = {}
    for one in figures:
        found.setdefault((one.experiment, one.model, one.condition), {})[one.metric] = one.value
    averages = _table("experiment", "model", "condition", "TVD × 100", "SPR %", "coverage %", "SPR %")
    others = _table("experiment", "model", "condition", "metric", "value")
    for (experiment, model, condition), values in found.items():
        names = (Text(experiment), Text(model), Text(condition))
        if "cal_avg_tvd" in values:
            shown = [number(values.get(key), 1) for key in ("cal_avg_tvd", "cal_spr", "cov_avg", "cov_spr")]
            averages.add_row(*names, *shown)
            continue
        for metric, value in values.items():
            others.add_row(*names, metric, NOTHING if value is None else f"{value:g}")
    for table in (averages, others):
        console.print(table)
        console.print()
    sources = sorted({one.source for one in figures})
    console.print(Text(f"Sources: {'; '.join(sources)}.", style="dim"))


def track_words(result: TrackResult, *, partial: bool) -> str:
    """Say a track's average, always with its pass rate, or why there is none.

    The pass rate says how much of the track the average is about.
    """
    shown = result.partial if partial else result.official
    rate = f"SPR {number(shown.scene_pass_rate, 0)}% ({shown.passing} of {len(result.scenes)} scenes pass)"
    if shown.average is None:
        return f"{NOTHING}  {rate}: {shown.reason}"
    how = f", over {len(shown.averaged)} scenes" if partial and shown.holes else ""
    return f"{number(shown.average, 1)}  {rate}{how}"


def beside_words(result: TrackResult, beside: BesideTrack) -> list[str]:
    """Say in a sentence each what stands beside a track's average: chance, spread, verdicts, judge."""
    told: list[str] = []
    read = result.partial
    if result.official.average is None and read.average is not None:
        told.append(
            f"over what was read: {number(read.average, 1)} ({len(read.averaged)} scenes, not an official number)"
        )
    if beside.interval and beside.interval.interval:
        told.append(f"95% interval {span(beside.interval.interval, 1)} (jackknife)")
    if beside.own_law and read.average is not None:
        law = beside.own_law
        told.append(
            f"a calibrated model with these readable counts averages {number(law.mean, 1)}, above "
            f"{number(law.quantile(0.99), 1)} once in 100 runs; p = {p_value(law.p_value(read.average))}"
        )
        told.append(f"with the floor taken out: {number(beside.corrected, 1)} (0 is calibrated)")
    verdicts = Counter(one.cell.verdict for one in beside.scenes.values() if one.cell)
    if verdicts:
        told.append("scenes by verdict: " + ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common()))
    if result.track == "coverage" and beside.fair is not None:
        told.append(
            f"equal odds would reach {number(beside.fair, 1)}, one outcome read with the judge's errors "
            f"{number(beside.floor, 1)}; surely seen: {number(beside.sure, 1)}"
        )
    return told


def _print_set_aside(told: Sequence[str], console: Console) -> None:
    from rich.text import Text

    for line in told[:MOST_TOLD]:
        console.print(Text(f"Set aside: {line}", style="yellow"))
    if len(told) > MOST_TOLD:
        console.print(Text(f"... and {len(told) - MOST_TOLD} more; --json lists all", style="yellow"))


def _print_track(result: TrackResult, beside: BesideTrack, console: Console, *, partial: bool, verbose: bool) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if result.status == "missing":
        console.print(Text(f"  {TITLES[result.track]}: no scene was filmed", style="dim"))
        return
    console.print(Text.assemble(f"  {TITLES[result.track]}  ", (track_words(result, partial=partial), "bold")))
    for line in beside_words(result, beside):
        console.print(Text(f"    {line}", style="dim"))
    console.print(Padding(_groups(result, partial=partial), (1, 0, 0, 4), expand=False))
    for scene_id, why in result.official.holes.items():
        console.print(Text(f"    {scene_id}: {why}", style="yellow"))
    if verbose:
        console.print(Padding(_scenes(result, beside), (1, 0, 0, 4), expand=False))
    console.print()


def _groups(result: TrackResult, *, partial: bool) -> Table:
    shown: Aggregate = result.partial if partial else result.official
    table = _table("group", "passing", "mean")
    for group, members in by_group(result.scenes).items():
        passing = sum(bool(s.passes) for s in members)
        table.add_row(group, f"{passing} of {len(members)}", number(shown.groups[group], 1))
    return table


def _scenes(result: TrackResult, beside: BesideTrack) -> Table:
    calibration = result.track == "calibration"
    columns = ("TVD", "floor", "corrected", "q", "verdict") if calibration else ("coverage", "fair", "sure", "floor")
    table = _table("scene", "n", "nulls", *columns, "status")
    for scene in result.scenes:
        one = beside.scenes[scene.scene.id]
        cells = _calibration_cells(scene, one) if calibration else _coverage_cells(scene, one)
        table.add_row(scene.scene.id, str(scene.n), str(scene.nulls), *cells, scene.status)
    return table


def _calibration_cells(scene: SceneMetric, beside: BesideScene) -> tuple[str, ...]:
    cell = beside.cell
    return (
        number(scene.metric, 1),
        number(beside.floor, 1),
        number(beside.corrected, 1),
        p_value(cell.g_q if cell else None),
        cell.verdict if cell else NOTHING,
    )


def _coverage_cells(scene: SceneMetric, beside: BesideScene) -> tuple[str, ...]:
    return tuple(number(value, 1) for value in (scene.metric, beside.fair, beside.sure, beside.floor))


def _print_published(scores: TrackScores, track: Track, console: Console, *, partial: bool) -> None:
    """Print the published models of one track, ours among them, always with the pass rate beside the average."""
    from rich.text import Text

    models = published_tracks(scores.suite)
    if not models:
        return
    groups = list(models[0].tracks[track].groups)
    table = _table("model", "average", "SPR %", *groups)
    rows = [_line(m.name, m.tracks[track]) for m in models]
    for card in scores.cards:
        if card.tracks[track].status != "missing":
            shown = card.tracks[track].partial if partial else card.tracks[track].official
            rows.append(_line(card.model, shown, "bold"))
    sign = 1 if track == "calibration" else -1
    for row in sorted(rows, key=lambda row: (row.average is None, sign * (row.average or 0))):
        cells = [number(row.groups.get(group), 1) for group in groups]
        table.add_row(Text(row.name, style=row.style), number(row.average, 1), number(row.rate, 0), *cells)
    console.print(Text(f"{TITLES[track]}, beside the published", style="bold"))
    console.print(table)
    console.print(Text(f"{tracks_citation(scores.suite)}. Averages are over the passing scenes only.\n", style="dim"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    name: str
    average: float | None
    rate: float | None
    groups: Mapping[str, float | None]
    style: str


def _line(name: str, shown: PublishedTrack | Aggregate, style: str = "") -> _Line:
    return _Line(name=name, average=shown.average, rate=shown.scene_pass_rate, groups=shown.groups, style=style)


def _table(first: str, *others: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False, header_style="dim")
    table.add_column(first, justify="left", no_wrap=True)
    for name in others:
        table.add_column(
            name,
            justify="left" if name in ("verdict", "status", "model", "condition", "metric") else "right",
            no_wrap=True,
        )
    return table
