"""The pictures on playing cards, drawn from curves: pips, indices, a plain design of our own for courts, and a back."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.solids import font
from worldodds.worlds.world import Image

if TYPE_CHECKING:
    from PIL import ImageDraw

SUITS = ("hearts", "diamonds", "clubs", "spades")
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
WIDTH_PX, HEIGHT_PX = 504, 704  # 63 x 88 mm at 8 pixels a millimetre
CORNER_PX = 28
PIP_PX = 124

Stencil = NDArray[np.floating[Any]]  # (height, width), 0 clear to 1 inked
Ink = tuple[int, int, int]
Shape = Callable[[list[tuple[float, float]], Ink], None]
RoundShape = Callable[[float, float, float, float, Ink], None]

_PAPER: Ink = (250, 248, 242)
_INKS: dict[str, Ink] = {
    "hearts": (200, 22, 34),
    "diamonds": (200, 22, 34),
    "clubs": (24, 24, 30),
    "spades": (24, 24, 30),
}
_GOLD, _SKIN, _LINE, _ROBE = (222, 176, 74), (240, 208, 178), (48, 40, 40), (66, 104, 176)

_L, _C, _R = 0.29, 0.5, 0.71
_TOP, _HIGH, _UPPER, _MIDDLE, _LOWER, _LOW, _BOTTOM = 0.17, 0.28, 0.39, 0.5, 0.61, 0.72, 0.83
_CORNERS = ((_L, _TOP), (_R, _TOP), (_L, _BOTTOM), (_R, _BOTTOM))
_SIX = (*_CORNERS, (_L, _MIDDLE), (_R, _MIDDLE))
_EIGHT = (*_CORNERS, (_L, _UPPER), (_R, _UPPER), (_L, _LOWER), (_R, _LOWER))
_PLACES: dict[str, tuple[tuple[float, float], ...]] = {
    "2": ((_C, _TOP), (_C, _BOTTOM)),
    "3": ((_C, _TOP), (_C, _MIDDLE), (_C, _BOTTOM)),
    "4": _CORNERS,
    "5": (*_CORNERS, (_C, _MIDDLE)),
    "6": _SIX,
    "7": (*_SIX, (_C, 0.335)),
    "8": (*_SIX, (_C, 0.335), (_C, 0.665)),
    "9": (*_EIGHT, (_C, _MIDDLE)),
    "10": (*_EIGHT, (_C, _HIGH), (_C, _LOW)),
}


@lru_cache(maxsize=16)
def pip(suit: str, height_px: int) -> Stencil:
    """Return a suit's symbol, ``height_px`` tall in a square stencil with soft edges."""
    import cv2

    fine = 4 * height_px
    canvas = np.zeros((fine, fine), np.uint8)

    def fill(points: NDArray[np.float64]) -> None:
        cv2.fillPoly(canvas, [np.round((points * 0.5 + 0.5) * (fine - 1)).astype(np.int32)], 255)

    def disc(x: float, y: float, radius: float) -> None:
        centre = (round((x / 2 + 0.5) * fine), round((y / 2 + 0.5) * fine))
        cv2.circle(canvas, centre, round(radius * fine / 2), 255, -1)

    if suit == "diamonds":
        t = np.linspace(0, 2 * np.pi, 200)
        c, s = np.cos(t), np.sin(t)
        fill(np.stack([0.76 * np.sign(c) * np.abs(c) ** 2.3, 0.98 * np.sign(s) * np.abs(s) ** 2.3], axis=1))
    elif suit == "hearts":
        fill(_heart())
    else:
        if suit == "spades":
            fill(_heart() * (1, -0.86) + (0, -0.12))
        else:
            for place in ((0, -0.5), (-0.5, 0.2), (0.5, 0.2)):
                disc(*place, 0.44)
            disc(0, 0, 0.3)
        t = np.linspace(0, 1, 30)
        side = np.stack([0.06 + 0.32 * t**2.2, 0.1 + 0.86 * t], axis=1)
        fill(np.concatenate([side, (side * (-1, 1))[::-1]]))
    small = cv2.resize(canvas, (height_px, height_px), interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.float32) / 255


def _heart() -> NDArray[np.float64]:
    t = np.linspace(0, 2 * np.pi, 240)
    x = np.sin(t) ** 3
    y = -(13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)) / 16
    return np.stack([0.92 * x, 0.97 * (y - 0.13)], axis=1)


