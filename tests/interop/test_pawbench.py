"""The official PAWBench evaluator's files: read, set aside row by row, written, and read back."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldodds import video
from worldodds.cli import call
from worldodds.errors import SourceError
from worldodds.interop import pawbench_inputs
from worldodds.interop.pawbench import is_official, read_official
from worldodds.interop.pawbench_inputs import clips_of, import_benchmark
from worldodds.interop.pawbench_metrics import is_metrics, metrics_json, read_metrics
from worldodds.interop.pawbench_out import write_official
from worldodds.scene import load_suite
from worldodds.sources import load
from worldodds.suites import find_suite
from worldodds.track_scores import score_track_source, score_track_sources
from worldodds.tracks import placement_of

SUITE = find_suite("pawbench")
ODDS = ("A-04=red:1/4,blue:3/4", "A-11=left:1/4,right:3/4")


def row(scene: str, index: int, label: str | None = None, **changes: Any) -> dict[str, Any]:
    fields = {
        "sample_id": f"m::{scene}::r{index:03d}::repeat={index}",
        "scene_id": scene,
        "track": placement_of(SUITE.scene(scene)).track,
        "model_or_lane": "m",
        "repeat_index": index,
        "observation": "outcome" if label else "null_observation",
        **({"outcome_label": label} if label else {}),
    }
    return {**fields, **changes}


def full() -> list[dict[str, Any]]:
    """Return a whole run: every fifth reading a null, of both kinds."""
    rows: list[dict[str, Any]] = []
    for scene in SUITE.scenes:
        for i in range(50):
            outside = {"outcome_readout": {"outcome_in_schema": "OUT_OF_SCHEMA"}} if i % 10 == 0 else {}
            rows.append(row(scene.id, i, None if i % 5 == 0 else scene.labels[i % len(scene.labels)], **outside))
    return rows


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(fields) + "\n" for fields in rows))
    return path


def test_rows_are_told_from_tables(tmp_path: Path) -> None:
    """By their fields, in a file or in the folder that the evaluator writes; the suite is then pawbench by itself."""
    path = write(tmp_path / "rows.jsonl", [row("A-01", 0, "heads")])
    table = write(tmp_path / "t.jsonl", [{"scene": "ball", "model": "m", "seed": 0, "outcome": "left"}])
    assert [is_official(p) for p in (path, tmp_path, table)] == [True, True, False]
    assert load(path).suite.id == "pawbench"


def test_both_nulls_are_kept_apart(tmp_path: Path) -> None:
    """The format merges them; what the judge said of each is used where it is there."""
    counts = load(write(tmp_path / "rows.jsonl", full())).tallies()["m"]["A-01"].counts
    assert (counts.n, counts.unreadable, counts.out_of_schema) == (40, 5, 5)


BAD = {
    "unknown scene": (row("A-01", 1, "heads") | {"scene_id": "A-99"}, "No scene is called 'A-99'", 0),
    "label outside": (row("A-01", 1, "edge"), "'edge' is not an outcome of scene 'A-01'", 1),
    "label on a null": (row("A-01", 1, "heads", observation="null_observation"), "on a row that is no outcome", 1),
    "beyond K": (row("A-01", 50, "heads"), "repeat_index 50 .* beyond the protocol's 0 to 49", 0),
    "bool": (row("A-01", 1, "heads", repeat_index=True), "repeat_index: True is not a whole number", 0),
    "duplicate": (row("A-01", 0, "heads"), "given in row 1 already; the first is kept", 0),
    "contradiction": (row("A-01", 0, "tails"), "with another reading; neither is used", 1),
    "sample again": (row("A-01", 1, "heads", sample_id=row("A-01", 0)["sample_id"]), "was used in row 1 already", 1),
    "no code": (row("A-01", 1, observation="infrastructure_failure"), "without its failure_code", 1),
    "observation": (row("A-01", 1, observation="seen"), "'seen' is not one of outcome", 1),
    "track": (row("A-01", 1, "heads", track="coverage"), "scene 'A-01' is on 'calibration'", 1),
    "no model": (row("A-01", 1, "heads", model_or_lane=""), "model_or_lane: '' is no name", 0),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_is_set_aside_by_its_number(case: str, tmp_path: Path) -> None:
    """It is named, leaves its own slot open where it has one, is never a null, and spoils no other row."""
    bad, message, opened = BAD[case]
    official = read_official(write(tmp_path / "rows.jsonl", [row("A-01", 0, "heads"), bad]), SUITE)
    assert len(official.set_aside) == 1
    told = official.set_aside[0]
    assert told.startswith(f"{tmp_path / 'rows.jsonl'}: row 2: ")
    assert re.search(message, told), told
    assert sum(r.reading.status == "failed" for r in official.rows) == opened
    assert all(r.reading.status in ("outcome", "failed") for r in official.rows)


def test_one_bad_row_never_blanks_a_track(tmp_path: Path) -> None:
    """Officially the track is blocked; the average over what was read stands, and the hole has its name."""
    rows = full()
    rows[7] |= {"outcome_label": "edge", "observation": "outcome"}
    scores = score_track_sources(write(tmp_path / "rows.jsonl", rows), references=ODDS)
    result = scores.cards[0].tracks["calibration"]
    assert (result.status, result.official.average) == ("blocked", None)
    assert result.partial.average is not None
    assert len(result.partial.averaged) == 25
    assert set(result.partial.holes) == {"A-01"}
    assert scores.cards[0].tracks["coverage"].official.average is not None
    assert len(scores.set_aside) == 1


def test_an_unusable_file_is_an_error(tmp_path: Path) -> None:
    """Where no row can be used, the first bad one says why."""
    with pytest.raises(SourceError, match="row 1: No scene is called 'X-1'"):
        read_official(write(tmp_path / "rows.jsonl", [row("A-01", 0) | {"scene_id": "X-1"}]), SUITE)


def test_an_interrupted_checkpoint(tmp_path: Path) -> None:
    """Its broken last line is set aside; what was not judged yet is open."""
    path = tmp_path / "checkpoint.jsonl"
    lines = [json.dumps({"scene_id": "A-01", "repeat_index": i, "row": row("A-01", i, "heads")}) for i in range(3)]
    path.write_text("\n".join(lines) + '\n{"scene_id": "A-0')
    source = load(path)
    assert (len(source.rows), len(source.set_aside)) == (3, 1)
    assert "row 4: not valid JSON" in source.set_aside[0]
    assert score_track_source(source).cards[0].open == 47


def test_written_and_read_back(tmp_path: Path) -> None:
    """Rows, checkpoint and metrics say the same after a round trip; open slots stay open, never nulls."""
    rows = full()
    rows[3] = row("A-01", 3, observation="infrastructure_failure", failure_code="media_transport_failed")
    del rows[4]
    before = score_track_sources(write(tmp_path / "rows.jsonl", rows), references=ODDS)
    source = load(tmp_path / "rows.jsonl")
    assert write_official(source.rows, before.cards, tmp_path / "out", before.suite) == []
    after = score_track_sources(tmp_path / "out", references=ODDS)
    assert after.tallies["m"]["A-01"].counts == before.tallies["m"]["A-01"].counts
    assert (after.tallies["m"]["A-01"].failed, after.tallies["m"]["A-01"].missing) == (1, 1)
    assert after.cards[0].tracks == before.cards[0].tracks
    assert len((tmp_path / "out" / "rows.jsonl").read_text().splitlines()) == 2500
    judged = (tmp_path / "out" / "checkpoint.jsonl").read_text().splitlines()
    assert len(judged) == 2498
    assert score_track_sources(tmp_path / "out" / "checkpoint.jsonl").tallies["m"]["A-01"].counts.n == 38


def test_metrics_are_read_and_checked(tmp_path: Path) -> None:
    """A metrics.json gives the same figures as the rows, and a mean that its scenes do not give is named."""
    scores = score_track_sources(write(tmp_path / "rows.jsonl", full()), references=ODDS)
    path = tmp_path / "metrics.json"
    path.write_text(metrics_json(scores.cards))
    assert is_metrics(path)
    figures = read_metrics(path, scores.suite)
    assert figures.differences == ()
    for track, result in figures.cards[0].tracks.items():
        assert result.official.average == pytest.approx(scores.cards[0].tracks[track].official.average)
        assert result.official.groups == pytest.approx(scores.cards[0].tracks[track].official.groups)
    document = json.loads(path.read_text())
    document["tracks"]["calibration"]["models"]["m"]["track_average"]["value"] = 12.0
    path.write_text(json.dumps(document))
    assert "is not the mean" in read_metrics(path, scores.suite).differences[0]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a package of inputs of two scenes, one of them a hole of ours."""
    folder = tmp_path / "package"
    (folder / "source_images").mkdir(parents=True)
    video.write_still(np.zeros((8, 8, 3), dtype=np.uint8), folder / "source_images" / "a.png")
    manifest = {"schema_version": "pawbench.benchmark_inputs/v1", "scene_table": "scenes.jsonl"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    picture = {"source_image_path": "source_images/a.png"}
    rows = [
        {"scene_id": "A-04", "outcome_labels": ["red", "blue"], "reference_distribution": {"red": 0.2, "blue": 0.8}},
        {
            "scene_id": "A25",
            "outcome_labels": ["falls_left", "falls_right"],
            "reference_distribution": {"falls_left": 1},
        },
    ]
    write(folder / "scenes.jsonl", [fields | picture | {"prompt": 'Spin "it".'} for fields in rows])
    return folder


def test_the_official_inputs_fill_the_holes(package: Path, tmp_path: Path) -> None:
    """References, pictures and prompts come in; a label that they leave out is kept with odds 0; the rest is ours."""
    suite = import_benchmark(package, SUITE, tmp_path / "mine")
    wheel, pencil = suite.scene("A-04"), suite.scene("A25")
    assert wheel.reference is not None
    assert [str(o) for o in wheel.reference.odds or ()] == ["1/5", "4/5"]
    assert (wheel.prompt, wheel.frame) == ('Spin "it".', tmp_path / "mine" / "frames" / "A-04.png")
    assert placement_of(wheel).certainty["reference"] == "C"
    assert pencil.reference is not None
    assert [int(o) for o in pencil.reference.odds or ()] == [1, 0]
    assert suite.scene("A-11").reference is None
    assert len(suite.scenes) == 50


@pytest.mark.parametrize("key", ["source_image_path", "prompt_path"])
def test_paths_stay_inside_the_package(package: Path, tmp_path: Path, key: str) -> None:
    """A path out of the folder is refused with its row, and nothing is written."""
    rows = [json.loads(line) for line in (package / "scenes.jsonl").read_text().splitlines()]
    rows[1][key] = "../secret"
    if key == "prompt_path":
        del rows[1]["prompt"]
    write(package / "scenes.jsonl", rows)
    with pytest.raises(SourceError, match=rf"row 2: {key}: '../secret' leads out"):
        import_benchmark(package, SUITE, tmp_path / "mine")
    manifest = {"schema_version": "pawbench.benchmark_inputs/v1", "scene_table": "/etc/passwd"}
    (package / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SourceError, match="scene_table: '/etc/passwd' leads out"):
        import_benchmark(package, SUITE, tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("stage", ["_write_scene", "load_suite", "rename"])
def test_an_import_that_was_killed_is_repeated(
    stage: str, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed at any stage, there is no half of a suite, and the same command makes the whole of it."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path if stage == "rename" else pawbench_inputs, stage, killed)
        assert call(["import", "pawbench", str(package), "-o", str(tmp_path / "suite")]) == 130
    assert not (tmp_path / "suite").exists()
    assert list(tmp_path.glob(".suite.part"))
    assert call(["import", "pawbench", str(package), "-o", str(tmp_path / "suite")]) == 0
    assert not list(tmp_path.glob(".suite.part"))
    calm = import_benchmark(package, SUITE, tmp_path / "calm")
    assert load_suite(tmp_path / "suite").content_hash == calm.content_hash


def test_foreign_files_among_rollouts(tmp_path: Path) -> None:
    """Clips are taken by scene and index; anything else is named and left alone."""
    for name in ("A-01/r000.mp4", "A-01/R001.webm", "A-01/notes.txt", "A-01/r050.mp4", "A-01/r000.mov", "X/r000.mp4"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    clips, told = clips_of(tmp_path, SUITE)
    assert sorted(clips) == [("A-01", 0), ("A-01", 1)]
    assert len(told) == 4


def test_counted_odds_are_scored_and_their_uncertainty_is_set_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The official metric takes the experiment's shares; the export says so, and no law of ours is told for it."""
    suite = tmp_path / "mine"
    shutil.copytree(SUITE.folder, suite)
    text, _, _ = (suite / "A-01.toml").read_text().partition("[reference]")
    counted = '[reference]\nkind = "counts"\ncounts = { heads = 7, tails = 10 }\nsource = "Our bench, 17 flicks."\n'
    (suite / "A-01.toml").write_text(text + counted)
    table = tmp_path / "t.csv"
    table.write_text("scene,model,seed,outcome\n" + "".join(f"A-01,m,{i},{i % 2 + 1}\n" for i in range(50)))
    words = [str(table), "--suite", str(suite)]
    assert call(["pawbench", "export", *words, "-o", str(tmp_path / "out")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert (
        "scene A-01: that its odds are uncertain, counted in 17 trials; metrics.json takes the shares as known" in out
    )
    metrics = (tmp_path / "out" / "metrics.json").read_text()
    assert f"{100 * abs(7 / 17 - 1 / 2):.6f}" in metrics
    assert call(["score", *words, "--partial"]) == 0
    assert "8.8 (1 scenes, not an official number)" in capsys.readouterr().out
