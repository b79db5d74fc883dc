"""Claims about the roulette wheel, the filmed Galton board and the lottery machine, whose physics is MuJoCo's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from worldodds import video
from worldodds.scene import load_suite
from worldodds.worlds import galton_board_real, load_world, lottery, roulette
from worldodds.worlds.filming import first_still

SUITE = load_suite(Path(video.__file__).parent / "suites/calibench")
WORLDS = ("roulette", "galton_board_real", "lottery")
SEEDS = range(4)


@pytest.fixture(scope="module")
def motions():
    return {
        name: [load_world(name).simulate(start_seed=seed, noise_seed=seed + 50) for seed in SEEDS] for name in WORLDS
    }


@pytest.mark.parametrize("name", WORLDS)
def test_world_and_scene_agree(name: str) -> None:
    """World and scene speak of the same outcomes, and a clip lasts from three to five seconds."""
    world, scene = load_world(name), SUITE.scene(name)
    assert (world.scene, world.labels) == (scene.id, scene.labels)
    assert 3 <= world.frames / world.frame_rate <= 5


@pytest.mark.parametrize("name", WORLDS)
def test_same_seeds_same_motion(name: str, motions) -> None:
    """Two seeds fix the whole motion, to the last bit, whatever ran before."""
    again = load_world(name).simulate(start_seed=1, noise_seed=51)
    assert np.array_equal(again.states, motions[name][1].states)


@pytest.mark.parametrize("name", WORLDS)
def test_what_differs_is_hidden_in_the_first_frame(name: str, motions) -> None:
    """All motions start alike and part soon after."""
    states = np.array([motion.states for motion in motions[name]])
    assert np.ptp(states[:, 0], axis=0).max() == 0
    assert np.ptp(states[:, 30], axis=0).max() > 0.01


@pytest.mark.parametrize("name", WORLDS)
def test_noise_matters_only_where_it_is_said_to(name: str, motions) -> None:
    """Another noise seed changes the motion of a world with process noise, and no other."""
    world = load_world(name)
    other = world.simulate(start_seed=1, noise_seed=52)
    assert np.array_equal(other.states, motions[name][1].states) != world.has_process_noise


@pytest.mark.parametrize("name", WORLDS)
def test_an_outcome_means_half_a_second_of_rest(name: str, motions) -> None:
    """Where there is an outcome, the last half second is still; where there is none, the reason is named."""
    world = load_world(name)
    for motion in motions[name]:
        assert (motion.outcome is None) == (motion.invalid is not None)
        if motion.outcome:
            assert world.frames - motion.settled_frame >= world.frame_rate // 2


def test_the_wheel_has_the_true_order() -> None:
    """All 37 numbers once; the numbers that are red on every European wheel, and no others, are red here."""
    red = {1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36}
    assert sorted(roulette.ORDER) == list(range(37))
    assert {number for i, number in enumerate(roulette.ORDER) if roulette.colour(i) == "red"} == red


def test_a_ball_on_the_slope_or_on_a_fret_is_no_outcome() -> None:
    """The end state decides: in no pocket, or between two, there is no outcome, and the reason says which."""
    world, still = roulette.Roulette(), np.zeros((90, 8))
    still[:, 1:4] = 0.33, 0, 0.04
    assert world._judge(still).invalid == "ball not in a pocket"
    between = np.pi / roulette.POCKETS
    still[:, 1:4] = 0.24 * np.cos(between), 0.24 * np.sin(between), 0.0145
    assert world._judge(still).invalid == "ball between two pockets"


def test_a_ball_stuck_among_the_pegs_is_no_outcome() -> None:
    """A ball at rest above the bins is never clipped into one."""
    stuck = np.tile([0.06, -0.1, 0.0], (72, 1))
    judged = galton_board_real.GaltonBoardReal()._judge(stuck)
    assert (judged.outcome, judged.invalid) == (None, "ball not on a bin's floor")


def test_the_wheel_turns_against_the_ball(motions) -> None:
    """Seen from above the wheel turns clockwise and the ball runs the other way."""
    for motion in motions["roulette"]:
        angle = np.unwrap(np.arctan2(motion.states[:10, 2], motion.states[:10, 1]))
        assert np.diff(angle).min() > 0 > np.diff(motion.states[:10, 0]).max()


def test_only_the_drawn_ball_leaves_the_globe(motions) -> None:
    """Nineteen balls stay within the glass throughout, and the drawn one ends in the cup with its number in front."""
    for motion in motions["lottery"]:
        drawn = int(motion.outcome) - 1
        poses = motion.states.reshape(-1, lottery.BALLS, 7)
        away = np.linalg.norm(poses[..., :3], axis=2).max(axis=0)
        assert np.delete(away, drawn).max() < lottery.GLOBE_RADIUS_M - lottery.BALL_RADIUS_M + 0.008  # glass that gives
        assert np.allclose(poses[-1, drawn, :3], lottery.PATH_M[-1])
        assert abs(poses[-1, drawn, 3:] @ lottery.FACING) == pytest.approx(1, abs=1e-9)


def test_no_draw_without_an_open_mouth() -> None:
    """A mouth that opens after the machine gives up draws nothing, and the run says so."""
    motion = lottery.Lottery(mouth_opens_s=3.0).simulate(start_seed=0)
    assert (motion.outcome, motion.invalid) == (None, "empty_tube")


@pytest.mark.parametrize("name", WORLDS)
def test_the_first_frame_is_the_conditioning_frame(name: str, motions) -> None:
    """A clip begins with the committed PNG (another OpenGL may differ by a grey level)."""
    first = next(iter(load_world(name).draw(motions[name][0], (640, 480))))
    assert np.abs(first.astype(int) - video.read_still(SUITE.scene(name).frame)).mean() < 1.5


def test_first_still_of_one_that_never_moves() -> None:
    """A motion without movement is still from frame 0, one that moves at the end in its last frame only."""
    assert first_still(np.zeros((5, 2)), 0.1) == 0
    assert first_still(np.array([[0.0], [0.0], [1.0]]), 0.1) == 2
