from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from worldodds import video
from worldodds.errors import OutOfRangeError
from worldodds.readers.tracker import fork, galton
from worldodds.readers.tracker.align import locate
from worldodds.scene import load_scene
from worldodds.worlds import load_world

SUITE = Path(__file__).parents[2] / "src/worldodds/suites/calibench"
READ = {"galton_board": galton.read, "ball": fork.read}
SIZE = (640, 480)


@pytest.fixture(params=sorted(READ))
def setting(request):
    return load_world(request.param), load_scene(SUITE / f"{request.param}.toml"), READ[request.param]


def film(world, motion, tmp_path, change=lambda frame: frame, crf=23):
    """Draw, encode and decode a clip."""
    frames = [change(frame) for frame in world.draw(motion, SIZE)]
    video.encode(frames, tmp_path / "clip.mp4", frame_rate=world.frame_rate, crf=crf, preset="ultrafast")
    return video.decode(tmp_path / "clip.mp4", last=14).frames


def settled(world, count, first=300):
    motions = (world.simulate(start_seed=seed) for seed in range(first, first + 2 * count))
    return [motion for motion in motions if motion.outcome is not None][:count]


def moved(frame):
    turn = cv2.getRotationMatrix2D((320, 240), 1.0, 1.03)
    turn[:, 2] += (9, -6)
    return cv2.warpAffine(frame, turn, SIZE, borderMode=cv2.BORDER_REFLECT)


def noisy(frame):
    rng = np.random.default_rng(int(frame[::7, ::7].sum()))
    return np.clip(frame + rng.normal(0, 20, frame.shape), 0, 255).astype(np.uint8)


def without_ball(motion):
    states = motion.states.copy()
    states[1:, 0] = -1000
    return replace(motion, states=states)


def test_agrees_with_the_truth(setting, tmp_path):
    """Reads the true outcome in each of 8 clean clips, and what it reads is one of the scene's labels."""
    world, scene, read = setting
    for motion in settled(world, 8):
        assert read(film(world, motion, tmp_path, crf=18), scene).label == motion.outcome


@pytest.mark.parametrize(
    "change",
    [
        moved,
        noisy,
        lambda f: cv2.GaussianBlur(f, (0, 0), 3),
        lambda f: (f * 0.45).astype(np.uint8),
        lambda f: np.clip(f * 1.5 + 15, 0, 255).astype(np.uint8),
        lambda f: cv2.resize(f, (256, 192), interpolation=cv2.INTER_AREA),
        lambda f: cv2.resize(f, (854, 480)),
    ],
    ids=["moved", "noise", "blur", "dark", "bright", "small", "stretched"],
)
def test_degraded(setting, change, tmp_path):
    """Jitter of camera and light, noise, blur and size do not change what is read."""
    world, scene, read = setting
    (motion,) = settled(world, 1)
    assert read(film(world, motion, tmp_path, change), scene).label == motion.outcome


def test_wide(setting):
    """A clip of 16:9 that shows more to both sides is read as well."""
    world, scene, read = setting
    (motion,) = settled(world, 1)
    assert read(_ends(world, motion, (854, 480)), scene).label == motion.outcome


def _ends(world, motion, size):
    frames = list(world.draw(motion, size))
    return [frames[0], *frames[-14:]]


def test_reads_nothing_where_nothing_is(setting, tmp_path):
    """An empty scene, in clean and in noisy pictures, is absent; never an outcome."""
    world, scene, read = setting
    (motion,) = settled(world, 1)
    for change in (lambda f: f, noisy):
        reading = read(film(world, without_ball(motion), tmp_path, change), scene)
        assert (reading.status, reading.label, reading.reason) == ("unreadable", None, "absent")


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.85])
def test_cut_early(setting, share):
    """A clip that ends while the ball moves is not read, wherever it is cut."""
    world, scene, read = setting
    (motion,) = settled(world, 1)
    frames = list(world.draw(motion, SIZE))[: max(2, round(share * motion.settled_frame))]
    assert read(frames, scene).status in {"unreadable", "out_of_schema"}


def test_named_nulls(setting):
    """Each spoiled ending is told by its own null rule."""
    world, scene, read = setting
    (motion,) = settled(world, 1)
    frames = _ends(world, motion, SIZE)
    soft = [frames[0], *(cv2.GaussianBlur(f, (0, 0), 40) for f in frames[1:])]
    card = [frames[0], *(np.full_like(f, 60) for f in frames[1:])]
    assert read(soft, scene).reason == "blurred"
    assert read(card, scene).reason == "hidden"
    ends = settled(world, 12)
    left = next(motion for motion in ends if motion.states[-1, 0] < 300)
    right = next(motion for motion in ends if motion.states[-1, 0] > 340)
    pairs = zip(_ends(world, left, SIZE)[1:], _ends(world, right, SIZE)[1:], strict=True)
    both = [frames[0], *(np.hstack([a[:, :320], b[:, 320:]]) for a, b in pairs)]
    assert read(both, scene).reason == "several_balls"


@pytest.mark.parametrize(("x_mm", "rule"), [(320 + 19, "straddling"), (30, "escaped")])
def test_galton_ball_in_no_bin(x_mm, rule):
    """A ball across a bin wall, or beside the board, is out of the schema."""
    world, scene = load_world("galton_board"), load_scene(SUITE / "galton_board.toml")
    motion = world.simulate(start_seed=1)
    states = motion.states.copy()
    states[1:] = (x_mm, 420, 0)
    reading = galton.read(_ends(world, replace(motion, states=states), SIZE), scene)
    assert (reading.status, reading.reason) == ("out_of_schema", rule)


@pytest.mark.parametrize(("at_mm", "rule"), [((320, 215), "unresolved"), ((320, 420), "escaped")])
def test_fork_ball_in_no_cup(at_mm, rule):
    """A ball balanced on the tip, or seen beside the track, is out of the schema."""
    world, scene = load_world("ball"), load_scene(SUITE / "ball.toml")
    motion = world.simulate(start_seed=1)
    states = motion.states.copy()
    states[1:] = (*at_mm, 0)
    reading = fork.read(_ends(world, replace(motion, states=states), SIZE), scene)
    assert (reading.status, reading.reason) == ("out_of_schema", rule)


def test_scene_not_found(setting):
    """A grey picture, noise, and another scene are outside the reader's range."""
    _, scene, _ = setting
    other = load_scene(SUITE / ("ball.toml" if scene.id == "galton_board" else "galton_board.toml"))
    assert other.frame is not None
    rng = np.random.default_rng(0)
    for picture in (
        np.full((480, 640, 3), 120, np.uint8),
        rng.integers(0, 255, (480, 640, 3), dtype=np.uint8),
        video.read_still(other.frame),
    ):
        with pytest.raises(OutOfRangeError, match=scene.id):
            locate(picture, scene)


def test_finds_camera_and_light(setting):
    """The estimated shift is right to half a pixel of the clip, the gain to 3%."""
    _, scene, _ = setting
    assert scene.frame is not None
    still = video.read_still(scene.frame)
    shifted = cv2.warpAffine(still, np.array([[1, 0, 10], [0, 1, -7]], float), SIZE, borderMode=cv2.BORDER_REFLECT)
    view = locate((shifted * 0.6).astype(np.uint8), scene)
    assert view.warp @ [159.5, 119.5, 1] == pytest.approx([319.5 + 10, 239.5 - 7], abs=0.5)
    assert view.gain == pytest.approx([0.6] * 3, rel=0.03)
