"""What a user types, and what comes back: tables, JSON, one clear sentence, and the exit code."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

from worldodds import video
from worldodds.cli import call

SIMULATED = ["--generator", "simulator/fair", "--suite", "calibench", "--scene", "ball", "-n", "2"]
SIMULATED += ["-G", "size=160x120"]


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "fair"
    assert call(["run", *SIMULATED, "--reader", "oracle", "-o", str(folder), "--workers", "1"]) == 0
    return folder


def test_run_films_reads_and_prints_scores(filmed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same command again does nothing but print."""
    before = sorted(filmed.rglob("*.mp4"))
    assert call(["run", *SIMULATED, "--reader", "oracle", "-o", str(filmed), "--workers", "1"]) == 0
    assert "simulator/fair" in capsys.readouterr().out
    assert sorted(filmed.rglob("*.mp4")) == before
    assert len(before) == 2


def test_a_run_can_be_scored_exported_and_reported(
    filmed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a folder to numbers, a table and a page."""
    assert call(["score", str(filmed), "--partial", "--json"]) == 0
    direct = json.loads(capsys.readouterr().out)["models"]
    assert call(["export", str(filmed), "-o", str(tmp_path / "out.csv")]) == 0
    capsys.readouterr()
    assert call(["score", str(tmp_path / "out.csv"), "--partial", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"] == direct
    assert call(["report", str(filmed), "-o", str(tmp_path / "page.html")]) == 0
    assert "<html" in (tmp_path / "page.html").read_text()
    assert "page.html" in capsys.readouterr().out


def test_what_there_is_can_be_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    """Suites, scenes, and one scene with its odds, their reason and its frame."""
    assert call(["suites"]) == 0
    assert call(["scenes"]) == 0
    assert call(["scenes", "calibench", "roulette"]) == 0
    out = capsys.readouterr().out
    assert "18/37" in out
    assert "37 pockets" in out
    assert "roulette.png" in out


HEADER = "scene,model,seed,outcome\n"
BAD_TABLES = {
    "unknown scene": (HEADER + "dise,m,0,1\n", "row 2.*'dise'.*Did you mean 'dice'"),
    "label outside": (HEADER + "ball,m,0,lefd\n", "row 2.*'lefd' is not an outcome of scene 'ball'.*'left'"),
    "number beyond k": (HEADER + "dice,m,0,7\n", "row 2.*outcome 7 is beyond scene 'dice'; it has outcomes 1 to 6"),
    "not whole": (HEADER + "dice,m,0,2.5\n", r"row 2.*2\.5 is not whole"),
    "duplicate seed": (HEADER + "dice,m,0,1\ndice,m,0,2\n", "seed 0.*twice"),
    "ragged": (HEADER + "dice,m,0\n", "row 2"),
    "missing column": ("scene,model,sed,outcome\ndice,m,0,1\n", "seed"),
    "empty": ("", "empty"),
    "broken encoding": (b"scene,model,seed,outcome\ndice,\xff\xfe,0,1\n", "UTF-8"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_is_one_sentence(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """File, row and the nearest valid name; exit code 2; nothing on standard output."""
    text, message = BAD_TABLES[case]
    table = tmp_path / "bad.csv"
    table.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert call(["score", str(table)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert str(table) in captured.err
    import re

    assert re.search(message, captured.err), captured.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scoree"], "Did you mean"),
        (["plan", "mine"], "plan does not take 'mine'; worldodds plan --help"),
        (["scene", "check", "mine", "yours"], "scene check does not take 'yours'"),
        (["score", "--jsn", "x.csv"], "--jsn"),
        (["score"], "no source given"),
        (["score", "nowhere.csv"], "there is no such file or folder"),
        (["run", "--generator", "simulator/fare", "-o", "x"], "Did you mean 'fair'"),
        (["run", "--generator", "simulater/fair", "-o", "x"], "Did you mean 'simulator'"),
        (["run", "--generator", "simulator/fair", "-o", "x", "--scene", "dicee"], "Did you mean 'dice'"),
        (["run", "--generator", "simulator/fair", "-o", "x", "--reader", "trakcer"], "Did you mean 'tracker'"),
        (["run", *SIMULATED, "-o", "x", "-G", "sise=10x10"], "no setting called 'sise'"),
        (["run", *SIMULATED, "-o", "x", "-G", "size"], "write key=value"),
        (["run", "--generator", "simulator/fair", "-o", "x", "-n", "0"], "give 1 to"),
        (["run", "--generator", "simulator/fair", "-o", "x", "-n", "two"], "two"),
        (["read", "nowhere", "--reader", "tracker"], "no run here"),
        (["plan", "--tv", "1.5"], "tv: 1.5 is out of range"),
        (["plan", "--suite", "calibensh"], "Did you mean 'calibench'"),
        (["compare", "nowhere.csv"], "no such file"),
        (["monitor", "published", "--early-e", "0.5"], "early_e: 0.5 is out of range"),
    ],
)
def test_bad_words_are_one_sentence(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2, the cause and the nearest right thing, and nothing is made."""
    monkeypatch.chdir(tmp_path)
    assert call(words) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.startswith("worldodds: ")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_something_open_is_exit_code_3(filmed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A truncated clip is failed, never a null, and says so until it is filmed anew."""
    import shutil

    folder = tmp_path / "run"
    shutil.copytree(filmed, folder)
    clip = folder / "rollouts/ball/r001.mp4"
    clip.write_bytes(clip.read_bytes()[:500])
    assert call(["read", str(folder), "--reader", "tracker", "--workers", "1"]) == 3
    assert "r001.mp4 is gone or no longer the file that was filmed" in capsys.readouterr().out
    assert call(["score", str(folder), "--reader", "oracle", "--partial"]) == 3
    assert call(["run", *SIMULATED, "--reader", "oracle", "-o", str(folder), "--workers", "1"]) == 0


def test_a_full_disk_is_one_sentence_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every clip that could not be written is open; with space again the same command finishes."""
    full = OSError(errno.ENOSPC, "No space left on device", "r000.mp4")

    def no_space(*_: object, **__: object) -> None:
        raise full

    words = ["run", *SIMULATED, "--reader", "oracle", "-o", str(tmp_path / "run"), "--workers", "1"]
    with monkeypatch.context() as patched:
        patched.setattr(video, "encode", no_space)
        assert call(words) == 3
        assert "No space left on device" in capsys.readouterr().out
    assert call(words) == 0
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", no_space)
        patched.setattr("worldodds.report.page.write_page", no_space)
        patched.setattr("worldodds.report.build.write_page", no_space)
        assert call(["report", str(tmp_path / "run"), "-o", str(tmp_path / "page.html")]) == 2
        assert "free some space" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """And says that nothing is lost."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("worldodds.sources.load", stop)
    assert call(["score", "x.csv"]) == 130
    assert "nothing is lost" in capsys.readouterr().err


def test_a_pipe_that_closes_early_is_no_error() -> None:
    """`worldodds score ... | head -1` ends quietly."""
    command = f"{sys.executable} -m worldodds score published -v | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.returncode == 0


def test_a_bug_of_ours_shows_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not a WorldOddsError is never dressed up as the user's fault."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("worldodds.sources.load", broken)
    with pytest.raises(ZeroDivisionError):
        call(["score", "x.csv"])


def test_a_scene_that_the_reader_cannot_read_is_refused_before_filming(
    tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is filmed or paid for clips that nobody could read; with no reader they may be filmed all the same."""
    film = tmp_path / "film.py"
    film.write_text(
        "import sys, numpy as np\nfrom pathlib import Path\nfrom worldodds import video\n"
        "video.encode([video.read_still(sys.argv[1])] * 4, Path(sys.argv[2]), frame_rate=24)\n"
    )
    command = f"{sys.executable} {film} {{frame}} {{out}} {{seed}}"
    words = ["run", "--suite", str(tiny_folder), "--generator", f"command/{command}", "-n", "1"]
    assert call([*words, "-o", str(tmp_path / "run")]) == 2
    err = capsys.readouterr().err
    assert "the tracker cannot read scene 'coin'" in err
    assert "--reader none" in err
    assert not list(tmp_path.glob("run/rollouts/*/*.mp4"))
    assert call([*words, "-o", str(tmp_path / "other"), "--reader", "none"]) == 0
    assert len(list(tmp_path.glob("other/rollouts/*/*.mp4"))) == 2


def test_compare_prints_every_scenes_test_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """With -v each pair has a line a scene: valid outcomes, p, q and the test; without it, a count."""
    assert call(["compare", "published", "-v"]) == 0
    told = capsys.readouterr().out
    assert told.count("exact conditional") + told.count("permutation") + told.count("no valid outcome") == 15 * 9
    assert call(["compare", "published"]) == 0
    assert "exact conditional" not in capsys.readouterr().out
