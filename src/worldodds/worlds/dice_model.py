"""The die, its box and its light as a MuJoCo model: what is hit, and what is seen."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.paint import grain

DIE_HALF_M = 0.07
INNER_HALF_M = (0.54, 0.40)  # the box inside: half its width and half its depth
WALL_HEIGHT_M = 0.17
WALL_WIDTH_M = 0.085
FACES = ("1", "6", "2", "5", "3", "4")  # on +x, -x, +y, -y, +z, -z of the die: right-handed, as Western dice are

Pips = Mapping[str, Sequence[tuple[int, int]]]  # where each face has its pips

_ROUNDING_M = 0.017
_FACE_PX = 320
PIPS: Pips = {
    "1": [(0, 0)],
    "2": [(-1, -1), (1, 1)],
    "3": [(-1, -1), (0, 0), (1, 1)],
    "4": [(-1, -1), (-1, 1), (1, -1), (1, 1)],
    "5": [(-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)],
    "6": [(-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)],
}  # in thirds of the face
_AXES = [((0, 1, 0), (0, 0, 1)), ((0, -1, 0), (0, 0, 1)), ((-1, 0, 0), (0, 0, 1)), ((1, 0, 0), (0, 0, 1)),
         ((1, 0, 0), (0, 1, 0)), ((-1, 0, 0), (0, 1, 0))]  # fmt: skip  # right and up of each face, seen from outside


def mjcf(*, floor: str, wall: str) -> str:
    """Return the model's XML; ``floor`` and ``wall`` are the contact attributes of felt and wood."""
    half_x, half_y = INNER_HALF_M
    wide, up = WALL_WIDTH_M, WALL_HEIGHT_M
    hit = f'group="3" priority="1" {wall}'
    return f"""
<mujoco model="dice">
  <option timestep="0.001" gravity="0 0 -9.81" cone="elliptic" impratio="3"/>
  <statistic center="0 0 0.1" extent="1.05"/>
  <visual>
    <global offwidth="1920" offheight="1080"/>
    <quality shadowsize="2048" offsamples="4"/>
    <map znear="0.2" zfar="8" shadowclip="1.9" shadowscale="0.9"/>
    <headlight ambient="0.36 0.35 0.34" diffuse="0.10 0.10 0.10" specular="0 0 0"/>
  </visual>
  <asset>
    <texture name="die" type="2d" file="die.png"/>
    <texture name="felt" type="2d" file="felt.png"/>
    <texture name="oak" type="2d" file="oak.png"/>
    <texture name="table" type="2d" file="table.png"/>
    <material name="die" texture="die" specular="0.35" shininess="0.6"/>
    <material name="felt" texture="felt" specular="0" shininess="0"/>
    <material name="oak" texture="oak" specular="0.12" shininess="0.3"/>
    <material name="table" texture="table" specular="0.05" shininess="0.2"/>
    <mesh name="die" file="die.obj" inertia="shell"/>
    <mesh name="planks" file="planks.obj" inertia="shell"/>
  </asset>
  <worldbody>
    <light directional="true" pos="-1.14 1.29 3" dir="0.38 -0.43 -1" diffuse="0.56 0.54 0.49" specular="0.3 0.3 0.3"
           castshadow="true"/>
    <light directional="true" pos="1.2 -1.0 2.6" dir="-0.45 0.4 -1" diffuse="0.17 0.18 0.20" specular="0 0 0"
           castshadow="false"/>
    <camera name="above" fovy="29" pos="0 -0.62 2.45" xyaxes="1 0 0 0 0.9695 0.245"/>
    <geom type="plane" size="4 4 0.1" group="3" priority="1" {floor}/>
    <geom type="box" size="{half_x + wide} {wide / 2} {up / 2}" pos="0 {half_y + wide / 2} {up / 2}" {hit}/>
    <geom type="box" size="{half_x + wide} {wide / 2} {up / 2}" pos="0 {-half_y - wide / 2} {up / 2}" {hit}/>
    <geom type="box" size="{wide / 2} {half_y} {up / 2}" pos="{half_x + wide / 2} 0 {up / 2}" {hit}/>
    <geom type="box" size="{wide / 2} {half_y} {up / 2}" pos="{-half_x - wide / 2} 0 {up / 2}" {hit}/>
    <geom type="plane" size="{half_x} {half_y} 1" material="felt" contype="0" conaffinity="0"/>
    <geom type="plane" size="1.5 1.125 1" pos="0 0 -0.03" material="table" contype="0" conaffinity="0"/>
    <geom type="mesh" mesh="planks" material="oak" contype="0" conaffinity="0"/>
    <body name="die">
      <freejoint/>
      <geom type="box" size="{DIE_HALF_M} {DIE_HALF_M} {DIE_HALF_M}" mass="0.4" group="3"/>
      <geom type="mesh" mesh="die" material="die" contype="0" conaffinity="0" mass="0"/>
    </body>
  </worldbody>
</mujoco>"""


