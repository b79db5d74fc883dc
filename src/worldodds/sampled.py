"""Some frames of a clip that was decoded whole when it was filmed: no more of it is decoded than these take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worldodds import video
from worldodds.errors import VideoError
from worldodds.extras import need
from worldodds.mp4_boxes import check_boxes
from worldodds.rollout import Clip

if TYPE_CHECKING:
    from av.packet import Packet
    from av.video.codeccontext import VideoCodecContext
    from av.video.stream import VideoStream

Wanted = Callable[[int, Sequence[float]], bool]  # of a frame's index and the times of all frames up to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """The time of every frame of a clip, in seconds from the first, and the wanted frames, upright RGB, by index."""

    times: tuple[float, ...]
    frames: dict[int, video.Image]


def sample(clip: Clip, wanted: Wanted) -> Sampled:
    """Return the frames that are wanted, of a clip that was probed.

    The file must be, byte for byte, the one that `worldodds.video.probe` decoded whole; so nothing in it that is not
    looked at now can be broken, and H.264 pictures that no other picture is made from are skipped.

    Raises:
        VideoError: the file is missing, cut off, or no longer the one that was filmed.
    """
    check_boxes(clip.path)
    if video.sha256(clip.path) != clip.sha256:
        raise VideoError(f"{clip.path}: no longer the file that was filmed; film or import it again")
    return _by_packets(clip, wanted) or _by_frames(clip, wanted)


def _by_packets(clip: Clip, wanted: Wanted) -> Sampled | None:
    """Take the times from the container; None where it does not name one for each frame."""
    av = need("av", "run")
    with av.open(str(clip.path), metadata_errors="replace") as container:
        stream = container.streams.video[0]
        packets = list(container.demux(stream))
        stamps = [packet.pts for packet in packets if packet.size and not packet.is_discard]
        if None in stamps or len(set(stamps)) != len(stamps) or len(stamps) != clip.frames:
            return None
        stamps.sort()
        times = tuple(round((stamp - stamps[0]) * float(stream.time_base), 6) for stamp in stamps)
        index = {stamp: i for i, stamp in enumerate(stamps) if wanted(i, times)}
        frames = _decoded(packets, stream.codec_context, index)
    return Sampled(times=times, frames=frames) if len(frames) == len(index) else None


def _decoded(
    packets: Iterable[Packet[VideoStream]], decoder: VideoCodecContext, index: Mapping[int, int]
) -> dict[int, video.Image]:
    """Return the frames whose time stamps are listed, in their order, by index."""
    frames: dict[int, video.Image] = {}
    convert = need("av.video.reformatter", "run").VideoReformatter()
    decoder.thread_count = 1
    for packet in packets:
        if decoder.name == "h264":
            decoder.skip_frame = "DEFAULT" if packet.pts in index or not packet.size else "NONREF"
        for frame in packet.decode():
            if frame.pts is not None and frame.pts in index:
                frames[index[frame.pts]] = video.upright(frame, convert)
    return dict(sorted(frames.items()))


def _by_frames(clip: Clip, wanted: Wanted) -> Sampled:
    """Decode everything, and take the times from the frames."""
    times: list[float] = []
    chosen: list[int] = []

    def want(index: int, seconds: float) -> bool:
        times.append(round(seconds, 6))
        if wanted(index, times):
            chosen.append(index)
        return chosen[-1:] == [index]

    footage, count = video.select(clip.path, want)
    if count != clip.frames:
        raise VideoError(f"{clip.path}: {count} frames decoded, {clip.frames} when it was filmed")
    return Sampled(times=tuple(times), frames=dict(zip(chosen, footage.frames, strict=True)))
