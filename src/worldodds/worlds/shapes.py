"""Rounded and rough bodies as triangle meshes: limbs lofted from ellipses, hedges clipped to a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds.solids import numbers

Ring = tuple[float, float, float, float]  # height z, half width along x, half depth along y, shift along y (metres)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """Vertices and their normals (n, 3), texture coordinates (n, 2), and triangles (m, 3) seen anticlockwise."""

    vertices: NDArray[np.float64]
    normals: NDArray[np.float64]
    texture: NDArray[np.float64]
    faces: NDArray[np.int64]


def loft(rings: Sequence[Ring], *, segments: int = 18, square: float = 1.0, tile_m: float = 0.22) -> Mesh:
    """Return a closed body through ellipses stacked from top to bottom, smoothed along z.

    ``square`` below 1 makes the ellipses boxy; ``tile_m`` is the size of one texture tile.
    """
    from scipy.interpolate import PchipInterpolator

    table = np.array(rings, dtype=np.float64)[::-1]
    fine = np.linspace(table[0, 0], table[-1, 0], 4 * len(table))
    _, wide, deep, shift = np.column_stack([fine, PchipInterpolator(table[:, 0], table[:, 1:])(fine)]).T
    angle = np.linspace(0, 2 * np.pi, segments + 1)
    c, s = (np.sign(part) * np.abs(part) ** square for part in (np.cos(angle), np.sin(angle)))
    x, y = np.outer(wide, c), np.outer(deep, s) + shift[:, None]
    grid = np.stack([x, y, np.repeat(fine[:, None], segments + 1, axis=1)], axis=2)
    around = np.cumsum(np.hypot(*np.diff(np.stack([x, y]), axis=2, prepend=0).mean(axis=1)))
    texture = np.stack(np.broadcast_arrays(around[None] / tile_m, fine[:, None] / tile_m), axis=2)
    return _sheet(grid, texture, wrapped=True)


def hedge(across_m: tuple[float, float], along_m: tuple[float, float], height_m: float, *, seed: int) -> Mesh:
    """Return a clipped hedge that runs along y: rounded edges, and a surface as uneven as shears leave it."""
    step, rounding = 0.16, 0.09
    profile = _rounded_profile(across_m, height_m, rounding, step)  # (p, 2): x and z, once over the hedge
    along = np.linspace(*along_m, round((along_m[1] - along_m[0]) / step) + 1)
    grid = np.empty((len(along), len(profile), 3))
    grid[..., [0, 2]] = profile[None]
    grid[..., 1] = along[:, None]
    over = np.cumsum(np.linalg.norm(np.diff(profile, axis=0, prepend=profile[:1]), axis=1))
    texture = np.stack(np.broadcast_arrays(over[None] / 0.8, along[:, None] / 0.8), axis=2)
    bumps = _bumps(grid.reshape(-1, 3), np.random.default_rng(seed)).reshape(*grid.shape[:2], 1)
    rough = grid + bumps * _grid_normals(grid)
    rough[..., 2] = np.maximum(rough[..., 2], 0)
    ends = [_end(rough[i], outward) for i, outward in ((0, -1.0), (-1, 1.0))]
    return joined([_sheet(rough, texture, wrapped=False), *ends])


def _end(ring: NDArray[np.float64], outward: float) -> Mesh:
    """Close a hedge where it ends, with leaves upright on it."""
    texture = ring[:, [0, 2]] / 0.8
    cap = _cap(ring, texture, flip=False)
    if cap.normals[0, 1] * outward < 0:
        cap = _cap(ring, texture, flip=True)
    return cap


def turned_to_x(mesh: Mesh) -> Mesh:
    """Return the mesh with x and y exchanged."""
    swap = [1, 0, 2]
    return Mesh(
        vertices=mesh.vertices[:, swap], normals=mesh.normals[:, swap], texture=mesh.texture, faces=mesh.faces[:, ::-1]
    )


def mirrored(mesh: Mesh) -> Mesh:
    """Return the mesh with left and right exchanged."""
    flip = np.array([-1, 1, 1])
    return Mesh(
        vertices=mesh.vertices * flip, normals=mesh.normals * flip, texture=mesh.texture, faces=mesh.faces[:, ::-1]
    )


def mesh_xml(name: str, mesh: Mesh) -> str:
    """Return the mesh as an MJCF asset."""
    return (
        f'<mesh name="{name}" inertia="shell" vertex="{numbers(mesh.vertices.ravel())}" '
        f'normal="{numbers(mesh.normals.ravel())}" texcoord="{numbers(mesh.texture.ravel())}" '
        f'face="{" ".join(map(str, mesh.faces.ravel().tolist()))}"/>'
    )


def _rounded_profile(y_m: tuple[float, float], height_m: float, r: float, step: float) -> NDArray[np.float64]:
    (y0, y1), quarter = y_m, np.linspace(0, np.pi / 2, 4)
    first = np.stack([y0 + r - r * np.cos(quarter), height_m - r + r * np.sin(quarter)], axis=1)
    second = np.stack([y1 - r + r * np.sin(quarter), height_m - r + r * np.cos(quarter)], axis=1)
    up = np.arange(0, height_m - r, step)
    over = np.arange(y0 + r, y1 - r, step)[1:]
    return np.concatenate([
        np.stack([np.full(len(up), y0), up], axis=1),
        first,
        np.stack([over, np.full(len(over), height_m)], axis=1),
        second,
        np.stack([np.full(len(up), y1), up[::-1]], axis=1),
    ])  # fmt: skip


def _bumps(points: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return smooth heights (m) at points, from plane waves of several lengths."""
    total = np.zeros(len(points))
    for length_m, height_m in ((1.3, 0.016), (0.6, 0.012), (0.3, 0.012)):
        for _ in range(6):
            way = rng.standard_normal(3)
            way *= 2 * np.pi / length_m / np.linalg.norm(way)
            total += height_m / 2 * np.sin(points @ way + rng.uniform(0, 2 * np.pi))
    return total


