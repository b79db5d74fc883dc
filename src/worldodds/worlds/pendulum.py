"""The double pendulum: released from rest high up, left to chaos, looked at after three and a half seconds.

Physics is the exact friction-free motion of two equal point masses (``mixing``). One frame shows the start to about a
pixel; what it cannot show is a Gaussian jitter of half a degree in both angles, and chaos does the rest. The pendulum
never comes to rest, so the clip's last frame is the evidence; the even odds hold for any look from 3 s on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from worldodds.worlds import mixing, paint
from worldodds.worlds.world import Image, Motion

PIVOT = (0.5, 0.45)  # fractions of the frame's width and height
SCALE = 1.34  # frame heights a metre
INNER_RADIUS, OUTER_RADIUS = 0.026, 0.032  # of the balls, frame heights
BENCH_TOP = 0.885  # where the bench meets the wall, fraction of the frame's height


@dataclass(frozen=True, slots=True, kw_only=True)
class Pendulum:
    """Double pendulum on a laboratory stand; ``states`` (frames, 2): both angles from the downward vertical.

    Of states with four columns the last two place a lower mass off its rod: metres to the right of and below the pivot.
    """

    scene: ClassVar[str] = "pendulum"
    labels: ClassVar[tuple[str, ...]] = ("left", "right")
    has_process_noise: ClassVar[bool] = False
    frames: int = 85
    frame_rate: int = 24
    start_jitter_deg: float = mixing.START_JITTER_DEG
    dead_zone_m: float = 0.006

    def simulate(self, *, start_seed: int, noise_seed: int = 0) -> Motion:
        """Release from rest and follow the motion to the last frame; there is no process noise."""
        del noise_seed
        jitter = self.start_jitter_deg * np.random.default_rng(start_seed).standard_normal(2)
        a, b = (math.radians(start + shift) for start, shift in zip(mixing.START_DEG, jitter.tolist(), strict=True))
        state: mixing.State = (a, b, 0.0, 0.0)
        states = [(a, b)]
        for _ in range(self.frames - 1):
            for _ in range(round(1 / self.frame_rate / mixing.TIME_STEP_S)):
                state = mixing.step(state, math.sin, math.cos)
            states.append(state[:2])
        x = float(mixing.lower_mass_x(state))
        beside = abs(x) >= self.dead_zone_m
        return Motion(
            outcome=("left" if x < 0 else "right") if beside else None,
            invalid=None if beside else "straddling",
            states=np.asarray(states),
            settled_frame=self.frames - 1,
        )

    def draw(self, motion: Motion, size: tuple[int, int]) -> Iterator[Image]:
        """Yield one picture a frame; the first shows the nominal start, about a pixel from any drawn one."""
        parts = _parts(size)
        yield _picture(parts, *np.radians(mixing.START_DEG).tolist())
        for a, b, *loose in motion.states[1:].tolist():
            yield _picture(parts, a, b, *loose)

    def settings(self) -> dict[str, Any]:
        """Return the world's knobs with units in their names."""
        return {
            "frames": self.frames,
            "frame_rate": self.frame_rate,
            "start_jitter_deg": self.start_jitter_deg,
            "dead_zone_m": self.dead_zone_m,
        }


_Point = tuple[float, float]  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    empty: paint.Canvas  # the stand with nothing hung on it
    wall: paint.Alpha  # (height, width, 1): how dark a full shadow is there
    inner_rod: paint.Sprite
    outer_rod: paint.Sprite
    inner_ball: paint.Sprite
    outer_ball: paint.Sprite
    hub: paint.Sprite
    pivot_px: tuple[float, float]
    metre_px: float


