"""A garden of hedges with a T-junction, and the person who walks in it: shapes, cloth, leaves and light for MuJoCo."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds import walker_shapes
from worldodds.worlds.gait import SEGMENTS
from worldodds.worlds.gl import load_mujoco
from worldodds.worlds.shapes import Mesh, hedge, mesh_xml, mirrored, turned_to_x
from worldodds.worlds.solids import numbers, png
from worldodds.worlds.window import MOVING_GROUP

PATH_M = 1.10  # half the width of path and passages
LOW_M, TALL_M = 0.95, 1.85  # hedges beside the path, hedge at the end
FAR_M = 7.0  # how far hedges go to both sides
NEAR_M = -7.5  # how far hedges come towards the viewer


_EYE_M, _DOWN_RAD = np.array([0.0, -6.55, 2.32]), float(np.radians(12.6))


def seen_at(points_m: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.float64]:
    """Return where points in space (..., 3) are seen, (..., 2) in pixels."""
    rays = points_m - _EYE_M
    c, s = np.cos(_DOWN_RAD), np.sin(_DOWN_RAD)
    depth, up = c * rays[..., 1] - s * rays[..., 2], s * rays[..., 1] + c * rays[..., 2]
    scale = size[1] / 2 / np.tan(np.radians(22.5)) / depth
    return np.stack([size[0] / 2 + scale * rays[..., 0], size[1] / 2 - scale * up], axis=-1)


@lru_cache(maxsize=2)
def model(size: tuple[int, int]) -> Any:
    """Return the model: a free joint a body segment, in the order of ``gait.SEGMENTS``, and the camera ``view``."""
    hedges = _hedges()
    meshes = {**{f"hedge_{i}": mesh for i, mesh in enumerate(hedges)}, **walker_shapes.meshes()}
    assets = {"leaves.png": _png(_leaves()), "gravel.png": _png(_gravel()), "denim.png": _png(_cloth((44, 56, 92), 5))}
    assets["wool.png"] = _png(_cloth((196, 30, 34), 3))
    tilt = f"1 0 0 0 {np.sin(_DOWN_RAD)} {np.cos(_DOWN_RAD)}"
    xml = f"""
    <mujoco>
      <visual>
        <global offwidth="{2 * size[0]}" offheight="{2 * size[1]}"/>
        <quality shadowsize="2048" offsamples="0"/>
        <headlight ambient="0.36 0.38 0.42" diffuse="0.10 0.10 0.10" specular="0 0 0"/>
        <map znear="0.05" zfar="20" shadowclip="1.1"/>
      </visual>
      <statistic center="0 -0.6 0.6" extent="3.6"/>
      <asset>
        <texture type="skybox" builtin="gradient" rgb1="0.80 0.88 0.95" rgb2="0.36 0.58 0.85" width="128" height="768"/>
        <texture name="leaves" type="2d" file="leaves.png"/>
        <texture name="gravel" type="2d" file="gravel.png"/>
        <texture name="denim" type="2d" file="denim.png"/>
        <texture name="wool" type="2d" file="wool.png"/>
        <material name="leaves" texture="leaves" specular="0.05" shininess="0.1"/>
        <material name="trees" texture="leaves" rgba="0.72 0.86 0.72 1" specular="0" shininess="0"/>
        <material name="gravel" texture="gravel" texrepeat="0.75 0.75" texuniform="true" specular="0"/>
        <material name="denim" texture="denim" specular="0.05"/>
        <material name="wool" texture="wool" specular="0.08"/>
        <material name="skin" rgba="0.86 0.66 0.54 1" specular="0.15"/>
        <material name="hair" rgba="0.22 0.13 0.08 1" specular="0.25" shininess="0.4"/>
        <material name="shoe" rgba="0.90 0.89 0.86 1" specular="0.2"/>
        <material name="sole" rgba="0.30 0.28 0.27 1" specular="0.1"/>
        {"".join(mesh_xml(name, mesh) for name, mesh in meshes.items())}
      </asset>
      <worldbody>
        <light directional="true" pos="0 -3 8" dir="0 0.42 -1" diffuse="0.78 0.74 0.66" specular="0.2 0.2 0.2"
               castshadow="true"/>
        <camera name="view" pos="{numbers(_EYE_M)}" xyaxes="{tilt}" fovy="45"/>
        <geom type="plane" size="40 40 1" material="gravel"/>
        {"".join(f'<geom type="mesh" mesh="hedge_{i}" material="leaves"/>' for i in range(len(hedges)))}
        <geom type="box" pos="0 10 0" size="14 0.5 2.2" material="trees"/>
        {_trees()}
        {"".join(_segment(name) for name in SEGMENTS)}
      </worldbody>
    </mujoco>"""
    return load_mujoco().MjModel.from_xml_string(xml, assets)


def _segment(name: str) -> str:
    shapes = "".join(
        f'<geom type="mesh" mesh="{mesh}" material="{material}" group="{MOVING_GROUP}"/>'
        for mesh, material in walker_shapes.PARTS[name]
    )
    body = '<freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    return f'<body name="{name}">{body}{shapes}</body>'


def _hedges() -> list[Mesh]:
    """Return one hedge on each side of the path and one across its end, the second the first's mirror image."""
    right = hedge((PATH_M, FAR_M), (NEAR_M, -PATH_M), LOW_M, seed=1)
    end = turned_to_x(hedge((PATH_M, PATH_M + 1.2), (-FAR_M, FAR_M), TALL_M, seed=2))
    return [mirrored(right), right, end]