def assets() -> dict[str, bytes]:
    """Return meshes and textures by file name; always the same bytes."""
    rng = np.random.default_rng(20)
    return {
        "die.obj": _rounded_die(),
        "planks.obj": _planks(),
        "die.png": _png(die_texture(PIPS)),
        "felt.png": _png(_felt(rng)),
        "oak.png": _png(_wood(rng, dark=(150, 98, 54), light=(214, 164, 106), rings=9)),
        "table.png": _png(_wood(rng, dark=(58, 37, 25), light=(112, 76, 50), rings=14, boards=6)),
    }


def _rounded_die(steps: int = 14) -> bytes:
    lines: list[str] = []
    faces: list[str] = []
    flat = DIE_HALF_M - _ROUNDING_M
    inner = np.linspace(-flat, flat, 3)
    edge = DIE_HALF_M * np.tan(np.linspace(0, np.pi / 4, steps // 2 + 1)[1:])
    edge = flat + (edge / edge[-1]) * _ROUNDING_M
    line = np.concatenate([-edge[::-1], inner, edge])
    n = len(line)
    for f, (right, up) in enumerate(_AXES):
        out = np.cross(right, up)
        cells = [(a, b) for b in line for a in line]
        cube = np.array([DIE_HALF_M * out + a * np.array(right) + b * np.array(up) for a, b in cells])
        core = np.clip(cube, -flat, flat)
        normal = (cube - core) / np.linalg.norm(cube - core, axis=1, keepdims=True)
        spot = core + _ROUNDING_M * normal
        u = (f % 3 + 0.5 + np.array([a for a, _ in cells]) / (2.02 * DIE_HALF_M)) / 3
        v = (f // 3 + 0.5 - np.array([b for _, b in cells]) / (2.02 * DIE_HALF_M)) / 2
        lines += _obj_points(spot, normal, np.stack([u, 1 - v], axis=1))
        first = f * n * n + 1
        faces += _obj_grid(first, n, n)
    return "\n".join([*lines, *faces, ""]).encode()


def _obj_points(spots: NDArray[np.float64], normals: NDArray[np.float64], uv: NDArray[np.float64]) -> list[str]:
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in spots]
    lines += [f"vn {x:.5f} {y:.5f} {z:.5f}" for x, y, z in normals]
    return lines + [f"vt {a:.5f} {b:.5f}" for a, b in uv]


def _obj_grid(first: int, width: int, height: int) -> list[str]:
    faces: list[str] = []
    for j in range(height - 1):
        for i in range(width - 1):
            a, b = first + j * width + i, first + (j + 1) * width + i
            faces += [_triangle(a, a + 1, b + 1), _triangle(a, b + 1, b)]
    return faces


def _triangle(a: int, b: int, c: int) -> str:
    return f"f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}"


def _planks() -> bytes:
    """Four mitred planks with a small bevel on the upper edges; the grain runs along each."""
    bevel = 0.012
    wide, up = WALL_WIDTH_M, WALL_HEIGHT_M
    profile = [(0.0, -0.03), (0.0, up - bevel), (bevel, up), (wide - bevel, up), (wide, up - bevel), (wide, -0.03)]
    half_x, half_y = INNER_HALF_M
    lines: list[str] = []
    faces: list[str] = []
    for side, (half_long, half_off) in enumerate([(half_x, half_y), (half_y, half_x)] * 2):
        c, s = np.cos(side * np.pi / 2), np.sin(side * np.pi / 2)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        for (d0, z0), (d1, z1) in itertools.pairwise(profile):
            spots = np.array([(e * (half_long + d), half_off + d, z) for d, z in ((d0, z0), (d1, z1)) for e in (-1, 1)])
            normal = np.array([0.0, -(z1 - z0), d1 - d0]) / np.hypot(z1 - z0, d1 - d0)
            across = np.array([d0 + z0, d0 + z0, d1 + z1, d1 + z1]) / 0.5 + 0.23 * side
            along = spots[:, 0] / 1.35 + 0.5
            first = len(lines) // 3 + 1
            lines += _obj_points(spots @ turn.T, np.tile(turn @ normal, (4, 1)), np.stack([along, across], axis=1))
            faces += _obj_grid(first, 2, 2)
    return "\n".join([*lines, *faces, ""]).encode()


def die_texture(pips: Pips) -> NDArray[np.uint8]:
    """Paint the six faces, each with the pips it is given."""
    size = _FACE_PX
    atlas = np.empty((2 * size, 3 * size, 3), dtype=np.float64)
    y, x = (np.mgrid[:size, :size] + 0.5) / size * 2 - 1
    rim = np.clip((np.maximum(abs(x), abs(y)) - 0.72) / 0.28, 0, 1)
    for f, face in enumerate(FACES):
        paint = np.array([246, 240, 226]) * (1 - 0.10 * rim[..., None] ** 2)
        radius = 0.25 if len(pips[face]) == 1 else 0.185
        for a, b in pips[face]:
            dx, dy = x - 0.5 * a, y - 0.5 * b
            cover = np.clip((radius - np.hypot(dx, dy)) * size / 2.5 + 0.5, 0, 1)[..., None]
            hollow = np.clip(0.5 + 0.5 * (dx + dy) / radius, 0, 1)[..., None]
            paint = paint * (1 - cover) + cover * (np.array([18, 20, 28]) + 34 * hollow**3)
        j, i = divmod(f, 3)
        atlas[j * size : (j + 1) * size, i * size : (i + 1) * size] = paint
    return np.clip(atlas, 0, 255).astype(np.uint8)


def _felt(rng: np.random.Generator) -> NDArray[np.uint8]:
    half_x, half_y = INNER_HALF_M
    width, height = 1080, 800
    cloth = 1 + 0.045 * grain((height, width), (0.8, 0.8), rng) + 0.02 * grain((height, width), (14, 14), rng)
    y, x = np.mgrid[:height, :width]
    depth = np.minimum(
        half_x - abs((x + 0.5) / width * 2 - 1) * half_x, half_y - abs((y + 0.5) / height * 2 - 1) * half_y
    )
    cloth *= 1 - 0.38 * np.exp(-depth / 0.05)  # less light reaches the foot of the walls
    return np.clip(np.array([34, 104, 82]) * cloth[..., None], 0, 255).astype(np.uint8)


def _wood(
    rng: np.random.Generator, *, dark: tuple[int, int, int], light: tuple[int, int, int], rings: float, boards: int = 1
) -> NDArray[np.uint8]:
    height, width = 512, 1024
    y = np.mgrid[:height, :width][0] / height
    bend = 0.035 * grain((height, width), (30, 160), rng)
    board = np.floor(y * boards)
    phase = rng.uniform(0, 1, boards)[board.astype(int)]
    ring = 0.5 + 0.5 * np.sin(2 * np.pi * (rings * (y + bend) + 3 * phase))
    fibre = 0.10 * grain((height, width), (0.7, 26), rng) + 0.05 * grain((height, width), (1.5, 60), rng)
    tone = np.clip(0.25 + 0.5 * ring**1.5 + fibre + 0.35 * (phase - 0.5), 0, 1)[..., None]
    paint = np.array(dark) * (1 - tone) + np.array(light) * tone
    seam = np.minimum(y * boards - board, 1 - (y * boards - board)) * height / boards
    if boards > 1:
        paint *= np.clip(0.45 + seam / 4, 0, 1)[..., None]
    return np.clip(paint, 0, 255).astype(np.uint8)


def _png(image: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    buffer = BytesIO()
    Image.fromarray(image).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
