"""CaliBench's bins files: read, written, and refused with the rollout named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldodds.cli import call
from worldodds.errors import InputError, SourceError
from worldodds.interop.calibench import write_bins
from worldodds.interop.source import read_source
from worldodds.rollout import Reading
from worldodds.row import Row
from worldodds.statistics.waves import EarlyRule
from worldodds.suites import find_suite
from worldodds.suites.published import published_readings

SUITE = find_suite("calibench")


def cell(**changes) -> dict:
    rollouts = [{"seed": 0, "bin": 3}, {"seed": 1, "bin": None}]
    return {"scene": "dice", "model": "wan", "num_bins": 6, "rollouts": rollouts} | changes


def write(folder: Path, value: object, name: str = "dice_wan_bins.json") -> Path:
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


COINS = """format = "worldodds.suite/1"
id = "coins"
title = "Coins"
version = "1"
source = "ours"
scenes = ["bent"]

[protocol]
rollouts = 14
aggregate = "mntv"
"""
BENT = """format = "worldodds.scene/1"
id = "bent"
title = "Bent coin"
prompt = "The coin is flipped."
labels = ["heads", "tails"]

[readout]
evidence = "last frame"
question = "Heads or tails?"
nulls = []

[reference]
kind = "counts"
counts = { tails = 51, heads = 81 }
source = "Our own bench, 132 flips."
"""


def row(**changes) -> Row:
    fields = {"scene": "dice", "model": "mine", "index": 0, "seed": 0, "reading": Reading.saw("3")}
    return Row(**(fields | changes))


def plain(rows) -> list:
    return sorted((r.scene, r.model, r.seed, r.reading.status, r.reading.label) for r in rows)


def test_read(tmp_path: Path) -> None:
    """Bins are 1-based, a null is unreadable, and each row knows its file and place."""
    first, second = read_source(write(tmp_path, cell()), SUITE)
    assert (first.reading.label, second.reading.status, second.seed) == ("3", "unreadable", 1)
    assert first.where.endswith("dice_wan_bins.json:1")
    assert read_source(tmp_path / "dice_wan_bins.json", SUITE) == [first, second]


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    """Other files in the folder do not matter."""
    write(tmp_path, "no json", "notes.json")
    assert len(read_source(write(tmp_path, cell()), SUITE)) == 2


def test_published_round_trip(tmp_path: Path) -> None:
    """All 54 published cells survive being written and read."""
    rows = published_readings(SUITE)
    assert write_bins(rows, tmp_path, SUITE) == []
    assert len(list(tmp_path.iterdir())) == 54
    assert plain(read_source(tmp_path, SUITE)) == plain(rows)


@settings(deadline=None, max_examples=30)
@given(
    outcomes=st.dictionaries(
        st.tuples(st.sampled_from(SUITE.scene_ids), st.sampled_from(["a", "sim/ä"]), st.integers(0, 40)),
        st.none() | st.integers(0, 1),
        min_size=1,
    )
)
def test_round_trip(tmp_path_factory, outcomes: dict) -> None:
    """Outcomes and nulls of any cells come back as they were."""
    folder = tmp_path_factory.mktemp("bins")
    rows = [
        row(scene=s, model=m, seed=n, index=n,
            reading=Reading(status="unreadable") if o is None else Reading.saw(SUITE.scene(s).labels[o]))
        for (s, m, n), o in outcomes.items()
    ]  # fmt: skip
    assert write_bins(rows, folder, SUITE) == []
    assert plain(read_source(folder, SUITE)) == plain(rows)


def test_what_bins_cannot_hold(tmp_path: Path) -> None:
    """Refused, failed and missing are handed back and never become nulls."""
    missing = Reading(status="missing")
    open_rows = [
        row(seed=1, index=1, rollout_status="refused", reading=missing),
        row(seed=2, index=2, rollout_status="failed", reading=missing),
        row(seed=3, index=3, reading=missing),
        row(seed=4, index=4, reading=Reading(status="failed")),
    ]
    assert write_bins([row(), *open_rows], tmp_path, SUITE) == open_rows
    assert plain(read_source(tmp_path, SUITE)) == [("dice", "mine", 0, "outcome", "3")]


def test_several_readers(tmp_path: Path) -> None:
    """A second reading of a rollout has no place in a bins file, and nothing is written."""
    with pytest.raises(SourceError, match="has several readings; a bins file holds one, so choose a reader"):
        write_bins([row(reader="a"), row(reader="b")], tmp_path, SUITE)
    assert not list(tmp_path.iterdir())


def test_model_names_that_collide(tmp_path: Path) -> None:
    """Two models never share a file."""
    with pytest.raises(SourceError, match="names that differ only in signs"):
        write_bins([row(model="a/b"), row(model="a b")], tmp_path, SUITE)


BAD_CELLS = {
    "broken": ("{", "not valid JSON"),
    "empty": ("", "the file is empty"),
    "list": ([], "not an object"),
    "key": ({"scen": "dice", "model": "wan", "num_bins": 6, "rollouts": []}, "no key 'scene'. Did you mean 'scen'?"),
    "scene": (cell(scene="dicee"), "scene: No scene is called 'dicee' in suite 'calibench'. Did you mean 'dice'?"),
    "model": (cell(model=" "), "model: ' ' is no name"),
    "num_bins": (cell(num_bins=8), "num_bins: 8 given; scene 'dice' has 6 outcomes"),
    "num_bins text": (cell(num_bins="6"), "num_bins: '6' given"),
    "none": (cell(rollouts=[]), "rollouts: there are none"),
    "bin 0": (cell(rollouts=[{"seed": 0, "bin": 0}]), "rollout 1: bin: 0 is not one of 1 to 6, nor null"),
    "bin 7": (cell(rollouts=[{"seed": 0, "bin": 1}, {"seed": 1, "bin": 7}]), "rollout 2: bin: 7 is not"),
    "bin 3.0": (cell(rollouts=[{"seed": 0, "bin": 3.0}]), "rollout 1: bin: 3.0 is not"),
    "bin true": (cell(rollouts=[{"seed": 0, "bin": True}]), "rollout 1: bin: True is not"),
    "seed": (cell(rollouts=[{"seed": "0", "bin": 1}]), "rollout 1: seed: '0' is not a whole number"),
    "no bin": (cell(rollouts=[{"seed": 0}]), 'rollout 1: not an object with "seed" and "bin"'),
    "twice": (cell(rollouts=[{"seed": 0, "bin": 1}] * 2), "seed 0 of scene 'dice', model 'wan' is here twice"),
}


@pytest.mark.parametrize("case", BAD_CELLS)
def test_bad_cell(tmp_path: Path, case: str) -> None:
    """A wrong bins file is one clear sentence with the file, the rollout and what would be right."""
    value, message = BAD_CELLS[case]
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_source(write(tmp_path, value), SUITE)
    assert "dice_wan_bins.json" in str(caught.value)


def test_same_cell_in_two_files(tmp_path: Path) -> None:
    """A copied file is a duplicate, and both files are named."""
    write(tmp_path, cell())
    write(tmp_path, cell(), "dice_wan_copy_bins.json")
    with pytest.raises(
        SourceError, match=r"dice_wan_copy_bins.json: row 1: seed 0 .* given at .*dice_wan_bins.json: row 1"
    ):
        read_source(tmp_path, SUITE)


def test_export_writes_a_folder_of_bins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name without an ending; scoring it gives the same numbers; nothing is mixed into what is there."""
    folder = tmp_path / "bins"
    assert call(["export", "published", "-o", str(folder)]) == 0
    assert f"54 files in {folder}" in capsys.readouterr().out

    def scores(source: str) -> dict[str, Any]:
        assert call(["score", source, "--json"]) == 0
        return {name: model["mntv"] for name, model in json.loads(capsys.readouterr().out)["models"].items()}

    assert scores(str(folder)) == scores("published")
    for where, told in ((folder, "there are bins files here already"), (folder / "dice_wan_bins.json" / "x", "made")):
        assert call(["export", "published", "-o", str(where)]) == 2
        assert told in capsys.readouterr().err


