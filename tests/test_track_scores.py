"""From sources to scored tracks, on the screen, as JSON and as a page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from worldodds.cli import call
from worldodds.given_odds import parse_references, with_references
from worldodds.suites import find_suite
from worldodds.track_scores import TrackScores, score_track_sources

SUITE = find_suite("pawbench")
ODDS = ("A-04=red:1/4,blue:3/4", "A-11=left:1/4,right:3/4")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a table of a fair model: 50 rollouts a scene, about one in ten unreadable."""
    rng = np.random.default_rng(7)
    lines = ["scene,model,seed,outcome"]
    for scene in with_references(SUITE, parse_references(ODDS, SUITE)).scenes:
        k = len(scene.labels)
        p = scene.reference.probabilities if scene.reference else np.full(k, 1 / k)
        drawn = rng.choice(k, size=50, p=p)
        lines += [f"{scene.id},fair,{i},{x + 1 if rng.random() > 0.1 else ''}" for i, x in enumerate(drawn)]
    path = tmp_path_factory.mktemp("tracks") / "fair.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def scores(table: Path) -> TrackScores:
    return score_track_sources(table, suite="pawbench", references=ODDS)


def test_a_fair_model_lies_at_its_floor(scores: TrackScores) -> None:
    """Its average is within the law of chance, its corrected one near 0, and no scene is called miscalibrated."""
    beside = scores.beside["fair"]["calibration"]
    average = scores.cards[0].tracks["calibration"].official.average
    assert average is not None
    assert beside.own_law is not None
    assert beside.own_law.quantile(0.001) < average < beside.own_law.quantile(0.999)
    assert beside.floor == pytest.approx(beside.own_law.mean, abs=0.01)
    assert abs(beside.corrected or 99) < 4
    assert {one.cell.verdict for one in beside.scenes.values() if one.cell} <= {"undecided", "calibrated"}


def test_null_laws_of_the_suite(scores: TrackScores) -> None:
    """A calibrated model averages 7.2 with all clips readable, 8.0 at 40 and 11.2 at 20 (A-04, A-11 set to 1:3)."""
    laws = scores.beside["fair"]["calibration"].laws
    assert {n: law.mean for n, law in laws.items()} == pytest.approx({50: 7.2, 40: 8.0, 30: 9.3, 20: 11.2}, abs=0.06)


def test_coverage_beside_chance_and_judge(scores: TrackScores) -> None:
    """Equal odds cover nearly all; one outcome read by a judge that errs covers more than its own label."""
    beside = scores.beside["fair"]["coverage"]
    assert beside.fair is not None
    assert beside.fair > 99
    assert beside.floor is not None
    assert beside.sure is not None
    assert beside.sure < 100
    assert 100 / 4 < beside.floor < 75
    assert beside.interval is not None
    assert beside.interval.interval is None or beside.interval.interval.high <= 100


