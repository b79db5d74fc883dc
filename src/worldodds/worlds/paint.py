"""Pictures for the plane worlds: shaded balls and bars as sprites, laid over one another with soft edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Canvas = NDArray[np.floating[Any]]  # (height, width, 3), RGB from 0 to 255
Alpha = NDArray[np.floating[Any]]  # (height, width), 0 clear to 1 opaque
Colour = tuple[float, float, float]  # RGB from 0 to 255

_LIGHT = np.array([-0.45, -0.6, 0.66]) / np.linalg.norm([-0.45, -0.6, 0.66])  # from the upper left, towards the viewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Sprite:
    """A small picture with soft edges; ``anchor_px`` = (x, y) is the point that is put somewhere."""

    colour: Canvas
    alpha: Alpha
    anchor_px: tuple[float, float]


def ball(radius_px: float, colour: Colour, *, gloss: float) -> Sprite:
    """Draw a lit ball: diffuse light, a darker rim, a reflection of the bench below, and a highlight."""
    half = int(np.ceil(radius_px)) + 3
    y, x = np.mgrid[-half : half + 1, -half : half + 1].astype(np.float64) / radius_px
    distance = np.hypot(x, y)
    z = np.sqrt(np.clip(1 - distance**2, 0, 1))
    diffuse = np.clip(x * _LIGHT[0] + y * _LIGHT[1] + z * _LIGHT[2], 0, 1)
    half_vector = _LIGHT + np.array([0, 0, 1])
    half_vector /= np.linalg.norm(half_vector)
    shine = np.clip(x * half_vector[0] + y * half_vector[1] + z * half_vector[2], 0, 1) ** 60
    bounce = 0.18 * np.clip(y, 0, 1) ** 2 * (1 - z)
    shade = 0.34 + 0.78 * diffuse + bounce
    body = np.asarray(colour)[None, None] * shade[..., None] + 255 * gloss * shine[..., None]
    alpha = np.clip((1 - distance) * radius_px + 0.5, 0, 1)
    return Sprite(
        colour=np.clip(body, 0, 255).astype(np.float32), alpha=alpha.astype(np.float32), anchor_px=(half, half)
    )


def bar(length_px: float, width_px: float, colour: Colour, *, rng: np.random.Generator) -> Sprite:
    """Draw a brushed metal bar with round ends, lying along +x from its anchor."""
    pad = int(np.ceil(width_px)) + 3
    y, x = np.mgrid[-pad : pad + 1, -pad : int(length_px) + pad + 1].astype(np.float64)
    beyond = np.maximum(0, np.maximum(-x, x - length_px))
    across = np.hypot(beyond, y) / (width_px / 2)
    profile = 0.62 + 0.5 * np.exp(-(((y / width_px) + 0.18) ** 2) / 0.03) - 0.25 * np.clip(across, 0, 1) ** 4
    brushed = 1 + 0.05 * rng.standard_normal((y.shape[0], 1)) + 0.02 * rng.standard_normal(y.shape)
    body = np.asarray(colour)[None, None] * (profile * brushed)[..., None]
    alpha = np.clip((1 - across) * width_px / 2 + 0.5, 0, 1)
    return Sprite(colour=np.clip(body, 0, 255).astype(np.float32), alpha=alpha.astype(np.float32), anchor_px=(pad, pad))


def lay(canvas: Canvas, sprite: Sprite, at_px: tuple[float, float], turn_rad: float = 0.0) -> None:
    """Lay a sprite over the canvas in place, its anchor at ``at_px``, turned clockwise by ``turn_rad``."""
    import cv2

    height, width = sprite.alpha.shape
    c, s = np.cos(turn_rad), np.sin(turn_rad)
    ax, ay = sprite.anchor_px
    corners = np.array([[0, 0], [width, 0], [0, height], [width, height]]) - (ax, ay)
    reach = corners @ np.array([[c, s], [-s, c]]) + at_px
    (x0, y0), (x1, y1) = np.floor(reach.min(0)).astype(int) - 1, np.ceil(reach.max(0)).astype(int) + 2
    x0, y0 = max(x0, 0), max(y0, 0)
    x1, y1 = min(x1, canvas.shape[1]), min(y1, canvas.shape[0])
    if x1 <= x0 or y1 <= y0:
        return
    shift = np.array(
        [[c, -s, at_px[0] - x0 - c * ax + s * ay], [s, c, at_px[1] - y0 - s * ax - c * ay]], dtype=np.float64
    )
    size = (int(x1 - x0), int(y1 - y0))
    colour = cv2.warpAffine(sprite.colour, shift, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    alpha = cv2.warpAffine(sprite.alpha, shift, size, flags=cv2.INTER_LINEAR)[..., None]
    part = canvas[y0:y1, x0:x1]
    part += alpha * (colour - part)


def grain(shape: tuple[int, int], smooth_px: tuple[float, float], rng: np.random.Generator) -> Alpha:
    """Return smooth noise of unit spread; ``smooth_px`` = (along y, along x) makes it into cloth, plaster or wood."""
    import cv2

    noise = rng.standard_normal(shape).astype(np.float32)
    noise = cv2.GaussianBlur(noise, (0, 0), sigmaX=max(smooth_px[1], 1e-3), sigmaY=max(smooth_px[0], 1e-3))
    return (noise / max(float(noise.std()), 1e-6)).astype(np.float32)
