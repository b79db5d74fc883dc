"""Film every world once and lay its pictures side by side: docs/images/scenes.png, and a film strip a scene.

python scripts/contact_sheets.py [SCENE ...]
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from worldodds.suites import find_suite
from worldodds.video import Image, write_still
from worldodds.worlds import Motion, load_world

IMAGES = Path(__file__).parents[1] / "docs/images"
SIZE = (640, 480)
FRAMES, STRIP_WIDTH, TILE_WIDTH, GAP = 6, 213, 256, 4


def main() -> None:
    """Film the scenes asked for; the sheet of all is made when none is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", metavar="SCENE")
    wanted: list[str] = parser.parse_args().scenes
    IMAGES.mkdir(exist_ok=True)
    tiles: list[Image] = []
    for scene in wanted or find_suite("calibench").scene_ids:
        pictures = film(scene)
        save(_row([_small(picture, STRIP_WIDTH) for picture in pictures]), IMAGES / f"strip-{scene}.jpg")
        tiles += [_row([_small(pictures[0], TILE_WIDTH), _small(pictures[-1], TILE_WIDTH)])]
    if not wanted:
        write_still(_sheet(tiles), IMAGES / "scenes.png")


def film(scene: str) -> list[Image]:
    """Return pictures of one motion, first to settled end; moments when much happens are seen more often."""
    world = load_world(scene)
    motion = next(m for m in (world.simulate(start_seed=s, noise_seed=s) for s in range(50)) if m.outcome)
    last = min(motion.settled_frame + 2, len(motion.states) - 1)
    chosen = {0, last, *np.linspace(0, last, FRAMES).round().astype(int).tolist()}
    drawn = _drawn(world, motion, last)
    return [drawn[i] for i in sorted(chosen)]


def save(picture: Image, path: Path) -> None:
    """Write a JPEG."""
    import cv2

    _, data = cv2.imencode(".jpg", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 82])
    path.write_bytes(data.tobytes())
    print(path, f"{picture.shape[1]}x{picture.shape[0]}, {len(data) // 1024} KiB")


def _drawn(world: Any, motion: Motion, last: int) -> list[Image]:
    return list(islice(world.draw(motion, SIZE), last + 1))


def _small(picture: Image, width: int) -> Image:
    import cv2

    height = round(picture.shape[0] * width / picture.shape[1])
    return np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _row(pictures: list[Image]) -> Image:
    gap = np.full((pictures[0].shape[0], GAP, 3), 255, dtype=np.uint8)
    parts = [part for picture in pictures for part in (picture, gap)]
    return np.hstack(parts[:-1])


def _sheet(tiles: list[Image]) -> Image:
    """Lay pairs of first and last pictures three scenes a row."""
    height = tiles[0].shape[0]
    wide = np.full((height, 3 * GAP, 3), 255, dtype=np.uint8)
    rows = [np.hstack([tiles[i], wide, tiles[i + 1], wide, tiles[i + 2]]) for i in range(0, len(tiles) - 2, 3)]
    between = np.full((3 * GAP, rows[0].shape[1], 3), 255, dtype=np.uint8)
    return np.vstack([part for row in rows for part in (row, between)][:-1])


if __name__ == "__main__":
    main()