def test_votes_come_to_one_reading(tmp_path: Path) -> None:
    """As they count in a score; a vote that failed changes nothing that the others settle."""
    said = [Reading.saw("3"), Reading(status="failed"), Reading.saw("3")]
    votes = [row(vote=i, reading=reading) for i, reading in enumerate(said)]
    tied = [row(index=1, seed=1, vote=i, reading=Reading.saw(face)) for i, face in enumerate("12")]
    assert write_bins([*votes, *tied], tmp_path, SUITE) == []
    assert plain(read_source(tmp_path, SUITE)) == [
        ("dice", "mine", 0, "outcome", "3"),
        ("dice", "mine", 1, "unreadable", None),
    ]


def test_a_model_that_was_stopped_early_is_refused(tmp_path: Path) -> None:
    """Read back, it would be tested as if its number of rollouts had been fixed."""
    with pytest.raises(SourceError, match="mine was stopped early, which bins files cannot say"):
        write_bins([row(stop=EarlyRule().text)], tmp_path / "bins", SUITE)
    assert not (tmp_path / "bins").exists()


def test_what_the_format_does_not_hold_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Odds counted in an experiment stay in the suite, with which the folder scores as before; nulls are one kind."""
    suite = tmp_path / "coins"
    suite.mkdir()
    (suite / "suite.toml").write_text(COINS)
    (suite / "bent.toml").write_text(BENT)
    table = tmp_path / "t.csv"
    lines = [f"bent,m,{i},{'heads' if i % 3 else 'tails'},outcome" for i in range(12)]
    lines += ["bent,m,12,,out_of_schema", "bent,m,13,,failed"]
    table.write_text("\n".join(["scene,model,seed,outcome,status", *lines]) + "\n")
    assert call(["export", str(table), "--suite", str(suite), "-o", str(tmp_path / "bins")]) == 3
    out = capsys.readouterr().out
    assert "1 files in" in out
    assert "Left out, for the format has outcomes and nulls only: 1 refused, failed or missing" in out
    assert "1 readings that were out of schema come back as unreadable" in out
    assert "The format holds no odds" in out
    assert f"worldodds score {tmp_path / 'bins'} --suite {suite}" in out
    cells: list[dict[str, Any]] = []
    for source in (table, tmp_path / "bins"):
        call(["score", str(source), "--suite", str(suite), "--json"])
        cells.append(json.loads(capsys.readouterr().out)["models"]["m"]["cells"]["bent"])
    assert cells[0]["g"] == cells[1]["g"]
    assert cells[0]["experiment"] == cells[1]["experiment"]
