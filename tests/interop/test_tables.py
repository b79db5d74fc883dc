"""Tables of readings: what goes out comes back, and whatever is wrong is named with file, row and fix."""

from __future__ import annotations

import builtins
import errno
import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldodds.cli import call
from worldodds.errors import InputError, MissingDependencyError, SourceError, UnknownNameError
from worldodds.interop.source import read_source
from worldodds.interop.tables import COLUMNS, write_rows
from worldodds.rollout import Reading
from worldodds.row import Row
from worldodds.statistics.waves import EarlyRule
from worldodds.suites import find_suite

SUITE = find_suite("calibench")
HEADER = "scene,model,seed,outcome\n"


def table(folder: Path, text: str | bytes, name: str = "outcomes.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def row(**changes) -> Row:
    fields = {"scene": "dice", "model": "mine", "index": 0, "seed": 0, "reading": Reading.saw("3")}
    return Row(**(fields | changes))


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
models = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=12)
readings = st.sampled_from(SUITE.scenes).flatmap(
    lambda scene: st.tuples(
        st.just(scene.id),
        st.one_of(
            st.sampled_from(scene.labels).map(Reading.saw),
            st.builds(
                Reading,
                status=st.sampled_from(["unreadable", "out_of_schema", "failed", "missing"]),
                reason=st.none() | texts,
            ),
        ),
    )
)
opens = st.builds(Reading, status=st.just("missing"), reason=st.none() | texts)


@st.composite
def rows(draw) -> list[Row]:
    made = []
    for number in draw(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, min_size=1, max_size=8)):
        scene, reading = draw(readings)
        status = draw(st.sampled_from(["done", "done", "refused", "failed", "missing"]))
        made.append(
            Row(
                scene=scene,
                model=draw(models),
                index=len(made),
                seed=number,
                reading=reading if status == "done" else draw(opens),
                rollout_status=status,
                reader=draw(st.sampled_from(["", "oracle", "vlm/some model, 2"])),
                vote=draw(st.integers(0, 2)),
                clip_sha256=draw(st.none() | st.just("ab" * 32)),
                stop=draw(st.sampled_from(["", EarlyRule().text])),
            )
        )
    return made


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
@settings(deadline=None, max_examples=40)
@given(given_rows=rows())
def test_round_trip(tmp_path_factory, ending: str, given_rows: list[Row]) -> None:
    """What is written is read back, all statuses, reasons, readers and votes included."""
    path = tmp_path_factory.mktemp("tables") / f"readings{ending}"
    write_rows(given_rows, path, SUITE)
    assert read_source(path, SUITE) == given_rows
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_columns(tmp_path: Path) -> None:
    """An export has the documented columns, one row a reading."""
    path = tmp_path / "readings.csv"
    write_rows([row(), row(index=1, seed=1, reading=Reading(status="failed", reason="no reply"))], path, SUITE)
    assert path.read_text().splitlines() == [
        ",".join(COLUMNS),
        "dice,mine,0,0,done,,0,outcome,3,,,",
        "dice,mine,1,1,done,,0,failed,,no reply,,",
    ]


def test_labels_that_look_like_numbers(tmp_path: Path) -> None:
    """A label that would be read back as another outcome's number is written as its own number."""
    folder = tmp_path / "own"
    folder.mkdir()
    text = (SUITE.folder / "ball.toml").read_text().replace('labels = ["left", "right"]', 'labels = ["2", "3"]')
    text = text.replace('frame = "frames/ball.png"', "")
    (folder / "ball.toml").write_text(text)
    suite_text = (SUITE.folder / "suite.toml").read_text()
    (folder / "suite.toml").write_text(re.sub(r"scenes = \[[^]]*\]", 'scenes = ["ball"]', suite_text))
    own = find_suite(folder)
    given_rows = [row(scene="ball", seed=i, index=i, reading=Reading.saw(label)) for i, label in enumerate("23")]
    write_rows(given_rows, tmp_path / "own.csv", own)
    assert read_source(tmp_path / "own.csv", own) == given_rows


def test_plain_csv(tmp_path: Path) -> None:
    """A number is the 1-based outcome, else it is a label; empty is unreadable; other columns are left alone."""
    path = table(tmp_path, "note,seed,model,scene,outcome\nx,0,wan,cards,4\ny,1,wan,cards,spades\nz,2,wan,cards,\n")
    read = read_source(path, SUITE)
    assert [r.reading for r in read] == [Reading.saw("spades"), Reading.saw("spades"), Reading(status="unreadable")]
    assert [r.where for r in read] == [f"{path}:{n}" for n in (2, 3, 4)]
    assert [(r.index, r.seed, r.reader, r.vote) for r in read] == [(i, i, "", 0) for i in range(3)]


