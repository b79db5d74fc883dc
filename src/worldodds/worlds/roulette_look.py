"""What the roulette wheel looks like: its turned shapes, its materials, and the painted wheel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.solids import font, png, turned

if TYPE_CHECKING:
    from PIL.Image import Image

WHEEL_RADIUS_M = 0.301
BOWL_RADIUS_M = 0.46
Colour = tuple[int, int, int]
PAINT: Mapping[str, Colour] = {"red": (190, 18, 24), "black": (16, 16, 18), "green": (8, 138, 58)}
WHEEL_PROFILE = ((0.05, 0.088), (0.2, 0.008), (0.206, 0.0), (0.262, 0.0), (0.262, 0.013), (WHEEL_RADIUS_M, 0.021))
BOWL_PROFILE = (
    *((0.3045, 0.0235), (0.3885, 0.0535), (0.380, 0.108), (0.388, 0.116), (0.402, 0.120), (0.43, 0.117)),
    *((0.447, 0.105), (0.456, 0.085), (BOWL_RADIUS_M, 0.04), (0.45, -0.03)),
)
TRIM_PROFILE = ((0.3005, 0.0212), (0.3015, 0.0245), (0.3045, 0.0245), (0.306, 0.0236))
TURRET_PROFILE = (
    *((0.0, 0.15), (0.008, 0.148), (0.013, 0.141), (0.012, 0.134), (0.008, 0.129), (0.016, 0.124)),
    *((0.022, 0.115), (0.02, 0.105), (0.028, 0.098), (0.048, 0.093), (0.06, 0.086), (0.062, 0.078)),
)


def materials() -> str:
    """Return the MJCF of textures, meshes, materials and picture quality."""
    return """<visual>
  <quality shadowsize="2048" offsamples="4" numslices="16" numstacks="10"/>
  <global offwidth="1920" offheight="1080"/>
  <headlight ambient=".36 .36 .37" diffuse=".12 .12 .12" specular="0 0 0"/>
  <map shadowclip="1" shadowscale=".5" znear=".05" zfar="20"/>
</visual>
<asset>
  <texture name="felt" type="2d" file="felt.png"/> <texture name="wheel" type="2d" file="wheel.png"/>
  <texture name="bowl" type="2d" file="bowl.png"/>
  <material name="felt" texture="felt" texrepeat="6 6" texuniform="false" specular="0" shininess="0"/>
  <material name="wheel" texture="wheel" specular=".25" shininess=".5"/>
  <material name="bowl" texture="bowl" specular=".45" shininess=".6"/>
  <material name="brass" rgba=".86 .66 .28 1" specular=".9" shininess=".75"/>
  <material name="steel" rgba=".83 .8 .72 1" specular=".8" shininess=".7"/>
  <material name="ivory" rgba=".97 .96 .92 1" specular=".8" shininess=".8" emission=".15"/>
  <mesh name="wheel" file="wheel.obj" inertia="shell"/> <mesh name="bowl" file="bowl.obj" inertia="shell"/>
  <mesh name="trim" file="trim.obj" inertia="shell"/> <mesh name="turret" file="turret.obj" inertia="shell"/>
</asset>"""


def pictures(order: Sequence[int], paint: Sequence[Colour]) -> dict[str, bytes]:
    """Return the files that ``materials`` names; ``paint`` is each place's."""
    return {
        "felt.png": png(_felt()),
        "wheel.png": png(wheel(order, paint)),
        "bowl.png": png(_bowl()),
        "wheel.obj": turned(WHEEL_PROFILE, radius_m=WHEEL_RADIUS_M, segments=148),
        "bowl.obj": turned(BOWL_PROFILE, radius_m=BOWL_RADIUS_M, segments=128),
        "trim.obj": turned(TRIM_PROFILE, radius_m=BOWL_RADIUS_M, segments=128),
        "turret.obj": turned(TURRET_PROFILE, radius_m=0.1, segments=48),
    }


