"""Claims about spoiled endings: each is named by a null rule and takes away what the outcome is read from."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cv2")

from worldodds import video
from worldodds.readers.tracker import READERS
from worldodds.scene import load_suite
from worldodds.worlds import endings, load_world, loose, lottery_look, malformed, misprinted, staged
from worldodds.worlds.mixing import lower_mass_x
from worldodds.worlds.world import Motion

SUITE = load_suite(Path(video.__file__).parent / "suites/calibench")
DICE = SUITE.scene("dice")
WORLD = load_world("dice")
MOTION = Motion(outcome="1", invalid=None, states=np.arange(48.0)[:, None], settled_frame=24)


def draw(motion: Motion):
    rng = np.random.default_rng(5)
    for state in motion.states:
        frame = rng.integers(0, 255, (48, 64, 3)).astype(np.uint8)
        frame[:4, :4] = state
        yield frame


@pytest.mark.parametrize("name", endings.ENDINGS)
def test_spoiled_clips_start_as_all_others(name: str) -> None:
    """The first frame is untouched, and the same random numbers give the same pictures."""
    once, twice = (list(endings.spoil(name, DICE, WORLD, draw, MOTION, rng=np.random.default_rng(1))) for _ in range(2))
    assert np.array_equal(once[0], next(draw(MOTION)))
    assert all(np.array_equal(a, b) for a, b in zip(once, twice, strict=True))


@pytest.mark.parametrize("name", ["hidden", "blurred"])
def test_veils_leave_nothing_of_the_last_frame(name: str) -> None:
    """At the end hardly any of the picture's own contrast is left, and the clip is as long as ever."""
    frames = list(endings.spoil(name, DICE, WORLD, draw, MOTION, rng=np.random.default_rng(2)))
    assert len(frames) == len(MOTION.states)
    clear = list(draw(MOTION))[-1]
    both = np.corrcoef(frames[-1].ravel(), clear.ravel())[0, 1]
    assert frames[-1].std() < 0.35 * clear.std()
    assert abs(both) < 0.3


@pytest.mark.parametrize("scene", ["dice", "ball"])
def test_a_cut_clip_ends_before_rest(scene: str) -> None:
    """The clip stops while things move; where the whole clip is evidence, well before half of the motion."""
    frames = list(endings.spoil("not_settled", SUITE.scene(scene), WORLD, draw, MOTION, rng=np.random.default_rng(3)))
    assert len(frames) <= MOTION.settled_frame * (0.6 if scene == "dice" else 0.3)


@pytest.mark.parametrize("scene", SUITE.scene_ids)
def test_every_scene_can_be_spoiled(scene: str) -> None:
    """Every scene has null rules for these endings, and the one chosen is one of its own."""
    rng = np.random.default_rng(4)
    chosen = {endings.choose(SUITE.scene(scene), rng) for _ in range(60)}
    assert chosen <= {null.name for null in SUITE.scene(scene).readout.nulls}
    assert chosen


PHYSICS = [(scene, rule) for scene, rules in staged.STAGED.items() for rule in rules]


@pytest.mark.parametrize(("scene", "rule"), PHYSICS)
def test_staged_endings_are_null_rules_of_their_scene(scene: str, rule: str) -> None:
    """What a world stages is named by a null rule of the scene."""
    assert rule in {null.name for null in SUITE.scene(scene).readout.nulls}
    assert rule in endings.endings_of(SUITE.scene(scene))


@pytest.mark.parametrize("rule", staged.STAGED["ball"])
def test_staged_clips_start_as_all_others(rule: str) -> None:
    """The first frame is the conditioning frame; the last one is another than the unspoiled clip's."""
    scene, world = SUITE.scene("ball"), load_world("ball")
    motion = world.simulate(start_seed=1)
    clear = list(world.draw(motion, (160, 120)))
    film = endings.spoil(rule, scene, world, lambda m: world.draw(m, (160, 120)), motion, rng=np.random.default_rng(0))
    frames = list(film)
    assert np.array_equal(frames[0], clear[0])
    assert not np.array_equal(frames[-1], clear[-1])


def test_the_pendulum_hangs_plumb() -> None:
    """Cut where the lower mass passes the pivot's vertical: within a millimetre of it, late in the swing."""
    world = load_world("pendulum")
    seen: list[Motion] = []
    motion = world.simulate(start_seed=1)

    def keep(motion: Motion):
        seen.append(motion)
        return iter(())

    endings.spoil("straddling", SUITE.scene("pendulum"), world, keep, motion, rng=np.random.default_rng(0))
    assert abs(float(lower_mass_x((*seen[0].states[-1], 0.0, 0.0)))) < 0.001
    assert len(seen[0].states) > 48


