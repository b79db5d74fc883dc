"""Answers are in the ledger before they are confirmed, are undone by adding rows, and are taken up again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from worldodds.errors import InputError, VideoError
from worldodds.labelling.session import Session, open_session
from worldodds.rollout import Reading
from worldodds.sources import load
from worldodds.store import RunStore

BLANK = Reading(status="unreadable", reason="blank")


def answer_all(session: Session) -> None:
    for at, task in enumerate(session.sheet.tasks):
        session.answer(at, Reading.saw(task.scene.labels[0]))


def history(folder: Path) -> list[tuple[str, str, str | None]]:
    with sqlite3.connect(folder / "run.sqlite") as db:
        rows = db.execute("select reader, status, label from reading order by id").fetchall()
    db.close()
    return rows


def test_labels_are_scored_as_any_reading(run_folder: Path) -> None:
    """A run labelled to the end is scored by its annotator; two annotators are two readers."""
    answer_all(open_session(run_folder, "anna"))
    bea = open_session(run_folder, "bea")
    bea.answer(0, BLANK)
    anna = load(run_folder, reader="people/anna").tallies()["canned/secretmodel"]
    assert (anna["coin"].counts.counts, anna["coin"].complete) == ((4, 0), True)
    seen = load(run_folder, reader="people/bea").tallies()["canned/secretmodel"]["coin"]
    assert (seen.counts.unreadable, seen.counts.n, seen.missing) == (1, 0, 3)


def test_nothing_is_forgotten(run_folder: Path) -> None:
    """Changing and undoing add rows; the newest is what counts."""
    session = open_session(run_folder, "anna")
    session.answer(0, Reading.saw("heads"))
    session.answer(0, Reading.saw("tails"))
    assert session.undo() == 0
    assert session.answer_at(0) == Reading.saw("heads")
    assert session.undo() == 0
    assert not session.is_done(0)
    assert session.undo() is None
    assert [(status, label) for _, status, label in history(run_folder)] == [
        ("outcome", "heads"),
        ("outcome", "tails"),
        ("outcome", "heads"),
        ("missing", None),
    ]
    assert open_session(run_folder, "anna").done == 0


def test_the_same_answer_again_adds_nothing(run_folder: Path) -> None:
    """Looking through finished clips and confirming them leaves the ledger as it is."""
    session = open_session(run_folder, "anna")
    session.answer(0, Reading.saw("heads"))
    session.answer(0, Reading.saw("heads"))
    assert len(history(run_folder)) == 1


def test_a_session_goes_on_where_the_last_one_stopped(run_folder: Path) -> None:
    """Answers, progress and undo survive the process; the next open clip is where one left off."""
    session = open_session(run_folder, "anna")
    for at in (0, 1, 3):
        session.answer(at, Reading.saw("heads"))
    again = open_session(run_folder, "anna")
    assert (again.done, again.open_after(-1), again.open_after(7)) == (3, 2, 2)
    assert [(done, total) for _, done, total in again.progress()] == [(3, 4), (0, 4)]
    assert again.undo() == 3
    assert again.open_after(2) == 3


def test_a_note_alone_is_kept_and_is_no_answer(run_folder: Path) -> None:
    """A note without an answer leaves the clip open, and comes back with it."""
    session = open_session(run_folder, "anna")
    session.answer(2, Reading(status="missing", raw="ask the others"))
    again = open_session(run_folder, "anna")
    assert (again.done, again.answer_at(2).raw) == (0, "ask the others")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Reading.saw("edge"), "not an outcome"),
        (Reading(status="outcome"), "an outcome has a label"),
        (Reading(status="unreadable", label="heads"), "an outcome has a label"),
        (Reading(status="out_of_schema", reason="blank"), "is unreadable, not out_of_schema"),
        (Reading(status="unreadable", reason="blink"), "Did you mean 'blank'"),
        (Reading(status="failed"), "not what a person can see"),
        (Reading(status="unreadable", raw="x" * 2001), "longer than 2000"),
    ],
)
def test_answers_that_the_scene_does_not_have_are_refused(run_folder: Path, answer: Reading, words: str) -> None:
    """Nothing is kept of an answer that could not be scored."""
    session = open_session(run_folder, "anna")
    with pytest.raises(InputError, match=words):
        session.answer(0, answer)
    assert history(run_folder) == []


def test_a_clip_that_was_swapped_cannot_be_labelled(run_folder: Path) -> None:
    """Nobody can have seen a clip that is no longer the file that was filmed; it is not a null either."""
    session = open_session(run_folder, "anna")
    path = session.task(0).clip.path
    path.write_bytes(session.task(1).clip.path.read_bytes())
    with pytest.raises(VideoError, match="no longer the file"):
        session.answer(0, BLANK)
    with pytest.raises(InputError, match="no place"):
        session.answer(8, BLANK)
    assert history(run_folder) == []


def test_labels_are_kept_while_another_process_writes(run_folder: Path) -> None:
    """Labelling needs no lock of the folder: a judge may read, or a second person label, at the same time."""
    with RunStore(run_folder) as other:
        session = open_session(run_folder, "anna")
        session.answer(0, Reading.saw("heads"))
        other.note("beside", 1)
    assert open_session(run_folder, "anna").done == 1


def test_a_ledger_that_cannot_be_written_changes_nothing(run_folder: Path) -> None:
    """An answer that was not saved is not shown as saved."""
    session = open_session(run_folder, "anna")
    (run_folder / "run.sqlite").rename(run_folder / "away")
    with pytest.raises(Exception, match="no run here"):
        session.answer(0, Reading.saw("heads"))
    assert (session.done, session.undo()) == (0, None)
