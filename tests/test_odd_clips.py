"""Odd and broken files, from the file to the judge: read as they should look, or refused with a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from worldodds import video
from worldodds.engine import plan, read_clips, run
from worldodds.errors import VideoError
from worldodds.evidence import EvidenceStore, Sampling
from worldodds.fake_judge import FakeJudge, Step, pictures_of
from worldodds.registry import make_reader
from worldodds.rollout import Rollout
from worldodds.scene import Scene, Suite
from worldodds.store import RunStore

ANSWER = Step(text=json.dumps({"seen": "x", "answer": "2", "null_rule": "none"}))
RED, GREY, WHITE = (220, 20, 20), (90, 90, 90), (240, 240, 240)


def picture(i: int, width: int, height: int) -> np.ndarray:
    """A red corner at the top left, and a white square that moves right."""
    image = np.full((height, width, 3), GREY, dtype=np.uint8)
    image[: height // 3, : width // 3] = RED
    image[-height // 3 :, 2 * i : 2 * i + 12] = WHITE
    return image


def film(path: Path, **how: Any) -> None:
    """Write a clip by PyAV directly, as mp4 or ``container``."""
    width, height = how.get("size", (96, 64))
    with av.open(str(path), "w", format=how.get("container", "mp4"), options=how.get("flags", {})) as container:
        stream: Any = container.add_stream(how.get("codec", "libx264"), rate=24, options=how.get("options", {}))
        stream.width, stream.height, stream.pix_fmt = width, height, how.get("pix_fmt", "yuv420p")
        if "turned" in how:
            stream.set_display_rotation(how["turned"])
        container.start_encoding()
        for i in range(how.get("frames", 12)):
            image = picture(i, width, height)
            if how.get("alpha"):
                cover = np.full((height, width, 1), how["alpha"], dtype=np.uint8)
                frame = av.VideoFrame.from_ndarray(np.concatenate([image, cover], axis=2), format="rgba")
            else:
                frame = av.VideoFrame.from_ndarray(image, format="rgb24")
            frame.pts = how["pts"][i] if "pts" in how else i
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


WHOLE: dict[str, dict[str, Any]] = {
    "one frame": {"frames": 1},
    "variable rate": {"pts": [0, 1, 2, 3, 4, 25, 26, 27, 28, 60, 61, 62]},
    "turned left": {"turned": 90},
    "turned right": {"turned": -90},
    "upside down": {"turned": 180},
    "ten bits": {"pix_fmt": "yuv420p10le"},
    "ten bits, hevc": {"codec": "libx265", "pix_fmt": "yuv420p10le", "options": {"x265-params": "log-level=none"}},
    "odd sizes": {"pix_fmt": "yuv444p", "size": (97, 63)},
    "odd sizes, webm": {"codec": "libvpx-vp9", "container": "webm", "size": (97, 63)},
    "webm with alpha": {"codec": "libvpx-vp9", "container": "webm", "pix_fmt": "yuva420p", "alpha": 128},
    "fragments": {"flags": {"movflags": "frag_keyframe+empty_moov"}},
}


def _cut(path: Path) -> None:
    film(path, flags={"movflags": "faststart"})
    data = path.read_bytes()
    path.write_bytes(data[: int(0.7 * len(data))])


def _flipped(path: Path) -> None:
    film(path, frames=48)
    data = bytearray(path.read_bytes())
    start = data.index(b"mdat") + 900
    for at in range(start, start + 900, 60):
        data[at] ^= 0x55
    path.write_bytes(bytes(data))


def _unknown_codec(path: Path) -> None:
    film(path)
    path.write_bytes(path.read_bytes().replace(b"avc1", b"xx01"))


def _not_text(path: Path) -> None:
    """Metadata that is no UTF-8 is no reason to refuse a clip, and no reason to stop."""
    film(path)
    path.write_bytes(path.read_bytes().replace(b"VideoHandler", b"Video\xe9\xffndler"))


def _sound_only(path: Path) -> None:
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=16000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 16000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "zero frames": (lambda path: film(path, frames=0), "no picture|not a video"),
    "zero frames, webm": (
        lambda path: film(path, frames=0, codec="libvpx-vp9", container="webm"),
        "no picture|not a video",
    ),
    "cut off": (_cut, "cut off"),
    "flipped bits": (_flipped, "corrupt"),
    "a codec nobody knows": (_unknown_codec, "its codec is not one that can be decoded"),
    "sound only": (_sound_only, "holds no pictures, only audio"),
}


@dataclass(frozen=True, kw_only=True)
class OddGenerator:
    """Films by a function; waits, as a model behind an API does."""

    write: Callable[[Path], object]
    name: str = "odd/one"
    cpu_bound: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        return {}

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        self.write(into)
        return Rollout(scene=scene.id, index=index, seed=seed, status="done")


@pytest.fixture
def die(tiny: Suite) -> Suite:
    return tiny.only(["die"])


def shown(jpeg: bytes) -> np.ndarray:
    import cv2

    return np.asarray(cv2.imdecode(np.frombuffer(jpeg, dtype=np.uint8), cv2.IMREAD_COLOR_RGB))


def as_opencv_shows(path: Path) -> np.ndarray:
    """Return the last frame by a decoder that is not ours."""
    import cv2

    capture, image = cv2.VideoCapture(str(path)), None
    while (got := capture.read())[0]:
        image = got[1]
    capture.release()
    assert image is not None
    return np.ascontiguousarray(image[..., ::-1])


@pytest.mark.parametrize("kind", WHOLE)
def test_odd_clips_reach_the_judge_as_they_look(die: Suite, tmp_path: Path, kind: str) -> None:
    """The judge gets the last picture, upright and in its own size, as an independent decoder shows it."""
    with FakeJudge(labels=die.scenes[0].labels, answer=lambda _: ANSWER) as fake, RunStore(tmp_path / "run") as store:
        judge = make_reader("vlm/m", {"base_url": fake.url, "frames": "last"})
        summary = run(plan(die, OddGenerator(write=lambda path: film(path, **WHOLE[kind])), [judge], 1), store)
        assert (summary.clips, summary.open, fake.served) == (1, (), 1)
        (rollout,) = store.rollouts().values()
        (stored,) = store.readings().values()
    assert (stored.reading.status, stored.reading.label) == ("outcome", "2")
    (jpeg,) = pictures_of(fake.requests[0]["body"])
    theirs = as_opencv_shows(video_path(tmp_path))
    assert rollout.status == "done"
    assert shown(jpeg).shape == theirs.shape
    assert np.abs(shown(jpeg).astype(int) - theirs).mean() < 8


def video_path(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "run/rollouts").glob("*/r000.mp4")
    return path


def test_a_turned_clip_is_shown_upright(tmp_path: Path) -> None:
    """What was stored lying down, marked to be turned, is shown standing: the red corner moves with it."""
    corners = []
    for turned in (0, 90, -90, 180):
        film(tmp_path / f"{turned}.mp4", turned=turned)
        (jpeg,) = EvidenceStore().of(video.probe(tmp_path / f"{turned}.mp4"), Sampling(frames="last")).pictures()
        image = shown(jpeg)
        reds = {(y, x): int(image[y, x, 0]) - int(image[y, x, 1]) for y in (3, -4) for x in (3, -4)}
        corners.append((image.shape[:2], max(reds, key=lambda corner: reds[corner])))
    standing, lying = (96, 64), (64, 96)
    assert corners == [(lying, (3, 3)), (standing, (-4, 3)), (standing, (3, -4)), (lying, (-4, -4))]


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_clips_reach_no_judge(die: Suite, tmp_path: Path, kind: str) -> None:
    """The rollout is failed with one sentence, and no judge is asked: no outcome, and no null either."""
    write, says = BROKEN[kind]
    with FakeJudge(labels=die.scenes[0].labels) as fake, RunStore(tmp_path / "run") as store:
        judge = make_reader("vlm/m", {"base_url": fake.url})
        summary = run(plan(die, OddGenerator(write=write), [judge], 1), store)
        (rollout,) = store.rollouts().values()
        assert (rollout.status, summary.clips, summary.read, fake.served) == ("failed", 0, 0, 0)
        assert store.readings() == {}
    write(tmp_path / "again.mp4")
    with pytest.raises(VideoError, match=says) as caught:
        video.probe(tmp_path / "again.mp4")
    assert "\n" not in str(caught.value)
    assert (rollout.message or "").startswith("VideoError: ")


def test_words_that_are_no_text_do_not_matter(tmp_path: Path) -> None:
    """A clip whose metadata is garbage is still a clip."""
    _not_text(tmp_path / "clip.mp4")
    clip = video.probe(tmp_path / "clip.mp4")
    assert clip.frames == 12
    assert len(EvidenceStore().of(clip, Sampling(frames="2fps")).frames) == 3
    assert video.plays_in_browsers(clip.path)


def test_a_clip_that_decodes_fine_after_a_bit_fell_is_refused(die: Suite, tmp_path: Path) -> None:
    """VP9 has no checksums: a byte that changes on the disk can decode without a word, into other pictures.

    The hash of the filmed file tells: such a clip is filmed anew or failed, and nobody is shown it.
    """
    how = {"codec": "libvpx-vp9", "container": "webm", "frames": 24, "options": {"lag-in-frames": "0"}}
    with FakeJudge(labels=die.scenes[0].labels, answer=lambda _: ANSWER) as fake, RunStore(tmp_path / "run") as store:
        run(plan(die, OddGenerator(write=lambda path: film(path, **how)), [], 1), store)
        path = video_path(tmp_path)
        whole, before = path.read_bytes(), video.decode(path).frames
        for at in range(len(whole) - 200, 400, -7):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
            if _decodes_into_others(path, before):
                break
        else:
            pytest.fail("no byte was found whose change goes unnoticed by the decoder")
        summary = read_clips(store, make_reader("vlm/m", {"base_url": fake.url}))
        assert (summary.read, summary.clips, fake.served) == (0, 0, 0)
        assert "no longer the file that was filmed" in summary.open[0]


def _decodes_into_others(path: Path, before: list[Any]) -> bool:
    try:
        after = video.decode(path).frames
    except VideoError:
        return False
    return len(after) == len(before) and not np.array_equal(after, before)
