"""PAWBench's tracks: the documented edge cases of its metrics, and ours beside them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from worldodds.errors import InputError, UnknownNameError
from worldodds.given_odds import parse_reference, with_references, written
from worldodds.outcome import Counts
from worldodds.scene import Scene
from worldodds.suites import find_suite
from worldodds.tally import Tally
from worldodds.tracks import TrackResult, placement_of, score_tracks

BARE = find_suite("pawbench")
GIVEN = dict(parse_reference(text, BARE) for text in ("A-04=red:1/4,blue:3/4", "A-11=left:1/4,right:3/4"))
SUITE = with_references(BARE, GIVEN)


def even(scene: Scene, n: int = 50) -> list[int]:
    k = len(scene.labels)
    return [n // k + (i < n % k) for i in range(k)]


def tally(scene: Scene, counts: list[int], *, nulls: int | None = None, failed: int = 0) -> Tally:
    counts = counts + [0] * (len(scene.labels) - len(counts))
    lost = 50 - sum(counts) - failed if nulls is None else nulls
    seen = Counts.of(counts, labels=scene.labels, unreadable=lost)
    return Tally(counts=seen, refused=0, failed=failed, missing=0)


def whole(changes: Mapping[str, Tally], suite=SUITE) -> dict[str, Tally]:
    return {scene.id: changes.get(scene.id) or tally(scene, even(scene)) for scene in suite.scenes}


def track(changes: Mapping[str, Tally], name="calibration", suite=SUITE) -> TrackResult:
    return score_tracks({"m": whole(changes, suite)}, suite)[0].tracks[name]


def scene_of(result: TrackResult, scene_id: str):
    return next(scene for scene in result.scenes if scene.scene.id == scene_id)


COIN = SUITE.scene("A-01")


@pytest.mark.parametrize(
    ("counts", "status", "metric"),
    [([20, 0], "pass", 50.0), ([19, 0], "fail", None), ([20, 20], "pass", 0.0), ([35, 15], "pass", 20.0)],
)
def test_the_gate(counts: list[int], status: str, metric: float | None) -> None:
    """Twenty readable of fifty are measured among themselves, nineteen are not measured at all."""
    scene = scene_of(track({"A-01": tally(COIN, counts)}), "A-01")
    assert (scene.status, scene.nulls) == (status, 50 - sum(counts))
    assert scene.official == (pytest.approx(metric) if metric is not None else None)


def test_a_failing_scene_leaves_the_mean_and_lowers_the_rate() -> None:
    """The average is over the 24 scenes that pass, the pass rate over all 25."""
    alone = track({"A-01": tally(COIN, [19, 0])})
    others = [s.metric for s in alone.scenes if s.scene.id != "A-01"]
    assert alone.official.average == pytest.approx(sum(others) / 24)
    assert (alone.official.scene_pass_rate, alone.official.passing) == (96.0, 24)
    assert "A-01" not in alone.official.averaged


def test_group_means() -> None:
    """A group's mean is over its passing scenes, and there is none where none passes."""
    draw = [scene for scene in SUITE.scenes if placement_of(scene).group == "draw"]
    none = track({scene.id: tally(scene, [10]) for scene in draw})
    assert none.official.groups["draw"] is None
    assert none.official.average is not None
    two = {scene.id: tally(scene, [10]) for scene in draw}
    two |= {"A-13": tally(draw[0], [50, 0]), "A-14": tally(draw[1], [25, 25])}
    assert track(two).official.groups["draw"] == pytest.approx(25.0)


def test_coverage() -> None:
    """One of two labels is 50 percent; the tracks are never combined."""
    scene = SUITE.scene("BC-09")
    result = track({"BC-09": tally(scene, [30, 20, 0, 0])}, "coverage")
    assert scene_of(result, "BC-09").official == 50.0
    card = score_tracks({"m": whole({})}, SUITE)[0]
    assert set(card.tracks) == {"calibration", "coverage"}


def test_one_failure_blocks_a_track_officially_and_not_ours() -> None:
    """The official average, group means and rate are gone; over what was read they stand, with the hole named."""
    result = track({"A-01": tally(COIN, [25, 24], failed=1, nulls=0)})
    assert (result.status, scene_of(result, "A-01").status, scene_of(result, "A-01").nulls) == ("blocked", "blocked", 0)
    assert result.official.average is None
    assert result.official.scene_pass_rate is None
    assert set(result.official.groups.values()) == {None}
    assert "A-01" in (result.official.reason or "")
    assert result.partial.average is not None
    assert result.partial.scene_pass_rate == 100.0
    assert "1 failed" in result.partial.holes["A-01"]
    assert score_tracks({"m": whole({})}, SUITE)[0].tracks["coverage"].status == "ok"


