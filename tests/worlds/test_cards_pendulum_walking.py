"""Claims about the worlds of the deck, the double pendulum and the walker."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from worldodds import video
from worldodds.scene import load_suite
from worldodds.worlds import card_faces, card_table, load_world
from worldodds.worlds.gait import SEGMENTS, THIGH_M

SUITE = load_suite(Path(video.__file__).parent / "suites/calibench")
SCENES = ["pendulum", "cards", "walking"]
SIZE = (640, 480)


@pytest.fixture(params=SCENES)
def world(request):
    return load_world(request.param)


def test_repeats(world):
    """The same seeds give the same motion, another start another; the labels are the scene's."""
    first, again, other = (world.simulate(start_seed=seed, noise_seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.states, again.states)
    assert not np.array_equal(first.states, other.states)
    assert len(first.states) == world.frames
    assert world.labels == SUITE.scene(world.scene).labels


def test_first_frame_is_the_committed_one(world):
    """Every clip begins with the suite's conditioning frame, whatever its seeds."""
    frame = video.read_still(SUITE.scene(world.scene).frame).astype(int)
    motions = [world.simulate(start_seed=seed, noise_seed=seed) for seed in (1, 2)]
    firsts = [next(iter(world.draw(replace(m, states=m.states[:1]), SIZE))) for m in motions]
    assert np.array_equal(firsts[0], firsts[1])
    difference = np.abs(firsts[0].astype(int) - frame)
    assert difference.mean() < 1  # another renderer may round a pixel the other way
    assert (difference > 24).mean() < 2e-3


def test_draws_any_size(world):
    """A picture has the size that was asked for."""
    motion = world.simulate(start_seed=1)
    pictures = list(world.draw(replace(motion, states=motion.states[:2]), (960, 540)))
    assert [picture.shape for picture in pictures] == [(540, 960, 3)] * 2


@pytest.mark.parametrize("scene", ["cards", "walking"])
def test_ends_still(scene):
    """The last half second of a clip with an outcome shows nothing that moves."""
    world = load_world(scene)
    for seed in range(4):
        motion = world.simulate(start_seed=seed, noise_seed=seed)
        assert motion.outcome, motion.invalid
        tail = motion.states[-(world.frame_rate // 2) :, :3]
        assert np.abs(tail - tail[-1]).max() < 6e-3
        assert motion.settled_frame <= world.frames - world.frame_rate // 2


def test_pendulum_reads_its_last_state():
    """The truth is the side of the last state; right under the pivot there is none, and the reason is said."""
    world = load_world("pendulum")
    for seed in range(60):
        motion = world.simulate(start_seed=seed)
        a, b = motion.states[-1]
        x = 0.15 * np.sin(a) + 0.82 * 0.15 * np.sin(b)
        if motion.outcome is None:
            assert abs(x) < 0.006
            assert motion.invalid == "straddling"
        else:
            assert motion.outcome == ("left" if x < 0 else "right")
    wide = replace(world, dead_zone_m=1.0)
    assert wide.simulate(start_seed=0).outcome is None


def test_deck_is_shuffled_by_the_start_seed():
    """Every suit can lie on top, none far more often than another; the card lands face up beside the deck."""
    world = load_world("cards")
    motions = [world.simulate(start_seed=seed) for seed in range(24)]
    assert set(Counter(m.outcome for m in motions)) == set(card_faces.SUITS)
    for motion in motions:
        x, y, z, *_, card = motion.states[-1]
        assert motion.outcome == card_faces.SUITS[int(card) // 13]
        assert 0.02 < x < 0.1
        assert abs(y) < 0.03
        assert z < 0.001


def test_all_faces_differ():
    """No two of the 52 faces are alike, and the back is the same either way up."""
    faces = {card_faces.face(rank, suit).tobytes() for rank in card_faces.RANKS for suit in card_faces.SUITS}
    assert len(faces) == 52
    back = card_faces.back().astype(int)
    assert np.abs(back - back[::-1, ::-1]).mean() < 2


def test_card_seen_from_its_back_hides_its_face():
    """Until it turns over, a card looks the same whatever its face."""
    start = load_world("cards").simulate(start_seed=0).states[0]
    place = card_table.Place(middle=start[:3], axes=np.eye(3))
    one, two = (card_table.picture(place, card_faces.face("A", suit), SIZE) for suit in ("hearts", "spades"))
    assert np.array_equal(one, two)


@pytest.fixture(scope="module")
def walk():
    return load_world("walking").simulate(start_seed=3, noise_seed=5).states.reshape(-1, len(SEGMENTS), 7)


@pytest.mark.parametrize("side", ["left", "right"])
def test_feet_do_not_slide(walk, side):
    """While a foot is flat on the ground its ankle stays at one place."""
    ankle = walk[:, SEGMENTS.index(f"{side}_foot"), :3]
    flat = (ankle[1:, 2] < 0.0815) & (ankle[:-1, 2] < 0.0815)
    moved = np.linalg.norm(np.diff(ankle[:, :2], axis=0), axis=1)
    assert flat.sum() > 20
    assert np.quantile(moved[flat], 0.9) < 0.002
    assert moved[flat].max() < 0.02


@pytest.mark.parametrize("side", ["left", "right"])
def test_bones_keep_their_length(walk, side):
    """Hip and knee, knee and ankle stay as far apart as the bones between them are long."""
    hip, knee, ankle = (walk[:, SEGMENTS.index(f"{side}_{part}"), :3] for part in ("thigh", "shin", "foot"))
    assert np.abs(np.linalg.norm(hip - knee, axis=1) - THIGH_M).max() < 1e-6
    assert np.abs(np.linalg.norm(knee - ankle, axis=1) - THIGH_M).max() < 0.012


def test_steps_are_noise_and_the_passage_is_intention():
    """The noise seed changes the way, not the passage; the start seed alone decides that."""
    world = load_world("walking")
    motions = [world.simulate(start_seed=3, noise_seed=seed) for seed in range(3)]
    assert len({motion.outcome for motion in motions}) == 1
    assert not np.array_equal(motions[0].states[40], motions[1].states[40])
    assert {world.simulate(start_seed=seed).outcome for seed in range(8)} == {"left", "right"}


def test_walker_who_stays_on_the_path_has_no_outcome():
    """A walker too slow to reach a passage ends without an outcome, and the reason is said."""
    slow = replace(load_world("walking"), speed_m_s=0.6)
    motion = slow.simulate(start_seed=3)
    assert motion.outcome is None
    assert motion.invalid == "unresolved"