def test_human_label_and_index(tmp_path: Path) -> None:
    """The outcome column may be called human_label, the seed column index."""
    (read,) = read_source(table(tmp_path, "scene,model,index,human_label\nball,wan,7,left\n"), SUITE)
    assert (read.index, read.seed, read.reading.label) == (7, 7, "left")


@pytest.mark.parametrize(
    ("status", "rollout", "reading"),
    [
        ("refused", "refused", "missing"),
        ("failed", "failed", "missing"),
        ("missing", "missing", "missing"),
        ("unreadable", "done", "unreadable"),
        ("out_of_schema", "done", "out_of_schema"),
        ("done", "done", "unreadable"),
        ("", "done", "unreadable"),
    ],
)
def test_status_column(tmp_path: Path, status: str, rollout: str, reading: str) -> None:
    """A lone status column speaks of the rollout where it can, so that a refusal is never a null."""
    (read,) = read_source(table(tmp_path, f"scene,model,seed,outcome,status\ndice,wan,0,,{status}\n"), SUITE)
    assert (read.rollout_status, read.reading.status) == (rollout, reading)


@pytest.mark.parametrize(
    "text", ["\ufeff" + HEADER + "dice,wan,0,3\n", (HEADER + "dice,wan,0,3").replace("\n", "\r\n")]
)
def test_bom_and_crlf(tmp_path: Path, text: str) -> None:
    """A byte order mark, Windows line ends and a missing last line end are fine."""
    (read,) = read_source(table(tmp_path, text), SUITE)
    assert read.reading.label == "3"


def test_blank_lines(tmp_path: Path) -> None:
    """Blank lines are no rows, and rows keep the number they have in the file."""
    path = table(tmp_path, HEADER + "\ndice,wan,0,3\n\n")
    assert [r.where for r in read_source(path, SUITE)] == [f"{path}:3"]


def test_seeds_repeat_across_readers_and_votes(tmp_path: Path) -> None:
    """The same seed may be read by several readers, and several times by one."""
    text = "scene,model,seed,reader,vote,outcome\ndice,a,0,x,0,1\ndice,a,0,x,1,2\ndice,a,0,y,0,3\n"
    assert len(read_source(table(tmp_path, text), SUITE)) == 3


BAD_ROWS = {
    "unknown scene": ("dicee,wan,0,1", "row 3: No scene is called 'dicee' in suite 'calibench'. Did you mean 'dice'?"),
    "unknown label": ("cards,wan,0,spade", "row 3: 'spade' is not an outcome of scene 'cards'. Did you mean 'spades'?"),
    "beyond k": ("dice,wan,0,7", "row 3: outcome 7 is beyond scene 'dice'; it has outcomes 1 to 6"),
    "zero": ("dice,wan,0,0", "row 3: outcome 0 is beyond scene 'dice'; it has outcomes 1 to 6"),
    "negative": ("dice,wan,0,-1", "row 3: outcome -1 is beyond scene 'dice'"),
    "endless": ("dice,wan,0," + "9" * 5000, "is beyond scene 'dice'"),
    "fraction": ("dice,wan,0,2.5", "row 3: outcome 2.5 is not whole; scene 'dice' has outcomes 1 to 6"),
    "3.0": ("dice,wan,0,3.0", "row 3: outcome 3.0 is not whole"),
    "word for null": ("dice,wan,0,null", "row 3: 'null' is not an outcome of scene 'dice'."),
    "null hint": ("dice,wan,0,NaN", "Leave it empty for an unreadable clip."),
    "duplicate": ("dice,wan,9,2", "outcomes.csv: row 3: seed 9 of scene 'dice', model 'wan' is here twice"),
    "duplicate's first": ("dice,wan,9,2", "outcomes.csv: row 2; keep one"),
    "ragged short": ("dice,wan,0", "row 3: 3 fields where the header has 4"),
    "ragged long": ("dice,wan,0,1,,", "row 3: 6 fields where the header has 4"),
    "seed": ("dice,wan,x,1", "row 3: seed: 'x' is not a whole number"),
    "float seed": ("dice,wan,1.0,1", "row 3: seed: '1.0' is not a whole number"),
    "no seed": ("dice,wan,,1", "row 3: seed: '' is not a whole number"),
    "huge seed": ("dice,wan,9999999999999999999,1", "row 3: seed: '9999999999999999999' is not a whole number"),
    "no model": ("dice,,0,1", "row 3: model: '' is no name"),
    "no scene": (",wan,0,1", "row 3: No scene is called ''"),
    "open quote": ('dice,wan,0,"1', "row 3: not valid CSV: unexpected end of data"),
    "stray quote": ('dice,wan,0,"1"2', "row 3: not valid CSV"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_row(tmp_path: Path, case: str) -> None:
    """A wrong row is one clear sentence with the file, the row and what would be right."""
    line, message = BAD_ROWS[case]
    path = table(tmp_path, HEADER + "dice,wan,9,1\n" + line + "\n")
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_source(path, SUITE)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


BAD_STATUSES = {
    "unreadble,": "row 2: status: 'unreadble' is not a status. Did you mean 'unreadable'?",
    "outcome,": "row 2: outcome: it is empty though the status says 'outcome'",
    "unreadable,3": "row 2: outcome: '3' is given for a row called 'unreadable'; leave it empty",
    "refused,3": "row 2: outcome: '3' is given for a row called 'refused'; leave it empty",
}


@pytest.mark.parametrize("fields", BAD_STATUSES)
def test_bad_status(tmp_path: Path, fields: str) -> None:
    """An unknown status, and one that contradicts the outcome, are named."""
    path = table(tmp_path, f"scene,model,seed,status,outcome\ndice,wan,0,{fields}\n")
    with pytest.raises(InputError, match=re.escape(BAD_STATUSES[fields])):
        read_source(path, SUITE)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("lost,,", "row 2: rollout_status: 'lost' is not a status. Known: done, refused, failed, missing."),
        ("refused,unreadable,", "a rollout that is 'refused' cannot have been read as 'unreadable'"),
        ("done,refused,", "row 2: status: 'refused' is not a status."),
    ],
)
def test_bad_rollout_status(tmp_path: Path, fields: str, message: str) -> None:
    """Where both status columns stand, each has its own words, and they may not contradict each other."""
    path = table(tmp_path, f"scene,model,seed,rollout_status,status,outcome\ndice,wan,0,{fields}\n")
    with pytest.raises(InputError, match=re.escape(message)):
        read_source(path, SUITE)