def _trees() -> str:
    """Return tree crowns behind the hedge, the same on both sides."""
    rng = np.random.default_rng(3)
    crowns: list[str] = []
    for x, y, height, radius in ((1.9, 7, 1.9, 1.25), (4.4, 8, 2.2, 1.7), (7.6, 9, 2.0, 1.6), (0, 11, 1.6, 1.2)):
        for _ in range(5):
            shift = rng.uniform(-0.55, 0.55, 3) * radius
            size = radius * rng.uniform(0.5, 0.75)
            for side in (-1, 1):
                at = (side * (x + shift[0]), y + shift[1], height + 0.6 * shift[2])
                crowns.append(
                    f'<geom type="ellipsoid" pos="{numbers(at)}" size="{numbers((size, size, 0.85 * size))}" '
                    'material="trees"/>'
                )
    return "".join(crowns)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    return png(Image.fromarray(pixels))


def _leaves() -> NDArray[np.uint8]:
    """Paint box leaves, dark ones below and bright ones above; the picture can be tiled."""
    import cv2

    rng = np.random.default_rng(4)
    side = 512
    picture = np.full((side, side, 3), (16, 34, 16), np.uint8)
    for depth in np.linspace(0, 1, 5200):
        x, y = rng.integers(0, side, 2).tolist()
        long = float(rng.uniform(7, 12))
        light = 0.34 + 0.66 * depth * float(rng.uniform(0.6, 1.0))
        colour = (np.array([92, 150, 58]) + rng.normal(0, 12, 3)) * light
        angle = float(rng.uniform(0, 180))
        for dx in (-side, 0, side):
            for dy in (-side, 0, side):
                if -20 < x + dx < side + 20 and -20 < y + dy < side + 20:
                    box = ((x + dx, y + dy), (long, 0.5 * long), angle)
                    cv2.ellipse(picture, box, np.clip(colour, 0, 255).tolist(), -1, cv2.LINE_AA)
    return picture


def _gravel() -> NDArray[np.uint8]:
    """Paint pale gravel."""
    import cv2

    rng = np.random.default_rng(5)
    side = 1024
    picture = np.full((side, side, 3), (168, 158, 140), np.uint8)
    for _ in range(15000):
        x, y = rng.integers(0, side, 2).tolist()
        light = float(rng.normal(1, 0.13))
        colour = np.clip(np.array([196, 185, 164]) * light + rng.normal(0, 4, 3), 0, 255)
        box = ((x, y), (float(rng.uniform(3, 9)), float(rng.uniform(3, 7))), float(rng.uniform(0, 180)))
        cv2.ellipse(picture, box, colour.tolist(), -1, cv2.LINE_AA)
    return picture


def _cloth(colour: tuple[int, int, int], period_px: int) -> NDArray[np.uint8]:
    """Weave cloth: fine ribs and a little wear."""
    import cv2

    rng = np.random.default_rng(6)
    wear = cv2.GaussianBlur(rng.standard_normal((256, 256)).astype(np.float32), (0, 0), 14)
    ribs = 0.05 * np.sin(2 * np.pi * np.arange(256) / period_px)[None, :]
    tone = 1 + ribs + 0.9 * wear + 0.04 * rng.standard_normal((256, 256))
    return np.clip(np.array(colour) * tone[..., None], 0, 255).astype(np.uint8)
