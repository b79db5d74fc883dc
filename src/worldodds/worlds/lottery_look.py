"""What the lottery machine looks like: numbered balls, a glass globe, the tube that leads out of it to a cup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.solids import font, numbers, png, swept, turned

if TYPE_CHECKING:
    from PIL.Image import Image

GLOBE_RADIUS_M = 0.2
BALL_RADIUS_M = 0.034
TABLE_M = -0.3
COLOURS = (
    *((214, 30, 36), (242, 128, 18), (246, 208, 20), (128, 192, 30), (8, 128, 58)),
    *((0, 166, 172), (24, 84, 204), (112, 44, 164), (238, 96, 168), (58, 58, 64)),
)  # of balls 1 to 10, all over; of balls 11 to 20 a ring on white
CUP_M = (0.262, -0.715, -0.004)
_BENDS = np.array(
    [
        *((0, 0, GLOBE_RADIUS_M - BALL_RADIUS_M), (0, 0, 0.235), (0.03, -0.03, 0.272), (0.1, -0.16, 0.262)),
        *((0.2, -0.4, 0.185), (0.255, -0.62, 0.12), (0.262, -0.705, 0.07), CUP_M),
    ]
)


def _smooth(bends: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return ``count`` points at even distances on the Catmull-Rom curve through the bends."""
    padded = np.vstack([2 * bends[0] - bends[1], bends, 2 * bends[-1] - bends[-2]])
    t = np.linspace(0, 1, 16, endpoint=False)[:, None]
    curve = [
        0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
        for a, b, c, d in zip(padded[:-3], padded[1:-2], padded[2:-1], padded[3:], strict=True)
    ]
    points = np.vstack([*curve, bends[-1:]])
    along = np.r_[0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))]
    even = np.linspace(0, along[-1], count)
    return np.column_stack([np.interp(even, along, points[:, i]) for i in range(3)])


PATH_M = _smooth(_BENDS, 64)  # (64, 3), of the drawn ball's centre, from the mouth to the cup
CAMERA_M = (0.15, -1.12, 0.03)


def _facing() -> NDArray[np.float64]:
    """Return the quaternion that turns a ball in the cup with its number upright and straight to the camera."""
    way = np.subtract(CAMERA_M, CUP_M)
    aside, up = np.arctan2(way[0], -way[1]), np.arctan2(way[2], np.hypot(way[0], way[1]))
    cos, sin = np.cos(aside / 2), np.sin(aside / 2)
    tilt = (np.pi / 2 - up) / 2  # from lying with the number on top
    return np.array([cos * np.cos(tilt), cos * np.sin(tilt), sin * np.sin(tilt), sin * np.cos(tilt)])


FACING = _facing()


def look_mjcf(balls: int) -> str:
    """Return the MJCF of everything seen; a ball's pose is a free joint's, so that states can be set."""
    textures = "\n".join(
        f'<texture name="ball{i}" type="cube" file="ball{i}.png"/>'
        f'<material name="ball{i}" texture="ball{i}" specular=".45" shininess=".7"/>'
        for i in range(balls)
    )
    bodies = "\n".join(
        f'<body><freejoint/><geom size="{BALL_RADIUS_M}" material="ball{i}" mass=".01"/></body>' for i in range(balls)
    )
    x, y, z = CUP_M
    low = z - BALL_RADIUS_M
    return f"""<mujoco model="lottery">
<statistic center="0 -.2 0" extent="1.6"/>
<visual>
  <quality shadowsize="2048" offsamples="4" numslices="32" numstacks="20"/>
  <global offwidth="1920" offheight="1080"/>
  <headlight ambient=".42 .42 .44" diffuse=".22 .22 .22" specular=".1 .1 .1"/>
  <map shadowclip="1" shadowscale=".9" znear=".05" zfar="12"/>
</visual>
<asset>
  <texture name="backdrop" type="2d" file="backdrop.png"/> <texture name="table" type="2d" file="table.png"/>
  <material name="backdrop" texture="backdrop" emission=".3" specular="0"/>
  <material name="table" texture="table" specular=".3" shininess=".5"/>
  <material name="glass" rgba=".8 .9 1 .09" specular="1" shininess=".9"/>
  <material name="tube" rgba=".8 .92 1 .1" specular="1" shininess=".9"/>
  <material name="black" rgba=".07 .075 .09 1" specular=".6" shininess=".6"/>
  <material name="chrome" rgba=".72 .74 .78 1" specular="1" shininess=".8"/>
  <mesh name="tube" file="tube.obj" inertia="shell"/> <mesh name="base" file="base.obj" inertia="shell"/>
  <mesh name="collar" file="collar.obj" inertia="shell"/> <mesh name="cup" file="cup.obj" inertia="shell"/>
  {textures}
</asset>
<default><geom contype="0" conaffinity="0" group="1"/></default>
<worldbody>
  <light pos="-.7 -1.6 1.6" dir=".35 .7 -.8" directional="true" diffuse=".56 .55 .52" specular=".7 .7 .7"/>
  <camera name="view" pos="{numbers(CAMERA_M)}" xyaxes="1 0 0 0 0 1" fovy="36"/>
  <geom type="plane" size="1.6 .9 .1" pos=".1 .75 .3" xyaxes="1 0 0 0 0 1" material="backdrop"/>
  <geom type="plane" size="1.6 1 .1" pos="0 -.25 {TABLE_M}" material="table"/>
  <geom type="mesh" mesh="base" material="black"/>
  <geom type="mesh" mesh="collar" material="chrome"/>
  <geom type="mesh" mesh="cup" pos="{x} {y} {low}" material="chrome"/>
  <geom type="cylinder" fromto="{numbers([x, y, low - 0.02, x, y, TABLE_M])}" size=".012" material="black"/>
  {bodies}
  <geom type="mesh" mesh="tube" material="tube"/>
  <geom type="sphere" size="{GLOBE_RADIUS_M + 0.004}" material="glass"/>
</worldbody></mujoco>"""


