"""The page in a real browser, worked by keyboard, by mouse and by touch."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worldodds.engine import plan, run
from worldodds.labelling.session import Session
from worldodds.rollout import Reading
from worldodds.scene import Suite, load_suite
from worldodds.sources import load
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator

Serve = Callable[..., Any]  # returns the Client of conftest.py
Browser = Any  # of conftest.py

ON = "document.querySelector('video.on')"


def answers(session: Session) -> list[Reading]:
    return [session.answer_at(at) for at in range(len(session.sheet.tasks))]


def test_a_run_is_labelled_by_keyboard_alone(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """From the first key to the end page: outcomes, both nulls with and without a rule, then the score."""
    page = serve(run_folder)
    browser.open(page.server.url)
    browser.press("1", "2", "u", "1", "u", "u")
    assert answers(page.server.session)[:4] == [
        Reading.saw("heads"),
        Reading.saw("tails"),
        Reading(status="unreadable", reason="blank"),
        Reading(status="unreadable"),
    ]
    assert browser.text("#said") == "Saved: unreadable. A new scene begins."
    browser.press("6", "5", "x", "3")
    assert answers(page.server.session)[4:] == [
        Reading.saw("6"),
        Reading.saw("5"),
        Reading(status="out_of_schema"),  # the scene has no rule of this kind, so none is asked for
        Reading.saw("3"),
    ]
    assert browser.text("#end-title") == "All 8 clips are labelled. Thank you."
    assert browser.js("return document.activeElement.id") == "end-title"
    browser.press("Tab", "Enter")
    browser.wait("document.getElementById('end-lead').innerText.includes('may close this page')")
    coin = load(run_folder, reader="people/anna").tallies()["canned/secretmodel"]["coin"]
    assert (coin.counts.n, coin.counts.unreadable, coin.complete) == (2, 2, True)
    assert browser.complaints() == []


def test_undo_goes_back_and_answers_again(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """Undo shows the clip again, without its answer; what comes then counts."""
    page = serve(run_folder)
    browser.open(page.server.url)
    browser.press("1", "2", "z")
    assert browser.text("#within") == "clip 2 of 4"
    assert browser.js("return document.querySelectorAll('.choice[aria-pressed=true]').length") == 0
    browser.press("Backspace", "Backspace")
    assert browser.text("#said") == "There is nothing to undo."
    browser.press("2")
    assert answers(page.server.session)[:2] == [Reading.saw("tails"), Reading(status="missing")]


def test_going_back_shows_the_answer_and_changes_it(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """Page keys walk, skip goes to the next open clip, and an answer that is there is marked."""
    page = serve(run_folder)
    browser.open(page.server.url)
    browser.press("1", "s", "PageUp", "PageUp")
    assert browser.text("#within") == "clip 1 of 4"
    assert browser.text("#outcomes [aria-pressed=true] span") == "heads"
    browser.press("2")
    assert browser.text("#within") == "clip 2 of 4"
    assert answers(page.server.session)[0] == Reading.saw("tails")


def test_finished_clips_are_looked_through_one_by_one(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """From the end page one goes through all clips again; confirming one goes to the next, and adds nothing."""
    page = serve(run_folder, scene_ids=("coin",))
    browser.open(page.server.url)
    browser.press("1", "2", "1", "2")
    browser.click("#again")
    assert browser.text("#within") == "clip 1 of 4"
    browser.press("1", "1")
    assert browser.text("#within") == "clip 3 of 4"
    browser.press("1", "2")
    assert browser.text("#end-title") == "All 4 clips are labelled. Thank you."
    browser.press("z")
    assert answers(page.server.session) == [Reading.saw(side) for side in ("heads", "tails", "heads", "tails")]


def test_a_reload_loses_nothing(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """Opening the page again goes on at the first open clip."""
    page = serve(run_folder)
    browser.open(page.server.url)
    browser.press("1", "1", "1")
    browser.open(page.server.url)
    assert (browser.text("#count"), browser.text("#within")) == ("3 of 8", "clip 4 of 4")


def test_a_key_held_down_answers_one_clip(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """A repeating key is one press."""
    page = serve(run_folder)
    browser.open(page.server.url)
    browser.hold("1", 6)
    assert page.server.session.done == 1


def test_playing_is_worked_by_keys(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """Loop, pause, frame by frame, first and last frame, speed."""
    page = serve(run_folder)
    browser.open(page.server.url)
    browser.wait(f"{ON}.currentTime > 0 && !{ON}.paused")
    browser.js(f"window.loops = 0; {ON}.addEventListener('ended', () => window.loops++)")
    browser.wait("window.loops >= 2")
    browser.press(" ")
    assert browser.js(f"return {ON}.paused")
    browser.press("End")
    browser.wait("document.getElementById('frame').value === '6 / 6'")
    browser.press("ArrowLeft", "ArrowLeft")
    browser.wait("document.getElementById('frame').value === '4 / 6'")
    browser.press("Home", "ArrowRight")
    browser.wait("document.getElementById('frame').value === '2 / 6'")
    browser.press("ArrowDown", "ArrowDown", "ArrowDown")
    assert browser.js(f"return {ON}.playbackRate") == 0.25
    browser.press("1")
    assert browser.js(f"return {ON}.playbackRate") == 0.25
    assert not browser.js(f"return {ON}.paused")


def test_a_note_is_written_without_answering(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """Keys typed in the note are text; the note is saved alone, and with the answer."""
    page = serve(run_folder)
    browser.open(page.server.url)
    browser.press("n", *"1 xu")
    browser.press("Enter")
    browser.wait("document.getElementById('said').innerText === 'Note saved.'")
    assert answers(page.server.session)[0] == Reading(status="missing", raw="1 xu")
    browser.press("2")
    assert answers(page.server.session)[0] == Reading(status="outcome", label="tails", raw="1 xu")
    browser.press("n", "a")
    browser.click("#outcomes .choice")
    assert answers(page.server.session)[1] == Reading(status="outcome", label="heads", raw="a")


def test_a_mouse_click_leaves_the_keys_working(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """After a click Space still plays and pauses; with the Tab key Enter presses what has the focus."""
    page = serve(run_folder)
    browser.open(page.server.url)
    browser.click("#outcomes .choice:nth-child(2)")
    browser.press(" ")
    assert page.server.session.done == 1
    assert browser.js(f"return {ON}.paused")
    browser.js("document.querySelector('#outcomes .choice').focus()")
    browser.press("Enter")
    assert answers(page.server.session)[1] == Reading.saw("heads")


def test_a_clip_that_does_not_play_comes_as_a_copy(
    run_folder: Path, serve: Serve, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the browser gives up on a clip, it asks for the copy by itself; where that fails too, it says so."""
    from worldodds import video

    page = serve(run_folder)
    clip = page.server.session.task(0).clip
    broken = run_folder / "broken.mp4"
    broken.write_bytes(b"\0" * 2000)
    page.server.projector._known[clip.sha256] = broken  # as if it had been thought to play
    browser.open(page.server.url)
    assert browser.js(f"return {ON}.currentSrc").endswith("/copy/0")
    browser.press("1")
    assert page.server.session.done == 1
    copies = list((run_folder / "cache" / "browser").iterdir())
    assert [video.plays_in_browsers(copy) for copy in copies] == [True]


