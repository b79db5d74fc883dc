"""A run as a log of inspect_ai: by its documented format always, by the package itself where it is installed."""

from __future__ import annotations

import importlib.util
import json
import tomllib
import zipfile
from datetime import UTC, datetime
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from worldodds.cli import call
from worldodds.engine import plan, run
from worldodds.errors import SourceError
from worldodds.interop.inspect_log import write_inspect_log
from worldodds.scene import Suite
from worldodds.sources import load
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator, CannedReader

FACTS = tomllib.loads(files("worldodds.interop").joinpath("facts/inspect_ai.toml").read_text())["log"]
AT = datetime(2026, 12, 1, tzinfo=UTC)
needs_inspect = pytest.mark.skipif(
    importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is not installed; make test-inspect has it"
)


@pytest.fixture
def folder(tiny: Suite, tmp_path: Path) -> Path:
    """Three coins: heads, tails, and one whose clip is broken when it is to be read."""
    maker = CannedGenerator(outcomes={0: "heads", 1: "tails", 2: "heads"})
    with RunStore(tmp_path / "run") as store:
        run(plan(tiny.only(["coin"]), maker, [], 3), store, workers=1)
        broken = store.folder / "rollouts" / "coin" / "r002.mp4"
        broken.write_bytes(b"gone")
        run(plan(tiny.only(["coin"]), maker, [CannedReader()], 3), store, workers=1)
    return tmp_path / "run"


@pytest.fixture
def log(folder: Path, tmp_path: Path) -> Path:
    """Its log."""
    assert write_inspect_log(load(folder), tmp_path / "run.eval", created=AT) == 3
    return tmp_path / "run.eval"


def _strict(text: bytes) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no strict JSON")

    return json.loads(text, parse_constant=refuse)


def test_the_log_has_the_documented_shape(log: Path) -> None:
    """All members, and in each all that its format requires, as strict JSON."""
    with zipfile.ZipFile(log) as archive:
        found = {name: _strict(archive.read(name)) for name in archive.namelist()}
    assert set(FACTS["members"]) <= set(found)
    header = found["header.json"]
    assert set(header) == set(FACTS["header"])
    assert (header["version"], header["status"] in FACTS["statuses"]) == (FACTS["version"], True)
    assert set(FACTS["eval_required"]) <= set(header["eval"])
    assert [set(FACTS["score_required"]) <= set(score) for score in header["results"]["scores"]] == [True]
    names = [FACTS["sample_member"].format(id="coin", epoch=epoch) for epoch in (1, 2, 3)]
    assert [name for name in found if name.startswith("samples/")] == names
    for name in names:
        assert set(FACTS["sample_required"]) <= set(found[name])


def test_a_sample_holds_answer_and_pictures(log: Path) -> None:
    """A readable clip is scored by its outcome and shows frames; a broken one has an error, and no score at all."""
    with zipfile.ZipFile(log) as archive:
        first, third = (json.loads(archive.read(f"samples/coin_epoch_{epoch}.json")) for epoch in (1, 3))
        summaries = json.loads(archive.read("summaries.json"))
    assert first["scores"][CannedReader().name]["value"] == "heads"
    assert sum(part["type"] == "image" for part in first["messages"][1]["content"]) >= 1
    assert first["metadata"]["odds"] == {"heads": "1/2", "tails": "1/2"}
    assert (third["scores"], bool(third["error"]["message"])) == ({}, True)
    assert [bool(summary["scores"]) for summary in summaries] == [True, True, False]


def test_the_same_run_gives_the_same_bytes(folder: Path, log: Path, tmp_path: Path) -> None:
    """Nothing in a log depends on when or how often it is written, but for the time that it is given."""
    write_inspect_log(load(folder), tmp_path / "again.eval", created=AT)
    assert (tmp_path / "again.eval").read_bytes() == log.read_bytes()


def test_export_writes_a_log(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ending .eval asks for one; what is open is said, as for tables. Several models do not fit into one log."""
    assert call(["export", str(folder), "-o", str(tmp_path / "x.eval")]) == 3
    assert "3 samples in" in capsys.readouterr().out
    with pytest.raises(SourceError, match="one model; here are 6"):
        write_inspect_log(load("published"), tmp_path / "p.eval", created=AT)


@needs_inspect
def test_inspect_reads_the_log(log: Path) -> None:
    """The package itself reads every sample, its scores and its metrics, and lists the log."""
    from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries

    found = read_eval_log(str(log))
    assert [(sample.id, sample.epoch) for sample in found.samples] == [("coin", 1), ("coin", 2), ("coin", 3)]
    assert found.results.scores[0].metrics["scorability"].value == 1
    assert found.samples[0].scores[CannedReader().name].value == "heads"
    assert found.samples[2].error is not None
    assert len(read_eval_log_sample_summaries(str(log))) == 3
    assert [Path(info.name).name for info in list_eval_logs(str(log.parent))] == ["run.eval"]


@needs_inspect
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")  # its own
def test_inspect_scores_with_our_readers(folder: Path, tiny: Suite, tmp_path: Path) -> None:
    """The entry point offers ``worldodds/reader``; a task whose samples name clips is scored by what is read there."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample

    from worldodds.interop.inspect_ai import reader_scorer

    (point,) = [point for point in entry_points(group="inspect_ai") if point.name == "worldodds"]
    assert callable(point.load().reader)
    clips = [folder / "rollouts" / "coin" / f"r{index:03d}.mp4" for index in range(3)]
    about = [{"clip": str(clip), "scene": "coin"} for clip in clips]
    samples = [Sample(input="A coin is flipped.", target="heads", metadata=one) for one in about]
    task = Task(dataset=samples, solver=[], scorer=reader_scorer(CannedReader(), tiny))
    (log,) = evaluate(task, model="mockllm/model", log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    values = [next(iter(sample.scores.values())) for sample in log.samples]
    assert [score.value for score in values[:2]] == ["C", "I"]
    assert (values[2].answer, values[2].value == values[2].value) == ("failed", False)