def _stamp(card: Image, stencil: Stencil, ink: Ink, centre_px: tuple[float, float], *, turned: bool = False) -> None:
    """Ink a stencil into the card in place, its middle at ``centre_px``; ``turned`` puts it upside down."""
    mask = (stencil[::-1, ::-1] if turned else stencil)[..., None]
    height, width = stencil.shape
    x, y = round(centre_px[0] - width / 2), round(centre_px[1] - height / 2)
    part = card[y : y + height, x : x + width]
    part[:] = np.round(part + mask * (np.asarray(ink, np.float32) - part)).astype(np.uint8)


@lru_cache(maxsize=52)
def face(rank: str, suit: str) -> Image:
    """Return the card's face, (704, 504, 3) RGB, upright."""
    card = np.empty((HEIGHT_PX, WIDTH_PX, 3), np.uint8)
    card[:] = _PAPER
    ink = _INKS[suit]
    if rank == "A":
        _stamp(card, pip(suit, 2 * PIP_PX), ink, (WIDTH_PX / 2, HEIGHT_PX / 2))
    elif rank in _PLACES:
        for x, y in _PLACES[rank]:
            _stamp(card, pip(suit, PIP_PX), ink, (x * WIDTH_PX, y * HEIGHT_PX), turned=y > _MIDDLE)
    else:
        _court(card, rank, suit)
    rank_stencil = _letters(rank)
    for turned in (False, True):
        for stencil, (x, y) in ((rank_stencil, (0.092, 0.082)), (pip(suit, 50), (0.092, 0.176))):
            at = (1 - x, 1 - y) if turned else (x, y)
            _stamp(card, stencil, ink, (at[0] * WIDTH_PX, at[1] * HEIGHT_PX), turned=turned)
    return card


def _letters(text: str) -> Stencil:
    from PIL import Image as Pictures
    from PIL import ImageDraw

    picture = Pictures.new("L", (84, 84))
    size = 74 if len(text) == 1 else 62
    ImageDraw.Draw(picture).text((42, 42), text, fill=255, font=font(size), anchor="mm", stroke_width=2)
    return np.asarray(picture, dtype=np.float32) / 255


def _court(card: Image, rank: str, suit: str) -> None:
    """Draw half a figure in a frame and the same half upside down below it."""
    from PIL import Image as Pictures
    from PIL import ImageDraw

    left, top = round(0.175 * WIDTH_PX), round(0.085 * HEIGHT_PX)
    width, half = WIDTH_PX - 2 * left, HEIGHT_PX // 2 - top
    fine = 3
    picture = Pictures.new("RGB", (fine * width, fine * half), (252, 246, 228))
    _figure(ImageDraw.Draw(picture), rank, fine * width, fine * half)
    upper = np.asarray(picture.resize((width, half), Pictures.Resampling.BOX)).copy()
    _stamp(upper, pip(suit, PIP_PX), _INKS[suit], (0.2 * width, 0.225 * half))
    panel = np.concatenate([upper, upper[::-1, ::-1]])
    panel[:3] = panel[-3:] = panel[:, :3] = panel[:, -3:] = _LINE
    card[top : top + 2 * half, left : left + width] = panel


