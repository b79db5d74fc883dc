"""A checkout of CaliBench brought in: read without running it, whole, and known as the paper's."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from worldodds import cli, video
from worldodds.bring_calibench import bring_calibench
from worldodds.errors import SourceError
from worldodds.interop.calibench import read_bins, write_bins
from worldodds.interop.calibench_inputs import read_prompts
from worldodds.report.build import page_of
from worldodds.report.page import PUBLISHED
from worldodds.scene import load_suite
from worldodds.scene_file import suite_toml
from worldodds.sources import load
from worldodds.suites import find_suite, inputs
from worldodds.suites.published import published_readings

SUITE = find_suite("calibench")
PROMPTS = {scene: f"Film the scene called {scene}." for scene in SUITE.scene_ids}


@pytest.fixture(autouse=True)
def _prompts_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the stand-ins of this file be the paper's prompts."""
    known = {scene: hashlib.sha256(prompt.encode()).hexdigest() for scene, prompt in PROMPTS.items()}
    monkeypatch.setattr(inputs, "_prompts", lambda suite_id: known if suite_id == "calibench" else {})


def scenes_py(prompts: dict[str, str]) -> str:
    entries = [f'    {s!r}: {{"frame": "{s}_v2", "prompt": ({p[:9]!r} {p[9:]!r})}},\n' for s, p in prompts.items()]
    return f'"""Scenes."""\nraise SystemExit("never run")\nSCENES = {{\n{"".join(entries)}}}\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout: all frames and prompts, the published outcomes, an ablation, and six clips of one model."""
    root = tmp_path / "CaliBench"
    (root / "conditioning_frames").mkdir(parents=True)
    (root / "analysis" / "dur5s").mkdir(parents=True)
    (root / "scenes.py").write_text(scenes_py(PROMPTS))
    for shade, scene in enumerate(SUITE.scene_ids):
        picture = np.full((256, 256, 3), 20 * shade, dtype=np.uint8)
        video.write_still(picture, root / "conditioning_frames" / f"{scene}_v2.png")
    write_bins(published_readings(SUITE), root / "analysis", SUITE)
    other = {"scene": "dice_face_1", "model": "wan", "num_bins": 6, "rollouts": [{"seed": 0, "bin": 1}]}
    (root / "analysis" / "dice_face_1_wan_bins.json").write_text(json.dumps(other))
    longer = (root / "analysis" / "dice_wan_bins.json").read_text()
    (root / "analysis" / "dur5s" / "dice_wan_bins.json").write_text(longer)
    for scene in ("dice", "ball"):
        place = root / "rollouts" / scene / "wan"
        place.mkdir(parents=True)
        for seed in range(3):
            frames = [np.full((64, 64, 3), 40 * seed + i, dtype=np.uint8) for i in range(4)]
            video.encode(frames, place / f"seed_{seed}.mp4", frame_rate=8)
    return root


def plain(rows) -> list:
    return sorted((r.scene, r.model, r.seed, r.reading.status, r.reading.label) for r in rows)


def test_the_suite(checkout: Path, tmp_path: Path) -> None:
    """Frames and prompts are theirs, byte by byte; questions, null rules and odds are ours; no layout of ours stays."""
    suite = bring_calibench(checkout, tmp_path / "official").suite
    assert suite.scene_ids == SUITE.scene_ids
    for ours, theirs in zip(SUITE.scenes, suite.scenes, strict=True):
        assert theirs.prompt == PROMPTS[theirs.id]
        assert theirs.frame is not None
        frame = checkout / "conditioning_frames" / f"{theirs.id}_v2.png"
        assert theirs.frame.read_bytes() == frame.read_bytes()
        assert (theirs.readout, theirs.labels, theirs.reference) == (ours.readout, ours.labels, ours.reference)
        assert theirs.geometry == {}


