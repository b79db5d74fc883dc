"""Claims about clips: what is whole decodes right, what is broken says so."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from worldodds.errors import InputError, MissingDependencyError, VideoError
from worldodds.video import decode, encode, probe, read_still, write_still

av = pytest.importorskip("av")

FRAMES, WIDTH, HEIGHT = 48, 96, 64


def picture(i: int, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    """A smooth scene with a bright square that walks right, and a red corner at the top left."""
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    image = np.stack([40 + x % 97, 60 + y, 90 + 0 * x], axis=2).astype(np.uint8)
    image[height // 2 : height // 2 + 12, 2 * (i % 30) : 2 * (i % 30) + 12] = 240
    image[:12, :12] = (220, 20, 20)
    return image


def film(path: Path, *, codec: str = "libx264", pix_fmt: str = "yuv420p", n: int = FRAMES, **how: object) -> Path:
    """Write a clip by PyAV directly, in any odd way."""
    size: tuple[int, int] = how.get("size", (WIDTH, HEIGHT))  # type: ignore[assignment]
    with av.open(str(path), "w", options=how.get("flags", {})) as container:
        stream = container.add_stream(codec, rate=24, options={"g": "12"})
        stream.width, stream.height, stream.pix_fmt = *size, pix_fmt
        if "rotation" in how:
            stream.set_display_rotation(how["rotation"])
        for i in range(n):
            frame = av.VideoFrame.from_ndarray(picture(i, *size), format="rgb24")
            if "pts" in how:
                frame.pts = how["pts"](i)  # type: ignore[operator]
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "clip.mp4"
    encode((picture(i) for i in range(FRAMES)), path, frame_rate=24)
    return path


def test_round_trip(clip: Path) -> None:
    """What was encoded comes back: the same number of frames, their times, and nearly the same colours."""
    footage = decode(clip)
    assert len(footage.frames) == FRAMES
    assert footage.times == pytest.approx(np.arange(FRAMES) / 24)
    error = np.abs(footage.frames[20].astype(int) - picture(20))
    assert error.mean() < 4
    seen = probe(clip)
    assert (seen.frames, seen.seconds) == (FRAMES, pytest.approx(2.0))


def test_same_pictures_give_the_same_bytes(clip: Path, tmp_path: Path) -> None:
    """Whatever lies in freed memory, encoding again gives one sha256, and leaves no temporary file."""
    rng, pictures = np.random.default_rng(0), [picture(i) for i in range(FRAMES)]
    for _ in range(12):
        freed = [rng.integers(0, 255, size, dtype=np.uint8) for size in rng.integers(1, 400_000, 20)]
        del freed
        encode(pictures, tmp_path / "again.mp4", frame_rate=24)
        assert probe(clip).sha256 == probe(tmp_path / "again.mp4").sha256
    assert {p.name for p in tmp_path.iterdir()} == {"clip.mp4", "again.mp4"}


def test_a_failed_encode_leaves_nothing(tmp_path: Path) -> None:
    """Neither the clip nor a part of it stays behind when making the frames fails."""

    def frames():
        yield picture(0)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        encode(frames(), tmp_path / "x.mp4", frame_rate=24)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("frames", "says"),
    [([], "no frame"), ([np.zeros((5, 6, 3), np.uint8)], "odd side"), ([picture(0), picture(0, 64, 48)], "one size")],
)
def test_refuses_frames_it_cannot_encode(tmp_path: Path, frames: list[np.ndarray], says: str) -> None:
    """No frames, odd sides and mixed sizes are the caller's mistake."""
    with pytest.raises(InputError, match=says):
        encode(frames, tmp_path / "x.mp4", frame_rate=24)


@pytest.mark.parametrize(("last", "times"), [(1, [0, 47]), (3, [0, 45, 46, 47]), (47, range(48)), (60, range(48))])
def test_last_frames_only(clip: Path, last: int, times: list[int]) -> None:
    """`last=k` gives the first and the last k frames, each once, equal to those of a full decode."""
    some, whole = decode(clip, last=last), decode(clip)
    assert some.times == pytest.approx(np.array(list(times)) / 24)
    assert np.array_equal(some.frames[-1], whole.frames[-1])
    assert np.array_equal(some.frames[0], whole.frames[0])


def test_last_must_be_positive(clip: Path) -> None:
    """Asking for no frames is refused, not answered with none."""
    with pytest.raises(InputError, match="last: 0"):
        decode(clip, last=0)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("444.mp4", {"pix_fmt": "yuv444p"}),
        ("ten_bit.mp4", {"pix_fmt": "yuv420p10le"}),
        ("odd.mp4", {"pix_fmt": "yuv444p", "size": (97, 63)}),
        ("one.mp4", {"n": 1}),
        ("fragmented.mp4", {"flags": {"movflags": "frag_keyframe+empty_moov"}}),
        ("vp9.webm", {"codec": "libvpx-vp9"}),
    ],
)
def test_whole_clips_of_every_kind(tmp_path: Path, name: str, how: dict[str, object]) -> None:
    """Other pixel formats, odd sizes, single frames, fragments and webm are read in full."""
    path = film(tmp_path / name, **how)  # type: ignore[arg-type]
    footage = decode(path)
    n, (width, height) = how.get("n", FRAMES), how.get("size", (WIDTH, HEIGHT))
    assert len(footage.frames) == probe(path).frames == n
    assert footage.frames[0].shape == (height, width, 3)
    assert np.abs(footage.frames[-1].astype(int) - picture(n - 1, width, height)).mean() < 12  # type: ignore[operator]


