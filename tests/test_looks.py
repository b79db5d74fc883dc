"""Twins under different seeds are found, and only twins."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np

from worldodds import video
from worldodds.looks import look, twins
from worldodds.rollout import Clip, State


def film(path: Path, *, ball_at: int, noise: int = 0, crf: int = 18) -> Path:
    """Film a small ball that ends at a place, on a wide scene with a fixed background."""
    background = np.random.default_rng(0).integers(60, 200, size=(9, 16, 3)).astype(np.uint8)
    scene = np.kron(background, np.ones((40, 40, 1), dtype=np.uint8))
    grain = np.random.default_rng(noise)
    frames = []
    for time in range(12):
        picture = scene.astype(np.int16) + grain.integers(-2, 3, size=scene.shape)
        x = 40 + (ball_at - 40) * time // 11
        picture[160:184, x : x + 24] = 255
        frames.append(np.clip(picture, 0, 255).astype(np.uint8))
    video.encode(frames, path, frame_rate=24, crf=crf)
    return path


def as_rollouts(paths: list[Path]) -> tuple[dict[str, State], dict[str, bytes]]:
    clips = [video.probe(path) for path in paths]
    rollouts = {str(i): rollout(i, clip) for i, clip in enumerate(clips)}
    return rollouts, {clip.sha256: look(clip) for clip in clips}


def rollout(index: int, clip: Clip) -> State:
    return State(scene="ball", index=index, seed=index, status="done", sha256=clip.sha256)


def test_the_same_motion_encoded_anew_is_a_twin(tmp_path: Path) -> None:
    """Other bytes, other grain, other quality: still one clip."""
    first = film(tmp_path / "a.mp4", ball_at=500, noise=1)
    second = film(tmp_path / "b.mp4", ball_at=500, noise=2, crf=26)
    (line,) = twins(*as_rollouts([first, second]))
    assert line.startswith("ball: this model ignores the seed: r000 and r001 look the same (seeds 0 and 1; 2 of 2")


def test_a_small_ball_that_ends_elsewhere_is_no_twin(tmp_path: Path) -> None:
    """A ball of 24 pixels on a picture of 640 is enough to tell clips apart."""
    paths = [film(tmp_path / f"{at}.mp4", ball_at=at, noise=at) for at in (300, 330, 500, 560)]
    assert twins(*as_rollouts(paths)) == ()


def test_files_are_compared_without_pictures(tmp_path: Path) -> None:
    """The same bytes under two seeds need no look."""
    clip = video.probe(film(tmp_path / "a.mp4", ball_at=500))
    (line,) = twins({"0": rollout(0, clip), "1": rollout(1, clip)}, {})
    assert "are the same file" in line


def test_other_scenes_are_not_compared(tmp_path: Path) -> None:
    """One clip may serve two scenes."""
    clip = video.probe(film(tmp_path / "a.mp4", ball_at=500))
    other = State(scene="die", index=1, seed=1, status="done", sha256=clip.sha256)
    assert twins({"0": rollout(0, clip), "1": other}, {}) == ()


def test_pictures_of_old_ledgers_are_compressed(tmp_path: Path) -> None:
    """They were kept so once, and are still compared."""
    paths = [film(tmp_path / f"{noise}.mp4", ball_at=500, noise=noise) for noise in (1, 2)]
    rollouts, looks = as_rollouts(paths)
    packed = {sha256: zlib.compress(picture) for sha256, picture in looks.items()}
    assert twins(rollouts, packed) == twins(rollouts, looks) != ()
