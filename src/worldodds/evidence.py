"""The frames of a clip that a judge is shown: the same for every judge, decoded once, kept by hash to be looked at."""

from __future__ import annotations

import hashlib
import re
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import msgspec

from worldodds import video
from worldodds.errors import InputError
from worldodds.extras import need
from worldodds.rollout import Clip
from worldodds.sampled import sample
from worldodds.scene import Scene, digest
from worldodds.workers import cores

FOLDER = "evidence"
_INDEX = "frames.json"
_SHARED = "2fps"


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
    """The frames of one clip under one sampling, in their order, and the folder that holds them as ``SHA256.jpg``."""

    folder: Path
    frames: tuple[Frame, ...]

    @property
    def key(self) -> str:
        """The folder's name: which clip, how large and how well kept."""
        return self.folder.name

    def pictures(self) -> tuple[bytes, ...]:
        """Return the JPEG of every frame."""
        return tuple((self.folder / f"{frame.sha256}.jpg").read_bytes() for frame in self.frames)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    """What is kept of a clip: the time of every frame, and the frames that were ever wanted."""

    times: tuple[float, ...]
    frames: tuple[Frame, ...]

    def chosen(self, frames: str) -> tuple[Frame, ...] | None:
        """Return the frames of a sampling; None where one of them is not kept."""
        count, kept = len(self.times), {frame.index: frame for frame in self.frames}
        wanted = [index for index in range(count) if _wants(frames, count, index, self.times)]
        return tuple(kept[index] for index in wanted) if kept.keys() >= set(wanted) else None


@dataclass(slots=True)
class EvidenceStore:
    """Keeps evidence beside the clips, and decodes each clip once, however many threads, votes and judges ask.

    Two clips are decoded at once for each core: more would make the first ready no sooner, fewer would leave cores
    idle while Python's lock is waited for. The one decoding keeps what a rate of 2 frames a second takes, too, so that
    a judge of the last frame and one of the whole clip share it. ``folder`` holds all evidence; by default it lies
    beside each clip. ``decoded`` counts.
    """

    folder: Path | None = None
    decoded: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _room: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(2 * cores()))
    _busy: dict[Path, threading.Lock] = field(default_factory=dict[Path, threading.Lock])
    _books: dict[Path, _Book] = field(default_factory=dict[Path, _Book])

    def of(self, clip: Clip, sampling: Sampling) -> Evidence:
        """Return a clip's evidence; ``sampling`` says which frames, no longer ``scene``.

        Raises:
            VideoError: the clip is broken, or is not the file that was filmed: never a null.
        """
        kept_as = {"clip": clip.sha256, "long_side": sampling.long_side, "quality": sampling.quality}
        folder = (self.folder or clip.path.parent / FOLDER) / digest(kept_as)[:24]
        with self._lock:
            busy = self._busy.setdefault(folder, threading.Lock())
        with busy:
            book = self._books.get(folder) or _read_book(folder)
            frames = book.chosen(sampling.frames) if book else None
            if book is None or frames is None:
                book = self._decode(folder, clip, sampling, book)
                frames = book.chosen(sampling.frames)
            self._books[folder] = book
        assert frames is not None
        return Evidence(folder=folder, frames=frames)

    def _decode(self, folder: Path, clip: Clip, sampling: Sampling, before: _Book | None) -> _Book:
        known = {frame.index for frame in before.frames} if before else set[int]()

        def want(index: int, times: Sequence[float]) -> bool:
            asked = any(_wants(frames, clip.frames, index, times) for frames in (sampling.frames, _SHARED))
            return asked or index in known

        with self._room:
            found = sample(clip, want)
            folder.mkdir(parents=True, exist_ok=True)
            kept = [_keep(folder, i, found.times[i], picture, sampling) for i, picture in found.frames.items()]
        book = _Book(times=found.times, frames=tuple(kept))
        _write(folder / _INDEX, msgspec.json.encode(book))
        with self._lock:
            self.decoded += 1
        return book


def _wants(frames: str, count: int, index: int, times: Sequence[float]) -> bool:
    """Say whether a sampling takes a frame, from the times of the frames up to it."""
    last = count - 1
    if frames.endswith("fps"):
        # the first frame of each step of time: the one before it belongs to an earlier step
        rate = float(frames.removesuffix("fps"))
        step, before = (int((times[i] + 1e-6) * rate) if i >= 0 else -1 for i in (index, index - 1))
        return step > before or index in (0, count // 2, last)
    return index in _evenly(1 if frames == "last" else min(int(frames), count), last)


@cache
def _evenly(n: int, last: int) -> frozenset[int]:
    return frozenset({last} if n == 1 else {round(i * last / (n - 1)) for i in range(n)})


def _keep(folder: Path, index: int, seconds: float, image: video.Image, sampling: Sampling) -> Frame:
    """Write one picture under its own hash."""
    data = _jpeg(image, long_side=sampling.long_side, quality=sampling.quality)
    name = hashlib.sha256(data).hexdigest()
    _write(folder / f"{name}.jpg", data)
    return Frame(index=index, seconds=seconds, sha256=name)


def _write(path: Path, data: bytes) -> None:
    """Write a file that appears by rename; whoever writes the same file at the same time writes the same bytes."""
    part = path.with_name(f".part-{uuid.uuid4().hex[:8]}")
    part.write_bytes(data)
    part.replace(path)


def _jpeg(image: video.Image, *, long_side: int, quality: int) -> bytes:
    """Return an RGB picture as JPEG, shrunk by area to ``long_side`` where it is larger, never enlarged."""
    cv2 = need("cv2", "run")
    height, width = image.shape[:2]
    if (scale := long_side / max(height, width)) < 1:
        size = max(1, round(width * scale)), max(1, round(height * scale))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    _, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality])
    return data.tobytes()


def _read_book(folder: Path) -> _Book | None:
    """Find what was kept before, whole."""
    path = folder / _INDEX
    if not path.is_file():
        return None
    book = msgspec.json.decode(path.read_bytes(), type=_Book)
    whole = all((folder / f"{frame.sha256}.jpg").is_file() for frame in book.frames)
    return book if whole else None
