"""A judge's measured errors, carried into the result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from worldodds.audit import audit
from worldodds.audit_sources import measured_judge
from worldodds.cli import call
from worldodds.errors import InputError
from worldodds.interop.audit_json import audit_json
from worldodds.interop.score_json import score_document
from worldodds.judged import Measured, judged, unaudited
from worldodds.rollout import Reading
from worldodds.row import Row
from worldodds.scorecard import Scorecard
from worldodds.sources import Source, load
from worldodds.statistics.judge import ErrorRate, JudgeError
from worldodds.suites import find_suite

CLEAN = JudgeError(
    false_null=ErrorRate(errors=0, trials=5000),
    missed_null=ErrorRate(errors=0, trials=5000),
    wrong_label=ErrorRate(errors=0, trials=5000),
)
POOR = JudgeError(
    false_null=ErrorRate(errors=10, trials=50),
    missed_null=ErrorRate(errors=10, trials=50),
    wrong_label=ErrorRate(errors=10, trials=40),
)


def _measured(errors: JudgeError) -> Measured:
    return Measured(errors=errors, n=100, agree=90, truth="people")


@pytest.fixture(scope="module")
def cards() -> tuple[Scorecard, ...]:
    """Two scenes of all published models: quick, and with rejections."""
    return load("published").only(["dice", "walking"]).score()


def test_a_poor_judge_widens_the_interval(cards: tuple[Scorecard, ...]) -> None:
    """More errors, or fewer labels to count them by, give a wider interval of the score."""
    clean, poor = (judged(cards, _measured(errors)).populations["seedance"].mean.interval for errors in (CLEAN, POOR))
    assert poor.high - poor.low > 1.2 * (clean.high - clean.low)


def test_a_poor_judge_leaves_fewer_verdicts(cards: tuple[Scorecard, ...]) -> None:
    """Every rejection withstands a judge that never errs, fewer a poor one; what was not rejected has no answer."""
    clean, poor = (judged(cards, _measured(errors)).cells for errors in (CLEAN, POOR))
    rejected = {(c.model, s.measurement.scene.id) for c in cards for s in c.cells if s.verdict == "miscalibrated"}
    assert {key for key, cell in clean.items() if cell.survives is not None} == rejected
    assert sum(bool(clean[key].survives) for key in rejected) > sum(bool(poor[key].survives) for key in rejected)
    assert clean["veo31", "dice"].survives
    p_values = [(clean[key].p_value, poor[key].p_value) for key in rejected]
    assert all(a is not None and b is not None and a <= b for a, b in p_values)


def test_a_hopeless_judge_leaves_nothing(cards: tuple[Scorecard, ...]) -> None:
    """Where half of all labels may be false no verdict stands, and none is invented."""
    wrong = JudgeError(
        false_null=ErrorRate(errors=0, trials=3),
        missed_null=ErrorRate(errors=0, trials=0),
        wrong_label=ErrorRate(errors=1, trials=3),
    )
    cells = judged(cards, _measured(wrong)).cells
    assert not any(cell.survives for cell in cells.values())
    assert cells["veo31", "dice"].p_value == 1.0


def test_score_tells_of_the_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An audit's JSON and labels give the same; the JSON has the counts, and the screen the sentence."""
    source = load("published")
    suite = find_suite("calibench")
    from worldodds.suites.published import human_readings

    found = audit(source.rows, human_readings(suite), suite, reader=source.reader, truth_name="people")
    (path := tmp_path / "audit.json").write_text(audit_json(found))
    by_file, by_labels = (measured_judge(source, ["published"], judge) for judge in (str(path), "human"))
    assert by_file == by_labels
    assert by_file.error_bound == pytest.approx(0.108, abs=5e-4)
    few = source.only(["dice"])
    document = score_document(few.score(), few.suite, few.reader, judged(few.score(), by_file))
    assert document.judge is not None
    assert (document.judge.agree, document.judge.n, document.judge_reason) == (152, 162, None)
    assert document.models["wan"].cells["dice"].judged is not None
    table = tmp_path / "dice.csv"
    table.write_text("scene,model,seed,outcome\n" + "".join(f"dice,wan,{seed},1\n" for seed in range(32)))
    assert call(["score", str(table), "--judge", "human", "--partial"]) == 0
    assert "clips read as people did" in capsys.readouterr().out
    assert call(["score", str(table), "--judge-audit", str(path), "--partial", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["judge"]["false_null"] == [4, 107]


def test_an_audit_of_another_reader_is_refused(tmp_path: Path) -> None:
    """The errors of one reader say nothing of another."""
    suite = find_suite("calibench")
    row = Row(scene="dice", model="m", index=0, seed=0, reading=Reading.saw("1"), reader="vlm/a")
    (path := tmp_path / "audit.json").write_text(audit_json(audit([row], [row], suite, reader="vlm/a")))
    source = Source(suite=suite, rows=(replace(row, reader="vlm/b"),), reader="vlm/b", clips={}, filmed={})
    with pytest.raises(InputError, match="an audit of vlm/a, but vlm/b read these clips"):
        measured_judge(source, [], str(path))


def test_an_unaudited_judge_is_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A headline read by a model that nobody has measured says so, on the screen and in the JSON; a tracker's not."""
    told = {"vlm/any": "unaudited judge", "tracker": ""}
    for reader, sentence in told.items():
        table = tmp_path / "dice.csv"
        rows = "".join(f"dice,m,{seed},{reader},{seed % 6 + 1}\n" for seed in range(12))
        table.write_text("scene,model,seed,reader,outcome\n" + rows)
        assert call(["score", str(table), "--partial"]) == 0
        assert ("unaudited judge" in capsys.readouterr().out) is bool(sentence)
        assert call(["score", str(table), "--partial", "--json"]) == 0
        assert (sentence in (json.loads(capsys.readouterr().out)["judge_reason"] or "")) is True
    assert unaudited("vlm/a + tracker", _measured(POOR)) is None