ODD = [
    (scene, rule)
    for kind in (loose.LOOSE, malformed.MALFORMED, misprinted.MISPRINTED)
    for scene, rules in kind.items()
    for rule in rules
]
SEEDS = {"cards": 3001, "dice": 70_000}  # of motions with an outcome


@pytest.mark.parametrize(("scene_id", "rule"), ODD)
def test_odd_things_show_only_after_the_first_frame_and_are_no_outcome(scene_id: str, rule: str) -> None:
    """The first frame is untouched, the last one is not, and the tracker names no label.

    Of the worlds that take long to draw, only the first frame and the last ones are.
    """
    scene, world = SUITE.scene(scene_id), load_world(scene_id)
    motion = world.simulate(start_seed=SEEDS.get(scene_id, 1), noise_seed=1)
    assert motion.outcome is not None
    if scene_id in ("roulette", "lottery"):
        motion = replace(motion, states=motion.states[[0, *range(-14, 0)]], settled_frame=1)
    read = importlib.import_module(READERS[scene.geometry["reader"]]).read
    clear = list(world.draw(motion, (640, 480)))
    assert read(clear, scene).label == motion.outcome
    film = endings.spoil(rule, scene, world, lambda m: world.draw(m, (640, 480)), motion, rng=np.random.default_rng(0))
    frames = list(film)
    assert len(frames) == len(clear)
    assert np.array_equal(frames[0], clear[0])
    assert not np.array_equal(frames[-1], clear[-1])
    assert read(frames, scene).status != "outcome"


def test_a_mass_off_its_rod_falls_as_things_fall() -> None:
    """Until it meets the bench, its height is a parabola of g, and its way to the side even."""
    world, seen = load_world("pendulum"), list[Motion]()
    motion = world.simulate(start_seed=1)

    def keep(motion: Motion):
        seen.append(motion)
        return iter(())

    endings.spoil("broken", SUITE.scene("pendulum"), world, keep, motion, rng=np.random.default_rng(0))
    right, down = seen[0].states[:, 2:].T
    off = int(np.argmax((seen[0].states[:, :2] != motion.states).any(axis=1)))
    falls = slice(off - 1, off + 3)
    assert np.allclose(np.diff(right[falls], 2), 0, atol=1e-9)
    assert np.allclose(np.diff(down[falls], 2) * world.frame_rate**2, 9.81, rtol=1e-6)


def test_an_escaped_marble_lies_wholly_outside_its_cups() -> None:
    """A marble that lay on the line of a cup's wall would be in that cup to any eye."""
    scene, world = SUITE.scene("ball"), load_world("ball")
    motion, rng = world.simulate(start_seed=1), np.random.default_rng(0)
    ends: list[Motion] = []

    def keep(escaped: Motion):
        ends.append(escaped)
        return iter([np.zeros((4, 4, 3), np.uint8)])

    for _ in range(60):
        list(endings.spoil("escaped", scene, world, keep, motion, rng=rng))
    cups = [np.array(scene.geometry[cup]) * 640 for cup in ("left_cup", "right_cup")]
    for x, reach in ((end.states[-1, 0], world.settings()["ball_radius_mm"]) for end in ends):
        assert all(x + reach <= low or x - reach >= high for low, high in cups), x


RESEMBLING = [
    (9, ""),
    (9, "0"),
    (1, "21"),
    (2, "?"),
    (7, "?"),
    (8, "B"),
    (18, "B"),
    (5, "S"),
    (2, "Z"),
    (8, "\N{SNOWMAN}"),
]


@pytest.mark.parametrize(("paint", "mark"), RESEMBLING)
def test_no_mark_is_taken_for_a_number_that_it_resembles(
    paint: int, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the ball of that very number a zero is no 9, a letter B no 8, and what the typeface does not know is none."""
    scene, world = SUITE.scene("lottery"), load_world("lottery")
    whole = world.simulate(start_seed=1, noise_seed=1)
    motion = replace(whole, states=whole.states[[0, -1, -1]], settled_frame=1)
    face = lottery_look.ball_face

    def painted(number: int, mark: str | None = None):
        return face(number if mark is None else paint, mark)

    monkeypatch.setattr(misprinted, "_NO_NUMBERS", (mark,))
    monkeypatch.setattr(lottery_look, "ball_face", painted)
    film = endings.spoil(
        "not_a_number", scene, world, lambda m: world.draw(m, (640, 480)), motion, rng=np.random.default_rng(0)
    )
    first, *_, last = film
    read = importlib.import_module(READERS[scene.geometry["reader"]]).read
    assert read([first, *[last] * 14], scene).status in ("unreadable", "out_of_schema")
