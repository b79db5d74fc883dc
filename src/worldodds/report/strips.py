"""Film strips: for each outcome one clip to look at, cut to a few small pictures."""

from __future__ import annotations

import base64
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from worldodds import video
from worldodds.errors import VideoError
from worldodds.rollout import Reading

FRAMES = 5
MOST_STRIPS = 150
LAST_WIDTH, OTHER_WIDTH = 320, 160
_SHOWN = ("outcome", "unreadable", "out_of_schema")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """A few frames of one clip, first to last, as JPEG bytes; what was read in it, and how many clips ended so.

    ``label`` is None for the two nulls. ``frames`` is empty, with a ``caption`` that says why, where the clip is gone.
    """

    model: str
    scene: str
    status: Literal["outcome", "unreadable", "out_of_schema"]
    label: str | None
    index: int
    clips: int
    frames: tuple[bytes, ...]
    caption: str

    @property
    def outcome(self) -> str:
        """The outcome in words, nulls too."""
        return self.label if self.label is not None else self.status.replace("_", " ")

    @property
    def uris(self) -> tuple[str, ...]:
        """The frames as data URIs: a page that holds them needs no other file."""
        return tuple(f"data:image/jpeg;base64,{base64.b64encode(frame).decode()}" for frame in self.frames)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A clip on disk with what was read in it, all votes settled."""

    model: str
    scene: str
    index: int
    path: Path
    reading: Reading


def cut_strips(clips: Iterable[Watched], *, most: int = MOST_STRIPS) -> tuple[Strip, ...]:
    """Cut one strip for each outcome (and each null) of each cell, from its first rollout: chosen by rule, not by eye.

    Commonest outcomes first. Beyond ``most`` strips every cell keeps its commonest outcomes only, so that the page
    stays light.
    """
    cells = _by_outcome(clips)
    depth = _depth([len(outcomes) for outcomes in cells], most)
    return tuple(_strip(same) for outcomes in cells for same in outcomes[:depth])


def _by_outcome(clips: Iterable[Watched]) -> list[list[list[Watched]]]:
    """Cells, each a list of outcomes from common to rare (nulls last), each a list of clips in index order."""
    cells: dict[tuple[str, str], dict[tuple[str, str | None], list[Watched]]] = defaultdict(lambda: defaultdict(list))
    for clip in clips:
        if clip.reading.status in _SHOWN:
            cells[clip.model, clip.scene][clip.reading.status, clip.reading.label].append(clip)
    return [
        [
            sorted(same, key=lambda clip: clip.index)
            for _, same in sorted(outcomes.items(), key=lambda item: (item[0][1] is None, -len(item[1]), str(item[0])))
        ]
        for outcomes in cells.values()
    ]


def _depth(sizes: Sequence[int], most: int) -> int:
    """Most strips a cell, at least 1, so that all cells together have at most ``most``."""
    by_size = Counter(sizes)
    deepest = max(sizes, default=1)
    fitting = (d for d in range(deepest, 1, -1) if sum(min(size, d) * n for size, n in by_size.items()) <= most)
    return next(fitting, 1)


def _strip(same: Sequence[Watched]) -> Strip:
    first = same[0]
    try:
        frames, caption = pictures_of(first.path), (first.reading.reason or "").replace("_", " ")
    except VideoError as error:
        frames, caption = (), f"The clip cannot be shown: {error.__class__.__name__}, {first.path.name}"
    status = first.reading.status
    assert status in ("outcome", "unreadable", "out_of_schema")
    return Strip(
        model=first.model,
        scene=first.scene,
        status=status,
        label=first.reading.label,
        index=first.index,
        clips=len(same),
        frames=frames,
        caption=caption,
    )


def pictures_of(path: Path) -> tuple[bytes, ...]:
    """Return a few frames of a clip, first to last, as JPEG; raises VideoError where it cannot be decoded."""
    images = video.decode(path).frames
    chosen = np.linspace(0, len(images) - 1, min(FRAMES, len(images))).round().astype(int)
    widths = [OTHER_WIDTH] * (len(chosen) - 1) + [LAST_WIDTH]
    return tuple(_jpeg(images[i], width) for i, width in zip(chosen, widths, strict=True))


def _jpeg(image: video.Image, width: int) -> bytes:
    import cv2

    height = max(1, round(image.shape[0] * width / image.shape[1]))
    small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    quality = [cv2.IMWRITE_JPEG_QUALITY, 78]
    _, data = cv2.imencode(".jpg", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), quality)
    return data.tobytes()
