"""Claims about the simulator: exact odds, real motion, one first frame, and no setting wrong in silence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("av")

from worldodds import truth, video
from worldodds.errors import GenerationError, InputError, UnknownNameError
from worldodds.generators.presets import PRESETS, Knobs, cued, make_knobs
from worldodds.generators.simulator import simulator
from worldodds.readers.oracle import Oracle
from worldodds.scene import load_suite
from worldodds.worlds import load_world

SUITE = load_suite(Path(video.__file__).parent / "suites/calibench")
BALL = SUITE.scene("ball")
WORLD = load_world("ball")


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    """A seed gives the same file twice, and the truth beside it is the same as well."""
    maker = simulator("fair", size="320x240")
    a, b = (maker.generate(BALL, seed=5, index=0, into=tmp_path / f"{name}.mp4") for name in "ab")
    assert a.clip.sha256 == b.clip.sha256
    assert truth.truth_path(a.clip.path).read_bytes() == truth.truth_path(b.clip.path).read_bytes()
    assert a.details == b.details
    assert {p.name for p in tmp_path.iterdir()} == {"a.mp4", "b.mp4", "a.truth.json", "b.truth.json"}


def test_all_clips_share_their_first_frame(tmp_path: Path) -> None:
    """Whatever the preset and the seed, the clip begins with the conditioning frame."""
    still = video.read_still(BALL.frame)
    for preset, seed in (("fair", 0), ("natural", 1), ("murky", 2)):
        rollout = simulator(preset).generate(BALL, seed=seed, index=0, into=tmp_path / "x.mp4")
        first = video.decode(rollout.clip.path, last=1).frames[0]
        assert np.abs(first.astype(int) - still).mean() < 3


@pytest.mark.parametrize("scene", ["ball", "galton_board", "dice"])
def test_target_equals_truth(scene: str) -> None:
    """Physics, run again from the start that was found, ends in the target."""
    world, maker = load_world(scene), simulator("fair")
    for seed in range(4):
        take = maker.plan(SUITE.scene(scene), world, seed=seed)
        again = world.simulate(start_seed=take.start_seed)
        assert take.target == take.motion.outcome == take.truth.outcome == again.outcome


def test_targets_follow_the_stated_odds() -> None:
    """Over many seeds the mixture's outcomes come up as often as its odds say (five standard errors)."""
    maker = simulator("mixture", odds="left:1/4,right:3/4")
    odds = PRESETS["mixture"].odds(BALL, maker.knobs)
    assert odds == pytest.approx([0.25, 0.75])
    left = sum(maker.plan(BALL, WORLD, seed=seed).target == "left" for seed in range(120))
    assert abs(left - 30) < 5 * np.sqrt(120 * 0.25 * 0.75)


def test_natural_has_no_target() -> None:
    """Natural physics falls as it falls, at the first attempt."""
    take = simulator("natural").plan(BALL, WORLD, seed=0)
    assert (take.target, take.attempts) == (None, 1)


def test_stuck_ignores_its_seed(tmp_path: Path) -> None:
    """Two seeds of the stuck world give identical clips."""
    maker = simulator("stuck", size="160x120")
    a, b = (maker.generate(BALL, seed=s, index=s, into=tmp_path / f"{s}.mp4") for s in (1, 2))
    assert a.clip.sha256 == b.clip.sha256
    assert (a.seed, b.seed) == (1, 2)


def test_murky_clips_are_nulls_by_their_own_rule(tmp_path: Path) -> None:
    """The oracle calls a spoiled clip what its null rule says, though the physics ended in an outcome."""
    maker = simulator("murky", murky_share=1.0, size="160x120")
    for seed in range(4):
        rollout = maker.generate(BALL, seed=seed, index=seed, into=tmp_path / "x.mp4")
        known = truth.read(rollout.clip.path)
        reading = Oracle().read(rollout.clip, BALL, vote=0)
        assert known.physics_outcome in BALL.labels
        assert (known.outcome, reading.reason) == (None, known.null_rule)
        assert reading.status == BALL.null_kind(known.null_rule)


def test_collapsed_favours_the_commonest() -> None:
    """By default the collapsed world has nine tenths on the commonest outcome and the rest on the next."""
    odds = PRESETS["collapsed"].odds(SUITE.scene("galton_board"), make_knobs("collapsed", {}))
    assert odds[5] == pytest.approx(0.9)
    assert sorted(odds)[-2:] == pytest.approx([0.1, 0.9])
    odds = PRESETS["collapsed"].odds(BALL, make_knobs("collapsed", {"favoured": "right"}))
    assert odds.tolist() == [0.0, 1.0]


def test_sharpened_is_the_reference_to_a_power() -> None:
    """Gamma 1 is the reference; above 1 the likeliest outcome gains."""
    board = SUITE.scene("galton_board")
    same, sharp = (PRESETS["sharpened"].odds(board, make_knobs("sharpened", {"gamma": g})) for g in (1, 3))
    assert same == pytest.approx(board.reference.probabilities)
    assert sharp == pytest.approx(same**3 / (same**3).sum())


