"""Risky designs are told, sound ones are left in peace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from worldodds import cli, video
from worldodds.errors import OutOfRangeError
from worldodds.outcome import Reference
from worldodds.report.scenes_page import write_scenes_page
from worldodds.rollout import Clip, Reading
from worldodds.scene import NullRule, ReadOut, Scene, Suite
from worldodds.scene_check import check_suite, risks_of
from worldodds.scene_stills import look_at_stills, read_still
from worldodds.suites import find_suite

BROKEN = NullRule(name="hidden", kind="unreadable", rule="It is hidden.")
ODD = NullRule(name="on_edge", kind="out_of_schema", rule="It stands on its edge.")


@pytest.fixture
def frame(tmp_path: Path) -> Path:
    path = tmp_path / "frame.png"
    video.write_still(np.zeros((360, 640, 3), dtype=np.uint8), path)
    return path


@pytest.fixture
def sound(frame: Path) -> Scene:
    labels = ("heads", "tails")
    return Scene(
        id="coin",
        title="A coin",
        prompt="The coin is flipped once and comes to rest.",
        labels=labels,
        readout=ReadOut(evidence="last frame", question="Is it heads or tails?", nulls=(BROKEN, ODD)),
        reference=Reference.uniform(labels),
        reason="Two like sides.",
        frame=frame,
    )


def parts(scene: Scene, rollouts: int = 32) -> list[str]:
    return [risk.part for risk in risks_of(scene, rollouts)]


def labelled(scene: Scene, *labels: str) -> Scene:
    readout = replace(scene.readout, question=f"Which of {' '.join(labels)}?")
    return replace(scene, labels=labels, readout=readout, reference=Reference.uniform(labels))


def test_sound_scenes_have_no_risk(sound: Scene) -> None:
    """A sound design raises nothing, and neither do the scenes that we ship."""
    assert parts(sound) == []
    assert check_suite(find_suite("calibench")).risks == 0


def test_rare_outcomes(sound: Scene) -> None:
    """Odds are too skewed where most outcomes are expected less than once, at these rollouts and not at more."""
    labels = ("heads", "tails", "edge")
    skewed = replace(labelled(sound, *labels), reference=Reference.of(["98/100", "1/100", "1/100"], labels))
    told = [risk.told for risk in risks_of(skewed, 32)]
    assert "2 of 3 outcomes are expected less than once ('tails', 'edge')" in told[0]
    assert parts(skewed, 32) == ["odds", "odds"]
    assert len(parts(skewed, 200)) == 1


@pytest.mark.parametrize(
    ("labels", "alike"),
    [
        (("Left", "left"), True),
        (("red ball", "red-ball"), True),
        (("pecks_without_taking", "pecks_with_taking"), True),
        (("left", "right"), False),
        (("1", "11"), False),
        (("sum_2", "sum_12"), False),
    ],
)
def test_labels_alike(sound: Scene, labels: tuple[str, ...], alike: bool) -> None:
    """Near-equal strings are told; numbers are meant to be near."""
    assert ("labels" in parts(labelled(sound, *labels))) is alike


def test_outcomes_in_the_prompt(sound: Scene) -> None:
    """A prompt that names some outcomes leads to them; parts of other words do not count."""
    some = risks_of(replace(sound, prompt="It lands heads up."), 32)
    assert [risk.part for risk in some] == ["prompt"]
    assert "'heads' and not the others" in some[0].told
    assert "every outcome" in risks_of(replace(sound, prompt="Heads or tails?"), 32)[0].told
    assert parts(replace(sound, prompt="Two arrowheads and cocktails.")) == []


def test_nulls_and_questions(sound: Scene) -> None:
    """Missing null rules, a missing kind, and a question that says nothing of the outcomes are told."""
    readout = sound.readout
    assert parts(replace(sound, readout=replace(readout, nulls=()))) == ["nulls"]
    assert parts(replace(sound, readout=replace(readout, nulls=(ODD,)))) == ["nulls"]
    assert parts(replace(sound, readout=replace(readout, nulls=(BROKEN,)))) == ["nulls"]
    assert parts(replace(sound, readout=replace(readout, question="What is up?"))) == ["question"]


@pytest.mark.parametrize(("shape", "told"), [((64, 128, 3), "tiny"), ((361, 640, 3), "odd")])
def test_frames(sound: Scene, tmp_path: Path, shape: tuple[int, ...], told: str) -> None:
    """Tiny frames and odd sizes are told."""
    video.write_still(np.zeros(shape, dtype=np.uint8), tmp_path / "x.png")
    assert told in risks_of(replace(sound, frame=tmp_path / "x.png"), 32)[0].told


@pytest.mark.parametrize(("mode", "told"), [("RGBA", "transparency"), ("P", "palette"), ("L", "grey"), ("I;16", "16")])
def test_frames_of_unusual_mode(sound: Scene, tmp_path: Path, mode: str, told: str) -> None:
    """A picture that is not plain 8-bit RGB is told, since models open such files differently."""
    image = pytest.importorskip("PIL.Image")
    image.new(mode, (640, 360)).save(tmp_path / "x.png")
    assert told in risks_of(replace(sound, frame=tmp_path / "x.png"), 32)[0].told


def test_frames_that_are_none(sound: Scene, tmp_path: Path) -> None:
    """No frame, and a file that is no picture, are told."""
    (tmp_path / "x.png").write_bytes(b"no picture")
    assert "not filmed" in risks_of(replace(sound, frame=None), 32)[0].told
    assert "cannot be used" in risks_of(replace(sound, frame=tmp_path / "x.png"), 32)[0].told


def test_frames_that_give_the_outcome_away(tiny: Suite) -> None:
    """A reader that sees an outcome in the frame alone is quoted; one that sees none, or cannot read it, is not."""

    class Sees:
        name, settings, cpu_bound = "eye", {}, False

        def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
            if scene.id == "die":
                raise OutOfRangeError("no die here")
            return Reading.saw("heads") if clip.frames == 24 and vote == 0 else Reading(status="unreadable")

    coin, die = look_at_stills(check_suite(tiny), Sees()).scenes
    assert "eye reads the outcome 'heads' in it before anything moves" in coin.risks[-1].told
    assert die == check_suite(tiny).scenes[1]
    assert read_still(replace(tiny.scenes[0], frame=None), Sees()) is None


def test_the_page_stands_alone(tiny: Suite, tmp_path: Path) -> None:
    """The preview holds every frame, prompt, question and risk, refers to nothing outside, and runs no script."""
    scene = replace(tiny.scenes[0], prompt="<script>alert(1)</script>")
    checked = check_suite(replace(tiny, scenes=(scene, *tiny.scenes[1:])))
    write_scenes_page(checked, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("data:image/png;base64,") == len(tiny.scenes)
    assert all(risk.part in page for one in checked.scenes for risk in one.risks)
    assert "<script" not in page
    assert "http" not in page.split("</style>")[1]


def test_command(tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints rollouts and risks of a suite, or of one scene, and writes the page."""
    assert cli.call(["scene", "check", str(tiny_folder), "-o", str(tmp_path / "all.html")]) == 0
    out = capsys.readouterr().out
    assert "coin: frame: 64 x 64 pixels is tiny" in out
    assert "die: question" not in out
    assert "54" in out
    assert cli.call(["scene", "check", str(tiny_folder / "die.toml"), "-o", str(tmp_path / "one.html")]) == 0
    assert "coin" not in capsys.readouterr().out
    (tiny_folder / "die.toml").write_text("format = 1")
    assert cli.call(["scene", "check", str(tiny_folder), "-o", str(tmp_path / "no.html")]) == 2
    assert not (tmp_path / "no.html").exists()
