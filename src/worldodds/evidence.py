"""The frames of a clip that a judge is shown: the same for every judge, decoded once, kept by hash to be looked at."""

from __future__ import annotations

import hashlib
import re
import shutil
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from worldodds import video
from worldodds.errors import InputError, VideoError
from worldodds.extras import need
from worldodds.rollout import Clip
from worldodds.scene import Scene, digest

FOLDER = "evidence"
_INDEX = "frames.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Which frames, how large, how well kept.

    ``frames`` is ``last`` (the last frame), a number (so many evenly spaced, first and last among them), a rate such
    as ``2fps`` (that many a second, and the first, the middle and the last), or ``scene``: as the scene's read-out
    rule asks, ``last`` for its last frame and ``2fps`` for its whole clip.

    Raises:
        InputError: none of these, or a size or quality out of range.
    """

    frames: str = "scene"
    long_side: int = 768
    quality: int = 90

    def __post_init__(self) -> None:
        number = re.fullmatch(r"(last|scene)|([0-9]{1,3})|([0-9]+(?:\.[0-9]+)?)fps", self.frames)
        if number is None or number[2] == "0" or (number[3] and not 0 < float(number[3]) <= 60):
            raise InputError(f"frames: {self.frames!r} is no sampling; write last, scene, a number of frames, or 2fps")
        if not 16 <= self.long_side <= 4096 or not 1 <= self.quality <= 100:
            size = f"long_side = {self.long_side}, quality = {self.quality}"
            raise InputError(f"{size}: out of range; give 16 to 4096 pixels and a JPEG quality of 1 to 100")

    def of(self, scene: Scene) -> Sampling:
        """Return what this means for a scene."""
        if self.frames != "scene":
            return self
        frames = "last" if scene.readout.evidence == "last frame" else "2fps"
        return Sampling(frames=frames, long_side=self.long_side, quality=self.quality)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One picture as the judge gets it."""

    index: int
    seconds: float
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The frames of one clip under one sampling, in their order; ``key`` names both."""

    key: str
    folder: Path
    frames: tuple[Frame, ...]

    def pictures(self) -> tuple[bytes, ...]:
        """Return the JPEG of every frame."""
        return tuple((self.folder / f"{frame.sha256}.jpg").read_bytes() for frame in self.frames)


@dataclass(slots=True)
class EvidenceStore:
    """Keeps evidence beside the clips, and decodes each clip once, however many threads, votes and judges ask.

    ``folder`` holds all evidence; by default it lies beside each clip. ``decoded`` counts the decodings.
    """

    folder: Path | None = None
    decoded: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _busy: dict[str, threading.Lock] = field(default_factory=dict[str, threading.Lock])
    _known: dict[str, Evidence] = field(default_factory=dict[str, Evidence])

    def of(self, clip: Clip, sampling: Sampling) -> Evidence:
        """Return a clip's evidence; ``sampling`` says which frames, no longer ``scene``.

        Raises:
            VideoError: the clip is broken, or is not the file that was filmed: never a null.
        """
        key = digest({"clip": clip.sha256, "sampling": msgspec.to_builtins(sampling)})[:24]
        with self._lock:
            busy = self._busy.setdefault(key, threading.Lock())
        with busy:
            if (found := self._known.get(key)) is None:
                folder = (self.folder or clip.path.parent / FOLDER) / key
                found = _kept(key, folder) or self._decode(key, folder, clip, sampling)
                self._known[key] = found
        return found

    def _decode(self, key: str, folder: Path, clip: Clip, sampling: Sampling) -> Evidence:
        footage, indices = _sampled(clip, sampling)
        with self._lock:
            self.decoded += 1
        part = folder.with_name(f".part-{key}-{uuid.uuid4().hex[:8]}")
        part.mkdir(parents=True)
        frames: list[Frame] = []
        for index, seconds, image in zip(indices, footage.times.tolist(), footage.frames, strict=True):
            data = _jpeg(image, long_side=sampling.long_side, quality=sampling.quality)
            name = hashlib.sha256(data).hexdigest()
            (part / f"{name}.jpg").write_bytes(data)
            frames.append(Frame(index=index, seconds=round(seconds, 6), sha256=name))
        (part / _INDEX).write_bytes(msgspec.json.encode(frames))
        _appear(part, folder)
        return Evidence(key=key, folder=folder, frames=tuple(frames))


def _sampled(clip: Clip, sampling: Sampling) -> tuple[video.Footage, list[int]]:
    """Decode the clip once and keep the frames wanted, with their indices."""
    chosen: list[int] = []
    wanted = _indices(clip.frames, sampling.frames)
    step_s = 1 / float(sampling.frames.removesuffix("fps")) if sampling.frames.endswith("fps") else None

    def want(index: int, seconds: float) -> bool:
        nonlocal due
        beat = step_s is not None and seconds >= due - 1e-6
        if beat and step_s is not None:
            due = (seconds + 1e-6) // step_s * step_s + step_s
        if beat or index in wanted:
            chosen.append(index)
            return True
        return False

    due = 0.0
    footage, count = video.select(clip.path, want)
    if count != clip.frames:
        raise VideoError(f"{clip.path}: {count} frames decoded, {clip.frames} when it was filmed; the file has changed")
    return footage, chosen


def _indices(count: int, frames: str) -> frozenset[int]:
    """Indices that are wanted whatever their time."""
    last = count - 1
    if frames == "last":
        return frozenset({last})
    if frames.endswith("fps"):
        return frozenset({0, count // 2, last})
    n = min(int(frames), count)
    return frozenset({last}) if n == 1 else frozenset(round(i * last / (n - 1)) for i in range(n))


def _jpeg(image: video.Image, *, long_side: int, quality: int) -> bytes:
    """Return an RGB picture as JPEG, shrunk by area to ``long_side`` where it is larger, never enlarged."""
    cv2 = need("cv2", "run")
    height, width = image.shape[:2]
    if (scale := long_side / max(height, width)) < 1:
        size = max(1, round(width * scale)), max(1, round(height * scale))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    _, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality])
    return data.tobytes()


def _kept(key: str, folder: Path) -> Evidence | None:
    """Find evidence that was made before, whole."""
    path = folder / _INDEX
    if not path.is_file():
        return None
    frames = msgspec.json.decode(path.read_bytes(), type=tuple[Frame, ...])
    whole = all((folder / f"{frame.sha256}.jpg").is_file() for frame in frames)
    return Evidence(key=key, folder=folder, frames=frames) if whole else None


def _appear(part: Path, folder: Path) -> None:
    """Put a finished folder in its place; another process may have been faster, with the same pictures."""
    try:
        part.rename(folder)
    except OSError:
        if not (folder / _INDEX).is_file():
            raise
        shutil.rmtree(part)
