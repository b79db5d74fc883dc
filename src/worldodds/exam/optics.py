"""What a camera, a lens or a codec can do to a clip, each by a number; the outcome stays the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from worldodds.video import Image

CRF = 18
LOW_SIZE = (256, 192)
HUE_DEG = 10.0
MOVED, TURNED_DEG, ZOOMED = 0.02, 1.0, 0.02  # of the frame's width; most of each

Change = Callable[[Iterable[Image], np.random.Generator], Iterator[Image]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Degradation:
    """One way of spoiling the picture: what it is in words and numbers, what it does, and the quality of encoding."""

    what: str
    change: Change
    crf: int = CRF


def _each(change: Callable[[Image], Any]) -> Change:
    return lambda frames, _: (_bytes(change(frame)) for frame in frames)


def _bytes(picture: Any) -> Image:
    return np.clip(picture + (0.5 if picture.dtype != np.uint8 else 0), 0, 255).astype(np.uint8)


def _noise(sd: float) -> Change:
    def change(frames: Iterable[Image], rng: np.random.Generator) -> Iterator[Image]:
        for frame in frames:
            yield _bytes(frame + sd * rng.standard_normal(frame.shape, dtype=np.float32))

    return change


def _blur(sd_px: float) -> Change:
    def change(frame: Image) -> Any:
        import cv2

        return cv2.GaussianBlur(frame, (0, 0), sd_px * frame.shape[0] / 480)

    return _each(change)


def _small(frame: Image) -> Any:
    import cv2

    return cv2.resize(frame, LOW_SIZE, interpolation=cv2.INTER_AREA)


def _hue(frame: Image) -> Any:
    import cv2

    hsv = cv2.cvtColor(frame.astype(np.float32) / 255, cv2.COLOR_RGB2HSV)
    hsv[..., 0] = (hsv[..., 0] + HUE_DEG) % 360
    return 255 * cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)


def _moved(frames: Iterable[Image], rng: np.random.Generator) -> Iterator[Image]:
    """See the whole clip from a camera a little aside, turned and nearer or further: the same for all its frames."""
    import cv2

    shift, turn, zoom = rng.uniform(-MOVED, MOVED, 2), rng.uniform(-TURNED_DEG, TURNED_DEG), rng.uniform(-1, 1) * ZOOMED
    for frame in frames:
        height, width = frame.shape[:2]
        warp = cv2.getRotationMatrix2D((width / 2, height / 2), float(turn), float(1 + zoom))
        warp[:, 2] += shift * width
        yield _bytes(cv2.warpAffine(frame, warp, (width, height), borderMode=cv2.BORDER_REFLECT_101))


def _together(frames: Iterable[Image], rng: np.random.Generator) -> Iterator[Image]:
    dim = (_bytes(0.7 * frame) for frame in frames)
    return _noise(10)(_blur(1.5)(dim, rng), rng)


DEGRADATIONS: Mapping[str, Degradation] = {
    "noise": Degradation(what="Gaussian noise, sd 20 grey levels", change=_noise(20)),
    "blur": Degradation(what="Gaussian blur, sd 3 px at 480 lines", change=_blur(3)),
    "low_resolution": Degradation(what="256x192", change=_each(_small)),
    "heavy_compression": Degradation(what="H.264 crf 45", change=_each(lambda frame: frame), crf=45),
    "dark": Degradation(what="0.45 of the light", change=_each(lambda frame: 0.45 * frame)),
    "bright": Degradation(what="1.5 times the light and 15 grey levels", change=_each(lambda frame: 1.5 * frame + 15)),
    "all_together": Degradation(what="0.7 of the light, blur sd 1.5 px, noise sd 10, crf 36", change=_together, crf=36),
    "hue_shift": Degradation(what="hues turned by 10 degrees", change=_each(_hue)),
    "camera_moved": Degradation(
        what="camera aside by up to 2% of the width, turned by up to 1 degree, zoomed by up to 2%", change=_moved
    ),
}
