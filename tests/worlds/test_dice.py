"""Claims about the world of the die: the same throw twice is the same, and nothing counts as an outcome but a face."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from worldodds import video
from worldodds.scene import load_scene
from worldodds.worlds import check, gl
from worldodds.worlds.dice import Dice

SCENE = load_scene(Path(video.__file__).parent / "suites/calibench/dice.toml")
WORLD = Dice()


@pytest.fixture(scope="module")
def motions():
    return [WORLD.simulate(start_seed=seed) for seed in range(12)]


def test_labels_are_those_of_the_scene() -> None:
    """World and scene speak of the same outcomes."""
    assert WORLD.labels == SCENE.labels
    assert WORLD.scene == SCENE.id


def test_same_seed_same_motion(motions) -> None:
    """A start seed fixes the whole motion, to the last bit."""
    again = WORLD.simulate(start_seed=3)
    assert np.array_equal(again.states, motions[3].states)
    assert again.outcome == motions[3].outcome


def test_the_visible_start_never_differs(motions) -> None:
    """What differs between throws is hidden in the first frame and shows soon after."""
    starts = np.array([motion.states[0] for motion in motions])
    assert np.ptp(starts, axis=0).max() == 0
    assert np.ptp([motion.states[3] for motion in motions], axis=0).max() > 0.01


def test_it_ends_at_rest(motions) -> None:
    """From the settled frame on nothing moves, and the last half second is still wherever there is an outcome."""
    for motion in motions:
        rest = motion.states[motion.settled_frame :]
        assert motion.outcome is None or len(rest) >= WORLD.frame_rate // 2
        assert len(rest) == 0 or np.ptp(rest, axis=0).max() == 0


def test_the_outcome_is_the_face_on_top(motions) -> None:
    """The label re-derived from the final rotation matrix, by MuJoCo itself, is the outcome."""
    mujoco = gl.load_mujoco()
    normals = {"1": (1, 0, 0), "6": (-1, 0, 0), "2": (0, 1, 0), "5": (0, -1, 0), "3": (0, 0, 1), "4": (0, 0, -1)}
    for motion in motions:
        up = {}
        for face, normal in normals.items():
            turned = np.zeros(3)
            mujoco.mju_rotVecQuat(turned, np.array(normal, dtype=float), motion.states[-1, 3:])
            up[face] = turned[2]
        assert motion.outcome in (None, max(up, key=up.__getitem__))


def test_first_frame_is_the_conditioning_frame(motions) -> None:
    """Every clip begins with the committed PNG (another OpenGL may differ by a grey level)."""
    still = video.read_still(SCENE.frame)
    for motion in motions[:2]:
        first = next(iter(WORLD.draw(motion, (640, 480))))
        assert np.abs(first.astype(int) - still).mean() < 1.5


def test_other_sizes_are_drawn(motions) -> None:
    """1280 x 720 is drawn at its full size."""
    assert next(iter(WORLD.draw(motions[0], (1280, 720)))).shape == (720, 1280, 3)


def test_natural_odds_count_every_run() -> None:
    """Each run is an outcome or a named null; none is lost."""
    runs = check.run_physics(WORLD, range(20), workers=1)
    natural = check.natural_odds(SCENE, runs, rng=np.random.default_rng(0))
    assert natural.counts.n_total == 20
    assert natural.counts.n == 20 - sum(natural.invalid.values())


def test_without_off_screen_drawing_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where OpenGL does not start, the message names the Debian package; nothing falls back."""
    mujoco = gl.load_mujoco()

    def broken(*_args, **_how):
        raise RuntimeError("no context")

    monkeypatch.setattr(mujoco, "Renderer", broken)
    with pytest.raises(gl.MissingDependencyError, match="libosmesa6"):
        gl.make_renderer(object(), (64, 64))
