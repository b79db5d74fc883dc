"""How right the tracker is on simulated clips whose truth is known, and how silent where there is nothing to read.

    python benchmarks/readers.py [-n 200] [--scenes dice ball galton_board] [--write benchmarks/results/readers.md]

Four conditions a scene, n clips each: fair clips; the same scenes spoiled at the end (murky, every clip); clips cut
while everything still moves; clips whose object has vanished, so that the scene is empty at the end.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from scipy.special import betaincinv

from worldodds import video
from worldodds.generators.simulator import Simulator, simulator
from worldodds.readers.oracle import Oracle
from worldodds.readers.tracker import Tracker
from worldodds.rollout import Reading
from worldodds.scene import Scene, load_suite
from worldodds.worlds import load_world

SUITE = Path(__file__).parents[1] / "src/worldodds/suites/calibench"
FIRST_SEED = 50_000  # never used while the reader was made


def main() -> None:
    """Film, read, count, print; the table is written again after every ten clips, with the number done so far."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("--scenes", nargs="*", default=["dice", "ball", "galton_board"])
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    rows: list[str] = []
    for scene in options.scenes:
        done = rows
        for table in measure(load_suite(SUITE).scene(scene), options.n):
            rows = [*done, *table]
            if options.write:
                options.write.write_text("\n".join([*HEAD, *rows, ""]), encoding="utf-8")
    print("\n".join([*HEAD, *rows]))


HEAD = (
    "# The tracker on simulated clips",
    "",
    "Fresh seeds, 640x480, H.264 crf 18; the tracker sees decoded pixels only. Validated on simulated clips only.",
    "Intervals are Clopper-Pearson at 95%. *False readings*: an outcome where a null is right.",
    "",
    "| scene | condition | n | right | wrong label | false null | false readings | failed |",
    "|---|---|---|---|---|---|---|---|",
)


def measure(scene: Scene, n: int) -> Iterator[list[str]]:
    """Yield the scene's rows, one a condition, after every ten clips and at the end."""
    seen: dict[str, Counter[str]] = {name: Counter() for name in ("fair", "murky", "still moving", "object absent")}
    with tempfile.TemporaryDirectory() as folder:
        empty = _empty_scene(scene)
        for i in range(1, n + 1):
            for condition, counter in seen.items():
                counter[_verdict(scene, condition, FIRST_SEED + i, Path(folder) / "clip.mp4", empty)] += 1
            if i % 10 == 0 or i == n:
                yield [_row(scene.id, condition, i, counter) for condition, counter in seen.items()]


def _verdict(scene: Scene, condition: str, seed: int, path: Path, empty: video.Image) -> str:
    if condition in ("fair", "murky"):
        maker = simulator("fair") if condition == "fair" else simulator("murky", murky_share=1.0)
        clip = maker.generate(scene, seed=seed, index=0, into=path).clip
        assert clip is not None
        return _compare(Tracker().read(clip, scene, vote=0), Oracle().read(clip, scene, vote=0))
    frames, settled = _film(simulator("fair"), scene, seed)
    early = max(4, round(settled * (0.25 if scene.readout.evidence == "whole clip" else 0.5)))
    moving = list(islice(frames, early))
    rest = [empty] * 24 if condition == "object absent" else []
    video.encode([*moving, *rest], path, frame_rate=24)
    return _compare(Tracker().read(video.probe(path), scene, vote=0), Reading(status="unreadable"))


def _compare(seen: Reading, true: Reading) -> str:
    if seen.status == "failed":
        return "failed"
    if true.status != "outcome":
        return "false reading" if seen.status == "outcome" else "right"
    if seen.status != "outcome":
        return "false null"
    return "right" if seen.label == true.label else "wrong label"


def _film(maker: Simulator, scene: Scene, seed: int) -> tuple[Iterator[video.Image], int]:
    world = load_world(scene.id)
    motion = maker.plan(scene, world, seed=seed).motion
    return world.draw(motion, maker.knobs.size_px), motion.settled_frame


def _empty_scene(scene: Scene) -> video.Image:
    """Return the scene without its moving object: the median over moments of many clips in which it is elsewhere."""
    moments: list[video.Image] = []
    for seed in range(15):
        frames, settled = _film(simulator("fair"), scene, seed)
        wanted = round(settled * (0.2 + 0.5 * seed / 14))
        moments.append(next(islice(frames, wanted, None)))
    return np.median(moments, axis=0).astype(np.uint8)


def _row(scene: str, condition: str, n: int, seen: Counter[str]) -> str:
    cells = (_share(seen[what], n) for what in ("right", "wrong label", "false null", "false reading", "failed"))
    return f"| {scene} | {condition} | {n} | {' | '.join(cells)} |"


def _share(count: int, n: int) -> str:
    low = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, 0.025))
    high = 1.0 if count == n else float(betaincinv(count + 1, n - count, 0.975))
    return f"{count} ({100 * low:.1f}% to {100 * high:.1f}%)"


if __name__ == "__main__":
    main()