def _grid_normals(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return unit normals of a grid of points (rows, columns, 3), to the side of (column step) x (row step)."""
    down, across = np.gradient(grid, axis=0), np.gradient(grid, axis=1)
    normal = np.cross(across, down)
    return normal / np.maximum(np.linalg.norm(normal, axis=2, keepdims=True), 1e-9)


def _sheet(grid: NDArray[np.float64], texture: NDArray[np.float64], *, wrapped: bool) -> Mesh:
    """Return a grid of points (rows, columns, 3) as triangles; ``wrapped``: a closed body round z."""
    rows, columns = grid.shape[:2]
    normals = _grid_normals(grid)
    if wrapped:
        seam = normals[:, 0] + normals[:, -1]
        normals[:, 0] = normals[:, -1] = seam / np.maximum(np.linalg.norm(seam, axis=1, keepdims=True), 1e-9)
    i = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)[None]).ravel()
    faces = np.concatenate([
        np.stack([i, i + 1, i + columns], axis=1),
        np.stack([i + 1, i + columns + 1, i + columns], axis=1),
    ])  # fmt: skip
    body = Mesh(
        vertices=grid.reshape(-1, 3), normals=normals.reshape(-1, 3), texture=texture.reshape(-1, 2), faces=faces
    )
    if not wrapped:
        return body
    return joined([body, _cap(grid[0], texture[0], flip=True), _cap(grid[-1], texture[-1], flip=False)])


def _cap(ring: NDArray[np.float64], texture: NDArray[np.float64], *, flip: bool) -> Mesh:
    """Close an end with a fan round its middle."""
    count = len(ring)
    around = np.arange(count - 1)
    faces = np.stack([np.full(count - 1, count), around, around + 1], axis=1)
    middle = ring.mean(axis=0)
    normal = np.cross(ring[0] - middle, ring[count // 4] - middle) * (-1 if flip else 1)
    normal = normal / max(float(np.linalg.norm(normal)), 1e-9)
    return Mesh(
        vertices=np.vstack([ring, middle]),
        normals=np.repeat(normal[None], count + 1, axis=0),
        texture=np.vstack([texture, texture.mean(axis=0)]),
        faces=faces[:, ::-1] if flip else faces,
    )


def joined(parts: Sequence[Mesh]) -> Mesh:
    """Return several meshes as one."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    return Mesh(
        vertices=np.vstack([part.vertices for part in parts]),
        normals=np.vstack([part.normals for part in parts]),
        texture=np.vstack([part.texture for part in parts]),
        faces=np.vstack([part.faces + start for part, start in zip(parts, starts, strict=True)]),
    )