@pytest.mark.parametrize(
    ("preset", "settings", "error", "says"),
    [
        ("fairr", {}, UnknownNameError, "Did you mean 'fair'"),
        ("fair", {"murky_share": 0.1}, UnknownNameError, "no setting called 'murky_share'"),
        ("murky", {"murky_shar": 0.1}, UnknownNameError, "Did you mean 'murky_share'"),
        ("murky", {"murky_share": 1.5}, InputError, "between 0 and 1"),
        ("murky", {"murky_share": "much"}, InputError, "not a number"),
        ("murky", {"murky_share": float("nan")}, InputError, "not a number"),
        ("fair", {"crf": float("inf")}, InputError, "not a whole number"),
        ("fair", {"crf": 18.5}, InputError, "not a whole number"),
        ("fair", {"crf": 99}, InputError, "between 0 and 51"),
        ("fair", {"size": "641x480"}, InputError, "both even"),
        ("fair", {"size": "big"}, InputError, "is no size"),
        ("mixture", {}, InputError, "needs the setting 'odds'"),
    ],
)
def test_wrong_settings_are_named(preset: str, settings: dict[str, object], error: type[Exception], says: str) -> None:
    """Unknown names are answered with the nearest, values with their range."""
    with pytest.raises(error, match=says):
        simulator(preset, **settings)


@pytest.mark.parametrize(
    ("odds", "says"), [("left:1/4", "sums to 0.25"), ("left", "no share"), ("up:1,left:0", "not an outcome")]
)
def test_wrong_mixtures_are_named(odds: str, says: str) -> None:
    """A mixture must name the scene's outcomes and sum to 1."""
    with pytest.raises(InputError, match=says):
        simulator("mixture", odds=odds).plan(BALL, WORLD, seed=0)


def test_an_outcome_that_is_not_found_is_said(tmp_path: Path) -> None:
    """Where no start ends in the target within the attempts allowed, generation fails and nothing is left behind."""
    maker = simulator("collapsed", favoured="1", most_attempts=1)
    with pytest.raises(GenerationError, match="most_attempts"):
        maker.generate(SUITE.scene("galton_board"), seed=0, index=0, into=tmp_path / "x.mp4")
    assert list(tmp_path.iterdir()) == []


def test_every_setting_is_recorded() -> None:
    """Settings name exactly the knobs of the preset, as plain values that JSON keeps."""
    maker = simulator("murky", murky_share=0.5)
    assert maker.settings == {"size": "640x480", "crf": 18, "most_attempts": 20000, "murky_share": 0.5}
    assert json.loads(json.dumps(maker.settings)) == maker.settings


def test_the_oracle_needs_a_truth(tmp_path: Path) -> None:
    """A clip without a truth beside it, or with one of another scene, is a failed reading, never a null."""
    rollout = simulator("fair", size="160x120").generate(BALL, seed=0, index=0, into=tmp_path / "x.mp4")
    assert Oracle().read(rollout.clip, SUITE.scene("dice"), vote=0).status == "failed"
    truth.truth_path(rollout.clip.path).write_text("{")
    assert Oracle().read(rollout.clip, BALL, vote=0).status == "failed"
    truth.truth_path(rollout.clip.path).unlink()
    reading = Oracle().read(rollout.clip, BALL, vote=0)
    assert (reading.status, reading.label) == ("failed", None)
    assert "no truth" in reading.reason


def test_a_cue_is_seen_and_followed(tmp_path: Path) -> None:
    """The dot lies at the lower edge on the cue's side, from the first frame on, and pulls the outcome there."""
    maker = simulator("cued", cue="right", cue_pull=1.0, size="320x240")
    plain = next(WORLD.draw(WORLD.simulate(start_seed=0), (320, 240)))
    rollout = maker.generate(BALL, seed=0, index=0, into=tmp_path / "x.mp4")
    first = video.decode(rollout.clip.path).frames[0].astype(int)
    changed = np.abs(first - plain).sum(axis=2)[230:]
    assert changed[:, 160:].max() > 150
    assert changed[:, :150].max() < 60
    assert {maker.plan(BALL, WORLD, seed=seed).target for seed in range(6)} == {"right"}
    assert maker.settings["cue_pull"] == 1.0


def test_without_pull_the_cue_changes_no_odds() -> None:
    """With a pull of 0 the target odds are the reference's."""
    dice = SUITE.scene("dice")
    assert np.allclose(cued(dice, Knobs(cue="6", cue_pull=0.0)), 1 / 6)
    assert cued(dice, Knobs(cue="6", cue_pull=0.4)) == pytest.approx([0.1] * 5 + [0.5])


def test_a_truth_of_another_version_is_refused(tmp_path: Path) -> None:
    """What its fields would mean is not known, so the oracle's reading has failed and says why."""
    rollout = simulator("fair", size="320x240").generate(BALL, seed=5, index=0, into=tmp_path / "a.mp4")
    file = truth.truth_path(rollout.clip.path)
    whole = file.read_text()
    assert Oracle().read(rollout.clip, BALL, vote=0).status == "outcome"
    for text, told in (
        (whole.replace("worldodds.truth/1", "worldodds.truth/2"), "format: 'worldodds.truth/2' is not 'worldodds.tr"),
        (whole.replace('"format"', '"formed"'), "format: 'missing' is not"),
        ("[1]", "format: 'missing' is not"),
        (whole[:40], "not a truth file"),
    ):
        file.write_text(text)
        reading = Oracle().read(rollout.clip, BALL, vote=0)
        assert reading.status == "failed"
        assert told in str(reading.reason)
    file.write_bytes(b'{"scene": "\xff"}')
    assert "not a truth file" in str(Oracle().read(rollout.clip, BALL, vote=0).reason)
