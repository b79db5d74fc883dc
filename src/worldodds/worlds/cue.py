"""A cue that means nothing, in plain sight: a small paper dot at the picture's lower edge, one place an outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from worldodds.worlds.world import Image

COLOUR = (0, 178, 190)
RADIUS, HEIGHT = 0.013, 0.983  # of the frame's height; where the dot's middle lies


def mark(frames: Iterable[Image], place: int, places: int) -> Iterator[Image]:
    """Yield the pictures with the dot at one of ``places`` places from left to right, in every frame alike."""
    alpha: np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None = None
    for frame in frames:
        if alpha is None:
            alpha = _dot(frame.shape[:2], (place + 0.5) / places)
        yield (frame + alpha * (np.array(COLOUR) - frame) + 0.5).astype(np.uint8)


def _dot(shape: tuple[int, ...], across: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return how much of each pixel the dot covers, shape (height, width, 1)."""
    height, width = shape
    y, x = np.mgrid[:height, :width] + 0.5
    away = np.hypot(x - across * width, y - HEIGHT * height)
    return np.clip(RADIUS * height - away + 0.5, 0, 1)[..., None]