@lru_cache(maxsize=2)
def _parts(size: tuple[int, int]) -> _Parts:
    width, height = size
    rng = np.random.default_rng(0)
    metre = SCALE * height
    empty, wall = _stand(width, height, rng)
    rod = 0.0165 * height
    return _Parts(
        empty=empty,
        wall=wall,
        inner_rod=paint.bar(mixing.INNER_LENGTH_M * metre, rod, (176, 180, 186), rng=rng),
        outer_rod=paint.bar(mixing.OUTER_LENGTH_M * metre, 0.82 * rod, (176, 180, 186), rng=rng),
        inner_ball=paint.ball(INNER_RADIUS * height, (196, 158, 84), gloss=0.9),
        outer_ball=paint.ball(OUTER_RADIUS * height, (205, 26, 30), gloss=0.8),
        hub=paint.ball(0.017 * height, (120, 124, 130), gloss=0.6),
        pivot_px=(PIVOT[0] * width, PIVOT[1] * height),
        metre_px=metre,
    )


def _picture(parts: _Parts, a: float, b: float, *loose: float) -> Image:
    pivot = parts.pivot_px
    inner = _hang(pivot, mixing.INNER_LENGTH_M * parts.metre_px, a)
    outer = _hang(inner, mixing.OUTER_LENGTH_M * parts.metre_px, b)
    mass = (pivot[0] + loose[0] * parts.metre_px, pivot[1] + loose[1] * parts.metre_px) if loose else outer
    canvas = parts.empty * (1 - parts.wall * _shadow(parts, [pivot, inner, outer], [inner, mass])[..., None])
    paint.lay(canvas, parts.inner_rod, pivot, math.pi / 2 - a)
    paint.lay(canvas, parts.hub, pivot)
    paint.lay(canvas, parts.outer_rod, inner, math.pi / 2 - b)
    paint.lay(canvas, parts.inner_ball, inner)
    paint.lay(canvas, parts.outer_ball, mass)
    return np.clip(canvas + 0.5, 0, 255).astype(np.uint8)


def _hang(at: tuple[float, float], length_px: float, angle_rad: float) -> tuple[float, float]:
    return at[0] + length_px * math.sin(angle_rad), at[1] + length_px * math.cos(angle_rad)


