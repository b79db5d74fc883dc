"""Scenes and suites: read once, refused with file, key and fix, and hashed by what matters."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.errors import SceneError, UnknownNameError
from worldodds.scene import NullRule, ReadOut, Scene, digest, load_scene, load_suite

SUITE = """
format = "worldodds.suite/1"
id = "own"
title = "Our own"
version = "1"
source = "us"
scenes = ["coin"]

[protocol]
rollouts = 8
aggregate = "mntv"
"""

COIN = """
format = "worldodds.scene/1"
id = "coin"
title = "A coin"
prompt = "A coin is tossed and lands flat."
labels = ["heads", "tails"]
frame = "frames/coin.png"

[readout]
evidence = "last frame"
question = "Which side is up?"

[[readout.nulls]]
name = "on_edge"
kind = "out_of_schema"
rule = "The coin stands on its edge."

[reference]
kind = "odds"
odds = ["1/2", 0.5]
reason = "A fair coin."

[geometry]
table = [0.1, 0.2]
"""


def folder(where: Path, coin: str = COIN, suite: str = SUITE) -> Path:
    where.mkdir(exist_ok=True)
    (where / "frames").mkdir(exist_ok=True)
    (where / "frames" / "coin.png").write_bytes(b"picture")
    (where / "coin.toml").write_text(coin)
    (where / "suite.toml").write_text(suite)
    return where


def scene(*labels: str) -> Scene:
    readout = ReadOut(evidence="last frame", question="?", nulls=(NullRule(name="x", kind="unreadable", rule="x"),))
    return Scene(id="s", title="S", prompt="p", labels=labels, readout=readout, reference=None, reason="")


def test_reads(tmp_path: Path) -> None:
    """A good folder is read whole."""
    suite = load_suite(folder(tmp_path))
    coin = suite.scene("coin")
    assert coin.frame == tmp_path / "frames" / "coin.png"
    assert coin.reference is not None
    assert [str(o) for o in coin.reference.odds or ()] == ["1/2", "1/2"]
    assert coin.geometry == {"table": [0.1, 0.2]}
    assert suite.protocol.rollouts == 8


def test_scene_may_lack_frame_and_reference(tmp_path: Path) -> None:
    """Without a frame a scene can be scored only; without a reference only coverage can be measured."""
    text = COIN.replace('frame = "frames/coin.png"', "")
    text = text[: text.index("[reference]")]
    coin = load_suite(folder(tmp_path, text)).scene("coin")
    assert (coin.frame, coin.frame_sha256, coin.reference, coin.reason) == (None, None, None, "")


BAD_SCENES = {
    "not TOML": ("id =", "id", "not valid TOML"),
    "format": ("worldodds.scene/1", "worldodds.scene/7", "format: 'worldodds.scene/7' is not known; write 'worldodds."),
    "no format": ('format = "worldodds.scene/1"', "", "format: 'missing' is not known"),
    "unknown key": ("prompt =", "promt =", "promt: there is no such key. Did you mean 'prompt'?"),
    "unknown key inside": (
        "question =",
        "questoin =",
        "readout.questoin: there is no such key. Did you mean 'question'?",
    ),
    "unknown key in a null": (
        "rule =",
        "rules =",
        "readout.nulls[0].rules: there is no such key. Did you mean 'rule'?",
    ),
    "unknown key in odds": ("reason =", "reasons =", "reference.reasons: there is no such key. Did you mean 'reason'?"),
    "lacks a key": ('title = "A coin"', "", "object missing required field `title`"),
    "wrong type": ('title = "A coin"', "title = 7", "title: expected `str`, got `int`"),
    "evidence": (
        "last frame",
        "last frames",
        "readout.evidence: 'last frames' is not a choice. Did you mean 'last frame'",
    ),
    "null kind": (
        "out_of_schema",
        "out-of-schema",
        "readout.nulls.kind: 'out-of-schema' is not a choice. Did you mean",
    ),
    "reference kind": ('"odds"', '"oods"', "reference.kind: 'oods' is not a choice. Did you mean 'odds'?"),
    "id": ('"coin"', '"coins"', "id: 'coins' differs from the file's name; call the file coins.toml"),
    "no frame file": (
        "frames/coin.png",
        "frames/dime.png",
        "frame: there is no file 'frames/dime.png' beside the scene",
    ),
    "frame outside": ("frames/coin.png", "../coin.png", "frame: '../coin.png' leads out of the suite's folder"),
    "frame absolute": ("frames/coin.png", "/etc/hostname", "frame: '/etc/hostname' leads out of the suite's folder"),
    "frame NUL": ("frames/coin.png", "a\\u0000b", "leads out of the suite's folder"),
    "one label": ('["heads", "tails"]', '["heads"]', "coin.toml: labels: 1 given; an outcome needs at least 2"),
    "label twice": ('["heads", "tails"]', '["heads", "heads"]', "coin.toml: labels: 'heads' is given twice"),
    "label with space": ('"tails"]', '"tails "]', "labels: 'tails ' is blank or begins or ends with a space; trim it"),
    "blank label": ('"tails"]', '""]', "labels: '' is blank"),
    "blank prompt": ("A coin is tossed and lands flat.", " ", "prompt: it is blank; write at least one sentence"),
    "blank question": ("Which side is up?", "", "readout.question: it is blank"),
    "odds sum": ('["1/2", 0.5]', '["1/2", "1/3"]', "reference: odds: they sum to 0.8333333333, not to 1"),
    "odds nan": ('["1/2", 0.5]', '["1/2", nan]', "reference: odds: nan is not a number"),
    "odds count": ('["1/2", 0.5]', '["1/2", "1/4", "1/4"]', "reference: odds: 3 given for 2 labels"),
    "odds missing": ('odds = ["1/2", 0.5]', "", "reference: a 'odds' reference needs the key 'odds'"),
    "odds not taken": ('kind = "odds"', 'kind = "uniform"', "a 'uniform' reference does not take the key 'odds'"),
    "geometry date": ("[0.1, 0.2]", "1979-05-27", "geometry: it may hold texts, finite numbers, lists and tables"),
    "geometry inf": ("[0.1, 0.2]", "inf", "geometry: it may hold texts, finite numbers, lists and tables"),
}


@pytest.mark.parametrize("case", BAD_SCENES)
def test_bad_scene(tmp_path: Path, case: str) -> None:
    """A wrong scene file is one sentence that names the file, the key and the fix."""
    old, new, message = BAD_SCENES[case]
    assert old in COIN
    with pytest.raises(SceneError, match=re.escape(message)) as caught:
        load_suite(folder(tmp_path, COIN.replace(old, new, 1)))
    assert str(tmp_path / "coin.toml") in str(caught.value)


BAD_SUITES = {
    "unknown key": ('title = "Our own"', 'titel = "x"', "titel: there is no such key. Did you mean 'title'?"),
    "protocol key": ("rollouts =", "rollout =", "protocol.rollout: there is no such key. Did you mean 'rollouts'?"),
    "aggregate": ('"mntv"', '"mtnv"', "protocol.aggregate: 'mtnv' is not a choice. Did you mean 'mntv'?"),
    "no rollouts": ("rollouts = 8", "rollouts = 0", "protocol.rollouts: 0 given; it must lie between 1 and 100000"),
    "twice": ('["coin"]', '["coin", "coin"]', "scenes: 'coin' is listed twice; list each scene once"),
    "same id": ('["coin"]', '["coin", "./coin"]', "scenes: two files have the id 'coin'; ids must differ"),
    "none": ('["coin"]', "[]", "scenes: the list is empty; name at least one scene"),
    "outside": ('["coin"]', '["../coin"]', "scenes: '../coin.toml' leads out of the suite's folder"),
}


@pytest.mark.parametrize("case", BAD_SUITES)
def test_bad_suite(tmp_path: Path, case: str) -> None:
    """A wrong suite file is one sentence that names the file, the key and the fix."""
    old, new, message = BAD_SUITES[case]
    with pytest.raises(SceneError, match=re.escape(message)) as caught:
        load_suite(folder(tmp_path, suite=SUITE.replace(old, new)))
    assert str(tmp_path / "suite.toml") in str(caught.value)


def test_missing_scene_file(tmp_path: Path) -> None:
    """A scene without a file points to the list that names it."""
    with pytest.raises(SceneError, match=r"dime\.toml: there is no such file; check the list of scenes in suite\.toml"):
        load_suite(folder(tmp_path, suite=SUITE.replace('"coin"', '"dime"')))


def test_unreadable_files(tmp_path: Path) -> None:
    """A folder where a file should be, and bytes that are no text, are told in a sentence."""
    (tmp_path / "a.toml").mkdir()
    with pytest.raises(SceneError, match="cannot be read: Is a directory"):
        load_scene(tmp_path / "a.toml")
    (tmp_path / "b.toml").write_bytes(b'title = "\xff"')
    with pytest.raises(SceneError, match="byte 9 is not UTF-8"):
        load_scene(tmp_path / "b.toml")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    """What Windows editors put in front of UTF-8 changes nothing: the file gets as far as its own errors."""
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbfid = 3")
    with pytest.raises(SceneError, match="format: 'missing'"):
        load_scene(tmp_path / "a.toml")


def test_symlinked_frame_outside(tmp_path: Path) -> None:
    """A link does not lead a frame out of the suite's folder either."""
    (tmp_path / "secret.png").write_bytes(b"x")
    own = folder(tmp_path / "own")
    (own / "frames" / "coin.png").unlink()
    (own / "frames" / "coin.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(SceneError, match="leads out of the suite's folder"):
        load_suite(own)


def test_null_rule_names_differ(tmp_path: Path) -> None:
    """Two null rules of one name are refused, for a reading names its rule."""
    again = '\n[[readout.nulls]]\nname = "on_edge"\nkind = "unreadable"\nrule = "Again."\n'
    with pytest.raises(SceneError, match=r"readout\.nulls: 'on_edge' is named twice"):
        load_suite(folder(tmp_path, COIN.replace("\n[reference]", again + "\n[reference]")))


def test_binomial_needs_its_labels(tmp_path: Path) -> None:
    """A binomial with other than trials + 1 labels says so at once, however many trials are asked."""
    text = COIN.replace('kind = "odds"', 'kind = "binomial"')
    text = text.replace('odds = ["1/2", 0.5]', 'trials = 1000000000\nsuccess = "1/2"')
    with pytest.raises(SceneError, match="1000000000 trials have 1000000001 outcomes, and 2 labels are given"):
        load_suite(folder(tmp_path, text))


def test_label_of() -> None:
    """A whole number is always the 1-based position, anything else a label; spaces around it do not matter."""
    s = scene("left", "right")
    assert [s.label_of(text) for text in ("1", " 2 ", "+1", "right")] == ["left", "right", "left", "right"]


def test_label_of_numbers_are_positions() -> None:
    """Even where labels are numbers, a number is the position; decimals can be labels."""
    assert scene("2", "1").label_of("2") == "1"
    assert scene("0.5", "1.0").label_of("1.0") == "1.0"


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ("3", "outcome 3 is beyond scene 's'; it has outcomes 1 to 2"),
        ("0", "outcome 0 is beyond"),
        ("-1", "outcome -1 is beyond"),
        ("9" * 6000, "outcome 9999"),
        ("2.5", "outcome 2.5 is not whole; scene 's' has outcomes 1 to 2"),
        ("1.0", "outcome 1.0 is not whole"),
        ("rigth", "'rigth' is not an outcome of scene 's'. Did you mean 'right'?"),
        ("", "'' is not an outcome"),
    ],
)
def test_label_of_refuses(outcome: str, message: str) -> None:
    """What is neither is refused with what there is."""
    with pytest.raises(UnknownNameError, match=re.escape(message)) as caught:
        scene("left", "right").label_of(outcome)
    assert len(str(caught.value)) < 200


