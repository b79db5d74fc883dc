from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from worldodds import video
from worldodds.report.strips import Watched, cut_strips
from worldodds.rollout import Reading


def clip(path: Path, shade: int, frames: int = 12) -> Path:
    images = [np.full((96, 128, 3), shade + 5 * i, np.uint8) for i in range(frames)]
    video.encode(images, path, frame_rate=12)
    return path


def seen(path: Path, index: int, label: str | None, *, scene: str = "dice") -> Watched:
    reading = Reading.saw(label) if label else Reading(status="unreadable", reason="blurred")
    return Watched(model="m", scene=scene, index=index, path=path, reading=reading)


def test_one_strip_an_outcome_from_its_first_rollout(tmp_path: Path) -> None:
    """The first rollout by index stands for its outcome; commonest first, nulls last, with how many ended so."""
    path = clip(tmp_path / "a.mp4", 40)
    watched = [seen(path, i, label) for i, label in ((5, "2"), (3, "2"), (1, "6"), (0, None), (2, None), (4, None))]
    found = cut_strips(watched)
    assert [(s.outcome, s.index, s.clips) for s in found] == [("2", 3, 2), ("6", 1, 1), ("unreadable", 0, 3)]
    assert found[2].caption == "blurred"


def test_frames_run_from_first_to_last(tmp_path: Path) -> None:
    """Five small JPEGs, from the first frame to the last, the last one larger."""
    (strip,) = cut_strips([seen(clip(tmp_path / "a.mp4", 40), 0, "1")])
    pictures = [cv2.imdecode(np.frombuffer(frame, np.uint8), cv2.IMREAD_COLOR) for frame in strip.frames]
    assert [picture.shape[1] for picture in pictures] == [160, 160, 160, 160, 320]
    shades = [float(picture.mean()) for picture in pictures]
    assert shades == sorted(shades)
    assert abs(shades[0] - 40) < 4
    assert abs(shades[-1] - 95) < 4
    assert all(uri.startswith("data:image/jpeg;base64,") for uri in strip.uris)


def test_short_clips_give_what_they_have(tmp_path: Path) -> None:
    """A clip of two frames gives two pictures."""
    (strip,) = cut_strips([seen(clip(tmp_path / "a.mp4", 40, frames=2), 0, "1")])
    assert len(strip.frames) == 2


def test_a_clip_that_is_gone_says_so(tmp_path: Path) -> None:
    """A missing file leaves a strip without pictures and with the reason, and stops nothing."""
    (strip,) = cut_strips([seen(tmp_path / "gone.mp4", 0, "1")])
    assert strip.frames == ()
    assert "gone.mp4" in strip.caption


def test_failed_readings_are_no_endings(tmp_path: Path) -> None:
    """A reading that failed or is missing shows nothing about the model."""
    failed = Watched(model="m", scene="dice", index=0, path=tmp_path / "x.mp4", reading=Reading(status="failed"))
    assert cut_strips([failed]) == ()


def test_many_endings_are_cut_to_the_commonest(tmp_path: Path) -> None:
    """Beyond the limit every cell keeps its commonest outcomes, at least one."""
    path = clip(tmp_path / "a.mp4", 40, frames=2)
    watched = [seen(path, 10 * i + j, str(i), scene=s) for s in ("a", "b") for i in range(1, 5) for j in range(i)]
    assert [(s.scene, s.outcome) for s in cut_strips(watched, most=4)] == [
        ("a", "4"),
        ("a", "3"),
        ("b", "4"),
        ("b", "3"),
    ]
    assert len(cut_strips(watched, most=1)) == 2
