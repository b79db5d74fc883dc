"""Judges looked after: their votes, their trust in clips, and whether they have changed behind their name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from worldodds.cli import call
from worldodds.drift import rejudge
from worldodds.engine import plan, read_clips, run
from worldodds.errors import InputError, SourceError
from worldodds.fake_judge import FakeJudge, Step
from worldodds.protocols import Reader
from worldodds.registry import make_reader
from worldodds.scene import Suite
from worldodds.sources import load
from worldodds.statistics.drift import drift_test
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator
from worldodds.trusted import trust_beside
from worldodds.votes import votes_of

DIE = ("1", "2", "3", "4", "5", "6")
CHECKS = ("scene_grounding", "action_execution", "object_continuity", "physical_process")


@pytest.fixture
def fake() -> Iterator[FakeJudge]:
    with FakeJudge(labels=DIE) as judge:
        yield judge


def _reader(fake: FakeJudge, name: str = "vlm/m", **settings: Any) -> Reader:
    return make_reader(name, {"base_url": fake.url, "patience": 0.01, **settings})


@pytest.fixture
def folder(fake: FakeJudge, tiny: Suite, tmp_path: Path) -> Path:
    """A run of twelve dice, read once by the judge."""
    with RunStore(tmp_path / "run") as store:
        run(plan(tiny.only(["die"]), CannedGenerator(), [_reader(fake)], 12), store, workers=2)
    return tmp_path / "run"


def test_an_unchanged_judge_seldom_alarms() -> None:
    """Whatever a judge's noise, it looks changed at a level with at most that probability: exactly, by enumeration."""
    for noise, level in product((0.1, 0.3, 0.5), (0.05, 0.2)):
        chances = dict.fromkeys(product("xy", repeat=3), 1.0)
        chances = {t: (1 - noise) ** t.count("x") * noise ** t.count("y") for t in chances}
        alarmed = sum(
            chances[one] * chances[two] * chances[three]
            for one, two, three in product(chances, repeat=3)
            if drift_test([one, two, three]).p_value <= level
        )
        assert alarmed <= level + 1e-12


def test_a_judge_that_never_wavered_is_found_out_by_five_clips() -> None:
    """Nothing differs: 1. Five changed answers: one in 3 to the fifth."""
    assert drift_test([("a", "a", "a")] * 30).p_value == 1.0
    assert drift_test([("a", "b", "b")] * 5).p_value == pytest.approx(3**-5)
    assert drift_test([("a", "b", "c")]).splits == 0


def test_the_same_judge_shows_no_drift(fake: FakeJudge, folder: Path) -> None:
    """Asked again, a judge that answers as before raises no alarm, and no reading is added."""
    with RunStore(folder) as store:
        before = store.readings()
        found = rejudge(store, _reader(fake), clips=8)
        assert store.readings() == before
        assert store.about("drift vlm/m")["test"]["clips"] == 8
    assert (found.test.p_value, found.changed, found.failed) == (1.0, (), 0)
    assert found.before == found.now == ("fake-judge-2026-01",)


def test_a_changed_judge_is_found_out(fake: FakeJudge, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another answer under the same name is an alarm, with its clips; another version is told and leaves with 3."""
    command = ["drift", str(folder), "--reader", "vlm/m", "-R", f"base_url={fake.url}"]
    assert call(command) == 0
    assert "shows no change" in capsys.readouterr().out
    fake.model = "fake-judge-2026-07"
    assert call(command) == 3
    assert "served as fake-judge-2026-07; before as fake-judge-2026-01" in capsys.readouterr().out
    fake.answer = lambda _: Step(text=json.dumps({"seen": "x", "answer": "6", "null_rule": "none"}))
    assert call(command) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "answers otherwise than it did: 12 clips, of 10 clips answered two to one" in out
    assert "die r000: 1, now 6" in out


def test_canaries_need_answers_to_the_same_question(fake: FakeJudge, folder: Path) -> None:
    """A judge with other settings was asked something else: there is nothing to compare."""
    with RunStore(folder) as store, pytest.raises(InputError, match="has read nothing here"):
        rejudge(store, _reader(fake, temperature=1.0))


def test_a_canary_that_fails_is_told(fake: FakeJudge, folder: Path) -> None:
    """A judge that refuses to answer again is neither changed nor the same."""
    fake.script = [Step(refused=True, text="")]
    with RunStore(folder) as store:
        found = rejudge(store, _reader(fake), clips=4, workers=1)
    assert (found.failed, found.test.clips) == (1, 3)


def test_votes_are_counted_by_scene(
    fake: FakeJudge, tiny: Suite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A judge that agrees with itself spends two votes of three on a clip; agreement stands beside."""
    with RunStore(tmp_path / "run") as store:
        run(plan(tiny.only(["die"]), CannedGenerator(), [_reader(fake, votes=3)], 6), store, workers=2)
    (cell,) = votes_of(load(tmp_path / "run"))
    assert (cell.clips, cell.planned, cell.asked, cell.unanimous, cell.alpha) == (6, 18, 12, 6, 1.0)
    assert call(["votes", str(tmp_path / "run")]) == 0
    assert "12/18" in capsys.readouterr().out


def _audit(status: str) -> Step:
    return Step(text=json.dumps({"seen": "x", **dict.fromkeys(CHECKS, "pass"), "status": status}))


def test_trust_is_shown_beside_the_score(fake: FakeJudge, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both results stand side by side: all clips, as before, and the trusted ones alone; failures are told."""
    with pytest.raises(SourceError, match="nobody has audited it"):
        trust_beside(folder)
    (before,) = load(folder).score(partial=True)
    fake.script = [_audit("untrusted"), _audit("questionable"), Step(refused=True, text="")]
    fake.answer = lambda _: _audit("trusted")
    with RunStore(folder) as store:
        read_clips(store, _reader(fake, "trust/vlm/m"), workers=1)
    found = trust_beside(folder)
    assert found.audits["die"] == {"untrusted": 1, "questionable": 1, "not audited": 1, "trusted": 9}
    assert found.all_clips.cell("die").measurement == before.cell("die").measurement
    assert found.trusted_clips.cell("die").measurement.counts.n_total == 9
    assert call(["trust", str(folder)]) == 0
    assert "the score is that of all clips" in capsys.readouterr().out
    with pytest.raises(SourceError, match="choose one with --auditor"):
        trust_beside(folder, auditor="trust/vlm/n")


def test_a_run_without_a_trusted_clip_has_no_second_score(fake: FakeJudge, folder: Path) -> None:
    """Where no clip is trusted there is nothing to score, and that is no zero."""
    fake.answer = lambda _: _audit("untrusted")
    with RunStore(folder) as store:
        read_clips(store, _reader(fake, "trust/vlm/m"), workers=1)
    found = trust_beside(folder)
    assert found.trusted_clips is None
    assert call(["trust", str(folder)]) == 0
