"""Building blocks of the three-dimensional worlds: rings of boxes to collide with, turned meshes to look at."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import ImageFont
    from PIL.Image import Image

Point = tuple[float, float]  # (radius, height) in metres


def numbers(values: Sequence[float] | NDArray[np.float64]) -> str:
    """Return values as MJCF writes them.

    >>> numbers([1, 0.25])
    '1 0.25'
    """
    return " ".join(f"{value:.6g}" for value in values)


def ring(count: int, inner: Point, outer: Point, *, thickness_m: float, attributes: str = "") -> str:
    """Return MJCF boxes that tile the cone from ``inner`` to ``outer``; their upper faces lie on the cone.

    A concave bowl cannot be one convex geom, so it is a polygon of many.
    """
    (r0, z0), (r1, z1) = inner, outer
    length = float(np.hypot(r1 - r0, z1 - z0))
    cos, sin = (r1 - r0) / length, (z1 - z0) / length
    half_width = max(r0, r1) * float(np.tan(np.pi / count)) * 1.02
    boxes: list[str] = []
    for i in range(count):
        angle = 2 * np.pi * i / count
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        up = np.array([0.0, 0.0, 1.0])
        x_axis, y_axis = cos * out + sin * up, np.array([-out[1], out[0], 0.0])
        centre = (r0 + r1) / 2 * out + (z0 + z1) / 2 * up - thickness_m / 2 * np.cross(x_axis, y_axis)
        axes = numbers([*x_axis, *y_axis])
        size = numbers([length / 2, half_width, thickness_m / 2])
        boxes.append(f'<geom type="box" pos="{numbers(centre)}" xyaxes="{axes}" size="{size}" {attributes}/>')
    return "\n".join(boxes)


def turned(profile: Sequence[Point], *, radius_m: float, segments: int = 96) -> bytes:
    """Return the OBJ of a profile turned about the z axis, seen from outside when radii run inwards to outwards.

    Texture coordinates look down the axis: the picture's centre is the axis, its edge lies at ``radius_m``. Every
    stretch of the profile has normals of its own, so edges stay crisp.
    """
    angles = 2 * np.pi * np.arange(segments + 1) / segments
    vertices: list[str] = []
    normals: list[str] = []
    coordinates: list[str] = []
    faces: list[str] = []
    for (r0, z0), (r1, z1) in itertools.pairwise(profile):
        length = float(np.hypot(r1 - r0, z1 - z0))
        first = len(vertices) + 1
        for a in angles:
            for r, z in ((r0, z0), (r1, z1)):
                x, y = r * np.cos(a), r * np.sin(a)
                vertices.append(f"v {x:.6f} {y:.6f} {z:.6f}")
                coordinates.append(f"vt {0.5 + x / (2 * radius_m):.6f} {0.5 + y / (2 * radius_m):.6f}")
                slope = -(z1 - z0) / length
                normals.append(f"vn {slope * np.cos(a):.5f} {slope * np.sin(a):.5f} {(r1 - r0) / length:.5f}")
        for i in range(segments):
            a, b, c, d = (first + 2 * i + k for k in (0, 1, 2, 3))
            faces.extend((f"f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}", f"f {c}/{c}/{c} {b}/{b}/{b} {d}/{d}/{d}"))
    return "\n".join([*vertices, *coordinates, *normals, *faces, ""]).encode()


def swept(path_m: NDArray[np.float64], *, radius_m: float, sides: int = 32) -> bytes:
    """Return the OBJ of a round tube about a path (points, 3), open at both ends."""
    along = np.gradient(path_m, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = np.cross(along[0], [0.0, 1.0, 0.0] if abs(along[0, 1]) < 0.9 else [1.0, 0.0, 0.0])
    angles = 2 * np.pi * np.arange(sides) / sides
    vertices: list[str] = []
    normals: list[str] = []
    faces: list[str] = []
    for i, (point, way) in enumerate(zip(path_m, along, strict=True)):
        across = across - (across @ way) * way  # carried along the path without twist
        across /= np.linalg.norm(across)
        round_about = np.outer(np.cos(angles), across) + np.outer(np.sin(angles), np.cross(way, across))
        vertices += [f"v {numbers(point + radius_m * out)}" for out in round_about]
        normals += [f"vn {numbers(out)}" for out in round_about]
        for k in range(sides if i else 0):
            a, b = (i - 1) * sides + k + 1, (i - 1) * sides + (k + 1) % sides + 1
            c, d = a + sides, b + sides
            faces.extend((f"f {a}//{a} {b}//{b} {c}//{c}", f"f {c}//{c} {b}//{b} {d}//{d}"))
    return "\n".join([*vertices, *normals, *faces, ""]).encode()


def png(image: Image) -> bytes:
    """Return a picture's PNG bytes."""
    buffer = BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def font(size_px: float) -> ImageFont.FreeTypeFont:
    """Return the typeface that comes with Pillow, so that pictures are the same on every machine."""
    from PIL import ImageFont

    face = ImageFont.load_default(size_px)
    assert isinstance(face, ImageFont.FreeTypeFont), "Pillow without FreeType cannot draw numbers"
    return face
