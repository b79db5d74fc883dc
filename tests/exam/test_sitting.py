"""The exam: truth against answers, for a reader that knows, one that always guesses, and the tracker."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("av")

from worldodds.cli import call
from worldodds.errors import InputError, UnknownNameError
from worldodds.exam.optics import DEGRADATIONS
from worldodds.exam.sitting import Answer, conditions_of, sit
from worldodds.generators.simulator import simulator
from worldodds.interop.exam_json import count, exam_document
from worldodds.readers.tracker import Tracker
from worldodds.report.exam_page import write_exam_page
from worldodds.rollout import Reading
from worldodds.suites import find_suite
from worldodds.testing import CannedGenerator

SUITE = find_suite("calibench")
BALL = SUITE.scene("ball")
FAIR = simulator("fair", size="320x240")


@dataclass(frozen=True)
class Guesser:
    """Always says left, whatever it sees."""

    name: str = "guesser"
    cpu_bound: bool = False

    @property
    def settings(self):
        return {}

    def read(self, clip, scene, *, vote):
        return Reading.saw("left")


def _answer(truth: str | None, **reading) -> Answer:
    return Answer(scene="ball", condition="clean", seed=0, truth=truth, reading=Reading(**reading))


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (_answer("left", status="outcome", label="left"), "agree"),
        (_answer("left", status="outcome", label="right"), "wrong_label"),
        (_answer("left", status="unreadable"), "false_null"),
        (_answer(None, status="out_of_schema"), "agree"),
        (_answer(None, status="outcome", label="left"), "missed_null"),
        (_answer(None, status="failed"), "failed"),
    ],
)
def test_answers_are_judged(answer: Answer, result: str) -> None:
    """Each kind of right and wrong has its own name; a failed reading is never a null."""
    assert answer.result == result
    assert getattr(count([answer]), result) == 1


def test_a_guesser_fails_where_there_is_nothing_to_read() -> None:
    """Guessing is half right where there is an outcome, and a missed null wherever there is none."""
    answers = sit(Guesser(), FAIR, [BALL], 3, conditions=["clean", "absent", "hidden"], workers=1)
    assert [a.condition for a in answers] == ["clean", "hidden", "absent"] * 3
    assert all(a.result == "missed_null" for a in answers if a.condition != "clean")
    assert {a.result for a in answers if a.condition == "clean"} <= {"agree", "wrong_label"}
    assert all(len(a.frames) == 5 for a in answers if a.result != "agree")


def test_the_tracker_passes_the_fork() -> None:
    """A fresh clip of the fork under conditions of each kind: nothing wrong, nothing read where nothing is."""
    chosen = ["clean", "dark", "camera_moved", "several_balls", "hidden", "unresolved", "absent"]
    answers = sit(Tracker(), simulator("fair"), [BALL], 1, conditions=chosen, workers=1)
    assert {a.condition for a in answers} == set(chosen)
    assert [a for a in answers if a.result != "agree"] == []


@pytest.mark.parametrize("scene", SUITE.scene_ids)
def test_every_scene_has_all_kinds_of_conditions(scene: str) -> None:
    """Clean, all degradations, and null rules with their words; something for the absent object in every scene."""
    told = conditions_of(SUITE.scene(scene))
    assert {"clean", *DEGRADATIONS, "not_settled", "hidden", "blurred"} < set(told)
    assert set(told) & {"absent", "empty_tube"}
    assert all(told.values())


def test_what_cannot_be_examined_is_said() -> None:
    """No clips, clips of unknown truth, or a condition that does not exist."""
    with pytest.raises(InputError, match="0 clips"):
        sit(Guesser(), FAIR, [BALL], 0)
    with pytest.raises(InputError, match="canned/even"):
        sit(Guesser(), CannedGenerator(), [BALL], 1)
    with pytest.raises(UnknownNameError, match="Did you mean 'dark'"):
        sit(Guesser(), FAIR, [BALL], 1, conditions=["drk"])


def test_the_page_shows_every_misread_clip(tmp_path: Path) -> None:
    """Confusion matrices, and for each wrong answer the clip's pictures with truth and reading."""
    answers = sit(Guesser(), FAIR, [BALL], 2, conditions=["absent"], workers=1)
    document = exam_document(
        answers, [BALL], reader=("guesser", {}), generator=(FAIR.name, FAIR.settings), n=2, first_seed=50_000
    )
    write_exam_page(document, answers, [BALL], tmp_path / "exam.html")
    page = (tmp_path / "exam.html").read_text()
    assert page.count("<figure>") == 2
    assert page.count("data:image/jpeg") == 10
    assert "validated on simulated clips only" in page.lower()
    assert page.count("true: <b>nothing to tell</b>") == page.count("read: <b>left</b>") == 2
    assert "2 of 2 misread" in page


def test_the_command_prints_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    """``exam --json`` prints scenes.<scene>.<condition> with counts that sum to n."""
    words = ["exam", "--reader", "tracker", "--scene", "ball", "-n", "1", "--workers", "1"]
    words += ["--condition", "clean", "--condition", "absent"]
    assert call([*words, "-G", "size=320x240", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["format"] == "worldodds.exam/1"
    assert set(told["scenes"]["ball"]) == {"clean", "absent"}
    for entry in told["scenes"]["ball"].values():
        kinds = ("agree", "false_null", "missed_null", "wrong_label", "failed")
        assert sum(entry[kind] for kind in kinds) == entry["n"] == 1
    assert call(words) == 0
    assert "validated on simulated clips only" in capsys.readouterr().out.lower()


@pytest.mark.parametrize("flags", [["-n", "0"], ["--condition", "fog"], ["--generator", "folder/nowhere"]])
def test_nothing_is_announced_that_cannot_be_sat(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence says what is wrong; no line before it promises clips."""
    assert call(["exam", "--reader", "tracker", "--scene", "ball", *flags]) == 2
    told = capsys.readouterr().err
    assert told.startswith("worldodds: ")
    assert "clips" not in told.partition("\n")[2]