def _figure(draw: ImageDraw.ImageDraw, rank: str, width: int, height: int) -> None:
    def at(x: float, y: float) -> tuple[float, float]:
        return x * width, y * height

    def shape(points: list[tuple[float, float]], colour: Ink) -> None:
        draw.polygon([at(*point) for point in points], fill=colour, outline=_LINE, width=5)

    def round_shape(x: float, y: float, rx: float, ry: float, colour: Ink) -> None:
        draw.ellipse([at(x - rx, y - ry), at(x + rx, y + ry)], fill=colour, outline=_LINE, width=5)

    hair = {"K": (150, 104, 58), "Q": (212, 160, 76), "J": (104, 66, 40)}[rank]
    shape([(0.02, 1.02), (0.1, 0.74), (0.36, 0.62), (0.74, 0.62), (0.96, 0.74), (1.02, 1.02)], _ROBE)
    for x in (0.14, 0.26, 0.84, 0.94):
        shape([(x - 0.05, 1.02), (x, 0.8), (x + 0.05, 1.02)], _GOLD)
    shape([(0.34, 0.63), (0.55, 1.02), (0.76, 0.63)], _GOLD)
    shape([(0.42, 0.63), (0.55, 0.9), (0.68, 0.63)], (252, 248, 240))
    if rank == "Q":
        round_shape(0.55, 0.46, 0.21, 0.24, hair)
    else:
        round_shape(0.55, 0.42, 0.17, 0.19, hair)
    shape([(0.49, 0.5), (0.49, 0.68), (0.55, 0.74), (0.61, 0.68), (0.61, 0.5)], _SKIN)
    round_shape(0.55, 0.43, 0.125, 0.165, _SKIN)
    if rank == "K":
        shape([(0.43, 0.47), (0.55, 0.5), (0.67, 0.47), (0.64, 0.66), (0.55, 0.73), (0.46, 0.66)], hair)
    for x in (0.5, 0.6):
        round_shape(x, 0.41, 0.014, 0.018, _LINE)
    draw.line([at(0.55, 0.42), at(0.538, 0.49), at(0.555, 0.495)], fill=_LINE, width=5)
    draw.line([at(0.515, 0.545), at(0.55, 0.556), at(0.585, 0.545)], fill=(170, 40, 44), width=9)
    _hat(shape, round_shape, rank)


def _hat(shape: Shape, round_shape: RoundShape, rank: str) -> None:
    if rank == "J":
        shape([(0.36, 0.28), (0.4, 0.16), (0.6, 0.1), (0.76, 0.2), (0.75, 0.29), (0.55, 0.25)], _ROBE)
        shape([(0.7, 0.22), (0.8, 0.06), (0.93, 0.05), (0.86, 0.17), (0.74, 0.25)], _GOLD)
        return
    if rank == "Q":
        shape([(0.38, 0.29), (0.38, 0.19), (0.47, 0.23), (0.55, 0.13), (0.63, 0.23), (0.72, 0.19), (0.72, 0.29)], _GOLD)
        for x, y in ((0.38, 0.17), (0.55, 0.11), (0.72, 0.17)):
            round_shape(x, y, 0.025, 0.03, (252, 250, 244))
        return
    crown = [(0.38, 0.29), (0.33, 0.08), (0.44, 0.18), (0.55, 0.04), (0.66, 0.18), (0.77, 0.08), (0.72, 0.29)]
    shape(crown, _GOLD)
    shape([(0.37, 0.3), (0.38, 0.24), (0.72, 0.24), (0.73, 0.3)], _ROBE)


@lru_cache(maxsize=1)
def back() -> Image:
    """Return the back all cards share, the same either way up: a blue lattice with rosettes inside a white border."""
    y, x = np.mgrid[0:HEIGHT_PX, 0:WIDTH_PX].astype(np.float64)
    from_middle_x, from_middle_y = x - (WIDTH_PX - 1) / 2, y - (HEIGHT_PX - 1) / 2
    u, v = from_middle_x / 28, from_middle_y / 28
    lattice = np.minimum(np.abs((u + v) % 2 - 1), np.abs((u - v) % 2 - 1))
    to_knot = np.hypot((u + v + 1) % 2 - 1, (u - v + 1) % 2 - 1)
    light = np.clip((0.17 - lattice) / 0.06, 0, 1)
    light = np.maximum(light, np.clip((0.44 - np.abs(to_knot - 0.12)) / 0.1 - 2.6, 0, 1))
    edge = np.minimum(np.minimum(x, WIDTH_PX - 1 - x), np.minimum(y, HEIGHT_PX - 1 - y))
    middle = np.hypot(from_middle_x, from_middle_y)
    angle = np.arctan2(from_middle_y, from_middle_x)
    petals = 96 + 16 * np.cos(8 * angle)
    rosette = np.clip(0.5 + 0.5 * np.cos(middle / 6.5) * np.cos(8 * angle), 0, 1)
    light = np.where(middle < petals, rosette, light)
    light = np.where(np.abs(middle - petals) < 5, 1, light)
    light = np.where((edge > 30) & (edge < 36), 1, np.where((edge > 24) & (edge <= 30), 0, light))
    light = np.where(edge <= 24, 1, light)
    paper, blue = np.array(_PAPER, np.float64), np.array([28, 62, 132], np.float64)
    return np.round(blue + light[..., None] * (paper - blue)).astype(np.uint8)
