"""The drawn Galton board: a green ball through ten rows of brass pegs into one of eleven bins.

What decides is a small push and spin that the first frame does not show. Single drops are near the binomial law, not
binomial by construction: of some 240 boards (restitution 0.2 to 0.5, peg radius 0.085 to 0.135 and row distance 0.68 to
0.83 of the pitch, pushes of 4 to 90 mm/s) this one came nearest. With pegs this smooth the ball's centre moves as a
point among discs of the two radii's sum, so small pegs allow a large ball under the same law. Pegs that a ball could
jam against (beside the walls) are out of its reach: the shoulders lead strays into the outer bins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from worldodds.worlds.plane import CENTRE_MM, Course, Disc, Point, Rail, Start, let_go, mirrored, rails
from worldodds.worlds.plane_look import Easel, film
from worldodds.worlds.world import Image, Motion

ROWS, BINS = 10, 11
PITCH_MM = 38.0  # from peg to peg in a row, and from bin wall to bin wall
FIRST_ROW_MM, FLOOR_MM = 80.0, 445.0
WALL_MM = 6.4 * PITCH_MM  # half the width of the board inside its frame
DIVIDER_MM = 2.0  # half the thickness of a bin wall
BALL_AT: Point = (CENTRE_MM, 44.0)
BALL_GREEN, BRASS = (38, 178, 72), (214, 168, 84)


@dataclass(frozen=True)
class GaltonBoard:
    """The world of the scene ``galton_board``; every knob has its unit in its name."""

    gravity_mm_s2: float = 2700.0
    ball_radius_mm: float = 10.0
    peg_radius_mm: float = 4.6
    row_mm: float = 30.7
    peg_restitution: float = 0.365
    peg_friction: float = 0.01
    wood_restitution: float = 0.05
    push_sd_mm_s: float = 20.0
    spin_sd_rad_s: float = 6.0
    frames: int = 84
    frame_rate: int = 24

    scene = "galton_board"
    labels = tuple(str(j) for j in range(1, BINS + 1))
    has_process_noise = False

    def simulate(self, *, start_seed: int, noise_seed: int = 0) -> Motion:
        """Drop the ball once; ``noise_seed`` has no effect, this board has no process noise."""
        del noise_seed
        start = Start.drawn(start_seed, push_sd_mm_s=self.push_sd_mm_s, spin_sd_rad_s=self.spin_sd_rad_s)
        return let_go(self.course, start, self.judge, frames=self.frames, frame_rate=self.frame_rate)

    def judge(self, x_mm: float, y_mm: float) -> tuple[str | None, str | None]:
        """Return the bin of a ball lying at a point, or why it lies in none."""
        if not self.course.on_felt(y_mm):
            return None, "the ball hangs among the pegs or on a bin wall"
        j = int(np.floor((x_mm - CENTRE_MM) / PITCH_MM + BINS / 2))
        return (self.labels[j], None) if 0 <= j < BINS else (None, "the ball left the board")

    def draw(self, motion: Motion, size: tuple[int, int]) -> Iterator[Image]:
        """Yield one picture a frame."""
        return film(_backdrop(self, size), motion.states, self.ball_radius_mm, BALL_GREEN)

    def settings(self) -> dict[str, Any]:
        """Return the knobs."""
        return asdict(self)

    @cached_property
    def course(self) -> Course:
        """The board as obstacles."""
        pegs = tuple(Disc(at, self.peg_radius_mm, self.peg_restitution, self.peg_friction) for at in self.pegs)
        wood = {"restitution": self.wood_restitution, "friction": self.peg_friction}
        walls = tuple(Rail((x, self.last_row_mm), (x, FLOOR_MM), DIVIDER_MM, **wood) for x in dividers())
        left = ((CENTRE_MM - WALL_MM, -200.0), *self.shoulder)
        sides = rails(left, radius_mm=DIVIDER_MM, **wood) + rails(mirrored(left), radius_mm=DIVIDER_MM, **wood)
        felt = Rail((0.0, FLOOR_MM + 20), (2 * CENTRE_MM, FLOOR_MM + 20), 20.0, self.wood_restitution, 1.0)
        return Course(
            obstacles=(*pegs, *walls, *sides, felt),
            ball_at=BALL_AT,
            ball_radius_mm=self.ball_radius_mm,
            gravity_mm_s2=self.gravity_mm_s2,
            floor_mm=FLOOR_MM,
        )

    @property
    def last_row_mm(self) -> float:
        """Height of the last row, whose pegs cap the bin walls."""
        return FIRST_ROW_MM + (ROWS - 1) * self.row_mm

    @property
    def pegs(self) -> list[Point]:
        """Centres of the pegs: row i has the i + 1 pegs that a ball can meet and one more at each end."""
        return [
            (CENTRE_MM + (k - (row + 2) / 2) * PITCH_MM, FIRST_ROW_MM + row * self.row_mm)
            for row in range(ROWS)
            for k in range(row + 3)
        ]

    @property
    def shoulder(self) -> tuple[Point, Point]:
        """The slope that leads a stray ball from the left wall into the first bin."""
        run = WALL_MM - BINS / 2 * PITCH_MM
        return (CENTRE_MM - WALL_MM, self.last_row_mm - 0.8 * run - 8), (
            CENTRE_MM - BINS / 2 * PITCH_MM,
            self.last_row_mm,
        )


def dividers() -> list[float]:
    """Return where the twelve bin walls stand."""
    return [CENTRE_MM + (k - BINS / 2) * PITCH_MM for k in range(BINS + 1)]


@lru_cache(maxsize=4)
def _backdrop(board: GaltonBoard, size: tuple[int, int]) -> Image:
    """Paint the board without its ball."""
    easel = Easel(size, ((226, 232, 236), (188, 198, 206)))
    left, right, top, bottom = CENTRE_MM - WALL_MM, CENTRE_MM + WALL_MM, 18.0, 474.0
    rim = easel.box(left - 13, top - 12, right + 13, bottom + 3, 9)
    easel.shade(rim, strength=0.45, shift=(4, 6), blur=7)
    walnut, maple = (
        easel.wood((70, 42, 24), (128, 82, 50), seed=3),
        easel.wood((214, 178, 128), (248, 226, 186), seed=8),
    )
    easel.fill(rim, walnut)
    side = [(CENTRE_MM, top), (left, top), *board.shoulder, (dividers()[0], FLOOR_MM)]
    field = easel.polygon([*side, *reversed(mirrored(side))])
    easel.fill(field, maple)
    _bins(easel, board, walnut)
    _rim_shadow(easel, field)
    easel.beads(board.pegs, board.peg_radius_mm, BRASS)
    _holder(easel, board)
    for j, label in enumerate(board.labels):
        easel.text(label, (CENTRE_MM + (j - (BINS - 1) / 2) * PITCH_MM, 461), 15, (245, 226, 190))
    return easel.done()


def _bins(easel: Easel, board: GaltonBoard, walnut: Any) -> None:
    inside = easel.box(dividers()[0], board.last_row_mm, dividers()[-1], FLOOR_MM)
    easel.shade(easel.soften(inside, shift=(0, 14), blur=12) * inside, strength=0.16)
    walls = sum(easel.box(x - DIVIDER_MM, board.last_row_mm, x + DIVIDER_MM, FLOOR_MM) for x in dividers()[1:-1])
    assert not isinstance(walls, int)
    easel.shade(walls, strength=0.5, shift=(3, 1.5), blur=2.2)
    easel.fill(walls, walnut)
    edge = sum(easel.box(x - DIVIDER_MM, board.last_row_mm, x - DIVIDER_MM + 1, FLOOR_MM) for x in dividers()[1:-1])
    assert not isinstance(edge, int)
    easel.shade(edge, strength=-0.22)


def _rim_shadow(easel: Easel, field: Any) -> None:
    """The frame stands above the field: it throws a shadow in, and its far edge catches light."""
    easel.shade((1 - easel.soften(field, shift=(5, 7), blur=4)) * field, strength=0.42)
    edge = easel.soften(field, shift=(0.9, 1.1), blur=0.3) * (1 - field)
    easel.shade(edge, strength=-0.35)


def _holder(easel: Easel, board: GaltonBoard) -> None:
    """The magnet that lets the ball go."""
    x, y = BALL_AT[0], BALL_AT[1] - board.ball_radius_mm
    for half, top, bottom, corner in ((4.0, 6.0, y, 1.0), (13.0, 4.0, 22.0, 4.0)):
        part = easel.box(x - half, top, x + half, bottom, corner)
        easel.shade(part, strength=0.35, shift=(2.5, 3.5), blur=2)
        easel.fill(part, (118, 124, 132))
        shine = easel.box(x - 0.55 * half, top + 1, x - 0.15 * half, bottom - 1, corner / 2)
        easel.shade(shine, strength=-0.45, blur=half / 8)
