"""Ways in which a clip can end so that nobody can tell the outcome, each with a physical or optical cause.

An ending changes which frames of a motion are seen, or what lies between them and the camera; never the physics. It is
called by the null rule of the scene that it brings about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from worldodds.scene import Scene
from worldodds.worlds.world import Image, Motion

Frames = Iterator[Image]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What spoils a clip: ``cut`` shortens the motion before it is drawn, ``veil`` changes the drawn frames.

    Both are given the frame by which the outcome must not have shown itself yet.
    """

    cut: Callable[[Motion, int], Motion] | None = None
    veil: Callable[[Frames, int, np.random.Generator], Frames] | None = None

    def film(self, draw: Callable[[Motion], Frames], motion: Motion, *, early: int, rng: np.random.Generator) -> Frames:
        """Yield the pictures of a motion that ends this way."""
        frames = draw(self.cut(motion, early) if self.cut else motion)
        return self.veil(frames, early, rng) if self.veil else frames


def choose(scene: Scene, rng: np.random.Generator) -> str:
    """Draw one of the endings for which the scene has a null rule, each as likely."""
    known = [null.name for null in scene.readout.nulls if null.name in ENDINGS]
    return known[int(rng.integers(len(known)))]


def spoil(
    name: str, scene: Scene, draw: Callable[[Motion], Frames], motion: Motion, *, rng: np.random.Generator
) -> Frames:
    """Yield the pictures of a motion with the ending called ``name``.

    Where the whole clip is evidence, the cause acts before the outcome shows; where only the end is, before it is at
    rest.
    """
    low, high = (0.15, 0.28) if scene.readout.evidence == "whole clip" else (0.35, 0.55)
    early = max(4, round(motion.settled_frame * rng.uniform(low, high)))
    return ENDINGS[name].film(draw, motion, early=early, rng=rng)


def _cut(motion: Motion, early: int) -> Motion:
    return replace(motion, states=motion.states[:early], settled_frame=early)


def _cover(frames: Frames, early: int, rng: np.random.Generator) -> Frames:
    """A sheet of grey card slides in from one side and stays in front of everything from ``early`` on."""
    from_right = bool(rng.integers(2))
    enters = max(1, early - 8)
    first = next(frames)
    card = _card(first.shape[:2], rng)
    yield first
    for i, frame in enumerate(frames, start=1):
        share = float(np.clip((i - enters + 1) / (early - enters + 1), 0, 1))
        yield _slide(frame, card, share * share * (3 - 2 * share), from_right)


def _defocus(frames: Frames, early: int, rng: np.random.Generator) -> Frames:
    """The lens drifts out of focus until, from ``early`` on, only large patches of colour are left."""
    most = rng.uniform(0.2, 0.26)  # standard deviation of the blur over the frame's height
    begins = max(1, early - 8)
    yield next(frames)
    for i, frame in enumerate(frames, start=1):
        share = float(np.clip((i - begins + 1) / (early - begins + 1), 0, 1))
        yield _blur(frame, most * share * frame.shape[0])


def _card(shape: tuple[int, int], rng: np.random.Generator) -> Image:
    from worldodds.worlds.paint import grain

    fibre = 1 + 0.012 * grain(shape, (1.2, 1.2), rng) + 0.010 * grain(shape, (9, 9), rng)
    light = np.linspace(1.04, 0.94, shape[0])[:, None]
    return np.clip(np.array([176, 170, 160]) * (fibre * light)[..., None], 0, 255).astype(np.uint8)


def _slide(frame: Image, card: Image, share: float, from_right: bool) -> Image:
    """Lay the card over ``share`` of the width, with the soft shadow of its edge on what is still seen."""
    width = frame.shape[1]
    covered = round(share * width)
    if covered == 0:
        return frame
    x = np.arange(width) if not from_right else np.arange(width)[::-1]
    shadow = np.where(x < covered, 1.0, 1 - 0.45 * np.exp(-(x - covered) / (0.02 * width)))
    shaded = (frame * shadow[None, :, None]).astype(np.uint8)
    return np.where((x < covered)[None, :, None], card, shaded)


def _blur(frame: Image, sigma_px: float) -> Image:
    import cv2

    if sigma_px < 0.3:
        return frame
    small = max(1, int(sigma_px / 4))
    height, width = frame.shape[:2]
    reduced = cv2.resize(frame, (max(2, width // small), max(2, height // small)), interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(reduced, (0, 0), sigma_px / small, borderType=cv2.BORDER_REFLECT)
    return np.asarray(cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.uint8)


ENDINGS: dict[str, Ending] = {
    "not_settled": Ending(cut=_cut),
    "hidden": Ending(veil=_cover),
    "blurred": Ending(veil=_defocus),
}