@pytest.mark.parametrize("degrees", [90, -90, 180])
def test_rotation_is_applied(tmp_path: Path, degrees: int) -> None:
    """A clip marked as turned comes back upright, as OpenCV (an independent decoder) shows it."""
    import cv2

    path = film(tmp_path / "turned.mp4", rotation=degrees)
    ours = decode(path).frames[0]
    capture = cv2.VideoCapture(str(path))
    _, theirs = capture.read()
    capture.release()
    assert ours.shape == theirs.shape
    assert np.abs(ours.astype(int) - theirs[..., ::-1]).mean() < 6


def test_variable_frame_rate_keeps_its_times(tmp_path: Path) -> None:
    """Times come from the file, not from index over rate."""
    path = film(tmp_path / "vfr.mp4", n=10, pts=lambda i: i + 3 * (i >= 5))
    assert np.diff(decode(path).times) * 24 == pytest.approx([1, 1, 1, 1, 4, 1, 1, 1, 1])


@pytest.mark.parametrize("name", ["late.mp4", "late.mov", "late.mkv"])
def test_a_late_start_is_not_part_of_the_length(tmp_path: Path, name: str) -> None:
    """Pictures that begin two seconds into the file last as long as those that begin at once."""
    ending = name.partition(".")[2]
    at_once, late = (film(tmp_path / f"{k}.{ending}", n=24, pts=lambda i, k=k: i + 48 * k) for k in (0, 1))
    assert probe(late).frames == probe(at_once).frames
    assert probe(late).seconds == pytest.approx(probe(at_once).seconds, abs=0.002)
    assert probe(late).seconds == pytest.approx(1.0, abs=0.002)


def _audio_only(clip: Path) -> None:
    with av.open(str(clip), "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=16000, layout="mono")
        for _ in range(8):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
            frame.sample_rate = 16000
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _flip_bits(clip: Path) -> None:
    data = bytearray(clip.read_bytes())
    start = data.index(b"mdat") + 1200
    for at in range(start, len(data) - 40, 150):
        data[at] ^= 0x55
    clip.write_bytes(bytes(data))


def _flip_one_byte(clip: Path) -> None:
    data = bytearray(clip.read_bytes())
    data[data.index(b"mdat") + 1500] ^= 0xFF
    clip.write_bytes(bytes(data))


def _cut(share: float, maker: Callable[[Path], object] = lambda _: None) -> Callable[[Path], None]:
    def breaking(clip: Path) -> None:
        maker(clip)
        data = clip.read_bytes()
        clip.write_bytes(data[: int(len(data) * share)])

    return breaking


def _fragmented(clip: Path) -> None:
    film(clip, flags={"movflags": "frag_keyframe+empty_moov"})


def _index_last(clip: Path) -> None:
    film(clip)


def _webm(clip: Path) -> None:
    whole = clip.with_suffix(".webm")
    film(whole, codec="libvpx-vp9")
    whole.replace(clip)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda clip: clip.unlink(), "no such file"),
    "zero bytes": (lambda clip: clip.write_bytes(b""), "empty"),
    "text": (lambda clip: clip.write_text("<html>502 Bad Gateway</html>" * 50), "not a video"),
    "cut, index first": (_cut(0.6), "cut off"),
    "cut, index last": (_cut(0.6, _index_last), "cut off"),
    "cut, fragmented": (_cut(0.6, _fragmented), "cut off"),
    "cut, webm": (_cut(0.6, _webm), "cut off"),
    "nearly whole": (_cut(0.999), "cut off"),
    "a header only": (lambda clip: clip.write_bytes(clip.read_bytes()[:30]), "cut off|not a video"),
    "audio only": (_audio_only, "only audio"),
    "flipped bits": (_flip_bits, "corrupt"),
    "one flipped byte": (_flip_one_byte, "corrupt"),
}


@pytest.mark.parametrize(("kind", "reader"), list(itertools.product(BROKEN, [probe, decode])))
def test_broken_clips_are_named(clip: Path, kind: str, reader: Callable[[Path], object]) -> None:
    """Every kind of broken file raises VideoError with the file and the cause, from probe and decode alike."""
    breaking, says = BROKEN[kind]
    breaking(clip)
    with pytest.raises(VideoError, match=says) as caught:
        reader(clip)
    assert str(clip) in str(caught.value)


def test_a_folder_is_not_a_clip(tmp_path: Path) -> None:
    """A folder given for a clip is called one."""
    with pytest.raises(VideoError, match="a folder"):
        probe(tmp_path)


def test_missing_package_is_named(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without PyAV the message says what to install."""
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'worldodds\[run\]'"):
        probe(clip)


def test_stills(tmp_path: Path) -> None:
    """PNG keeps every pixel; what is no picture is refused."""
    write_still(picture(3), tmp_path / "a.png")
    assert np.array_equal(read_still(tmp_path / "a.png"), picture(3))
    (tmp_path / "b.png").write_text("no")
    with pytest.raises(VideoError, match=r"b\.png"):
        read_still(tmp_path / "b.png")
    with pytest.raises(VideoError, match="missing"):
        read_still(tmp_path / "c.png")