def pictures(balls: int) -> dict[str, bytes]:
    """Return the files that ``look_mjcf`` names."""
    outer = GLOBE_RADIUS_M + 0.004
    base = [
        (0.0, -0.17),
        (0.11, -0.165),
        (0.12, -0.172),
        (0.128, -0.185),
        (0.15, -0.26),
        (0.165, -0.285),
        (0.17, TABLE_M),
    ]
    collar = [(0.038, outer - 0.008), (0.042, outer + 0.02), (0.05, outer + 0.02), (0.056, outer - 0.01)]
    cup = [(0.0, 0.004), (0.018, 0.0065), (0.028, 0.014), (0.031, 0.014), (0.031, 0.004), (0.016, -0.02), (0.0, -0.024)]
    return {
        "backdrop.png": png(_backdrop()),
        "table.png": png(_table()),
        "tube.obj": swept(PATH_M[3:-4], radius_m=BALL_RADIUS_M + 0.004),
        "base.obj": turned(base, radius_m=0.2),
        "collar.obj": turned(collar, radius_m=0.2),
        "cup.obj": turned(cup, radius_m=0.2, segments=64),
        **{f"ball{i}.png": png(ball_face(i + 1)) for i in range(balls)},
    }


def ball_face(number: int, mark: str | None = None) -> Image:
    """Paint one of a ball's six like faces: its number, or another mark, black on a white disc, within its colour."""
    from PIL import Image as Pictures
    from PIL import ImageDraw

    colour, white = COLOURS[(number - 1) % 10], (248, 247, 242)
    size, middle = 512, 256
    picture = Pictures.new("RGB", (size, size), colour if number <= 10 else white)
    pen = ImageDraw.Draw(picture)
    for radius, fill in ((228, colour), (168, white)):
        pen.ellipse((middle - radius, middle - radius, middle + radius, middle + radius), fill=fill)
    mark = str(number) if mark is None else mark
    face = font(230 if len(mark) < 2 else 190)
    pen.text((middle, middle), mark, font=face, fill=(12, 12, 14), anchor="mm", stroke_width=9)
    if mark in ("6", "9"):
        pen.rectangle((middle - 62, middle + 100, middle + 62, middle + 118), fill=(12, 12, 14))
    return picture.resize((256, 256), Pictures.Resampling.LANCZOS)


def _backdrop() -> Image:
    from PIL import Image as Pictures

    y, x = np.mgrid[:512, :768] / 512
    glow = np.exp(-(((x - 0.7) / 0.5) ** 2) - ((y - 0.45) / 0.45) ** 2)
    folds = 1 + 0.07 * np.sin(x * 62 + 3 * np.sin(x * 9)) + 0.04 * np.sin(x * 143 + 2)  # of a curtain
    tone = (np.array([16.0, 22, 48]) + glow[..., None] * np.array([52.0, 66, 104])) * folds[..., None]
    return Pictures.fromarray(np.clip(tone, 0, 255).astype(np.uint8))


def _table() -> Image:
    from PIL import Image as Pictures

    rng = np.random.default_rng(8)
    _, x = np.mgrid[:512, :512] / 512
    grain = 1 + 0.1 * np.sin(x * 60 + 2 * np.sin(x * 13)) + 0.05 * np.repeat(rng.normal(0, 1, (16, 512)), 32, axis=0)
    return Pictures.fromarray(np.clip(np.array([96.0, 64, 44]) * grain[..., None], 0, 255).astype(np.uint8))