def test_a_changed_clip_is_skipped_and_not_answered(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """What cannot be shown cannot be labelled."""
    page = serve(run_folder)
    page.server.session.task(0).clip.path.write_bytes(b"other")
    browser.open(page.server.url)
    assert "no longer the file" in browser.text("#fault")
    browser.press("1", "u")
    assert page.server.session.done == 0
    browser.press("s")
    assert browser.text("#within") == "clip 2 of 4"
    browser.press("1")
    assert answers(page.server.session)[1] == Reading.saw("heads")


def test_an_answer_that_is_not_saved_stays(run_folder: Path, serve: Serve, browser: Browser) -> None:
    """Where the ledger cannot be written the page says so and stays at the clip; then the same key saves it."""
    page = serve(run_folder)
    browser.open(page.server.url)
    (run_folder / "run.sqlite").rename(run_folder / "away")
    browser.press("2")
    assert browser.text("#said").startswith("not saved")
    assert browser.text("#within") == "clip 1 of 4"
    (run_folder / "away").rename(run_folder / "run.sqlite")
    browser.press("2")
    assert answers(page.server.session)[0] == Reading.saw("tails")


LETTERED = json.dumps([f"ball {i}" for i in range(1, 21)])


def test_many_outcomes_have_letters(tiny_folder: Path, tmp_path: Path, serve: Serve, browser: Browser) -> None:
    """Twenty outcomes: nine digits, then letters that are no commands, each shown on its button."""
    scene = tiny_folder / "coin.toml"
    scene.write_text(scene.read_text().replace('["heads", "tails"]', LETTERED))
    suite: Suite = load_suite(tiny_folder).only(["coin"])
    with RunStore(tmp_path / "run") as store:
        run(plan(suite, CannedGenerator(), [], 3), store)
    page = serve(tmp_path / "run")
    browser.open(page.server.url)
    shown = browser.js("return [...document.querySelectorAll('#outcomes kbd')].map((key) => key.innerText)")
    assert shown == [*"123456789", *"ABCDEFGHIJK"]
    browser.press("a", "k", "9")
    assert [one.label for one in answers(page.server.session)] == ["ball 10", "ball 20", "ball 9"]


SCREENS = [(1280, 800, False), (820, 1180, True)]


@pytest.mark.parametrize(("width", "height", "touch"), SCREENS)
def test_everything_fits_and_is_large_enough(
    run_folder: Path, serve: Serve, browser: Browser, width: int, height: int, touch: bool
) -> None:
    """On a laptop and a tablet nothing scrolls; every control can be hit by a finger and has a name."""
    page = serve(run_folder)
    browser.look(width, height, touch=touch)
    browser.open(page.server.url)
    root = "document.documentElement"
    assert browser.js(f"return [{root}.scrollWidth, {root}.scrollHeight]") == [width, height]
    script = "return [...document.querySelectorAll('main button')].filter((b) => b.offsetParent)"
    boxes = browser.js(script + ".map((b) => [b.offsetWidth, b.offsetHeight, (b.ariaLabel || b.innerText).trim()])")
    assert len(boxes) > 10
    assert all(w >= 44 and h >= 44 and name for w, h, name in boxes), boxes
    assert browser.js("return document.getElementById('screen').offsetHeight") >= height * 0.45
