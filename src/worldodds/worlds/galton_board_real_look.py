"""What the filmed Galton board looks like: wood, brass and a polished ball, on a table before a wall."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.solids import font, numbers, png, turned

if TYPE_CHECKING:
    from PIL.Image import Image

BOARD_TOP_M = 0.135  # above the first row of pegs
FRAME_M = 0.034
RAIL_M = 0.06  # height of the bottom rail, which carries the numbers
EYE_M = (0.1, -2.06, -0.035)
RIGHT, UP = (0.9988, 0.0485, 0.0), (-0.0047, 0.0965, 0.9953)  # of the picture
FOVY_DEGREES = 25.5


def materials() -> str:
    """Return the MJCF of textures, materials and picture quality."""
    return """<statistic center="0 0 -.24" extent="1.2"/>
<visual>
  <quality shadowsize="2048" offsamples="0" numslices="14" numstacks="2"/>
  <global offwidth="1920" offheight="1080"/>
  <headlight ambient=".46 .46 .48" diffuse=".1 .1 .1" specular="0 0 0"/>
  <map shadowclip="1.1" shadowscale=".9" znear=".1" zfar="7"/>
</visual>
<asset>
  <texture name="maple" type="2d" file="maple.png"/> <texture name="walnut" type="2d" file="walnut.png"/>
  <texture name="rail" type="2d" file="rail.png"/> <texture name="wall" type="2d" file="wall.png"/>
  <texture name="steel" type="2d" file="steel.png"/> <texture name="table" type="2d" file="table.png"/>
  <material name="maple" texture="maple" specular=".1" shininess=".3"/>
  <material name="rail" texture="rail" specular=".1" shininess=".3"/>
  <material name="walnut" rgba=".36 .21 .12 1" specular=".25" shininess=".4"/>
  <material name="wall" texture="wall" specular="0"/>
  <material name="table" texture="table" specular=".2" shininess=".5"/>
  <material name="brass" rgba=".85 .64 .3 1" specular=".9" shininess=".7"/>
  <material name="tin" rgba=".62 .63 .66 1" specular=".7" shininess=".6"/>
  <material name="steel" texture="steel" emission=".75" specular=".6" shininess=".9"/>
  <mesh name="ball" file="ball.obj" inertia="shell"/>
