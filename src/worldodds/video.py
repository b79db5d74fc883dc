"""Clips in and out: the one place that touches a codec. A clip is whole or it is an error, never a guess."""

from __future__ import annotations

import hashlib
import importlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import InputError, MissingDependencyError, VideoError
from worldodds.mp4_boxes import check_boxes
from worldodds.rollout import Clip

if TYPE_CHECKING:
    from av.video.frame import VideoFrame
    from av.video.reformatter import VideoReformatter

Image = NDArray[np.uint8]  # (height, width, 3), RGB

# x264's macroblock tree reads memory that nothing wrote where a row of macroblocks does not fill its vector registers:
# the same pictures then give other bytes from one call to the next
_SAME_BYTES = {"threads": "1", "x264-params": "mbtree=0"}

_BT601 = 6  # SMPTE 170M, what the conversion from RGB uses; named in the file so that every player inverts the same one

_WEB = {  # codecs that all current browsers play, by kind of stream and container
    "video": {"mp4": {"h264", "libdav1d", "av1"}, "webm": {"vp8", "vp9", "libvpx", "libvpx-vp9", "libdav1d", "av1"}},
    "audio": {"mp4": {"aac", "mp3", "mp3float"}, "webm": {"opus", "vorbis", "libopus"}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Footage:
    """Decoded pictures, upright, with the time of each.

    ``frames`` are RGB of shape (height, width, 3); ``times`` has shape (len(frames),), in seconds from the first frame.
    """

    frames: list[Image]
    times: NDArray[np.float64]


def encode(frames: Iterable[Image], path: Path, *, frame_rate: int, crf: int = 18, preset: str = "veryfast") -> None:
    """Write an H.264 mp4 (yuv420p, index first). The same pictures give the same bytes; the file appears by rename.

    ``crf`` is x264's quality, 0 (lossless) to 51 (worst).

    Raises:
        InputError: no frame, odd width or height (yuv420p halves both), or frames of different sizes.
        MissingDependencyError: PyAV is not installed.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        options = {"crf": str(crf), "preset": preset, **_SAME_BYTES}
        _write(iter(frames), part, frame_rate=frame_rate, options=options)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def probe(path: Path) -> Clip:
    """Decode a whole clip and return its sha256, length (from its first picture on) and number of frames.

    Raises:
        VideoError: missing, empty, truncated, corrupt, without pictures, or shorter than the file declares.
        MissingDependencyError: PyAV is not installed.
    """
    count, begin_s, end_s = 0, 0.0, 0.0
    for frame in _whole(path):
        begin_s = begin_s if count else _time(frame)
        count += 1
        end_s = _time(frame) + _duration(frame)
    return Clip(path=path, sha256=sha256(path), seconds=round(end_s - begin_s, 6), frames=count)


def sha256(path: Path) -> str:
    """Return the hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def decode(path: Path, *, last: int | None = None) -> Footage:
    """Decode a clip to upright RGB frames with their own times (a variable frame rate is kept as it is).

    The whole file is always decoded and checked. With ``last=k`` only the first and the last k frames are converted
    to RGB and returned, each once: all that reading a final state takes.

    Raises:
        VideoError: as `probe`.
        MissingDependencyError: PyAV is not installed.
    """
    if last is not None and last < 1:
        raise InputError(f"last: {last} frames make no footage; give 1 or more, or leave it out for all")
    kept: deque[VideoFrame] = deque(maxlen=last)
    first: VideoFrame | None = None
    frames: list[Image] = []
    times: list[float] = []
    for frame in _whole(path):
        times.append(_time(frame))
        first = first or frame
        if last is None:
            frames.append(upright(frame))
        else:
            kept.append(frame)
    if last is not None:
        lead = [first] if first is not None and len(times) > last else []
        frames = [upright(frame) for frame in (*lead, *kept)]
        times = [*times[: len(lead)], *times[-len(kept) :]]
    return Footage(frames=frames, times=np.array(times) - times[0])


def select(path: Path, wanted: Callable[[int, float], bool]) -> tuple[Footage, int]:
    """Decode and check a whole clip, and convert only the frames that are wanted by index and seconds from the first.

    Returns those frames, with their times, and how many frames the clip has.

    Raises:
        VideoError: as `probe`.
    """
    frames: list[Image] = []
    times: list[float] = []
    begin_s, count = 0.0, 0
    for frame in _whole(path):
        begin_s = begin_s if count else _time(frame)
        if wanted(count, _time(frame) - begin_s):
            frames.append(upright(frame))
            times.append(_time(frame) - begin_s)
        count += 1
    return Footage(frames=frames, times=np.array(times)), count


def plays_in_browsers(path: Path) -> bool:
    """Say whether every current browser plays a file: the right container, codec, bit depth and sound.

    Raises:
        VideoError: not a video.
        MissingDependencyError: PyAV is not installed.
    """
    av = _need("av", "av")
    try:
        with av.open(str(path), metadata_errors="replace") as container:
            codecs = {kind: {stream.codec_context.name for stream in getattr(container.streams, kind)} for kind in _WEB}
            formats = {stream.codec_context.pix_fmt for stream in container.streams.video}
            family = "mp4" if "mp4" in container.format.name else "webm" if "webm" in container.format.name else None
    except av.FFmpegError as error:
        raise VideoError(f"{path}: not a video that can be decoded ({_cause(error)}); fetch it again") from None
    if family is None or len(codecs["video"]) != 1 or not formats <= {"yuv420p", "yuvj420p"}:
        return False
    return codecs["video"] <= _WEB["video"][family] and codecs["audio"] <= _WEB["audio"][family]


def browser_copy(path: Path, into: Path) -> None:
    """Write an H.264 mp4 of a clip's pictures at their own times, upright, without sound; an odd side loses a line.

    Raises:
        VideoError: as `probe`.
        MissingDependencyError: PyAV is not installed.
    """
    av = _need("av", "av")
    with av.open(str(into), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = None
        for frame in _whole(path):
            image = upright(frame)
            height, width = (side - side % 2 for side in image.shape[:2])
            if stream is None:
                stream = container.add_stream("libx264", options={"crf": "16", "preset": "veryfast", "bf": "0"})
                stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
                stream.codec_context.colorspace = _BT601
                stream.codec_context.time_base = frame.time_base
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(image[:height, :width]), format="rgb24")
            picture.pts, picture.time_base = frame.pts, frame.time_base
            container.mux(stream.encode(picture))
        assert stream is not None
        container.mux(stream.encode(None))


def read_still(path: Path | str) -> Image:
    """Read a picture (PNG, JPEG) as RGB; raises VideoError where it is missing or broken."""
    cv2, file = _need("cv2", "opencv-python-headless"), Path(path)
    data = np.frombuffer(file.read_bytes(), dtype=np.uint8) if file.is_file() else np.empty(0, dtype=np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_COLOR_RGB) if data.size else None
    if image is None:
        raise VideoError(f"{path}: {'not a picture that can be read' if data.size else 'missing or empty'}")
    return np.asarray(image, dtype=np.uint8)


def write_still(image: Image, path: Path) -> None:
    """Write an RGB picture as PNG; the file appears by rename."""
    cv2 = _need("cv2", "opencv-python-headless")
    _, data = cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_PNG_COMPRESSION, 9])
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data.tobytes())
    part.replace(path)


