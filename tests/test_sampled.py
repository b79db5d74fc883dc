"""Some frames of a clip, decoded without the rest, are the frames that decoding everything gives."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from worldodds import video
from worldodds.errors import VideoError
from worldodds.sampled import sample


def film(path: Path, codec: str, *, pts: list[int] | None = None, turned: int = 0, **options: str) -> Path:
    """Film a square that walks over grain; every frame differs from every other."""
    rng = np.random.default_rng(0)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=24, options=options)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        if turned:
            stream.set_display_rotation(turned)
        for i, stamp in enumerate(pts or range(30)):
            image = rng.integers(80, 120, size=(64, 96, 3)).astype(np.uint8)
            image[20:40, 2 * i : 2 * i + 20] = 240
            frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts, frame.time_base = stamp, Fraction(1, 24)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def _all(index: int, _: Sequence[float]) -> bool:
    return index >= 0


HOW: dict[str, tuple[str, str, dict[str, Any]]] = {
    "many B-frames": ("mp4", "libx264", {"bf": "5"}),
    "no B-frames": ("mp4", "libx264", {"bf": "0"}),
    "several groups": ("mp4", "libx264", {"g": "7"}),
    "variable rate": ("mp4", "libx264", {"pts": [0, 1, 2, 9, 10, 30, 31, 32, 33, 60]}),
    "turned": ("mp4", "libx264", {"turned": 90}),
    "hevc": ("mp4", "libx265", {"x265-params": "log-level=none"}),
    "vp9 with frames that are never shown": ("webm", "libvpx-vp9", {"auto-alt-ref": "1", "lag-in-frames": "16"}),
    "no index": ("ts", "libx264", {}),
}


@pytest.mark.parametrize("kind", HOW)
def test_the_same_frames_as_decoding_everything(tmp_path: Path, kind: str) -> None:
    """Pictures and times are those of a whole decoding, bit for bit, whichever frames are wanted."""
    ending, codec, how = HOW[kind]
    clip = video.probe(film(tmp_path / f"clip.{ending}", codec, **how))
    whole = video.decode(clip.path)
    for wanted in ({clip.frames - 1}, {0, 1, clip.frames // 2}, set(range(clip.frames))):
        found = sample(clip, lambda index, _, wanted=wanted: index in wanted)
        assert found.times == pytest.approx(whole.times, abs=1e-5)
        assert list(found.frames) == sorted(wanted)
        assert all(np.array_equal(found.frames[i], whole.frames[i]) for i in wanted)


def test_frames_nobody_needs_are_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a clip with B-frames fewer frames come out of the decoder than it has; no whole decoding takes place."""
    clip = video.probe(film(tmp_path / "clip.mp4", "libx264", bf="5"))
    monkeypatch.delattr(video, "select")
    found = sample(clip, lambda index, _: index == 29)
    assert (len(found.times), list(found.frames)) == (30, [29])


def test_times_come_in_their_order(tmp_path: Path) -> None:
    """Whoever chooses sees each frame's index, and the times of all frames up to it."""
    clip = video.probe(film(tmp_path / "clip.mp4", "libx264"))
    seen: list[tuple[int, float]] = []

    def want(index: int, times: Any) -> bool:
        seen.append((index, times[index]))
        return index == 0

    sample(clip, want)
    assert seen == [(i, pytest.approx(i / 24, abs=1e-4)) for i in range(30)]


def test_another_file_is_refused(tmp_path: Path) -> None:
    """A byte that changed, even one that no decoder minds, makes it another file: refused, not read."""
    clip = video.probe(film(tmp_path / "clip.mp4", "libx264"))
    data = bytearray(clip.path.read_bytes())
    data[-1] ^= 1
    clip.path.write_bytes(bytes(data))
    with pytest.raises(VideoError, match="no longer the file that was filmed"):
        sample(clip, _all)
    clip.path.unlink()
    with pytest.raises(VideoError, match="no such file"):
        sample(clip, _all)