def test_outcomes_round_trip(checkout: Path, tmp_path: Path) -> None:
    """Bins files in, a table, bins files out: nothing of the main grid is lost, and ablations are counted."""
    brought = bring_calibench(checkout, tmp_path / "official")
    assert brought.outcomes.set_aside == {"dice_face_1": 1, "dur5s/dice": 1}
    source = load(tmp_path / "official" / "outcomes.csv", suite=brought.suite.folder)
    (tmp_path / "back").mkdir()
    assert write_bins(source.rows, tmp_path / "back", brought.suite) == []
    again = read_bins(tmp_path / "back", SUITE)
    assert plain(again) == plain(published_readings(SUITE))
    for file in (tmp_path / "back").iterdir():
        assert file.read_bytes() == (checkout / "analysis" / file.name).read_bytes()


def test_runs(checkout: Path, tmp_path: Path) -> None:
    """A model that has clips becomes a run: its clips, and beside each what the checkout's judge read in it."""
    brought = bring_calibench(checkout, tmp_path / "official")
    assert (brought.runs, brought.open) == ((tmp_path / "official" / "runs" / "wan",), ())
    source = load(*brought.runs)
    published = {(r.scene, r.seed): r.reading for r in published_readings(SUITE) if r.model == "wan"}
    assert len(source.rows) == len(source.clips) == 6
    assert all(row.reading == published[row.scene, row.seed] for row in source.rows)


def test_runs_of_its_frames_are_ranked_among_the_published(checkout: Path, tmp_path: Path) -> None:
    """A run of the imported suite stands among the paper's models, and only while its frames and prompts are theirs."""
    brought = bring_calibench(checkout, tmp_path / "official")
    page = page_of(load(*brought.runs))
    assert page.filmed_from == {"folder/wan": PUBLISHED}
    assert page.filmed_otherwise == ()
    scene = brought.suite.folder / "dice.toml"
    scene.write_text(scene.read_text().replace("Film the", "Show the"))
    suite = load_suite(brought.suite.folder)
    assert inputs.film_of(suite.scene("ball"), suite) == PUBLISHED
    assert inputs.film_of(suite.scene("dice"), suite) != PUBLISHED


def test_other_prompts_are_not_the_papers(checkout: Path, tmp_path: Path) -> None:
    """A checkout whose prompt was changed is brought in, told, and that scene is not taken for the paper's."""
    (checkout / "scenes.py").write_text(scenes_py(PROMPTS | {"dice": "Roll a six."}))
    brought = bring_calibench(checkout, tmp_path / "official")
    assert brought.reworded == ("dice",)
    assert set(brought.suite.films) == set(SUITE.scene_ids) - {"dice"}
    assert page_of(load(*brought.runs)).filmed_otherwise == ("folder/wan",)


def test_our_own_suites_claim_nothing() -> None:
    """Our frames and prompts are never taken for the paper's, even where a suite file says so of other hashes."""
    assert SUITE.films == {}
    claimed = replace(SUITE, films=dict.fromkeys(SUITE.scene_ids, "0" * 64))
    assert all(inputs.film_of(scene, claimed) != PUBLISHED for scene in SUITE.scenes)
    assert "[films]" in suite_toml(claimed)