def _need(module: str, package: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingDependencyError(
            f"pictures need the package {package!r}, which cannot be imported; run: pip install 'worldodds[run]'"
        ) from None


def _write(frames: Iterator[Image], path: Path, *, frame_rate: int, options: dict[str, str]) -> None:
    av = _need("av", "av")
    first = next(frames, None)
    if first is None:
        raise InputError(f"{path}: there is no frame to encode; a clip needs at least one")
    height, width = first.shape[:2]
    if height % 2 or width % 2:
        raise InputError(f"size: {width}x{height} has an odd side; H.264 with 4:2:0 colour needs even ones")
    flags = {"movflags": "+faststart", "fflags": "+bitexact"}
    with av.open(str(path), "w", format="mp4", options=flags) as container:
        stream = container.add_stream("libx264", rate=frame_rate, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.colorspace = _BT601
        for image in itertools.chain([first], frames):
            if image.shape != first.shape:
                raise InputError(f"frames: shape {image.shape} after {first.shape}; all must have one size")
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")))
        container.mux(stream.encode(None))


def _whole(path: Path) -> Iterator[VideoFrame]:
    """Yield every frame in order, then raise VideoError where the file holds less than it declares."""
    av = _need("av", "av")
    check_boxes(path)
    seen = discarded = 0
    begin_s = end_s = longest_s = 0.0
    try:
        with av.open(str(path), metadata_errors="replace") as container:
            stream = _pictures(container, path)
            stream.codec_context.thread_count = 1
            for packet in container.demux(stream):
                if packet.size and packet.is_corrupt:
                    raise VideoError(f"{path}: the file is cut off or corrupt after frame {seen}; fetch it again")
                discarded += bool(packet.size and packet.is_discard)
                for frame in packet.decode():
                    if frame.is_corrupt:
                        raise VideoError(f"{path}: frame {seen} is corrupt; fetch the file again")
                    seen += 1
                    begin_s = _time(frame) if seen == 1 else begin_s
                    longest_s = max(longest_s, _time(frame) - end_s if seen > 1 else 0.0, _duration(frame))
                    end_s = _time(frame) + _duration(frame)
                    yield frame
            declared, declared_s = stream.frames, _declared_seconds(container, stream)
    except av.FFmpegError as error:
        where = f"corrupt after frame {seen}" if seen else "not a video that can be decoded"
        raise VideoError(f"{path}: {where} ({_cause(error)}); fetch it again") from None
    if seen == 0 and not declared:
        raise VideoError(f"{path}: no picture could be decoded; a clip needs at least one")
    if seen + discarded < declared:
        raise VideoError(f"{path}: {seen} frames decoded, {declared} declared; the file is cut off or corrupt")
    if end_s - begin_s < declared_s - max(0.15, 1.5 * longest_s):
        raise VideoError(f"{path}: {end_s - begin_s:.2f} s decoded, {declared_s:.2f} s declared; the file is cut off")


def _pictures(container: Any, path: Path) -> Any:
    """Return the stream of pictures."""
    if not container.streams.video:
        raise VideoError(f"{path}: holds no pictures, only {_kinds(container)}; a clip needs a video stream")
    stream = container.streams.video[0]
    if stream.codec_context is None:  # no decoder of that name is known
        raise VideoError(f"{path}: its codec is not one that can be decoded here; convert it to H.264")
    return stream


def _declared_seconds(container: Any, stream: Any) -> float:
    """Length of the pictures by the file's own word; 0 where it has none (sound may outlast pictures)."""
    if stream.duration:
        return float(stream.duration * stream.time_base)
    if len(container.streams) > 1 or not container.duration:
        return 0.0
    # Matroska and WebM count from the file's beginning, not from their first picture
    late = container.start_time if "matroska" in container.format.name else 0
    return (container.duration - max(late or 0, 0)) / 1e6


def _time(frame: VideoFrame) -> float:
    return float(frame.time or 0.0)


def _duration(frame: VideoFrame) -> float:
    return float((frame.duration or 0) * (frame.time_base or 0))


def upright(frame: VideoFrame, convert: VideoReformatter | None = None) -> Image:
    """Return a decoded picture as RGB, turned as its display matrix says.

    ``convert`` keeps what the conversion of one size and format needs, for those that convert many.
    """
    plain = convert.reformat(frame, format="rgb24", threads=1) if convert else frame
    image = plain.to_ndarray(format="rgb24")
    return np.ascontiguousarray(np.rot90(image, round(frame.rotation / 90)), dtype=np.uint8)


def _kinds(container: Any) -> str:
    return " and ".join(sorted({stream.type for stream in container.streams})) or "nothing"


def _cause(error: Any) -> str:
    return str(getattr(error, "strerror", None) or error)
