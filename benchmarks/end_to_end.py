"""All nine scenes from nothing to a score: simulate, encode, decode, read and score; and what reading costs.

    python benchmarks/end_to_end.py [-n 32] [--scenes dice ball] [--write benchmarks/results/end_to_end.md]

*Cores busy* is processor time over wall time. *Reading* is the tracker's processor time a clip, decoding included,
*plain decode* that of decoding the same frames and no more; both on one core, in turns, over four clips a scene. The
ratio is the median over the turns: neighbours on a machine slow both alike.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import worldodds as wo
from worldodds import video
from worldodds.engine import Summary
from worldodds.readers.tracker import END_FRAMES, WHOLE
from worldodds.rollout import Clip
from worldodds.scene import Scene
from worldodds.worlds import WORLDS

CLIPS_READ = 4
REPEATS = 7
HEAD = """# From nothing to a score

`simulator/fair` filmed, read by the tracker and scored, 640x480, by `benchmarks/end_to_end.py`.
"""
TABLE = """
| scene | frames used | reading, ms a clip | plain decode, ms | ratio |
|---|---|---|---|---|"""


def main() -> None:
    """Run, time, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=32)
    parser.add_argument("--scenes", nargs="*", default=list(WORLDS), metavar="SCENE")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = [HEAD, film_and_score(Path(folder) / "run", options.scenes, options.n), TABLE]
        print(lines[1], flush=True)
        if hasattr(os, "sched_setaffinity"):  # threads of OpenCV that wait for one another would count as work
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        with wo.RunStore(Path(folder) / "run") as store:
            clips = [rollout for rollout in store.rollouts().values() if rollout.clip and rollout.index < CLIPS_READ]
            for scene in store.suite.scenes:
                found = [rollout.clip for rollout in clips if rollout.scene == scene.id and rollout.clip]
                lines.append(reading_cost(scene, found))
                print(lines[-1], flush=True)
    if options.write:
        options.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


def film_and_score(folder: Path, scenes: list[str], n: int) -> str:
    """Return the sentence on the whole run."""
    suite = wo.find_suite("calibench").only(scenes)
    plan = wo.plan(suite, wo.make_generator("simulator/fair"), [wo.Tracker()], n=n)
    wall_s, cpu_s = time.perf_counter(), _cpu_s()
    with wo.RunStore(folder) as store:
        done: Summary = wo.run(plan, store)
    card = wo.load(folder).score(partial=True)[0]
    wall_s, cpu_s = time.perf_counter() - wall_s, _cpu_s() - cpu_s
    cores = len(os.sched_getaffinity(0))
    return (
        f"{len(scenes)} scenes x {n} clips: {done.clips} filmed, {done.read} read, mnTV {card.mntv:.3f}, in "
        f"{wall_s / 60:.1f} minutes on {cores} cores, {cpu_s / wall_s:.2f} of them busy ({cpu_s / done.clips:.2f} s of "
        "processor time a clip)."
    )


def reading_cost(scene: Scene, clips: list[Clip]) -> str:
    """Return the row of one scene."""
    tracker = wo.Tracker()
    last = None if scene.geometry["reader"] in WHOLE else END_FRAMES
    tracker.read(clips[0], scene, vote=0)  # models and stencils are made once
    pairs = [
        (_spent_s(partial(tracker.read, clip, scene, vote=0)), _spent_s(partial(video.decode, clip.path, last=last)))
        for _ in range(REPEATS)
        for clip in clips
    ]
    reading, decode, ratio = np.median([(read, plain, read / plain) for read, plain in pairs], axis=0)
    used = "all" if last is None else f"first, last {last}"
    return f"| `{scene.id}` | {used} | {1000 * reading:.0f} | {1000 * decode:.0f} | {ratio:.2f} |"


def _spent_s(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _cpu_s() -> float:
    """Return this process's processor time and that of its children who have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    main()
