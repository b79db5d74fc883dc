"""A checkout of CaliBench brought in: a suite, a table of its outcomes, and a run for every model that has clips."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from worldodds.engine import plan, run
from worldodds.errors import SourceError, WorldOddsError
from worldodds.generators.folder import folder
from worldodds.interop.calibench_inputs import (
    Outcomes,
    filmed_models,
    official_suite,
    read_outcomes,
    scenes_filmed,
)
from worldodds.interop.tables import write_rows
from worldodds.keys import reading_keys, rollout_key
from worldodds.rollout import Clip
from worldodds.row import Row
from worldodds.scene import Scene, Suite, load_suite
from worldodds.scene_file import save_suite
from worldodds.store import RunStore, StoredReading
from worldodds.suites import find_suite
from worldodds.suites.inputs import as_published, reworded

READER = "calibench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What was brought in: ``reworded`` are scenes whose prompts are not the paper's; ``open`` says what runs lack."""

    suite: Suite
    outcomes: Outcomes
    runs: tuple[Path, ...]
    reworded: tuple[str, ...]
    open: tuple[str, ...]


def bring_calibench(checkout: Path, into: Path) -> Brought:
    """Make ``suite/``, ``outcomes.csv`` (where there are bins files) and ``runs/<model>/`` (where there are clips).

    Nothing is downloaded and none of the checkout's code is run; what is brought in keeps its own licence. ``into``
    appears by rename, whole; what a killed import left beside it is removed by the next.

    Raises:
        SourceError: no checkout of CaliBench, a file of it is wrong, or ``into`` exists already.
    """
    if not checkout.is_dir():
        raise SourceError(f"{checkout}: there is no such folder; give the root of a checkout of CaliBench")
    if into.exists():
        raise SourceError(f"{into}: this exists already; give a new folder")
    official = as_published(official_suite(checkout, find_suite("calibench")))
    outcomes = read_outcomes(checkout, official)
    models = filmed_models(checkout, official)
    part = into.with_name(f".{into.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        left = _fill(part, checkout, official, outcomes, models)
    except WorldOddsError:
        shutil.rmtree(part, ignore_errors=True)
        raise
    part.rename(into)
    suite = load_suite(into / "suite")
    runs = tuple(into / "runs" / model for model in models)
    return Brought(suite=suite, outcomes=outcomes, runs=runs, reworded=reworded(suite), open=tuple(left))


def _fill(part: Path, checkout: Path, official: Suite, outcomes: Outcomes, models: Mapping[str, int]) -> list[str]:
    """Make all that is brought in, in a folder beside its place; return what is open in the runs."""
    suite = save_suite(official, part / "suite")
    if outcomes.rows:
        write_rows(outcomes.rows, part / "outcomes.csv", suite)
    left: list[str] = []
    for model, n in models.items():
        left += _bring_run(checkout, model, n, suite, outcomes.rows, part / "runs" / model)
    return left


def _bring_run(checkout: Path, model: str, n: int, suite: Suite, rows: Iterable[Row], into: Path) -> list[str]:
    """Copy a model's clips into a run, with what the checkout's judge read in them; return what is open in it."""
    made_by = folder(str(checkout), model=model)
    filmed = suite.only(scenes_filmed(checkout, model, suite))
    into.parent.mkdir(parents=True, exist_ok=True)
    with RunStore(into) as store:
        summary = run(plan(filmed, made_by, [], n), store)
        rollouts = store.rollouts()
        for row in rows:
            if row.model == model and row.scene in filmed.scene_ids:
                scene = filmed.scene(row.scene)
                key = rollout_key(scene, made_by.name, made_by.settings, seed=row.seed, index=row.seed)
                if key in rollouts and (clip := rollouts[key].clip):
                    store.add_reading(_reading(row, scene, key, clip))
    return [f"{model}: {line}" for line in summary.open]


def _reading(row: Row, scene: Scene, rollout: str, clip: Clip) -> StoredReading:
    (key,) = reading_keys(rollout, clip.sha256, scene, READER, {})
    return StoredReading(
        key=key,
        rollout_key=rollout,
        sha256=clip.sha256,
        reader=READER,
        settings={},
        vote=0,
        reading=row.reading,
    )