BAD_FILES = {
    "empty": (b"", "the file is empty"),
    "spaces": (b" \n\n", "the file is empty"),
    "header only": (HEADER.encode(), "there are no rows below the header"),
    "missing column": (
        b"scene,model,seed,outcom\n",
        "there is no column 'outcome' (scene, model, seed, outcom). Did you",
    ),
    "no seed": (b"scene,model,outcome\n", "row 1: there is no column 'seed'"),
    "column twice": (b"scene,model,seed,seed,outcome\n", "row 1: the column 'seed' is here twice"),
    "semicolons": (b"scene;model;seed;outcome\n", "row 1: columns are parted by ';'; part them by commas"),
    "latin": (HEADER.encode() + b"dice,wan,0,1\ndice,\xe4,1,1\n", "row 3: byte 43 is not UTF-8"),
    "utf-16": (HEADER.encode("utf-16"), "this is UTF-16"),
    "nul": (HEADER.encode() + b"dice,wan,0,1\0\n", "row 2: there is a NUL byte"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_file(tmp_path: Path, case: str) -> None:
    """A wrong file is one clear sentence that names it."""
    data, message = BAD_FILES[case]
    path = table(tmp_path, data)
    with pytest.raises(SourceError, match=re.escape(message)) as caught:
        read_source(path, SUITE)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("length", range(0, 400, 7))
def test_truncated_export(tmp_path: Path, length: int) -> None:
    """A cut-off table is refused in our words or is a shorter table; nothing else escapes."""
    write_rows([row(seed=i, index=i, reading=Reading(status="failed", reason='a,"b')) for i in range(9)],
               tmp_path / "whole.csv", SUITE)  # fmt: skip
    path = table(tmp_path, (tmp_path / "whole.csv").read_bytes()[:length])
    try:
        count, message = len(read_source(path, SUITE)), str(path)
    except InputError as error:
        count, message = 0, str(error)
    assert count < 9
    assert str(path) in message


@settings(deadline=None, max_examples=150)
@given(data=st.binary(max_size=60), ending=st.sampled_from([".csv", ".jsonl", ".parquet", "_bins.json"]))
def test_any_bytes(tmp_path_factory, data: bytes, ending: str) -> None:
    """Whatever bytes a file holds, the answer is a sentence of ours."""
    path = table(tmp_path_factory.mktemp("bytes"), data, f"x{ending}")
    with pytest.raises(InputError, match=re.escape(str(path))):
        read_source(path, SUITE)


GOOD = {"scene": "dice", "model": "wan", "seed": 0, "outcome": 3}
BAD_LINES = {
    "broken": ("{", "row 2: not valid JSON"),
    "list": ("[1]", "row 2: not an object"),
    "lacking": (json.dumps({"scene": "dice", "model": "wan", "seeds": 1, "outcome": 1}), "no key 'seed'. Did you mean"),
    "bool": (json.dumps(GOOD | {"seed": 1, "outcome": True}), "row 2: outcome: True is a bool"),
    "float": (json.dumps(GOOD | {"seed": 1, "outcome": 3.0}), "row 2: outcome 3.0 is not whole"),
    "nan": ('{"scene": "dice", "model": "wan", "seed": 1, "outcome": NaN}', "row 2: not valid JSON: NaN is not JSON"),
    "deep": ("[" * 100_000, "row 2: not valid JSON"),
    "nul": (json.dumps(GOOD | {"model": "a\0b"}), "row 2: model: 'a\\x00b' is no name"),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_bad_line(tmp_path: Path, case: str) -> None:
    """A wrong line of JSONL is named by its number."""
    line, message = BAD_LINES[case]
    path = table(tmp_path, json.dumps(GOOD) + "\n" + line + "\n", "outcomes.jsonl")
    with pytest.raises(InputError, match=re.escape(message)):
        read_source(path, SUITE)


def test_foreign_parquet(tmp_path: Path) -> None:
    """A Parquet file made elsewhere is read by the same rules: numbers or labels, nulls unreadable."""
    import pandas as pd

    frame = pd.DataFrame({"scene": "dice", "model": "wan", "seed": [0, 1], "outcome": pd.array([3, None], "Int64")})
    frame.to_parquet(tmp_path / "mine.parquet")
    assert [r.reading.label for r in read_source(tmp_path / "mine.parquet", SUITE)] == ["3", None]
    frame.drop(columns="seed").to_parquet(tmp_path / "less.parquet")
    with pytest.raises(SourceError, match="there is no column 'seed'"):
        read_source(tmp_path / "less.parquet", SUITE)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch) -> None:
    """Where pyarrow is not installed, the message says what to install, and nothing is written."""
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=re.escape("pip install 'worldodds[tables]'")):
        write_rows([row()], tmp_path / "x.parquet", SUITE)
    assert not list(tmp_path.iterdir())


def test_foreign_paths(tmp_path: Path) -> None:
    """A folder or file of no known kind, or none at all, is told what would do."""
    with pytest.raises(SourceError, match="this folder is none of the known kinds; give a table"):
        read_source(tmp_path, SUITE)
    with pytest.raises(SourceError, match="there is no such file or folder"):
        read_source(tmp_path / "absent.csv", SUITE)
    with pytest.raises(SourceError, match="this file is none of the known kinds"):
        read_source(table(tmp_path, "x", "notes.txt"), SUITE)


def test_write_refuses(tmp_path: Path) -> None:
    """An unknown ending, no rows and a missing folder are named."""
    with pytest.raises(UnknownNameError, match=r"\.cvs is no kind of table\. Did you mean '\.csv'\?"):
        write_rows([row()], tmp_path / "x.cvs", SUITE)
    with pytest.raises(SourceError, match="there are no rows to write"):
        write_rows([], tmp_path / "x.csv", SUITE)
    with pytest.raises(SourceError, match="cannot be written: there is no folder"):
        write_rows([row()], tmp_path / "absent" / "x.csv", SUITE)


def test_full_disk(tmp_path: Path, monkeypatch) -> None:
    """On a full disk the old file stays as it was and no leftover lies beside it."""
    path = table(tmp_path, HEADER + "dice,wan,0,3\n")
    before = path.read_bytes()

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("worldodds.interop.files.os.fsync", full)
    with pytest.raises(SourceError, match="cannot be written: No space left on device"):
        write_rows([row()], path, SUITE)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_is_no_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody may ever write to it: one sentence at once, of a table, of bins and of a truth."""
    table, bins = tmp_path / "outcomes.csv", tmp_path / "bins" / "ball_m_bins.json"
    bins.parent.mkdir()
    for pipe in (table, bins):
        os.mkfifo(pipe)
    (tmp_path / "good.csv").write_text("scene,model,seed,outcome\nball,m,0,left\n")
    good = str(tmp_path / "good.csv")
    commands = (["score", str(table)], ["monitor", str(bins.parent)], ["audit", good, "--truth", str(table)])
    for words in commands:
        assert call(words) == 2
        assert "not a file but a pipe or a device; write what it holds into a file first" in capsys.readouterr().err
    for place, told in ((Path(os.devnull), "none of the known kinds"), (tmp_path, "none of the known kinds")):
        assert call(["score", str(place)]) == 2
        assert told in capsys.readouterr().err
