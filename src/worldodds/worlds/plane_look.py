"""How a plane world is painted: wood, brass and soft shadows on a still backdrop, and a ball laid over each frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.plane import HEIGHT_MM, WIDTH_MM, Point
from worldodds.worlds.world import Image

Floats = NDArray[np.float32]  # light in 0..1: (height, width, 3), or (height, width) for masks
Colour = tuple[int, int, int]  # RGB, 0..255

LIGHT = np.array([-0.42, -0.55, 0.72])  # towards the lamp: left, up, out of the picture
_SUB = 4  # bits of sub-pixel precision in OpenCV's drawing


class Easel:
    """A still picture in the making, twice as fine as asked for; lengths in the plane's millimetres.

    The plane is as high as the picture and centred in it, so a wide picture shows more wall on both sides.
    """

    def __init__(self, size: tuple[int, int], backdrop: tuple[Colour, Colour]) -> None:
        self.size = size
        self.width, self.height = 2 * size[0], 2 * size[1]
        self.scale = self.height / HEIGHT_MM  # pixels a millimetre
        self.left_px = (self.width - WIDTH_MM * self.scale) / 2
        top, bottom = (np.array(c, dtype=np.float32) / 255 for c in backdrop)
        ramp = np.linspace(0, 1, self.height, dtype=np.float32)[:, None, None]
        self.picture: Floats = np.repeat(top + (bottom - top) * ramp, self.width, axis=1).astype(np.float32)

    def mask(self, paint: Callable[[Image], object]) -> Floats:
        """Return the share of each pixel covered by what ``paint`` draws."""
        canvas = np.zeros((self.height, self.width), np.uint8)
        paint(canvas)
        return (canvas / 255).astype(np.float32)

    def polygon(self, points: Iterable[Point]) -> Floats:
        """Return the mask of a filled outline."""
        import cv2

        outline = np.array([self._at(p) for p in points], np.int32)
        return self.mask(lambda canvas: cv2.fillPoly(canvas, [outline], 255, cv2.LINE_AA, _SUB))

    def box(self, left: float, top: float, right: float, bottom: float, corner: float = 0.0) -> Floats:
        """Return the mask of a rectangle, with round corners if asked."""
        turn = np.linspace(0, np.pi / 2, 9)
        points: list[Point] = []
        for k, (x, y) in enumerate(((right, bottom), (left, bottom), (left, top), (right, top))):
            inner = (x - corner if x == right else x + corner, y - corner if y == bottom else y + corner)
            points += [(inner[0] + corner * np.cos(a), inner[1] + corner * np.sin(a)) for a in turn + k * np.pi / 2]
        return self.polygon(points)

    def discs(self, centres: Sequence[Point], radius: float) -> Floats:
        """Return the mask of several discs."""
        import cv2

        def paint(canvas: Image) -> None:
            for centre in centres:
                cv2.circle(canvas, self._at(centre), round(radius * self.scale * 2**_SUB), 255, -1, cv2.LINE_AA, _SUB)

        return self.mask(paint)

    def fill(self, mask: Floats, colour: Colour | Floats) -> None:
        """Lay a colour, or a picture as large as the easel, over the masked part."""
        paint = np.asarray(colour, np.float32) / 255 if isinstance(colour, tuple) else colour
        self.picture += mask[..., None] * (paint - self.picture)

    def shade(self, mask: Floats, *, strength: float, shift: Point = (0, 0), blur: float = 0.0) -> None:
        """Darken by a mask moved and blurred (millimetres): a soft shadow; a negative strength lightens."""
        soft = self.soften(mask, shift=shift, blur=blur)
        if strength >= 0:
            self.picture *= 1 - strength * soft[..., None] * np.array([0.86, 0.95, 1.0], np.float32)
        else:
            self.picture += (-strength * soft[..., None]) * (1 - self.picture)

    def soften(self, mask: Floats, *, shift: Point, blur: float) -> Floats:
        """Return a mask moved and blurred, in millimetres."""
        import cv2

        move = np.array([[1, 0, shift[0] * self.scale], [0, 1, shift[1] * self.scale]], np.float32)
        moved = cv2.warpAffine(mask, move, (self.width, self.height), borderMode=cv2.BORDER_REPLICATE)
        if not blur:
            return np.asarray(moved, np.float32)
        coarse = max(1, int(blur * self.scale / 3))  # a wide blur leaves no detail: make it on fewer pixels
        small = cv2.resize(moved, (self.width // coarse, self.height // coarse), interpolation=cv2.INTER_AREA)
        soft = cv2.GaussianBlur(small, (0, 0), blur * self.scale / coarse)
        return np.asarray(cv2.resize(soft, (self.width, self.height), interpolation=cv2.INTER_LINEAR), np.float32)

    def wood(self, dark: Colour, light: Colour, *, seed: int, upright: bool = False) -> Floats:
        """Return a picture of planed wood with its grain along the width, or along the height."""
        import cv2

        rng = np.random.default_rng(seed)
        plane_px = round(WIDTH_MM * self.scale)  # the grain belongs to the plane: a wide picture has the same
        shape = (plane_px, self.height) if upright else (self.height, plane_px)
        # Grain is noise stretched along the fibre; two finenesses, bent by a slow wave so that no line is ruled.
        across = np.linspace(0, 1, shape[0], dtype=np.float32)[:, None] * np.ones((1, shape[1]), np.float32)
        bend = cv2.resize(rng.normal(size=(4, 5)).astype(np.float32), shape[::-1], interpolation=cv2.INTER_CUBIC)
        fine = _stretched(rng, shape, (420, 7))
        coarse = _stretched(rng, shape, (60, 4))
        rings = np.sin(2 * np.pi * (across * 9 + 0.55 * bend)) * 0.5
        tone = np.clip(0.52 + 0.17 * rings + 0.13 * fine + 0.14 * coarse, 0, 1)[..., None]
        low, high = (np.array(c, np.float32) / 255 for c in (dark, light))
        picture = low + (high - low) * tone
        columns = np.clip(np.arange(self.width) - round(self.left_px), 0, plane_px - 1)
        return np.ascontiguousarray((picture.transpose(1, 0, 2) if upright else picture)[:, columns], np.float32)

    def beads(self, centres: Sequence[Point], radius: float, colour: Colour) -> None:
        """Set round metal or glass beads, each with its soft shadow."""
        holes = self.discs(centres, radius)
        self.shade(holes, strength=0.45, shift=(radius * 0.55, radius * 0.85), blur=radius * 0.4)
        for centre in centres:
            x, y = self._pixel(centre)
            _lay(self.picture, sphere(radius * self.scale, colour, (x, y)))

    def text(self, words: str, centre: Point, height: float, colour: Colour) -> None:
        """Write words around a point, in Pillow's own font (the same on every machine)."""
        from PIL import Image as Pillow
        from PIL import ImageDraw, ImageFont

        sheet = Pillow.new("L", (self.width, self.height))
        font = ImageFont.load_default(size=height * self.scale)
        ImageDraw.Draw(sheet).text(self._pixel(centre), words, fill=255, font=font, anchor="mm")
        self.fill(np.asarray(sheet, np.float32) / np.float32(255), colour)

    def done(self) -> Image:
        """Return the picture at the size asked for, with a faint vignette."""
        import cv2

        y, x = np.mgrid[-1 : 1 : self.height * 1j, -1 : 1 : self.width * 1j].astype(np.float32)
        self.picture *= (1 - 0.10 * (x**2 + y**2) / 2)[..., None]
        small = cv2.resize(np.clip(self.picture, 0, 1), self.size, interpolation=cv2.INTER_AREA)
        return np.asarray(np.rint(small * 255), np.uint8)

    def _pixel(self, point: Point) -> Point:
        return self.left_px + point[0] * self.scale - 0.5, point[1] * self.scale - 0.5

    def _at(self, point: Point) -> tuple[int, int]:
        x, y = self._pixel(point)
        return round(x * 2**_SUB), round(y * 2**_SUB)


