"""How fast the worlds are: physics, pictures and encoding, a scene a row; processor time, one core.

    python benchmarks/worlds.py [SCENE ...] [--seconds 3] [--write benchmarks/results/worlds.md]

*Renderer alone* is the time inside MuJoCo's own renderer while the same frames are drawn; the ratio says what is spent
around it. Worlds that are painted have no renderer below them.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from worldodds import video
from worldodds.worlds import WORLDS, Motion, World, load_world
from worldodds.worlds.gl import load_mujoco

SIZE = (640, 480)
HEAD = """# How fast the worlds are

Processor time on one core, 640x480, OpenGL in software. *Renderer* is MuJoCo's alone for the same frames, *ratio* what
drawing a frame takes against it. A rollout with its outcome drawn first runs the physics several times: about once for
each outcome that is as likely.

| scene | physics, runs/s | frames a clip | drawing, frames/s | ms a frame | renderer, ms | ratio | encoding, ms |
|---|---|---|---|---|---|---|---|"""


def main() -> None:
    """Time each scene and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=list(WORLDS), metavar="SCENE")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    rows = [HEAD]
    for scene in options.scenes:
        rows.append(measure(scene, options.seconds))
        print(rows[-1], flush=True)
        if options.write:
            options.write.write_text("\n".join(rows) + "\n", encoding="utf-8")


def measure(scene: str, seconds: float) -> str:
    """Return the row of one scene."""
    world = load_world(scene)
    motion = next(m for m in (world.simulate(start_seed=s, noise_seed=s) for s in range(50)) if m.outcome)
    runs = physics_runs_per_s(world, seconds)
    with in_renderer() as spent:
        list(itertools.islice(world.draw(motion, SIZE), 3))  # textures and models are made once
        spent[0] = 0.0
        frames, drawing_s = draw_for(world, motion, seconds)
        renderer_s = spent[0]
    encoding_s = encode_all(frames)
    n = len(frames)
    alone = f"{1000 * renderer_s / n:.1f} | {drawing_s / renderer_s:.2f}" if renderer_s else "- | -"
    return (
        f"| `{scene}` | {runs:.0f} | {len(motion.states)} | {n / drawing_s:.0f} | {1000 * drawing_s / n:.1f} | {alone} "
        f"| {1000 * encoding_s / n:.1f} |"
    )


def physics_runs_per_s(world: World, seconds: float) -> float:
    """Return how many runs of the physics one core makes a second."""
    start, done = time.process_time(), 0
    while time.process_time() - start < seconds:
        world.simulate(start_seed=done, noise_seed=done)
        done += 1
    return done / (time.process_time() - start)


def draw_for(world: World, motion: Motion, seconds: float) -> tuple[list[video.Image], float]:
    """Draw one clip, or as much of it as fits into four times ``seconds``; return the frames and the time they took."""
    start = time.process_time()
    frames: list[video.Image] = []
    for frame in world.draw(motion, SIZE):
        frames.append(frame)
        if time.process_time() - start > 4 * seconds:
            break
    return frames, time.process_time() - start


def encode_all(frames: list[video.Image]) -> float:
    """Return the time that encoding takes."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        video.encode(frames, Path(folder) / "clip.mp4", frame_rate=24)
        return time.process_time() - start


@contextmanager
def in_renderer() -> Iterator[list[float]]:
    """Count the seconds spent inside MuJoCo's renderer."""
    renderer: Any = load_mujoco().Renderer
    spent, kept = [0.0], {name: getattr(renderer, name) for name in ("render", "update_scene")}

    def timed(inner: Any) -> Any:
        def call(*args: Any, **how: Any) -> Any:
            start = time.process_time()
            try:
                return inner(*args, **how)
            finally:
                spent[0] += time.process_time() - start

        return call

    for name, inner in kept.items():
        setattr(renderer, name, timed(inner))
    try:
        yield spent
    finally:
        for name, inner in kept.items():
            setattr(renderer, name, inner)


if __name__ == "__main__":
    main()