@given(st.lists(st.from_regex(r"[+-]?[0-9a-z.]{1,3}", fullmatch=True), min_size=2, max_size=9, unique=True))
def test_name_of_is_read_back(labels: list[str]) -> None:
    """However labels look, what name_of writes is read back as the same label."""
    s = scene(*labels)
    assert [s.label_of(s.name_of(label)) for label in labels] == labels


def test_null_kind() -> None:
    """A null rule tells its kind; an unknown one is answered with the nearest."""
    assert scene("a", "b").null_kind("x") == "unreadable"
    with pytest.raises(UnknownNameError, match="Scene 's' has no null rule called 'y'"):
        scene("a", "b").null_kind("y")


def test_unknown_scene(tmp_path: Path) -> None:
    """An unknown scene is answered with the nearest, also when cutting a suite."""
    suite = load_suite(folder(tmp_path))
    with pytest.raises(UnknownNameError, match=r"No scene is called 'coinn' in suite 'own'. Did you mean 'coin'\?"):
        suite.only(["coinn"])


def test_reworded_readout_rereads_but_never_refilms(tmp_path: Path) -> None:
    """Question, null rule or evidence change what a reader is asked, and not what a generator sees."""
    before = load_suite(folder(tmp_path / "a")).scene("coin")
    for old, new in (("Which side", "What side"), ("stands on", "rests on"), ("last frame", "whole clip")):
        after = load_suite(folder(tmp_path / "b", COIN.replace(old, new))).scene("coin")
        assert digest(after.film_identity) == digest(before.film_identity)
        assert digest(after.read_identity) != digest(before.read_identity)