def _stretched(rng: np.random.Generator, shape: tuple[int, int], cells: tuple[int, int]) -> Floats:
    import cv2

    noise = rng.normal(size=cells).astype(np.float32)
    return np.asarray(cv2.resize(noise, shape[::-1], interpolation=cv2.INTER_CUBIC), np.float32)


@dataclass(frozen=True, slots=True)
class Sprite:
    """A small lit picture: ``light`` (h, w, 3) and ``cover`` (h, w), both 0..1; ``corner`` = (left, top) in pixels."""

    light: Floats
    cover: Floats
    corner: tuple[int, int]


def sphere(radius: float, colour: Colour, centre: Point, *, angle: float = 0.0, band: Colour | None = None) -> Sprite:
    """Light a glossy ball about a point (pixels), exact below the pixel; a band shows its turning by ``angle``."""
    reach = int(radius) + 2
    left, top = int(centre[0]) - reach, int(centre[1]) - reach
    y, x = np.mgrid[top : top + 2 * reach + 2, left : left + 2 * reach + 2].astype(np.float32)
    u, v = (x - centre[0]) / radius, (y - centre[1]) / radius
    far = np.hypot(u, v)
    z = np.sqrt(np.clip(1 - far**2, 0, 1))
    diffuse = np.clip(u * LIGHT[0] + v * LIGHT[1] + z * LIGHT[2], 0, 1)
    base = np.ones((*far.shape, 3), np.float32) * (np.array(colour, np.float32) / 255)
    if band is not None:
        across = u * np.cos(angle) + v * np.sin(angle)
        stripe = np.clip((0.2 - np.abs(across)) * radius + 0.5, 0, 1)[..., None]
        base += stripe * (np.array(band, np.float32) / 255 - base)
    gloss = np.exp(-((u - LIGHT[0] * 0.85) ** 2 + (v - LIGHT[1] * 0.85) ** 2) / 0.035)
    rim = 0.16 * np.clip(far, 0, 1) ** 4 * np.clip(u * 0.5 + v * 0.8, 0, 1)  # light thrown back by the board
    light = base * (0.36 + 0.78 * diffuse + rim)[..., None] + 0.75 * gloss[..., None]
    return Sprite(np.clip(light, 0, 1), np.clip((1 - far) * radius + 0.5, 0, 1), (left, top))