def test_the_gate_settles_before_all_is_there() -> None:
    """Twenty readable pass whatever comes, 31 nulls fail whatever comes, and between them nothing is told."""
    settled = {
        "A-01": tally(COIN, [10, 10], nulls=0),
        "A-02": tally(SUITE.scene("A-02"), [3], nulls=31),
        "A-03": tally(SUITE.scene("A-03"), [5, 5], nulls=0),
    }
    result = track(settled)
    assert [scene_of(result, name).passes for name in settled] == [True, False, None]
    assert [scene_of(result, name).metric for name in settled] == [0.0, None, None]
    assert {"A-01", "A-02", "A-03"} <= set(result.partial.holes)
    assert result.partial.scene_pass_rate == pytest.approx(100 * 23 / 25)


def test_a_scene_that_was_not_filmed() -> None:
    """Is missing, blocks officially, and is named."""
    tallies = whole({})
    del tallies["A-07"]
    result = score_tracks({"m": tallies}, SUITE)[0].tracks["calibration"]
    assert (result.status, scene_of(result, "A-07").status) == ("blocked", "missing")
    assert result.partial.holes == {"A-07": "no rollout is there"}
    assert len(result.partial.averaged) == 24


def test_unknown_references_are_holes() -> None:
    """Without odds for A-04 and A-11 the average and their groups are null; the pass rate needs no odds."""
    result = track({}, suite=BARE)
    assert (result.status, scene_of(result, "A-04").status) == ("no_reference", "no_reference")
    assert result.official.average is None
    assert (result.official.groups["rotation"], result.official.groups["routing"]) == (None, None)
    assert result.official.groups["toss"] is not None
    assert (result.official.scene_pass_rate, result.official.passing) == (100.0, 25)
    assert len(result.partial.averaged) == 23
    assert set(result.partial.holes) == {"A-04", "A-11"}


def test_a_hole_below_the_gate_is_none() -> None:
    """A scene without odds that fails the gate is in no average, so its odds are not needed."""
    changes = {name: tally(BARE.scene(name), [10, 9]) for name in ("A-04", "A-11")}
    result = track(changes, suite=BARE)
    assert result.status == "ok"
    assert result.official.average is not None
    assert result.official.scene_pass_rate == 92.0


def test_zero_probability_labels_count() -> None:
    """A pencil that leans left and falls right half the time is off by 50."""
    assert scene_of(track({"A25": tally(SUITE.scene("A25"), [25, 25])}), "A25").official == 50.0


def test_nothing_passes() -> None:
    """All scenes below the gate: no average, a pass rate of zero, and the reason."""
    result = track({scene.id: tally(scene, [5]) for scene in SUITE.scenes})
    assert (result.official.average, result.official.scene_pass_rate) == (None, 0.0)
    assert result.official.reason == "no scene passes the gate"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A-04", "write it as"),
        ("A-04=red:1/4", "no odds for 'blue'"),
        ("A-04=red:1/4,blu:3/4", "Did you mean 'blue'"),
        ("A-04=red:1/4,blue:1/4", "not to 1"),
        ("A-04=red:x,blue:1/4", "not a number"),
        ("A-04=red:1/4,red:1/4,blue:1/2", "given twice"),
        ("A-04=red:-1,blue:2", "negative"),
    ],
)
def test_references_given_by_hand_are_checked(text: str, message: str) -> None:
    """Every label once, odds that sum to 1, or one sentence that says what is wrong."""
    with pytest.raises(InputError, match=message):
        parse_reference(text, BARE)


def test_references_are_for_calibration_scenes() -> None:
    """A coverage scene has no odds by design; an unknown scene is answered with the nearest."""
    with pytest.raises(UnknownNameError, match="No scene is called 'A-4'"):
        parse_reference("A-4=red:1/4,blue:3/4", BARE)
    scene_id, odds = parse_reference("BC-09=left_bin:1,middle_bin:0,right_bin:0,stuck_on_board:0", BARE)
    with pytest.raises(InputError, match="coverage track"):
        with_references(BARE, {scene_id: odds})


def test_given_odds_are_written_as_they_are_read() -> None:
    """And they change the suite's hash, so that no score hides them."""
    assert parse_reference(f"A-04={written(GIVEN['A-04'])}", BARE)[1] == GIVEN["A-04"]
    assert SUITE.content_hash != BARE.content_hash


def test_only_suites_of_tracks() -> None:
    """A suite that is scored otherwise is refused, and so is a scene that the suite does not have."""
    with pytest.raises(InputError, match="has no tracks"):
        score_tracks({}, find_suite("calibench"))
    with pytest.raises(UnknownNameError):
        score_tracks({"m": {"A-99": tally(COIN, [1])}}, SUITE)