def test_frame_and_prompt_refilm(tmp_path: Path) -> None:
    """Other frame bytes or another prompt change what a generator sees, and not what a reader is asked."""
    before = load_suite(folder(tmp_path / "a"))
    other_prompt = load_suite(folder(tmp_path / "b", COIN.replace("is tossed", "is thrown")))
    (folder(tmp_path / "c") / "frames" / "coin.png").write_bytes(b"another picture")
    other_frame = load_suite(tmp_path / "c")
    for after in (other_prompt, other_frame):
        assert digest(after.scene("coin").film_identity) != digest(before.scene("coin").film_identity)
        assert digest(after.scene("coin").read_identity) == digest(before.scene("coin").read_identity)
        assert after.content_hash != before.content_hash


def test_reference_keys_nothing_but_the_suite(tmp_path: Path) -> None:
    """Other odds neither re-film nor re-read, yet they are another suite."""
    before = load_suite(folder(tmp_path / "a"))
    after = load_suite(folder(tmp_path / "b", COIN.replace('["1/2", 0.5]', '["1/4", "3/4"]')))
    assert after.scene("coin").film_identity == before.scene("coin").film_identity
    assert after.scene("coin").read_identity == before.scene("coin").read_identity
    assert after.content_hash != before.content_hash


def test_hash_does_not_know_the_folder(tmp_path: Path) -> None:
    """A copy of a suite has the same hash; another protocol has another."""
    before = load_suite(folder(tmp_path / "a"))
    assert load_suite(folder(tmp_path / "b")).content_hash == before.content_hash
    protocol = replace(before.protocol, rollouts=9)
    assert replace(before, protocol=protocol).content_hash != before.content_hash
