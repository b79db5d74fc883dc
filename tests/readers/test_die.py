"""Claims about the die's reader: right on clean clips, silent where there is nothing to read."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from worldodds import readers, video
from worldodds.errors import OutOfRangeError
from worldodds.generators.simulator import simulator
from worldodds.readers.tracker import READERS, Tracker, die
from worldodds.scene import load_suite
from worldodds.worlds import endings, load_world

SUITE = load_suite(Path(video.__file__).parent / "suites/calibench")
SCENE = SUITE.scene("dice")
SIZE = (640, 480)


def through_codec(frames, path: Path):
    """What a reader is given: pictures that went through H.264."""
    video.encode(frames, path, frame_rate=24)
    return video.decode(path).frames


@pytest.fixture(scope="module")
def takes():
    world = load_world("dice")
    return [simulator("fair").plan(SCENE, world, seed=700 + i) for i in range(8)]


@pytest.fixture(scope="module")
def clips(takes, tmp_path_factory: pytest.TempPathFactory):
    """First frame and end of eight clips: all that the reader looks at, so that little has to be drawn."""
    world, folder = load_world("dice"), tmp_path_factory.mktemp("dice")
    ends = [replace(take.motion, states=take.motion.states[[0, *range(-14, 0)]]) for take in takes]
    return [through_codec(list(world.draw(end, SIZE)), folder / "x.mp4") for end in ends]


@pytest.fixture(scope="module")
def empty(clips):
    """The box without a die: the median of pictures in which it lies elsewhere."""
    return np.median([clip[-1] for clip in clips] + [clips[0][0]], axis=0).astype(np.uint8)


def test_right_on_clean_clips(takes, clips) -> None:
    """Eight fresh clips, eight right answers."""
    assert [die.read(clip, SCENE).label for clip in clips] == [take.target for take in takes]


def noise(frames):
    rng = np.random.default_rng(0)
    return [np.clip(f + rng.normal(0, 20, f.shape), 0, 255).astype(np.uint8) for f in frames]


DEGRADED = {
    "noise": noise,
    "blur": lambda frames: [cv2.GaussianBlur(f, (0, 0), 3) for f in frames],
    "dark": lambda frames: [(f * 0.45).astype(np.uint8) for f in frames],
    "small": lambda frames: [cv2.resize(f, (256, 192), interpolation=cv2.INTER_AREA) for f in frames],
    "camera": lambda frames: [
        cv2.warpAffine(f, np.float32([[1.04, 0.01, -12], [-0.01, 1.04, 6]]), SIZE, borderMode=cv2.BORDER_REPLICATE)
        for f in frames
    ],
    "all": lambda frames: noise([cv2.GaussianBlur((f * 0.45).astype(np.uint8), (0, 0), 3) for f in frames]),
}


@pytest.mark.parametrize("how", DEGRADED)
def test_never_wrong_on_degraded_clips(how: str, takes, clips, tmp_path: Path) -> None:
    """Noise, blur, darkness, few pixels and a moved camera: at least three of four are read, and none wrongly."""
    seen = [die.read(through_codec(DEGRADED[how](clip), tmp_path / "x.mp4"), SCENE).label for clip in clips[:4]]
    pairs = list(zip(seen, [take.target for take in takes[:4]], strict=True))
    assert all(label in (None, true) for label, true in pairs)
    assert sum(label is not None for label, _ in pairs) >= 3


def test_nothing_to_read_in_an_empty_box(clips, empty, tmp_path: Path) -> None:
    """A die that vanishes leaves nothing to read, though box and light are as they were."""
    reading = die.read(through_codec([clips[0][0], *[empty] * 14], tmp_path / "x.mp4"), SCENE)
    assert (reading.status, reading.reason) == ("unreadable", "absent")


def test_a_blank_face_is_no_number(clips) -> None:
    """A bright square without pips is not read as a one."""
    frames = [frame.copy() for frame in clips[0]]
    view = die.locate(frames[0], SCENE)
    plan = die._plan(frames[-1], view, SCENE)
    blank = cv2.morphologyEx(plan, cv2.MORPH_CLOSE, np.ones((21, 21), np.uint8))
    _, likeness, lead = die.compare(blank, die.find_square(die._without_pips(plan)))
    assert likeness < die.LEAST_LIKENESS or lead < die.LEAST_LEAD


@pytest.mark.parametrize("cut", [8, 11, 14])
def test_a_die_in_motion_is_not_read(cut: int, takes, tmp_path: Path) -> None:
    """A clip that ends while the die tumbles has no outcome."""
    motion = takes[0].motion
    moving = replace(motion, states=motion.states[:cut])
    frames = through_codec(list(load_world("dice").draw(moving, SIZE)), tmp_path / "x.mp4")
    assert die.read(frames, SCENE).status != "outcome"


@pytest.mark.parametrize("name", ["hidden", "blurred"])
def test_spoiled_endings_are_nulls(name: str, takes, tmp_path: Path) -> None:
    """A covered or defocused end is unreadable."""
    motion = replace(takes[1].motion, states=takes[1].motion.states[[0, *range(8, 72, 4)]], settled_frame=6)

    def draw(motion):
        return load_world("dice").draw(motion, SIZE)

    frames = list(endings.spoil(name, SCENE, load_world("dice"), draw, motion, rng=np.random.default_rng(0)))
    reading = die.read(through_codec(frames, tmp_path / "x.mp4"), SCENE)
    assert (reading.status, reading.reason) == ("unreadable", name)


def test_another_scene_is_out_of_range(tmp_path: Path) -> None:
    """A clip of something else is the reader's failure, not the model's null."""
    other = video.read_still(SUITE.scene("ball").frame)
    with pytest.raises(OutOfRangeError):
        die.read([other] * 15, SCENE)
    video.encode([other] * 15, tmp_path / "x.mp4", frame_rate=24)
    reading = Tracker().read(video.probe(tmp_path / "x.mp4"), SCENE, vote=0)
    assert (reading.status, reading.label) == ("failed", None)


def test_an_unknown_kind_of_scene_is_out_of_range(clips, tmp_path: Path) -> None:
    """A scene whose geometry names no reader we have is a failed reading that offers the nearest."""
    video.encode(clips[0], tmp_path / "x.mp4", frame_rate=24)
    scene = replace(SCENE, geometry={"reader": "dye"})
    reading = Tracker().read(video.probe(tmp_path / "x.mp4"), scene, vote=0)
    assert reading.status == "failed"
    assert "Did you mean 'die'" in reading.reason


def test_readers_never_see_the_simulator() -> None:
    """Nothing in `readers` imports the worlds or the generators; only the oracle reads the truth."""
    folder = Path(readers.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                assert not name.startswith(("worldodds.worlds", "worldodds.generators")), f"{path.name}: {name}"
                assert path.name == "oracle.py" or "worldodds.truth" not in name, f"{path.name}: {name}"


def test_every_reader_named_by_a_scene_exists() -> None:
    """Each scene's geometry names a kind that the tracker knows."""
    kinds = {scene.geometry["reader"] for scene in SUITE.scenes if "reader" in scene.geometry}
    assert kinds <= set(READERS)