</asset>"""


def seen_at(points_m: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.float64]:
    """Return where points in space (..., 3) are seen, (..., 2) in pixels."""
    rays = points_m - np.array(EYE_M)
    scale = size[1] / 2 / np.tan(np.radians(FOVY_DEGREES / 2)) / (rays @ np.cross(UP, RIGHT))
    return np.stack([size[0] / 2 + scale * (rays @ RIGHT), size[1] / 2 - scale * (rays @ UP)], axis=-1)


def furniture(floor_m: float, half_width_m: float, channel_m: float, start_m: float, ball_m: float) -> str:
    """Return camera, light, wall, table, the board with its frame, and the funnel: nothing that the ball hits."""
    top, side = BOARD_TOP_M, half_width_m + FRAME_M / 2
    bottom = floor_m - RAIL_M
    middle, half = (top + bottom) / 2, (top - bottom) / 2
    deep = channel_m / 2 + 0.014
    table = bottom - 0.012
    box, y = 'class="look" type="box"', -channel_m / 2
    edge, rim = side + FRAME_M / 2, top + FRAME_M / 2
    return f"""<light pos="-.72 -2.06 .77" dir=".3 .85 -.42" directional="true" diffuse=".5 .485 .455"
    specular=".5 .5 .5"/>
  <light pos="1.5 -2 .6" dir="-.6 .7 -.3" directional="true" diffuse=".16 .17 .2" castshadow="false"/>
  <camera name="view" pos="{numbers(EYE_M)}" xyaxes="{numbers([*RIGHT, *UP])}" fovy="{FOVY_DEGREES}"/>
  <geom class="look" type="plane" size="1.3 1 .1" pos="0 .33 0" xyaxes="1 0 0 0 0 1" material="wall"/>
  <geom {box} size="1.6 .5 .02" pos="0 -.17 {table - 0.02}" material="table"/>
  <geom {box} size="{half_width_m} .008 {(top - floor_m) / 2}" pos="0 .008 {(top + floor_m) / 2}"
    material="maple"/>
  <geom {box} size="{half_width_m} {deep} {RAIL_M / 2}" pos="0 {y} {floor_m - RAIL_M / 2}"
    material="rail"/>
  <geom {box} size="{FRAME_M / 2} {deep} {half}" pos="{side} {y} {middle}" material="walnut"/>
  <geom {box} size="{FRAME_M / 2} {deep} {half}" pos="{-side} {y} {middle}" material="walnut"/>
  <geom {box} size="{edge} {deep} {FRAME_M / 2}" pos="0 {y} {rim}"
    material="walnut"/>
  <geom {box} size="{side + 0.05} .09 .006" pos="0 {y} {bottom - 0.006}" material="walnut"/>
  {_funnel(channel_m, start_m, ball_m)}"""


def _funnel(channel_m: float, start_m: float, ball_m: float) -> str:
    """Return two slanted plates that end in a neck just wider than the ball, which rests at its mouth."""
    parts: list[str] = []
    for sign in (-1, 1):
        neck, rim = sign * (ball_m + 0.004), sign * 0.075
        low, high = start_m + ball_m * 0.6, BOARD_TOP_M - 0.008
        run = np.array([rim - neck, high - low])
        length = float(np.hypot(*run))
        axes = numbers([run[0] / length, 0, run[1] / length, 0, 1, 0])
        centre = numbers([(neck + rim) / 2, -channel_m / 2, (low + high) / 2])
        size = numbers([length / 2, channel_m / 2 - 0.002, 0.0025])
        parts.append(f'<geom class="look" type="box" pos="{centre}" xyaxes="{axes}" size="{size}" material="tin"/>')
        spout = numbers([neck + sign * 0.0025, -channel_m / 2, low - 0.011])
        size = numbers([0.0025, channel_m / 2 - 0.002, 0.0125])
        parts.append(f'<geom class="look" type="box" pos="{spout}" size="{size}" material="tin"/>')
    return "\n".join(parts)


def pictures(ball_radius_m: float, bins: int) -> dict[str, bytes]:
    """Return the files that ``materials`` names."""
    bow = np.linspace(0, np.pi / 2, 20)
    profile = [(ball_radius_m * float(np.sin(a)), ball_radius_m * float(np.cos(a))) for a in bow]
    return {
        "maple.png": png(_wood((1024, 1024), (206, 170, 124), 0.05, seed=1)),
        "walnut.png": png(_wood((256, 256), (94, 56, 34), 0.12, seed=2)),
        "table.png": png(_wood((512, 512), (104, 74, 52), 0.1, seed=3)),
        "wall.png": png(_wall()),
        "rail.png": png(_rail(bins)),
        "steel.png": png(_steel()),
        "ball.obj": turned(profile, radius_m=ball_radius_m, segments=40),
    }


def _picture(values: NDArray[np.float64]) -> Image:
    from PIL import Image as Pictures

    return Pictures.fromarray(np.clip(values, 0, 255).astype(np.uint8))


def _wood(size_px: tuple[int, int], colour: tuple[int, int, int], contrast: float, *, seed: int) -> Image:
    """Return planed wood, the grain running upwards: rings of a trunk cut lengthwise, and fine pores."""
    rng = np.random.default_rng(seed)
    height, width = size_px
    y, x = np.mgrid[:height, :width] / (height, width)[0]
    wander = sum(
        a * np.sin(y * f + p) for a, f, p in zip((0.05, 0.02, 0.01), (2.1, 5.3, 11), rng.uniform(0, 6, 3), strict=True)
    )
    across = x + wander
    rings = np.sin(across * 46 + 2.2 * np.sin(across * 9)) + 0.5 * np.sin(across * 131 + 1)
    pores = np.repeat(rng.normal(0, 1, (height // 16, width)), 16, axis=0)
    tone = 1 + contrast * (0.5 * rings + 0.22 * pores)
    return _picture(np.asarray(colour, dtype=float) * tone[..., None])


def _wall() -> Image:
    rng = np.random.default_rng(4)
    y, x = np.mgrid[:512, :512] / 512
    glow = 1.08 - 0.5 * np.hypot(x - 0.38, y - 0.35)
    return _picture(np.array([126.0, 141, 152]) * (glow + rng.normal(0, 0.008, glow.shape))[..., None])


def _rail(bins: int) -> Image:
    from PIL import ImageDraw

    picture = _wood((128, 1408), (94, 56, 34), 0.12, seed=5)
    pen = ImageDraw.Draw(picture)
    for i in range(bins):
        at = ((i + 0.5) * picture.width / bins, picture.height / 2)
        pen.text(at, str(i + 1), font=font(66), fill=(238, 214, 160), anchor="mm", stroke_width=2)
    return picture


def _steel() -> Image:
    """Return what a polished ball mirrors, as seen from the front: two lamps, the room, the board at its edge."""
    y, x = (np.mgrid[:256, :256] + 0.5) / 128 - 1
    out = np.hypot(x, y)
    depth = np.sqrt(np.clip(1 - out**2, 0, 1))
    up, right, ahead = (
        -2 * depth * y,
        2 * depth * x,
        2 * depth**2 - 1,
    )  # the mirrored ray; ahead of the ball is the room
    room = 70 + 65 * np.clip(up + 0.3, -1, 1)
    room = np.where(up < -0.15, 34 + 20 * (1 + up), room)
    room = np.where(ahead < -0.1, 46 + 60 * np.clip(-ahead, 0, 1), room)
    lamp = np.exp(-(((right + 0.55) / 0.28) ** 4) - ((up - 0.62) / 0.2) ** 4)
    second = np.exp(-(((right - 0.75) / 0.14) ** 4) - ((up - 0.3) / 0.34) ** 4)
    tone = room + 190 * lamp + 90 * second
    return _picture(tone[..., None] * np.array([0.97, 1.0, 1.04]))
