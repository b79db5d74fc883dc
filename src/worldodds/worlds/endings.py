"""Ways in which a clip can end so that nobody can tell the outcome, each with a physical or optical cause.

An ending is called by the null rule of the scene that it brings about. Those here work in every scene: they change what
is seen, or what lies between it and the camera. Those of single worlds (``staged``) change how things move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from worldodds.scene import Scene
from worldodds.worlds.loose import LOOSE
from worldodds.worlds.malformed import MALFORMED
from worldodds.worlds.misprinted import MISPRINTED
from worldodds.worlds.shot import Ending, Frames, Shot
from worldodds.worlds.staged import STAGED
from worldodds.worlds.world import Image, Motion, World


def endings_of(scene: Scene) -> Mapping[str, Ending]:
    """Return the endings that the scene's world can stage, by null rule, in the order of the scene's file.

    >>> from worldodds.suites import find_suite
    >>> sorted(endings_of(find_suite("calibench").scene("cards")))
    ['absent', 'blurred', 'deformed', 'face_down', 'hidden', 'mixed_suits', 'no_suit', 'not_settled', 'several_cards']
    """
    able = dict(ENDINGS)
    for kind in (STAGED, LOOSE, MALFORMED, MISPRINTED):
        able.update(kind.get(scene.id, {}))
    return {null.name: able[null.name] for null in scene.readout.nulls if null.name in able}


def choose(scene: Scene, rng: np.random.Generator) -> str:
    """Draw one of the endings that the scene's world can stage, each as likely."""
    known = list(endings_of(scene))
    return known[int(rng.integers(len(known)))]


def spoil(
    name: str,
    scene: Scene,
    world: World,
    draw: Callable[[Motion], Frames],
    motion: Motion,
    *,
    rng: np.random.Generator,
) -> Frames:
    """Yield the pictures of a motion with the ending called ``name``.

    Where the whole clip is evidence, the cause acts before the outcome shows; where only the end is, before it is at
    rest.
    """
    low, high = (0.15, 0.28) if scene.readout.evidence == "whole clip" else (0.35, 0.55)
    early = max(4, round(motion.settled_frame * rng.uniform(low, high)))
    return endings_of(scene)[name](Shot(scene=scene, world=world, motion=motion, draw=draw, early=early, rng=rng))


def _cut(shot: Shot) -> Frames:
    return shot.film(shot.motion.states[: shot.early])


def _hidden(shot: Shot) -> Frames:
    return _cover(shot.draw(shot.motion), shot.early, shot.rng)


def _blurred(shot: Shot) -> Frames:
    return _defocus(shot.draw(shot.motion), shot.early, shot.rng)


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


ENDINGS: Mapping[str, Ending] = {"not_settled": _cut, "hidden": _hidden, "blurred": _blurred}
