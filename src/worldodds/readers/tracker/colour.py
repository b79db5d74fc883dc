"""Finding a coloured thing in a picture, whatever the light: maps of colour excess and the blobs in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.floating[Any]]  # (height, width)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A connected patch of a map above a threshold; lengths are fractions of the picture's height."""

    x: float
    y: float
    area: float
    peak: float


def redness(picture: NDArray[np.float32], smooth_px: float) -> Map:
    """Return how far red exceeds the other two channels, as a share of the picture's brightest tenth.

    The share makes the map the same in dim and bright light; ``smooth_px`` is the spread of the blur against noise.
    """
    import cv2

    red, green, blue = cv2.split(cv2.GaussianBlur(picture, (0, 0), smooth_px))
    others = cv2.max(green, blue)
    light = max(float(np.quantile(cv2.max(red, others)[::4, ::4], 0.9)), 0.05)
    return np.asarray((red - others) / np.float32(light))


def blobs(excess: Map, threshold: float) -> list[Blob]:
    """Return the connected patches above the threshold, largest first."""
    import cv2

    height, above = excess.shape[0], (excess > threshold).astype(np.uint8)
    left, top, wide, high = cv2.boundingRect(above)
    if not wide:
        return []
    there = slice(top, top + high), slice(left, left + wide)  # a blob is small, and the rest takes time
    count, names, stats, centres = cv2.connectedComponentsWithStats(above[there])
    found = [
        Blob(
            x=float(left + centres[i, 0] + 0.5) / height,
            y=float(top + centres[i, 1] + 0.5) / height,
            area=float(stats[i, cv2.CC_STAT_AREA]) / height**2,
            peak=float(excess[there][names == i].max()),
        )
        for i in range(1, count)
    ]
    return sorted(found, key=lambda blob: -blob.area)