def test_the_papers_prompts_are_known_by_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package knows all nine prompts of the paper by hash, and none of ours is one of them."""
    monkeypatch.undo()
    assert inputs.reworded(SUITE) == SUITE.scene_ids
    assert set(inputs._prompts("calibench")) == set(SUITE.scene_ids)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("SCENES = dict(a=1)", "not a plain literal"),
        ("SCENES = {'dice': __import__('os').system('true')}", "not a plain literal"),
        ("SCENES = " + "(" * 500 + ")" * 500, "not a plain literal"),
        ("SCENES = {", "not a plain literal"),
        ("SCENE = {}", "there is no dictionary SCENES"),
        ("SCENES = {'dice': {'frame': 'dice'}}", "dice: not"),
        ("#" * 1_000_001, "not the file of scenes"),
    ],
)
def test_scenes_py_is_only_read(tmp_path: Path, code: str, told: str) -> None:
    """Anything but a literal is refused in a sentence; no code of the checkout ever runs."""
    (tmp_path / "scenes.py").write_text(code)
    with pytest.raises(SourceError, match=told):
        read_prompts(tmp_path / "scenes.py")


def test_bad_checkouts(checkout: Path, tmp_path: Path) -> None:
    """A frame that leads out, one that is missing, a scene too few and a folder that exists: refused, nothing made."""
    good = scenes_py(PROMPTS)
    for text, told in (
        (good.replace('"dice_v2"', '"../../secret"'), "leads out"),
        (good.replace('"dice_v2"', '"dice_v3"'), "no picture 'dice_v3'"),
        (scenes_py({"dice": "x"}), "there is no scene 'galton_board_real'"),
        (scenes_py(PROMPTS | {"dices": "x"}), "Did you mean 'dice'"),
    ):
        (checkout / "scenes.py").write_text(text)
        with pytest.raises(SourceError, match=told):
            bring_calibench(checkout, tmp_path / "official")
        assert not (tmp_path / "official").exists()
    (tmp_path / "there").mkdir()
    with pytest.raises(SourceError, match="exists already"):
        bring_calibench(checkout, tmp_path / "there")


def test_command(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command says what was made and set aside; a clip that is missing leaves it open."""
    assert cli.call(["import", "calibench", str(checkout), "-o", str(tmp_path / "one")]) == 0
    out = capsys.readouterr().out
    assert "1728 outcomes of 6 models" in out
    assert "dice_face_1, dur5s/dice" in out
    (checkout / "rollouts" / "ball" / "wan" / "seed_1.mp4").unlink()
    assert cli.call(["import", "calibench", str(checkout), "-o", str(tmp_path / "two")]) == 3
    assert "Open: wan: ball r001" in capsys.readouterr().out
    assert cli.call(["import", "calibench", str(tmp_path / "none"), "-o", str(tmp_path / "three")]) == 2


class KilledError(BaseException):
    """The import ended here, as by kill -9: nothing behind this point was done."""


@pytest.mark.parametrize("stage", ["save_suite", "write_rows", "run", "reading_keys", "rename"])
def test_an_import_that_was_killed_is_repeated(
    stage: str, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after any stage, there is no half of an import, and the same command brings in all that it would have."""
    from worldodds import bring_calibench as module

    calm = bring_calibench(checkout, tmp_path / "calm")
    owner, name = (Path, "rename") if stage == "rename" else (module, stage)
    whole = getattr(owner, name)

    def killed(*words: object, **named: object) -> None:
        if stage == "rename" and words[1] != tmp_path / "again":
            return whole(*words, **named)
        if stage != "rename":
            whole(*words, **named)
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, killed)
        with pytest.raises(KilledError):
            bring_calibench(checkout, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    assert cli.call(["import", "calibench", str(checkout), "-o", str(tmp_path / "again")]) == 0
    assert not list(tmp_path.glob(".*.part"))
    found = [sorted(p.relative_to(tmp_path / f) for p in (tmp_path / f).rglob("*")) for f in ("calm", "again")]
    assert found[0] == found[1]
    wan = load(tmp_path / "again" / "runs" / "wan")
    assert plain(wan.rows) == plain(load(calm.runs[0]).rows)
    assert all(clip.is_file() and clip.is_relative_to(tmp_path / "again") for clip in wan.clips.values())


def test_a_wrong_checkout_leaves_nothing(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in the middle of it removes what was begun."""
    from worldodds import bring_calibench as module

    def broken(*_: object) -> None:
        raise SourceError("no more")

    monkeypatch.setattr(module, "write_rows", broken)
    with pytest.raises(SourceError, match="no more"):
        bring_calibench(checkout, tmp_path / "official")
    assert not list(tmp_path.glob("*official*"))
