"""How fast the engine buys, and how well it keeps a large ledger: ratios to the ideal, CPU, memory, seconds.

    python benchmarks/engine.py [JOBS] [IN_FLIGHT] [ROLLOUTS]

The provider is a process of its own on this machine that answers each job after two seconds; on a machine with few
cores it takes its share of them.
"""

from __future__ import annotations

import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from worldodds import video
from worldodds.engine import plan, run
from worldodds.fake_provider import FakeProvider, LocalServer
from worldodds.generators.server import server
from worldodds.keys import rollout_key
from worldodds.rollout import Clip, Rollout
from worldodds.scene import Suite, load_suite
from worldodds.store import RunStore

LATENCY_S = 2.0
SCENE = """
format = "worldodds.scene/1"
id = "coin"
title = "A coin"
prompt = "A coin is flipped and lands flat on the table."
labels = ["heads", "tails"]
frame = "coin.png"
[readout]
evidence = "last frame"
question = "Which side is up?"
[[readout.nulls]]
name = "blank"
kind = "unreadable"
rule = "Nothing can be seen."
[reference]
kind = "uniform"
reason = "A coin has two like sides."
"""
SUITE = """
format = "worldodds.suite/1"
id = "bench"
title = "One scene"
version = "1"
source = "made for the benchmark"
scenes = ["coin"]
[protocol]
rollouts = 32
aggregate = "mntv"
"""


def suite_in(folder: Path) -> Suite:
    folder.mkdir()
    (folder / "coin.toml").write_text(SCENE)
    (folder / "suite.toml").write_text(SUITE)
    video.write_still(np.zeros((64, 64, 3), dtype=np.uint8), folder / "coin.png")
    return load_suite(folder)


def sell(url: multiprocessing.Queue[str], done: multiprocessing.Queue[int]) -> None:
    # one clip for all: what is measured is the engine, not the encoder
    provider = FakeProvider(outcomes={"coin": 2}, latency_s=LATENCY_S, all_seeds_as=1)
    with LocalServer(provider) as local:
        url.put(local.url)
        done.get()


def buying(folder: Path, jobs: int, in_flight: int) -> None:
    context = multiprocessing.get_context("spawn")
    url, done = context.Queue(), context.Queue()
    seller = context.Process(target=sell, args=(url, done))
    seller.start()
    suite = suite_in(folder / "suite")
    with RunStore(folder / "run") as store:
        wanted = plan(suite, server(url.get()), [], jobs)
        begun, cpu = time.monotonic(), time.process_time()
        summary = run(wanted, store, workers=in_flight)
        took_s, cpu_s = time.monotonic() - begun, time.process_time() - cpu
    done.put(1)
    seller.join()
    ideal_s = jobs / in_flight * LATENCY_S
    print(f"{jobs} jobs of {LATENCY_S:g} s, {in_flight} in flight: {took_s:.1f} s, ideal {ideal_s:.1f} s")
    print(f"  ratio to the ideal rate: {ideal_s / took_s:.1%}; CPU {1000 * cpu_s / jobs:.1f} ms a job")
    print(f"  open: {len(summary.open)}")


def fill(folder: Path, rollouts: int) -> None:
    suite = suite_in(folder / "suite2")
    maker = server("127.0.0.1:9")
    with RunStore(folder / "large") as store:
        store.freeze_suite(suite)
        store.note("generator", {"name": maker.name, "settings": dict(maker.settings)})
        store.note("command", ["worldodds", "run"])
        store.plan("coin", rollouts)
        scene = suite.scene("coin")
        place = store.scene_folder(scene)
        place.mkdir(parents=True)
        with store.together():
            for index in range(rollouts - 8):
                key = rollout_key(scene, maker.name, maker.settings, seed=index, index=index)
                path = place / f"r{index:05d}.mp4"
                path.touch()
                clip = Clip(path=path, sha256=f"{index:064x}", seconds=3.0, frames=72)
                store.add_rollout(key, Rollout(scene="coin", index=index, seed=index, status="done", clip=clip))


def keeping(folder: Path, rollouts: int) -> None:
    fill(folder, rollouts)
    words = [sys.executable, "-m", "worldodds", "status", str(folder / "large")]
    subprocess.run(words, capture_output=True, check=False)  # noqa: S603 - warm the disk's cache
    begun = time.monotonic()
    subprocess.run(words, capture_output=True, check=False)  # noqa: S603
    print(f"status of {rollouts} rollouts, new process: {time.monotonic() - begun:.2f} s")
    from worldodds.engine import pending
    from worldodds.status import run_status

    begun = time.monotonic()
    found = run_status(folder / "large")
    print(f"  of which the work itself: {time.monotonic() - begun:.2f} s ({len(found.open)} open)")
    suite = load_suite(folder / "suite2")
    begun = time.monotonic()
    with RunStore(folder / "large") as store:
        left = pending(plan(suite, server("127.0.0.1:9"), [], rollouts), store)
    print(f"resume knows what to do after {time.monotonic() - begun:.2f} s ({len(left)} jobs)")
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def main() -> None:
    said = [int(word) for word in sys.argv[1:]]
    jobs, in_flight, rollouts = (*said, *(2000, 64, 10_000)[len(said) :])
    with tempfile.TemporaryDirectory() as name:
        buying(Path(name), jobs, in_flight)
        keeping(Path(name), rollouts)


if __name__ == "__main__":
    main()
