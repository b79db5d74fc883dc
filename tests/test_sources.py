"""Every kind of source gives the same numbers, and what is wrong is said with its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from worldodds.engine import plan, run
from worldodds.errors import SourceError, UnknownNameError
from worldodds.interop.score_json import score_json
from worldodds.interop.tables import write_rows
from worldodds.scene import Suite, load_suite
from worldodds.sources import load, published
from worldodds.store import RunStore
from worldodds.suites import find_suite
from worldodds.testing import CannedGenerator, CannedReader


def film(suite: Suite, folder: Path, n: int = 6, **changes: object) -> Path:
    with RunStore(folder) as store:
        run(plan(suite, CannedGenerator(**changes), [CannedReader()], n), store)  # type: ignore[arg-type]
    return folder


def numbers(*paths: Path | str, suite: Path | str | None = None, **how: str) -> dict[str, object]:
    source = load(*paths, suite=suite, **how)
    return json.loads(score_json(source.score(partial=True), source.suite, source.reader))["models"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_scoring_an_export_gives_the_same_numbers(tiny: Suite, tmp_path: Path, ending: str) -> None:
    """All statuses survive the way through a table."""
    folder = film(tiny, tmp_path / "run", outcomes={0: None}, status={1: "failed", 2: "refused"})
    source = load(folder)
    write_rows(source.rows, tmp_path / f"out.{ending}", source.suite)
    assert numbers(tmp_path / f"out.{ending}", suite=tiny.folder) == numbers(folder)


def test_missing_rollouts_are_missing_not_nulls(tiny: Suite, tmp_path: Path) -> None:
    """A planned rollout that was never made is open."""
    folder = film(tiny, tmp_path / "run", n=2)
    with RunStore(folder) as store:
        store.plan("coin", 5)
    cell = load(folder).tallies()["canned/even"]["coin"]
    assert (cell.counts.n_total, cell.missing) == (2, 3)


def test_two_runs_of_one_generator_keep_their_names_apart(tiny: Suite, tmp_path: Path) -> None:
    """The second is called by its folder too; both keep their clips."""
    a, b = film(tiny, tmp_path / "a", n=2), film(tiny, tmp_path / "b", n=2)
    source = load(a, b)
    assert list(source.tallies()) == ["canned/even", f"canned/even ({b})"]
    assert {model for model, _, _ in source.clips} == set(source.tallies())
    assert source.filmed["canned/even"] == source.filmed[f"canned/even ({b})"]
    with pytest.raises(SourceError, match="given twice"):
        load(b, a, a)


def test_a_model_can_be_renamed_where_there_is_one(tiny: Suite, tmp_path: Path) -> None:
    """--name renames rows, clips and what was filmed alike."""
    a = film(tiny, tmp_path / "a", n=2)
    source = load(a, name="mine")
    assert list(source.tallies()) == ["mine"]
    assert list(source.filmed) == ["mine"]
    film(tiny, tmp_path / "b", n=2, name="canned/odd")
    with pytest.raises(SourceError, match="needs a source with one model; here are 2"):
        load(a, tmp_path / "b", name="mine")


def test_runs_of_different_odds_are_not_scored_together(tiny: Suite, tiny_folder: Path, tmp_path: Path) -> None:
    """Cells of different suites are never compared."""
    a = film(tiny, tmp_path / "a", n=2)
    scene = tiny_folder / "coin.toml"
    scene.write_text(scene.read_text().replace('kind = "uniform"', 'kind = "odds"\nodds = ["1/4", "3/4"]'))
    b = film(load_suite(tiny_folder), tmp_path / "b", n=2)
    with pytest.raises(SourceError, match="different suites or odds"):
        load(a, b)


def test_an_unread_run_counts_as_missing_readings(tiny: Suite, tmp_path: Path) -> None:
    """Clips that nobody has read are open, not unreadable."""
    with RunStore(tmp_path / "run") as store:
        run(plan(tiny, CannedGenerator(), [], 3), store)
    cell = load(tmp_path / "run").tallies()["canned/even"]["coin"]
    assert (cell.counts.n_total, cell.missing) == (0, 3)


def test_an_unknown_reader_is_named_with_the_command_that_reads(tiny: Suite, tmp_path: Path) -> None:
    """The message is the next step."""
    folder = film(tiny, tmp_path / "run", n=2)
    with pytest.raises(
        SourceError, match=f"not read by 'oracle' yet; read it: worldodds read {folder} --reader oracle"
    ):
        load(folder, reader="oracle")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: p / "nowhere", "there is no such file or folder"),
        (lambda p: p, "none of the known kinds"),
    ],
)
def test_what_is_no_source_is_refused(tmp_path: Path, make: object, message: str) -> None:
    """A missing path and a folder of something else are told apart."""
    with pytest.raises(SourceError, match=message):
        load(make(tmp_path))  # type: ignore[operator]


def test_no_source_at_all_is_refused() -> None:
    """The message says what a source is."""
    with pytest.raises(SourceError, match="no source given"):
        load()


def test_an_unknown_suite_offers_the_nearest(tmp_path: Path) -> None:
    """A slip of the finger costs one look."""
    with pytest.raises(UnknownNameError, match="Did you mean 'calibench'"):
        load(tmp_path, suite="calibensh")


def test_published_models_are_recomputed_over_the_scenes_shown() -> None:
    """A three-scene page never quotes a nine-scene mean."""
    suite = find_suite("calibench")
    few = {card.model: card for card in published(suite, ["ball", "dice"])}
    whole = {card.model: card for card in published(suite, suite.scene_ids)}
    assert few["wan"].averaged == ("ball", "dice")
    scores = {cell.measurement.scene.id: cell.measurement.score for cell in whole["wan"].cells}
    assert few["wan"].mntv == pytest.approx((scores["ball"] + scores["dice"]) / 2)  # type: ignore[operator]


def rows_of(*readings: Sequence[object]) -> str:
    lines = ["scene,model,seed,outcome", *(",".join(map(str, row)) for row in readings)]
    return "\n".join(lines) + "\n"


def test_votes_of_a_table_are_settled_by_majority(tmp_path: Path) -> None:
    """Three votes are one reading."""
    table = tmp_path / "votes.csv"
    lines = ["scene,model,seed,vote,outcome", "ball,m,0,0,left", "ball,m,0,1,left", "ball,m,0,2,"]
    table.write_text("\n".join(lines) + "\n")
    assert load(table).tallies()["m"]["ball"].counts.counts == (1, 0)


def test_the_document_is_strict_json() -> None:
    """No NaN, no Infinity, whatever was seen."""
    suite = find_suite("calibench")
    text = score_json(published(suite, ["pendulum"]), suite, None)
    assert msgspec.json.decode(text)["models"]["wan"]["cells"]["pendulum"]["tv"] is None
