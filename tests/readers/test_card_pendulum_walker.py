"""Claims about the readers of the card, the pendulum and the walker: right on clean clips, silent on empty ones."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from worldodds import video
from worldodds.errors import OutOfRangeError
from worldodds.readers.tracker import card, pendulum, suits, walker
from worldodds.scene import load_suite
from worldodds.worlds import card_faces, endings, load_world

SUITE = load_suite(Path(video.__file__).parent / "suites/calibench")
READERS = {"pendulum": pendulum, "cards": card, "walking": walker}
EVERY = {"pendulum": 3, "cards": 2, "walking": 6}  # frames left out, so that little has to be drawn
SIZE = (640, 480)


def thinned(world, motion):
    """The motion's first picture, every few in between, and the last."""
    kept = sorted({*range(0, world.frames, EVERY[world.scene]), world.frames - 1})
    settled = motion.settled_frame // EVERY[world.scene]
    return replace(motion, states=motion.states[kept], settled_frame=settled)


@pytest.fixture(scope="module", params=list(READERS))
def filmed(request):
    """A scene, its reader, and clips with their truths."""
    world = load_world(request.param)
    motions = [world.simulate(start_seed=seed, noise_seed=seed) for seed in range(500, 504)]
    clips = [(m.outcome, list(world.draw(thinned(world, m), SIZE))) for m in motions if m.outcome]
    return SUITE.scene(request.param), READERS[request.param], clips


def test_reads_what_happened(filmed, tmp_path):
    """Every clean clip is read right after H.264, and one moved, darker and noisier is too."""
    scene, reader, clips = filmed
    path = tmp_path / "clip.mp4"
    for truth, frames in clips[:2]:
        video.encode(frames, path, frame_rate=24)
        assert reader.read(video.decode(path).frames, scene).label == truth
    rng = np.random.default_rng(1)
    for truth, frames in clips[2:]:
        worse = [
            np.clip(0.6 * np.roll(f, (3, 5), (0, 1)) + 12 * rng.standard_normal(f.shape), 0, 255).astype(np.uint8)
            for f in frames
        ]
        assert reader.read(worse, scene).label == truth


def test_nothing_happened(filmed):
    """A clip that stays as its first frame has no outcome."""
    scene, reader, clips = filmed
    reading = reader.read([clips[0][1][0]] * 12, scene)
    assert reading.status in {"unreadable", "out_of_schema"}
    assert reading.reason in {"not_settled", "face_down"}


@pytest.mark.parametrize("name", ["not_settled", "hidden", "blurred"])
def test_spoiled_endings_are_null(filmed, name):
    """Cut short, covered or out of focus: nothing is read, and the reason is one of the scene's null rules."""
    scene, reader, _ = filmed
    world = load_world(scene.id)
    motion = thinned(world, world.simulate(start_seed=501))
    frames = list(
        endings.spoil(name, scene, world, lambda m: world.draw(m, SIZE), motion, rng=np.random.default_rng(2))
    )
    reading = reader.read(frames, scene)
    assert reading.label is None
    assert reading.reason is not None
    assert scene.null_kind(reading.reason) == reading.status


def test_other_pictures_are_out_of_range(filmed):
    """A clip of something else is the reader's failure, never the model's null."""
    scene, reader, _ = filmed
    rng = np.random.default_rng(0)
    with pytest.raises(OutOfRangeError, match="cannot be found"):
        reader.read([rng.integers(0, 255, (480, 640, 3)).astype(np.uint8)] * 3, scene)


def test_pendulum_that_vanishes_or_doubles_is_null():
    """Without its lower mass, or with two, there is no side to read."""
    scene, world = SUITE.scene("pendulum"), load_world("pendulum")
    frames = list(world.draw(world.simulate(start_seed=500), SIZE))[::4]
    empty = np.median(frames, axis=0).astype(np.uint8)
    assert pendulum.read([*frames[:-1], empty], scene).reason == "hidden"
    assert pendulum.read([frames[0], *[empty] * 20], scene).reason == "absent"
    moving = [(np.abs(f.astype(int) - empty).max(axis=2) > 40)[..., None] for f in frames]
    two = [np.where(np.roll(m, 190, 1), np.roll(f, 190, 1), f) for m, f in zip(moving, frames, strict=True)]
    assert pendulum.read([frames[0], *two[1:]], scene).reason == "several_pendulums"


@pytest.mark.parametrize("suit", card_faces.SUITS)
def test_symbols_are_told_apart_from_half_to_full_sharpness(suit):
    """Every face of a suit, sharp or blurred, looks more like its own suit than like the other of its colour."""
    import cv2

    pair = suits.RED if suit in suits.RED else suits.BLACK
    for rank in ("A", "3", "8", "10", "Q"):
        face = cv2.resize(card_faces.face(rank, suit), card.CARD_PX, interpolation=cv2.INTER_AREA) / 255
        ink = face[..., 0] - face[..., 1:].max(axis=2) if suit in suits.RED else 0.8 - face.max(axis=2)
        for spread in (0.5, 4):
            soft = cv2.GaussianBlur(np.clip(ink / 0.7, 0, 1), (0, 0), spread)
            found = suits.compare(soft, pair)
            assert found.clear
            assert found.suit == suit


def test_blank_paper_has_no_suit():
    """A sheet without ink is like no symbol."""
    assert not suits.compare(np.zeros((336, 236)), suits.RED).clear


@pytest.mark.parametrize("module", [card, pendulum, suits, walker])
def test_reader_does_not_import_the_worlds(module):
    """A reader knows the scene, never the simulator."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any((name or "").startswith("worldodds.worlds") for name in imported)