def _shadow(parts: _Parts, rods: Sequence[_Point], balls: Sequence[_Point]) -> paint.Alpha:
    """Draw the soft shadow on the wall behind, at half size: rods and balls moved down and right, then blurred."""
    import cv2

    height, width = parts.wall.shape[:2]
    mask = np.zeros((height // 2, width // 2), np.uint8)

    def moved(point: _Point) -> tuple[int, int]:
        return round(8 * (point[0] / 2 + 0.019 * height)), round(8 * (point[1] / 2 + 0.026 * height))

    rod = max(1, round(0.0075 * height))
    for start, end in pairwise(rods):
        cv2.line(mask, moved(start), moved(end), 255, rod, cv2.LINE_AA, 3)
    for point, radius in zip(balls, (INNER_RADIUS, OUTER_RADIUS), strict=True):
        cv2.circle(mask, moved(point), round(4 * radius * height), 255, -1, cv2.LINE_AA, 3)
    soft = cv2.GaussianBlur(mask, (0, 0), 0.0075 * height)
    return cv2.resize(soft, (width, height), interpolation=cv2.INTER_LINEAR).astype(np.float32) / 255


def _stand(width: int, height: int, rng: np.random.Generator) -> tuple[paint.Canvas, paint.Alpha]:
    """Paint wall, bench and stand at twice the size and shrink them; return them and where shadows fall."""
    import cv2

    w, h = 2 * width, 2 * height
    y, x = np.mgrid[0:h, 0:w].astype(np.float32) / h
    x -= w / h / 2
    canvas = _wall(x, y, rng)
    bench = y >= BENCH_TOP
    canvas[bench] = _bench(x, y, rng)[bench]
    skirting = np.exp(-np.clip(BENCH_TOP - y, 0, None) / 0.018) * ~bench
    canvas *= 1 - 0.42 * skirting[..., None]
    _column(canvas, x, y)
    small = cv2.resize(canvas, (width, height), interpolation=cv2.INTER_AREA)
    wall = 0.36 * np.clip((BENCH_TOP - np.arange(height) / height) / 0.02, 0, 1)
    return small, np.broadcast_to(wall[:, None, None], (height, width, 1)).astype(np.float32)


def _wall(x: paint.Alpha, y: paint.Alpha, rng: np.random.Generator) -> paint.Canvas:
    shape = (x.shape[0], x.shape[1])
    lamp = np.exp(-(((x + 0.16) / 0.62) ** 2) - ((y - 0.34) / 0.55) ** 2)
    plaster = 1 + 0.012 * paint.grain(shape, (26, 26), rng) + 0.007 * paint.grain(shape, (1.6, 1.6), rng)
    tone = (0.56 + 0.46 * lamp) * plaster
    return (np.array([196, 207, 214], np.float32) * tone[..., None]).astype(np.float32)


def _bench(x: paint.Alpha, y: paint.Alpha, rng: np.random.Generator) -> paint.Canvas:
    """Paint the bench: oak boards running away from the viewer, so their lines meet at a point up the wall."""
    import cv2

    shape = (x.shape[0], x.shape[1])
    depth = np.clip(y - 0.52, 0.05, None)
    across = (x / depth * 420 + 2000).astype(np.float32)
    along = (900 - 260 / depth).astype(np.float32)
    wood = paint.grain((1000, 4000), (60, 2.2), rng) + 0.6 * paint.grain((1000, 4000), (160, 9), rng)
    lines = cv2.remap(wood, across, along, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    board = np.abs((across / 330) % 1 - 0.5) > 0.492
    light = (0.72 + 0.3 * np.exp(-((x / 0.6) ** 2))) * (0.82 + 1.3 * np.clip(y - BENCH_TOP, 0, None))
    tone = (1 + 0.055 * lines) * light * np.where(board, 0.7, 1)
    return (np.array([164, 132, 98], np.float32)[None, None] * tone.reshape(*shape, 1)).astype(np.float32)


def _column(canvas: paint.Canvas, x: paint.Alpha, y: paint.Alpha) -> None:
    """Paint the stand in place: a turned steel column, its iron foot, and the shadows both cast."""
    base_y, top_y, half = 0.945, PIVOT[1] - 0.02, 0.0125
    cast = np.exp(-(((x - 0.038) / 0.017) ** 2)) * (y > top_y + 0.05) * (y < BENCH_TOP)
    beyond = np.clip(np.hypot((x - 0.03) / 0.15, (y - base_y - 0.008) / 0.034) - 0.8, 0, None)
    foot_shadow = np.exp(-(beyond**2) / 0.06)
    foot_shadow *= y >= BENCH_TOP
    canvas *= (1 - 0.24 * cast - 0.55 * foot_shadow * (1 - 0.24 * cast))[..., None]
    for cy, grey in ((base_y, 44), (base_y - 0.016, 62)):
        side = (np.abs(x) < 0.125) & (y > cy - 0.016) & (y < cy)
        foot = (np.hypot(x / 0.125, (y - cy) / 0.03) < 1) | (side & (cy == base_y))
        sheen = 1 + 0.75 * np.exp(-(((x + 0.05) / 0.035) ** 2)) + 0.25 * np.exp(-(((x - 0.07) / 0.02) ** 2))
        canvas[foot] = (np.array([grey, grey + 2, grey + 6], np.float32) * sheen[..., None])[foot]
    post = (np.abs(x) < half) & (y > top_y) & (y < base_y - 0.016)
    turn = x / half
    steel = 58 + 120 * np.exp(-(((turn + 0.35) / 0.28) ** 2)) + 34 * np.exp(-(((turn - 0.7) / 0.2) ** 2))
    canvas[post] = (np.array([1.0, 1.02, 1.06], np.float32) * steel[..., None])[post]
    head = (np.abs(x) < 0.026) & (np.abs(y - PIVOT[1]) < 0.026)
    canvas[head] = (np.array([66, 70, 78], np.float32) * (1.15 - 6 * (y - PIVOT[1]) - 5 * x)[..., None])[head]