def test_json(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Holes leave the average null until odds are given by hand, which every output echoes."""
    assert call(["score", "--suite", "pawbench", str(table), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    calibration = document["models"]["fair"]["tracks"]["calibration"]
    assert (document["format"], calibration["average"], calibration["status"]) == (
        "worldodds.tracks/1",
        None,
        "no_reference",
    )
    assert calibration["scenes"]["A-04"]["status"] == "no_reference"
    assert {"n", "nulls", "tvd", "floor", "status"} <= set(calibration["scenes"]["A-01"])
    assert calibration["partial"]["average"] is not None
    assert (calibration["scene_pass_rate"], calibration["passing"], document["references_given"]) == (100, 25, {})
    words = ["score", "--suite", "pawbench", str(table), "--json", *(w for odds in ODDS for w in ("--reference", odds))]
    assert call(words) == 0
    given = json.loads(capsys.readouterr().out)
    tracks = given["models"]["fair"]["tracks"]
    scenes = tracks["calibration"]["scenes"]
    assert tracks["calibration"]["average"] == pytest.approx(sum(scene["tvd"] for scene in scenes.values()) / 25)
    toss = [scene["tvd"] for scene in scenes.values() if scene["group"] == "toss"]
    assert tracks["calibration"]["groups"]["toss"] == pytest.approx(sum(toss) / 8)
    assert given["references_given"]["A-04"] == "red:1/4,blue:3/4"
    assert tracks["coverage"]["scenes"]["BA-01"]["coverage"] > 0
    assert len(given["published"]) == 11
    assert given["suite_hash"] != document["suite_hash"]


def test_partial(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--partial averages over the scenes there are, and says which are not in it."""
    assert call(["score", "--suite", "pawbench", str(table), "--json", "--partial"]) == 0
    track = json.loads(capsys.readouterr().out)["models"]["fair"]["tracks"]["calibration"]
    assert track["is_partial"]
    assert track["average"] == track["partial"]["average"]
    assert len(track["averaged_scenes"]) == 23
    assert set(track["holes"]) == {"A-04", "A-11"}


def test_screen(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pass rate stands next to every average, ours and the published; odds given by hand come first."""
    assert call(["score", "--suite", "pawbench", str(table), "-v", "--reference", ODDS[0]]) == 0
    out = capsys.readouterr().out
    assert "given by hand: A-04 red 1/4, blue 3/4" in out
    assert "SPR 100% (25 of 25 scenes pass)" in out
    assert "Seedance 2" in out
    assert "A-11: no reference odds are known" in out


def test_beyond_the_protocol_is_set_aside(table: Path, tmp_path: Path) -> None:
    """More than fifty rollouts of a cell are named; the first fifty count."""
    extra = "".join(f"\nA-01,fair,{seed},1" for seed in range(50, 60))
    (tmp_path / "more.csv").write_text(table.read_text() + extra)
    scores = score_track_sources(tmp_path / "more.csv", suite="pawbench")
    assert scores.set_aside == (
        "fair, scene A-01: 60 rollouts, and the protocol has 50; those after index 49 are set aside",
    )
    assert scores.tallies["fair"]["A-01"].counts.n_total == 50


def test_a_run_of_fewer_rollouts_is_open(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty rollouts a scene are no official score: blocked, exit code 3, and ours beside it."""
    kept = [line for line in table.read_text().splitlines() if line.startswith("scene") or int(line.split(",")[2]) < 30]
    (tmp_path / "few.csv").write_text("\n".join(kept))
    assert call(["score", "--suite", "pawbench", str(tmp_path / "few.csv"), "--json"]) == 3
    track = json.loads(capsys.readouterr().out)["models"]["fair"]["tracks"]["calibration"]
    assert (track["status"], track["average"], track["scene_pass_rate"]) == ("blocked", None, None)
    assert track["partial"]["average"] is not None
    assert "20 of 50 rollouts are open (20 missing)" in track["holes"]["A-01"]


def test_page(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One file without scripts: averages beside pass rates, families, every scene."""
    words = ["report", "--suite", "pawbench", str(table), "-o", str(tmp_path / "page.html"), "--reference", ODDS[0]]
    assert call(words) == 0
    capsys.readouterr()
    page = (tmp_path / "page.html").read_text()
    assert "<script" not in page
    assert page.count("SPR") >= 4
    assert "Did it move when the physics did?" in page
    assert "A25 / A-09" in page
    assert "Reference odds given by hand: A-04 (red 1/4, blue 3/4)" in page


def test_a_folder_of_clips_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Which slots are filled, what else lies there, and exit code 3 while slots are empty."""
    (tmp_path / "A-01").mkdir()
    for name in ("r000.mp4", "notes.txt"):
        (tmp_path / "A-01" / name).write_bytes(b"x")
    assert call(["pawbench", "check", str(tmp_path)]) == 3
    out = capsys.readouterr().out
    assert "notes.txt: not a clip" in out
    assert "A-01: 1 of 50 clips" in out
    assert "1 of 2500 slots are filled" in out


def test_published_interventions(capsys: pytest.CaptureFixture[str]) -> None:
    """Averages stand beside their pass rates, and every figure has its source."""
    assert call(["pawbench", "interventions"]) == 0
    out = capsys.readouterr().out
    assert "Oracle PE" in out
    assert "table 3" in out


def test_families_and_export(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs as a table and as JSON; the official files from any source of the suite."""
    assert call(["pawbench", "families", str(table)]) == 0
    assert "only the picture changed" in capsys.readouterr().out.lower()
    assert call(["pawbench", "families", str(table), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["models"]["fair"]) == 14
    assert call(["pawbench", "export", str(table), "-o", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert call(["score", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["suite"] == "pawbench"


def test_bad_options(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Odds for a suite without tracks, and odds that do not sum to 1, are one sentence and exit code 2."""
    assert call(["score", "published", "--reference", ODDS[0]]) == 2
    assert "--reference is for suites of tracks" in capsys.readouterr().err
    assert call(["score", "--suite", "pawbench", str(table), "--reference", "A-04=red:1/2,blue:1/4"]) == 2
    assert "not to 1" in capsys.readouterr().err


def test_crosscheck(capsys: pytest.CaptureFixture[str]) -> None:
    """Both rules side by side on the published outcomes, with the pairs in which they disagree."""
    assert call(["crosscheck", "published"]) == 0
    assert "is better by mnTV" in capsys.readouterr().out
    assert call(["crosscheck", "published", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["models"]) == 6
