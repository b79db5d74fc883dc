"""Replies of judges, read strictly: a guess is never an outcome."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.errors import OutOfRangeError
from worldodds.evidence import Frame
from worldodds.readers.vlm.question import Question, outcome_question, shuffled
from worldodds.readers.vlm.reply import MalformedReplyError, outcome_reading
from worldodds.readers.vlm.trust import trust_question, trust_reading
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.suites import find_suite

FRAMES = (Frame(index=23, seconds=0.96, sha256="0" * 64),)
BALL, DICE, ROULETTE = (find_suite("calibench").scene(name) for name in ("ball", "dice", "roulette"))


def _ask(scene: Scene, vote: int = 0) -> Question:
    return outcome_question(scene, FRAMES, seed=0, vote=vote)


def _read(text: str, scene: Scene = BALL) -> Reading:
    return outcome_reading(text, _ask(scene), scene)


def _json(answer: object, rule: str = "none", **more: object) -> str:
    return json.dumps({"seen": "a ball", "answer": answer, "null_rule": rule, **more})


@pytest.mark.parametrize(
    "text",
    [
        _json("left"),
        f"```json\n{_json('left')}\n```",
        f"Sure! Here is what I see: {_json('left')} I hope this helps, right?",
        f"{_json('left')}\n{_json('left')}",
        _json("LEFT"),
        _json(" left "),
        '{"answer": "left"}',
        "left",
        "Left.",
        "**left**",
        "The ball rolls to the left",
        "Answer: left",
    ],
)
def test_plain_answers_are_read(text: str) -> None:
    """JSON alone, fenced or among prose, and plain words with one answer give that answer."""
    assert _read(text) == Reading.saw("left")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "left or right",
        "right, then left",
        "It never exits left",
        "not left",
        "It doesn't go left",
        "It doesn’t go left",
        "neither left",
        "Maybe left",
        "left?",
        "the left-hand rule",
        "leftover",
        "It does not exit left: null",
        '{"seen": "goes left", "answer": "lef',
        '{"seen": "goes left", "answer": "left", "null_ru',
        _json("middle"),
        _json(""),
        _json(None),
        _json(["left"]),
        _json(True),
        _json("left", "stuck"),
        _json("left or right"),
        f"{_json('left')} {_json('right')}",
        '{"result": "left"}',
        "[]",
        "I can't help with that.",
        "null or unreadable or out_of_schema",
    ],
)
def test_what_is_not_plain_is_malformed(text: str) -> None:
    """No answer, two, a denied one, one outside the scene, or a reply cut off is malformed, whatever it mentions."""
    with pytest.raises(MalformedReplyError):
        _read(text)


def test_a_word_is_a_word() -> None:
    """The letters of a label inside another word are not the label."""
    for text in ("The ball scored", "It is coloured", "reddish", "infrared", "red-brown"):
        with pytest.raises(MalformedReplyError, match="no answer"):
            _read(text, ROULETTE)
    assert _read("The pocket is red.", ROULETTE).label == "red"


@pytest.mark.parametrize("text", ["null, it never exits left", "Null.", "unreadable: left and right both glow", "null"])
def test_null_is_not_the_label_that_it_mentions(text: str) -> None:
    """A reply that begins with a null is one, whatever labels it names after."""
    assert _read(text) == Reading(status="unreadable")


def test_numbers_are_whole_words() -> None:
    """A die's 6 is neither the 6 of 16 nor of 6.5, and two numbers are no answer."""
    assert _read("The die shows 6.", DICE).label == "6"
    assert _read(_json(6), DICE).label == "6"
    for text in ("16", "6.5", "-6", "after 3 s it shows 6", "6, 5", "six"):
        with pytest.raises(MalformedReplyError):
            _read(text, DICE)


def test_the_case_says_which_null() -> None:
    """The null rule that was named decides the kind, and is kept as the reason."""
    rule = next(null for null in DICE.readout.nulls if null.kind == "unreadable")
    assert _read(_json("out_of_schema", rule.name), DICE) == Reading(status="unreadable", reason=rule.name)
    assert _read(_json("out_of_schema"), DICE) == Reading(status="out_of_schema")
    assert _read(f"out of schema ({rule.name})", DICE) == Reading(status="unreadable", reason=rule.name)


@given(st.text(max_size=200))
def test_whatever_is_said_is_read_or_refused(text: str) -> None:
    """No reply breaks the parser; an outcome is one of the scene's labels, and stands in the reply."""
    try:
        reading = _read(text)
    except MalformedReplyError:
        return
    assert reading.label in (*BALL.labels, None)
    assert reading.label is None or reading.label in text.casefold()


@given(st.sampled_from(DICE.labels), st.integers(0, 200))
def test_a_cut_reply_is_never_an_answer(label: str, at: int) -> None:
    """A JSON reply cut at any place is malformed, unless nothing was cut."""
    text = _json(label)
    if at >= len(text):
        assert _read(text, DICE).label == label
        return
    with pytest.raises(MalformedReplyError):
        _read(text[:at], DICE)


def test_the_question_is_blind() -> None:
    """Neither odds, nor the reason for them, nor an id, index or file stands in the question."""
    for scene in find_suite("calibench").scenes:
        text = _ask(scene).text
        assert scene.reason not in text
        assert scene.id not in text or "_" not in scene.id
        for word in ("odds", "probab", "seed", "r000", ".mp4", "37", "Veo", "model"):
            assert word not in text.replace("18/37", ""), (scene.id, word)


def test_labels_stand_in_another_order_at_every_vote() -> None:
    """The order is shuffled per vote from a seed: the same again, others for others; and it is on record."""
    orders = [_ask(DICE, vote).order for vote in range(8)]
    assert orders == [shuffled(DICE.labels, seed=0, vote=vote) for vote in range(8)]
    assert len(set(orders)) > 4
    assert all(sorted(order) == sorted(DICE.labels) for order in orders)
    text = _ask(DICE, 1).text
    places = [text.index(f"\n- {label}\n") for label in orders[1]]
    assert places == sorted(places)


def test_the_schema_binds_every_field() -> None:
    """The reply's answer is one of the labels or a null, its case one of the scene's; nothing else is allowed."""
    schema = _ask(BALL).schema
    assert set(schema["properties"]["answer"]["enum"]) == {"left", "right", "unreadable", "out_of_schema"}
    assert schema["required"] == ["seen", "answer", "null_rule"]
    assert schema["additionalProperties"] is False


def test_a_label_that_is_a_null_is_refused() -> None:
    """A scene with an outcome called null cannot be asked: the reply would mean both."""
    from dataclasses import replace

    with pytest.raises(OutOfRangeError, match="'Null' is a judge's word for a null"):
        _ask(replace(BALL, labels=("Null", "left")))


def test_trust_is_read_from_its_own_fields() -> None:
    """An audit's label is its status, its reason the checks that failed; a reply that lacks one is malformed."""
    question = trust_question(BALL, FRAMES, sourced=True)
    checks = dict.fromkeys(("scene_grounding", "action_execution", "object_continuity", "physical_process"), "pass")
    good = {"seen": "x", **checks, "object_continuity": "FAIL", "status": "untrusted"}
    reading = trust_reading(json.dumps(good), question)
    assert (reading.status, reading.label, reading.reason) == ("outcome", "untrusted", "object_continuity")
    for text in ("trusted", json.dumps({"status": "trusted"}), json.dumps({**good, "status": "fine"})):
        with pytest.raises(MalformedReplyError):
            trust_reading(text, question)
