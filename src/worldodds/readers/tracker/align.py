"""Find the scene in a clip's first frame: how the camera and the light differ from the conditioning frame.

The result maps every frame of the clip onto one small canonical picture, in which the scene's geometry holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import OutOfRangeError
from worldodds.scene import Scene
from worldodds.video import Image, read_still

Picture = NDArray[np.float32]  # (HEIGHT, WIDTH, 3), RGB in grey levels of the conditioning frame
Samples = NDArray[np.float32]  # (n, 3), the same
Affine = NDArray[np.float32]  # (2, 3)

WIDTH, HEIGHT = 320, 240
LEAST_LIKENESS = 0.72  # correlation of the aligned pictures; other scenes reach 0.5, degraded clips stay above 0.85
MOST_ZOOM, MOST_SHIFT = 1.35, 0.2  # beyond these the camera is not the one the scene asked for

_COARSE = 2  # the search runs on pictures this many times smaller


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Where the scene lies in a clip and how it is lit.

    ``warp`` takes canonical pixels to the clip's pixels, ``gain`` and ``offset`` take the conditioning frame's grey
    levels to the clip's, per channel. ``likeness`` is the correlation of the two aligned pictures, at most 1.
    """

    warp: Affine
    gain: NDArray[np.float32]  # (3,)
    offset: NDArray[np.float32]  # (3,)
    likeness: float

    def rectify(self, *frames: Image) -> Picture:
        """Return a frame of the clip, or the mean of several, as seen by the scene's own camera in its own light."""
        import cv2

        total = _unwarp(frames[0], self.warp).astype(np.float32)
        for frame in frames[1:]:
            cv2.accumulate(_unwarp(frame, self.warp), total)
        light = np.column_stack([np.diag(1 / (len(frames) * self.gain)), -self.offset / self.gain])
        return np.asarray(cv2.transform(total, light), np.float32)


def locate(first: Image, scene: Scene) -> View:
    """Find the scene in a clip's first frame, the clip's aspect and resolution being free.

    Raises:
        OutOfRangeError: the scene has no conditioning frame, or it cannot be found in this frame.
    """
    if scene.frame is None:
        raise OutOfRangeError(f"scene {scene.id!r} has no conditioning frame, so the tracker cannot find it in a clip")
    found = [view for guess in _guesses(first) if (view := _refine(first, scene.frame, guess)) is not None]
    best = max(found, key=lambda view: view.likeness, default=None)
    if best is None or best.likeness < LEAST_LIKENESS:
        seen = "nothing like it" if best is None else f"likeness {best.likeness:.2f}, at least {LEAST_LIKENESS} needed"
        raise OutOfRangeError(f"scene {scene.id!r} cannot be found in the clip's first frame ({seen})")
    return best


@lru_cache(maxsize=32)
def reference(path: Path) -> Picture:
    """Return a conditioning frame as a canonical picture."""
    import cv2

    return np.asarray(cv2.resize(read_still(path), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA), np.float32)


def _guesses(first: Image) -> Iterator[Affine]:
    """A clip of another aspect is stretched, or shows more (or less) of the world to both sides."""
    height, width = first.shape[:2]
    across, down = width / WIDTH, height / HEIGHT
    yield _scaling(across, down, width, height)
    if abs(across / down - 1) > 0.02:
        yield _scaling(down, down, width, height)
        yield _scaling(across, across, width, height)


def _scaling(across: float, down: float, width: int, height: int) -> Affine:
    left, top = (width - across * WIDTH) / 2, (height - down * HEIGHT) / 2
    return np.array([[across, 0, left + (across - 1) / 2], [0, down, top + (down - 1) / 2]], np.float32)


def _refine(first: Image, still: Path, guess: Affine) -> View | None:
    """Improve a guess by maximal correlation (Evangelidis and Psarakis 2008), which ignores gain and offset."""
    import cv2

    a, b = _coarse_still(still), _coarse(_unwarp(first, guess).astype(np.float32))
    step, everywhere = np.eye(2, 3, dtype=np.float32), np.full(a.shape, 255, np.uint8)
    stop = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-4)
    try:
        likeness, step = cv2.findTransformECC(a, b, step, cv2.MOTION_AFFINE, stop, everywhere, 1)
    except cv2.error:  # not converged: there is nothing alike
        return None
    step = np.asarray(step, np.float32)
    step[:, 2] = _COARSE * step[:, 2] + (_COARSE - 1) / 2 * (step[:, :2].sum(axis=1) - 1)
    if not _plausible(step):
        return None
    warp = (_square(guess) @ _square(step))[:2].astype(np.float32)
    gain, offset = _light(_samples_of_still(still), _samples(_unwarp(first, warp)))
    return View(warp=warp, gain=gain, offset=offset, likeness=float(likeness))


@lru_cache(maxsize=32)
def _coarse_still(path: Path) -> NDArray[np.float32]:
    return _coarse(reference(path))


def _coarse(picture: Picture) -> NDArray[np.float32]:
    """Return a picture as the search sees it: grey, small and soft."""
    import cv2

    grey, size = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), (WIDTH // _COARSE, HEIGHT // _COARSE)
    return np.asarray(cv2.GaussianBlur(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), (0, 0), 1), np.float32)


def _plausible(step: Affine) -> bool:
    zoom = np.linalg.svd(step[:, :2], compute_uv=False)
    middle = np.array([WIDTH / 2, HEIGHT / 2, 1])
    shift = np.abs(step @ middle - middle[:2]) / (WIDTH, HEIGHT)
    return bool(zoom.max() < MOST_ZOOM and zoom.min() > 1 / MOST_ZOOM and shift.max() < MOST_SHIFT)


@lru_cache(maxsize=32)
def _samples_of_still(path: Path) -> Samples:
    return _samples(reference(path))


def _samples(picture: Picture | Image) -> Samples:
    import cv2

    size = (WIDTH // 4, HEIGHT // 4)
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA).reshape(-1, 3).astype(np.float32)


def _light(a: Samples, b: Samples) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Fit b = gain * a + offset per channel, leaving out what is burnt out or black in b."""
    fair = np.flatnonzero(((b > 4) & (b < 250)).all(axis=1))
    if len(fair) >= 50:
        a, b = a[fair], b[fair]
    spread = a.var(axis=0)
    gain = ((a - a.mean(axis=0)) * (b - b.mean(axis=0))).mean(axis=0) / np.maximum(spread, 1.0)
    gain = np.clip(gain, 0.1, 4.0)
    return gain.astype(np.float32), (b.mean(axis=0) - gain * a.mean(axis=0)).astype(np.float32)


def _unwarp(frame: Image, warp: Affine) -> Any:
    import cv2

    shrink = int(max(abs(warp[0, 0]), abs(warp[1, 1])))
    seen: Any = frame
    if shrink > 1:  # average first: sampling alone would keep all the noise
        small = (frame.shape[1] // shrink, frame.shape[0] // shrink)
        seen = cv2.resize(frame, small, interpolation=cv2.INTER_AREA)
        corner = np.array([[0, 0, 0.5], [0, 0, 0.5]])  # pixels count from their middles
        warp = ((warp + corner) / shrink - corner).astype(np.float32)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(seen, warp, (WIDTH, HEIGHT), flags=flags, borderMode=cv2.BORDER_REPLICATE)


def _square(affine: Affine) -> NDArray[np.float64]:
    return np.vstack([affine.astype(np.float64), [0, 0, 1]])