def shadow(radius: float, centre: Point) -> Sprite:
    """Return the soft shadow of a ball about a point (pixels)."""
    reach = int(radius * 2.2) + 2
    left, top = int(centre[0]) - reach, int(centre[1]) - reach
    y, x = np.mgrid[top : top + 2 * reach + 2, left : left + 2 * reach + 2].astype(np.float32)
    far = np.hypot(x - centre[0], y - centre[1]) / radius
    cover = 0.5 / (1 + np.exp((far - 1.0) * 7))
    return Sprite(np.zeros((*far.shape, 3), np.float32) + np.float32(0.03), cover, (left, top))


def film(
    backdrop: Image, states: NDArray[np.float64], radius_mm: float, colour: Colour, band: Colour | None = None
) -> Iterator[Image]:
    """Yield the backdrop with the ball in each of its states (frames, 3): x_mm, y_mm, angle_rad."""
    height, width = backdrop.shape[:2]
    scale = height / HEIGHT_MM
    left_px, radius = (width - WIDTH_MM * scale) / 2, radius_mm * scale
    for x_mm, y_mm, angle in states:
        picture = backdrop.copy()
        x, y = left_px + x_mm * scale - 0.5, y_mm * scale - 0.5
        _lay(picture, shadow(radius, (x + 0.32 * radius, y + 0.45 * radius)))
        _lay(picture, sphere(radius, colour, (x, y), angle=angle, band=band))
        yield picture


def _lay(picture: Image | Floats, sprite: Sprite) -> None:
    """Blend a sprite into a picture, cut at its edges."""
    (left, top), (h, w) = sprite.corner, sprite.cover.shape
    y0, y1 = max(top, 0), min(top + h, picture.shape[0])
    x0, x1 = max(left, 0), min(left + w, picture.shape[1])
    if y0 >= y1 or x0 >= x1:
        return
    cut = (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))
    under = picture[y0:y1, x0:x1]
    over = sprite.light[cut] * (255 if picture.dtype == np.uint8 else 1)
    mixed = under + sprite.cover[cut][..., None] * (over - under)
    picture[y0:y1, x0:x1] = np.rint(mixed) if picture.dtype == np.uint8 else mixed