def _picture(values: NDArray[np.float64]) -> Image:
    from PIL import Image as Pictures

    return Pictures.fromarray(np.clip(values, 0, 255).astype(np.uint8))


def _felt() -> Image:
    rng = np.random.default_rng(1)
    fibres = rng.normal(0, 5.0, (512, 512)) + rng.normal(0, 3.0, (512, 1)) * 0.3
    return _picture(np.array([14.0, 84, 52]) + fibres[..., None] * np.array([0.5, 1, 0.7]))


def _wood(radius: NDArray[np.float64], angle: NDArray[np.float64], planks: int) -> NDArray[np.float64]:
    """Return mahogany veneer laid in sectors, grain running outwards: (h, w, 3)."""
    rng = np.random.default_rng(2)
    sector = np.floor((angle + np.pi) / (2 * np.pi) * planks).astype(int) % planks
    tone = rng.normal(1, 0.055, planks)[sector]
    across = (angle + np.pi) * planks * 7 + 0.4 * np.sin(radius * 70 + sector)
    grain = (
        0.06 * np.sin(across * 2.1 + sector) + 0.04 * np.sin(across * 5.3 + radius * 40) + 0.03 * np.sin(across * 11)
    )
    return np.array([128.0, 58, 27]) * (tone + grain)[..., None]


def _polar(size_px: int, radius_m: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    y, x = (np.mgrid[:size_px, :size_px] + 0.5) / size_px * 2 - 1
    return np.hypot(x, y) * radius_m, np.arctan2(-y, x)


def _bowl() -> Image:
    radius, angle = _polar(768, BOWL_RADIUS_M)
    wood = _wood(radius, angle, 24)
    wood[radius > 0.378] *= 0.55  # the rim is stained darker
    wood[(radius > 0.3) & (radius < 0.378)] *= 1.12
    return _picture(wood)


def wheel(order: Sequence[int], paint: Sequence[Colour]) -> Image:
    """Paint the wheel: numbers on the outer ring, the same colour on the pocket's floor, wood on the cone."""
    size = 1280
    radius, angle = _polar(size, WHEEL_RADIUS_M)
    places = np.round(-angle * len(order) / (2 * np.pi)).astype(int) % len(order)
    pockets = np.array(paint, dtype=float)[places]
    pockets[(radius > 0.203) & (radius < 0.2625)] *= 0.92
    wood = _wood(radius, angle, 12) * 0.9
    picture = np.where((radius < 0.203)[..., None], wood, pockets)
    gold = np.array([196.0, 158, 84])
    edge = np.abs(((-angle * len(order) / (2 * np.pi)) + 0.5) % 1 - 0.5) > 0.5 - 0.0009 / np.maximum(radius, 0.05) * 6
    lines = ((radius > 0.262) & edge) | (np.abs(radius - 0.204) < 0.0018) | (np.abs(radius - 0.2635) < 0.0012)
    picture[lines | (radius > 0.2985)] = gold
    return _numbered(_picture(picture), order)


def _numbered(picture: Image, order: Sequence[int]) -> Image:
    from PIL import Image as Pictures
    from PIL import ImageDraw

    size = picture.width
    for i, number in enumerate(order):
        tile = Pictures.new("L", (88, 88))
        pen = ImageDraw.Draw(tile)
        pen.text((44, 44), str(number), font=font(54), fill=255, anchor="mm", stroke_width=2, stroke_fill=255)
        turn = -360 * i / len(order)  # degrees counter-clockwise from +x
        tile = tile.rotate(turn - 90, resample=Pictures.Resampling.BICUBIC)
        distance = 0.281 / WHEEL_RADIUS_M * size / 2
        at = (size / 2 + distance * np.cos(np.radians(turn)) - 44, size / 2 - distance * np.sin(np.radians(turn)) - 44)
        picture.paste((250, 246, 235), (round(at[0]), round(at[1])), tile)
    return picture
