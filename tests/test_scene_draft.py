"""A scene from answers: written, listed, and refused without leaving anything behind."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from worldodds import cli
from worldodds.errors import SceneError
from worldodds.scene import load_suite
from worldodds.scene_draft import Draft, add_scene

DRAFT = Draft(
    id="bent",
    title="A bent coin",
    prompt="The coin is flipped once.",
    outcomes=("heads", "tails"),
    odds=("2/3", "1/3"),
    reason="Counted in 3,000 flips.",
    question="Heads or tails?",
)


def test_begins_a_suite_and_goes_on(tmp_path: Path) -> None:
    """The first scene begins the suite, the next joins it, and what a person wrote there stays."""
    folder = tmp_path / "my coins"
    suite = add_scene(DRAFT, folder, rollouts=50)
    assert (suite.id, suite.protocol.rollouts, suite.scene_ids) == ("my-coins", 50, ("bent",))
    assert [str(odds) for odds in suite.scene("bent").reference.odds] == ["2/3", "1/3"]
    index = folder / "suite.toml"
    index.write_text(index.read_text().replace("scenes = [", "# mine\nscenes = ["))
    assert add_scene(replace(DRAFT, id="fair", odds=()), folder).scene_ids == ("bent", "fair")
    assert "# mine" in index.read_text()


@pytest.mark.parametrize(
    "listed", ['scenes = ["coin", "die"]', 'scenes = [ "coin", "die", ]', 'scenes=[\n"coin",\n"die"]']
)
def test_joins_lists_however_written(tiny_folder: Path, listed: str) -> None:
    """The list of scenes may be written in one line or many, with a last comma or without."""
    index = tiny_folder / "suite.toml"
    index.write_text(index.read_text().replace('scenes = ["coin", "die"]', listed))
    assert add_scene(DRAFT, tiny_folder).scene_ids == ("coin", "die", "bent")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"odds": ("2/3", "2/3")}, "sum to 1.333"),
        ({"odds": ("1",)}, "1 given for 2 labels"),
        ({"reason": ""}, "say why the odds hold"),
        ({"id": "../out"}, "cannot name a scene"),
        ({"id": "coin"}, "there is a scene 'coin' already"),
        ({"prompt": " "}, "prompt: it is blank"),
        ({"outcomes": ("a", "a"), "odds": ()}, "given twice"),
        ({"frame": Path("none.png")}, "there is no file 'none.png'"),
    ],
)
def test_refused_and_nothing_changed(tiny_folder: Path, changes: dict, told: str) -> None:
    """A wrong answer is refused in a sentence, and the suite stays as it was."""
    before = load_suite(tiny_folder).content_hash
    with pytest.raises(SceneError, match=told):
        add_scene(replace(DRAFT, **changes), tiny_folder)
    assert load_suite(tiny_folder).content_hash == before
    assert not (tiny_folder / "bent.toml").exists()


WORDS = ["--title", "A coin", "--prompt", "It is flipped.", "--outcome", "heads", "--outcome", "tails"]


def test_command_in_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With all flags nothing is asked; the null rules of a flag replace the common ones."""
    flags = [*WORDS, "--id", "coin", "--question", "Heads or tails?", "--reason", "It is fair.", "--null"]
    rule = "edge:out_of_schema:It stands: on edge."
    assert cli.call(["scene", "new", str(tmp_path / "coins"), *flags, rule]) == 0
    coin = load_suite(tmp_path / "coins").scene("coin")
    assert [(null.name, null.kind, null.rule) for null in coin.readout.nulls] == [tuple(rule.split(":", 2))]
    assert coin.reference is not None
    assert "worldodds scene check" in capsys.readouterr().out
    assert cli.call(["scene", "new", str(tmp_path / "coins"), *flags, "edge:maybe:x"]) == 2
    assert "write name:kind:rule" in capsys.readouterr().err


def test_command_without_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    """A missing answer names its flag, and nothing is written."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert cli.call(["scene", "new", str(tmp_path / "coins"), *WORDS]) == 2
    assert "--id is missing" in capsys.readouterr().err
    assert not (tmp_path / "coins").exists()


def test_command_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal what no flag gave is asked, again where the answer may not be empty."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    answers = "\nheads, tails\n\ncoin\nA coin\nIt is flipped.\n2/3, 1/3\nIt is bent.\nHeads or tails?\n"
    monkeypatch.setattr("sys.stdin", Terminal(answers))
    assert cli.call(["scene", "new", str(tmp_path / "coins")]) == 0
    coin = load_suite(tmp_path / "coins").scene("coin")
    assert (coin.labels, coin.reason, coin.frame) == (("heads", "tails"), "It is bent.", None)
