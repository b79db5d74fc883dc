"""Where outcomes come from: run folders, tables and the benchmarks' own files, all as the same rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from worldodds.early import Early
from worldodds.errors import SourceError, nearest
from worldodds.followed import followed
from worldodds.interop.pawbench import is_official, read_official
from worldodds.interop.source import read_source
from worldodds.keys import choose_reader, named, reading_namer
from worldodds.rollout import Reading, Rollout
from worldodds.row import Row
from worldodds.run_folder import is_run
from worldodds.scene import Scene, Suite
from worldodds.scorecard import Scorecard, score
from worldodds.stopping import spared, stop_of
from worldodds.store import RunStore
from worldodds.suites import find_suite
from worldodds.suites.inputs import film_of
from worldodds.suites.published import published_readings
from worldodds.tally import Seen, Tally, settle, tally

DEFAULT_SUITE = "calibench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The rows of one or more sources, read by one reader, with the suite they belong to.

    ``clips`` and ``filmed`` know only the models of run folders: the clips by (model, scene, index), and by model what
    each scene was filmed from (frame and prompt), which tells whether two models were filmed alike. ``set_aside`` says
    in a sentence each which rows of a benchmark's own files could not be used. ``early`` knows the models that were
    bought until their verdicts stood, by the rule and family of their own run.
    """

    suite: Suite
    rows: tuple[Row, ...]
    reader: str | None
    clips: Mapping[tuple[str, str, int], Path]
    filmed: Mapping[str, Mapping[str, str]]
    set_aside: tuple[str, ...] = ()
    early: Mapping[str, Early] = field(default_factory=dict[str, Early])

    @property
    def open(self) -> int:
        """How many rollouts or readings have failed or are missing."""
        return sum(t.failed + t.missing for scenes in self.tallies().values() for t in scenes.values())

    def only(self, scene_ids: Sequence[str]) -> Source:
        """Return the source cut to some scenes, its suite with it."""
        suite = self.suite.only(scene_ids)
        return replace(self, suite=suite, rows=tuple(row for row in self.rows if row.scene in suite.scene_ids))

    def cells(self) -> dict[str, dict[str, list[Seen]]]:
        """Return what is known of every rollout, by model and scene id, in index order."""
        votes: dict[str, dict[str, dict[int, list[Row]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
        for row in sorted(self.rows, key=lambda row: (row.index, row.vote)):
            votes[row.model][row.scene][row.index].append(row)
        return {
            model: {scene: [_seen(rows) for rows in by_index.values()] for scene, by_index in scenes.items()}
            for model, scenes in votes.items()
        }

    def sequences(self) -> dict[str, dict[str, list[int | None]]]:
        """Return every cell's readings in index order: 0-based outcomes, None a null; what is open is left out."""
        return {
            model: {scene: list(by_seed.values()) for scene, by_seed in scenes.items()}
            for model, scenes in self.by_seed().items()
        }

    def by_seed(self) -> dict[str, dict[str, dict[int, int | None]]]:
        """Return the same by seed, in index order."""
        return {
            model: {scene: dict(_outcomes(seen, self.suite.scene(scene))) for scene, seen in scenes.items()}
            for model, scenes in self.cells().items()
        }

    def tallies(self) -> dict[str, dict[str, Tally]]:
        """Count the outcomes of every cell, by model and scene id."""
        return {
            model: {scene: tally(seen, self.suite.scene(scene)) for scene, seen in scenes.items()}
            for model, scenes in self.cells().items()
        }

    def score(self, *, partial: bool = False, delta: float = 0.2) -> tuple[Scorecard, ...]:
        """Score every model of the sources; see `worldodds.scorecard.score`."""
        return score(self.tallies(), self.suite, reader=self.reader, partial=partial, delta=delta, early=self.early)


def load(
    *paths: str | Path, suite: str | Path | None = None, reader: str | None = None, name: str | None = None
) -> Source:
    """Read one or more sources: run folders, tables (csv, parquet, jsonl), CaliBench's bins or PAWBench's rows.

    The word ``published`` stands for the outcomes that a suite's paper published, unless a file is called so.

    ``suite`` defaults to a run's frozen copy, else to calibench (pawbench where a source is its evaluator's own).
    ``reader`` is needed where a source was read by several. ``name`` renames the only model.

    Raises:
        SourceError: nothing to read, several readers or models where one is needed, runs of different suites.
    """
    if not paths:
        raise SourceError("no source given; name a run folder, a table of outcomes or a folder of bins files")
    chosen = find_suite(suite) if suite is not None else suite_of(paths)
    parts = [_load_one(Path(path), chosen, reader) for path in paths]
    rows, clips, filmed = _join(paths, parts)
    if name is not None:
        if not name.strip() or not name.isprintable():
            raise SourceError(f"--name {name!r} is no name; write one in printable characters")
        rows, clips, filmed = _rename(rows, clips, filmed, name)
    readers = sorted({row.reader for row in rows if row.reader})
    source = Source(
        suite=chosen,
        rows=tuple(rows),
        reader=" + ".join(readers) or None,
        clips=clips,
        filmed=filmed,
        set_aside=tuple(told for part in parts for told in part.set_aside),
    )
    return replace(source, early=followed(source.rows, source.cells(), chosen))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    rows: list[Row]
    clips: dict[tuple[str, int], Path]
    filmed: dict[str, str]
    set_aside: tuple[str, ...] = ()


def _load_one(path: Path, suite: Suite, reader: str | None) -> _Part:
    if _is_published(path):
        if not published_readings(suite):
            raise SourceError(f"suite {suite.id!r} ships no published outcomes")
        return _Part(rows=_of_reader(list(published_readings(suite)), reader, path), clips={}, filmed={})
    if is_official(path):
        official = read_official(path, suite)
        rows = _of_reader(official.rows, reader, path)
        return _Part(rows=rows, clips={}, filmed={}, set_aside=tuple(official.set_aside))
    if not is_run(path):
        return _Part(rows=_of_reader(read_source(path, suite), reader, path), clips={}, filmed={})
    with RunStore(path, write=False) as store:
        return _of_run(store, suite, reader)


def _of_run(store: RunStore, suite: Suite, reader: str | None) -> _Part:
    """Turn a ledger into rows: every planned rollout has one, also if it is missing, unless no verdict needs it."""
    generator: Mapping[str, Any] = store.about("generator")
    rollouts, readings = store.rollouts(), store.readings()
    name, settings = choose_reader(store, reader)
    rows: list[Row] = []
    clips: dict[tuple[str, int], Path] = {}
    frozen, stop, needless = store.suite, stop_of(store), spared(store)
    rule = stop.rule.text if stop else ""
    names = {scene_id: reading_namer(suite.scene(scene_id), name, settings) for scene_id in store.planned()}
    for scene_id, index, key in named(store, store.planned()):
        if (scene_id, index) in needless:
            continue
        rollout = rollouts.get(key) or Rollout(scene=scene_id, index=index, seed=index, status="missing")
        answers = [Reading(status="missing")]
        if rollout.clip:
            clips[scene_id, index] = rollout.clip.path
        if rollout.clip and rollout.status == "done":
            asked = names[scene_id](key, rollout.clip.sha256)
            answers = [readings[k].reading if k in readings else answers[0] for k in asked]
        rows.extend(_row(generator["name"], name, rollout, vote, answer, rule) for vote, answer in enumerate(answers))
    filmed = {scene.id: film_of(scene, frozen) for scene in frozen.scenes if scene.id in store.planned()}
    return _Part(rows=rows, clips=clips, filmed=filmed)


def _row(model: str, reader: str, rollout: Rollout, vote: int, answer: Reading, stop: str) -> Row:
    return Row(
        scene=rollout.scene,
        model=model,
        index=rollout.index,
        seed=rollout.seed,
        reading=answer,
        rollout_status=rollout.status,
        reader=reader,
        vote=vote,
        clip_sha256=rollout.clip.sha256 if rollout.clip else None,
        cost_usd=rollout.cost_usd,
        where=f"{rollout.scene} r{rollout.index:03d}",
        stop=stop,
    )


def _of_reader(rows: list[Row], wanted: str | None, path: Path) -> list[Row]:
    """Keep one reader's rows; a rollout that was never read by anyone belongs to all."""
    readers = sorted({row.reader for row in rows if row.reader})
    if wanted is None and len(readers) > 1:
        raise SourceError(f"{path}: read by {' and '.join(readers)}; choose one with --reader")
    if wanted is not None and not readers:
        raise SourceError(f"{path}: no row says who read it; leave out --reader {wanted}")
    if wanted is not None and wanted not in readers:
        raise SourceError(f"{path}: no row was read by {wanted!r}.{nearest(wanted, readers)}")
    return [row for row in rows if wanted is None or row.reader in (wanted, "")]


def suite_of(paths: Iterable[str | Path]) -> Suite:
    """Return the suite that the run folders among the sources were filmed for, else the default one."""
    suites: list[tuple[Path, Suite]] = []
    for path in map(Path, paths):
        if is_run(path):
            with RunStore(path, write=False) as store:
                suites.append((path, store.suite))
    for path, suite in suites[1:]:
        first_path, first = suites[0]
        if suite.id != first.id or _scored(suite) != _scored(first):
            raise SourceError(
                f"{path} and {first_path} were made for different suites or odds ({suite.id}, {first.id}): "
                "cells of different suites are not compared; score them one by one, or give --suite"
            )
    if suites:
        return suites[0][1]
    return find_suite("pawbench" if any(is_official(Path(path)) for path in paths) else DEFAULT_SUITE)


def _scored(suite: Suite) -> list[object]:
    return [(scene.id, scene.labels, scene.reference) for scene in suite.scenes]


_Joined = tuple[list[Row], dict[tuple[str, str, int], Path], dict[str, dict[str, str]]]


def _join(paths: Sequence[str | Path], parts: Sequence[_Part]) -> _Joined:
    """Put the sources together; a model's name that is taken already gets its source's name beside it."""
    rows: list[Row] = []
    clips: dict[tuple[str, str, int], Path] = {}
    filmed: dict[str, dict[str, str]] = {}
    taken: set[str] = set()
    for path, part in zip(paths, parts, strict=True):
        names = {model: model for model in sorted({row.model for row in part.rows})}
        names = {model: f"{model} ({path})" if model in taken else model for model in names}
        if again := taken & set(names.values()):
            raise SourceError(f"{path}: given twice, or model {min(again)!r} is in two sources; give each source once")
        taken |= set(names.values())
        changed = any(names[model] != model for model in names)
        rows += [replace(row, model=names[row.model]) for row in part.rows] if changed else part.rows
        for model in names.values() if part.filmed else ():
            filmed[model] = part.filmed
            clips |= {(model, scene, index): clip for (scene, index), clip in part.clips.items()}
    return rows, clips, filmed


def _rename(
    rows: list[Row],
    clips: dict[tuple[str, str, int], Path],
    filmed: dict[str, dict[str, str]],
    name: str,
) -> _Joined:
    models = sorted({row.model for row in rows})
    if len(models) != 1:
        raise SourceError(f"--name {name!r} needs a source with one model; here are {len(models)}: {', '.join(models)}")
    return (
        [replace(row, model=name) for row in rows],
        {(name, scene, index): clip for (_, scene, index), clip in clips.items()},
        dict.fromkeys([name] if filmed else [], next(iter(filmed.values()), {})),
    )


def _outcomes(seen: Iterable[Seen], scene: Scene) -> Iterator[tuple[int, int | None]]:
    """Yield seed and 0-based outcome (None a null) of every clip that has been read."""
    for one in seen:
        reading = settle(one.votes) if one.rollout == "done" else None
        if reading is not None and reading.status not in ("failed", "missing"):
            yield one.seed, scene.labels.index(reading.label) if reading.label is not None else None


def _seen(rows: Iterable[Row]) -> Seen:
    votes = list(rows)
    first = votes[0]
    return Seen(
        index=first.index, seed=first.seed, rollout=first.rollout_status, votes=tuple(row.reading for row in votes)
    )


def _is_published(path: Path) -> bool:
    return str(path) == "published" and not path.exists()


def published(suite: Suite, scene_ids: Sequence[str]) -> tuple[Scorecard, ...]:
    """Score the published models of a suite over exactly the scenes given."""
    whole = Source(suite=suite, rows=published_readings(suite), reader=None, clips={}, filmed={})
    return whole.only(scene_ids).score()
