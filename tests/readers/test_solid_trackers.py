"""Claims about the readers of roulette, filmed Galton board and lottery: right when clean, silent without a ball."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from worldodds import video
from worldodds.readers.tracker import READERS, galton_real, lottery, roulette
from worldodds.scene import load_suite
from worldodds.worlds import load_world

SUITE = load_suite(Path(video.__file__).parent / "suites/calibench")
KINDS = {"roulette": roulette, "galton_board_real": galton_real, "lottery": lottery}
CLIPS = 3
LOOKED_AT = [0, -9, -8, -7, -3, -2, -1]  # all that a reader looks at; frames between are drawn as the one before


def whole(few):
    """Fill the frames that no reader looks at."""
    first, a, b, c, d, e, f = few
    return [first, a, a, a, a, b, c, c, c, c, d, e, f]


@pytest.fixture(scope="module", params=sorted(KINDS))
def filmed(request, tmp_path_factory):
    """A scene with its reader, true outcomes, clips that end at rest, and clips cut while the ball is on its way."""
    name, world = request.param, load_world(request.param)
    motions = [world.simulate(start_seed=seed, noise_seed=seed) for seed in range(300, 300 + CLIPS)]
    path = tmp_path_factory.mktemp(name) / "clip.mp4"

    def film(motion, end: int):
        states = motion.states[[0, *(end + i for i in LOOKED_AT[1:])]]
        video.encode(whole(list(world.draw(replace(motion, states=states), (640, 480)))), path, frame_rate=24)
        return video.decode(path).frames

    still = [film(motion, world.frames) for motion in motions]
    cut = [film(motions[0], motions[0].settled_frame - 12)]
    return SUITE.scene(name), KINDS[name], [motion.outcome for motion in motions], still, cut


def noise(frames):
    rng = np.random.default_rng(0)
    return [np.clip(f + rng.normal(0, 20, f.shape), 0, 255).astype(np.uint8) for f in frames]


DEGRADED = {
    "clean": lambda frames: frames,
    "noise": noise,
    "blur": lambda frames: [cv2.GaussianBlur(f, (0, 0), 3) for f in frames],
    "dark": lambda frames: [(f * 0.45).astype(np.uint8) for f in frames],
    "small": lambda frames: [cv2.resize(f, (256, 192), interpolation=cv2.INTER_AREA) for f in frames],
    "camera": lambda frames: [
        cv2.warpAffine(f, np.float32([[1.02, 0.01, -8], [-0.01, 1.02, 5]]), (640, 480), borderMode=cv2.BORDER_REPLICATE)
        for f in frames
    ],
}


@pytest.mark.parametrize("way", DEGRADED)
def test_right_whatever_the_picture(way: str, filmed) -> None:
    """Clean or degraded, every clip that ends at rest is read as it ended."""
    scene, reader, outcomes, still, _ = filmed
    assert [reader.read(DEGRADED[way](clip), scene).label for clip in still] == outcomes


@pytest.mark.parametrize("way", ["clean", "noise", "dark", "small"])
def test_silent_where_nothing_comes_to_rest(way: str, filmed) -> None:
    """A clip that never leaves its first frame, or is cut while the ball is on its way, gives no outcome."""
    scene, reader, _, still, cut = filmed
    frozen = [still[0][0]] * len(still[0])
    for clip in (frozen, *cut):
        reading = reader.read(DEGRADED[way](clip), scene)
        assert reading.status in ("unreadable", "out_of_schema")
        assert reading.reason in {null.name for null in scene.readout.nulls}


def test_silent_under_a_sheet_of_card(filmed) -> None:
    """A grey sheet over the whole scene at the end hides the outcome."""
    scene, reader, _, still, _ = filmed
    covered = [still[0][0], *[np.full_like(frame, 170) for frame in still[0][1:]]]
    assert reader.read(covered, scene).status == "unreadable"


def test_too_short_a_clip_is_not_settled(filmed) -> None:
    """Two frames cannot show that anything is at rest."""
    scene, reader, _, still, _ = filmed
    assert reader.read(still[0][:2], scene).status != "outcome"


def test_each_scene_names_its_reader() -> None:
    """The scene's geometry leads to the module that reads it."""
    for name, module in KINDS.items():
        assert READERS[SUITE.scene(name).geometry["reader"]] == module.__name__


@pytest.mark.parametrize("seed", [1008, 1013, 1002])
def test_a_roulette_ball_on_a_fret_has_no_colour(seed: int) -> None:
    """At the wheel's right and left, where it seems a quarter of a pocket off, a ball on the wall is read as that."""
    from worldodds.worlds import endings
    from worldodds.worlds.world import Motion

    scene, world = SUITE.scene("roulette"), load_world("roulette")
    motion, seen = world.simulate(start_seed=seed), list[Motion]()

    def keep(motion: Motion):
        seen.append(motion)
        return iter(())

    endings.spoil("straddling", scene, world, keep, motion, rng=np.random.default_rng(0))
    states = seen[0].states[LOOKED_AT]
    frames = whole(list(world.draw(replace(motion, states=states), (640, 480))))
    assert roulette.read(frames, scene).reason == "straddling"
