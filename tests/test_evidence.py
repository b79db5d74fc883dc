"""The frames that every judge gets."""

from __future__ import annotations

import shutil
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from worldodds import video
from worldodds.errors import InputError, VideoError
from worldodds.evidence import EvidenceStore, Sampling
from worldodds.rollout import Clip
from worldodds.suites import find_suite


def _clip(folder: Path, frames: int = 24, *, size: tuple[int, int] = (48, 64), rate: int = 24) -> Clip:
    path = folder / "r000.mp4"
    video.encode([np.full((*size, 3), 5 * i + 20, dtype=np.uint8) for i in range(frames)], path, frame_rate=rate)
    return video.probe(path)


@pytest.mark.parametrize(
    ("frames", "indices"),
    [
        ("last", [23]),
        ("1", [23]),
        ("2", [0, 23]),
        ("4", [0, 8, 15, 23]),
        ("99", list(range(24))),
        ("2fps", [0, 12, 23]),
        ("4fps", [0, 6, 12, 18, 23]),
    ],
)
def test_the_declared_frames_are_taken(tmp_path: Path, frames: str, indices: list[int]) -> None:
    """A sampling names its frames: the last, so many evenly, or a rate and the first, the middle and the last."""
    found = EvidenceStore().of(_clip(tmp_path), Sampling(frames=frames))
    assert [frame.index for frame in found.frames] == indices
    assert [frame.seconds for frame in found.frames] == pytest.approx([i / 24 for i in indices], abs=1e-4)


def test_pictures_are_those_of_the_clip(tmp_path: Path) -> None:
    """A frame that is kept shows what the clip shows at that place."""
    found = EvidenceStore().of(_clip(tmp_path), Sampling(frames="last", quality=95))
    path = found.folder / f"{found.frames[0].sha256}.jpg"
    assert abs(float(video.read_still(path).mean()) - (5 * 23 + 20)) < 3
    assert found.pictures() == (path.read_bytes(),)


def test_large_pictures_shrink_and_small_ones_stay(tmp_path: Path) -> None:
    """The long side is at most what was asked, the aspect kept; nothing is enlarged."""
    clip = _clip(tmp_path, 3, size=(200, 400))
    store = EvidenceStore()
    shapes = []
    for side in (100, 768):
        found = store.of(clip, Sampling(frames="last", long_side=side))
        shapes.append(video.read_still(next(found.folder.glob("*.jpg"))).shape)
    assert shapes == [(50, 100, 3), (200, 400, 3)]


def test_a_scene_says_what_is_its_evidence() -> None:
    """Scenes read from the last frame get one, scenes read from the whole clip a rate."""
    suite = find_suite("calibench")
    assert Sampling().of(suite.scene("dice")).frames == "last"
    assert Sampling().of(suite.scene("ball")).frames == "2fps"


def test_a_clip_is_decoded_once(tmp_path: Path) -> None:
    """Eight threads, and later another store, get the same evidence from one decoding."""
    clip, store = _clip(tmp_path), EvidenceStore()
    got: list[object] = []
    sampling = Sampling(frames="8")
    threads = [threading.Thread(target=lambda: got.append(store.of(clip, sampling))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), store.decoded) == (8, 1)
    again = EvidenceStore()
    assert again.of(clip, sampling) == got[0]
    assert again.decoded == 0


def test_evidence_that_was_lost_is_made_again(tmp_path: Path) -> None:
    """A folder that was thrown away is made anew by the next process."""
    clip = _clip(tmp_path)
    first = EvidenceStore().of(clip, Sampling(frames="last"))
    shutil.rmtree(first.folder)
    assert EvidenceStore().of(clip, Sampling(frames="last")).pictures()


def test_broken_clips_are_errors(tmp_path: Path) -> None:
    """A clip that is cut off, or another than was filmed, is a VideoError: failed, and never a null."""
    clip = _clip(tmp_path)
    data = clip.path.read_bytes()
    clip.path.write_bytes(data[: len(data) // 2])
    with pytest.raises(VideoError):
        EvidenceStore().of(clip, Sampling(frames="last"))
    shorter = _clip(tmp_path, 12)
    changed = Clip(path=shorter.path, sha256=clip.sha256, seconds=1.0, frames=24)
    with pytest.raises(VideoError, match="no longer the file that was filmed"):
        EvidenceStore().of(changed, Sampling(frames="last"))
    assert not list(tmp_path.glob("evidence/*"))


def test_one_frame_is_enough(tmp_path: Path) -> None:
    """A clip of one frame has a first, a middle and a last: all the same, shown once."""
    for frames in ("last", "3", "2fps"):
        assert len(EvidenceStore().of(_clip(tmp_path, 1), Sampling(frames=frames)).frames) == 1


@pytest.mark.parametrize("frames", ["", "0", "-1", "0fps", "fps", "61fps", "first", "2.5"])
def test_samplings_are_checked(frames: str) -> None:
    """A sampling that means nothing is refused with what would."""
    with pytest.raises(InputError, match="write last, scene, a number of frames, or 2fps"):
        Sampling(frames=frames)


def test_axes_share_one_decoding(tmp_path: Path) -> None:
    """A judge of the last frame and one of the whole clip cost one decoding; a sampling of its own costs another."""
    clip, store = _clip(tmp_path), EvidenceStore()
    last, whole = store.of(clip, Sampling(frames="last")), store.of(clip, Sampling(frames="2fps"))
    assert store.decoded == 1
    assert last.frames[0] == whole.frames[-1]
    again = EvidenceStore()
    assert [frame.index for frame in again.of(clip, Sampling(frames="5")).frames] == [0, 6, 12, 17, 23]
    assert again.of(clip, Sampling(frames="2fps")) == whole
    assert again.decoded == 1


def test_a_variable_rate_is_sampled_by_its_times(tmp_path: Path) -> None:
    """Frames of a rate are chosen by when they are shown, not by counting."""
    import av

    path = tmp_path / "vfr.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=100, options={"bf": "0"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for i, hundredths in enumerate([0, 10, 20, 90, 100, 190, 200]):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 30 * i, dtype=np.uint8), format="rgb24")
            frame.pts, frame.time_base = hundredths, Fraction(1, 100)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    found = EvidenceStore().of(video.probe(path), Sampling(frames="1fps"))
    assert [frame.index for frame in found.frames] == [0, 3, 4, 6]
