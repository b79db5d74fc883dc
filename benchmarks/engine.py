"""How fast the engine buys, and how well it keeps a large ledger: the ratio to the ideal rate, seconds, memory.

    python benchmarks/engine.py [--jobs 2000] [--in-flight 64] [--rollouts 10000] [--write benchmarks/results/engine.md]

The provider is a process of its own on this machine that answers each job after two seconds; on a machine with few
cores it takes its share of them. The ledgers are made, not filmed: all clips but eight are there, in one scene. Every
command is timed as a new process, from its start to its end, and the median of five is told.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from worldodds import video
from worldodds.attempts import Attempt
from worldodds.engine import plan, run
from worldodds.fake_provider import FakeProvider, LocalServer
from worldodds.generators.server import server
from worldodds.keys import reading_namer, rollout_namer
from worldodds.protocols import HostedGenerator
from worldodds.rollout import Clip, Reading, Rollout
from worldodds.scene import Suite, load_suite
from worldodds.store import RunStore, StoredReading

LATENCY_S = 2.0
TIMES = 5
MISSING = 8
READER = "vlm/some-model"
# a small process that starts the command: what a large one starts is taken to be as large itself
TIMER = """
import os, subprocess, sys, time
begun = time.monotonic()
pid = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid
_, status, usage = os.wait4(pid, 0)
print(begun, time.monotonic(), usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status), flush=True)
os._exit(0)
"""
HEAD = """# The run engine

By `benchmarks/engine.py`, which says how, on {cores} cores with Python {python}; modules are compiled to bytecode, as
an installer leaves them. The load average was {load:.1f} when it began."""
BUYING = """
## Buying

| jobs | in flight | each takes, s | ideal, s | took, s | of the ideal rate | CPU of ours, ms a job | open |
|---|---|---|---|---|---|---|---|"""
KEEPING = """
## Keeping a ledger of {rollouts:,} rollouts

*Filmed* has rollouts only, *read* also a reading of each clip, *bought* also the three lines of each purchase and the
small picture by which twins are found.

| ledger | `status`, s | memory, MB | `status --json`, s | `run` begins to buy after, s | memory, MB |
|---|---|---|---|---|---|"""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a command took; ``begun`` by the monotonic clock that all processes of a machine share."""

    begun: float
    seconds: float
    memory_mb: float


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--rollouts", type=int, default=10_000)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    if min(options.jobs, options.in_flight) < 1 or options.rollouts <= MISSING:
        parser.error(f"give one or more jobs, in flight too, and more than {MISSING} rollouts")
    lines = [HEAD.format(cores=os.cpu_count(), python=platform.python_version(), load=os.getloadavg()[0])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite = suite_in(folder / "suite")
        lines += [BUYING, buying(folder, suite, options.jobs, options.in_flight)]
        lines += [KEEPING.format(rollouts=options.rollouts)]
        lines += [keeping(folder, suite, options.rollouts, kind) for kind in ("filmed", "read", "bought")]
    print("\n".join(lines))
    if options.write:
        options.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


def suite_in(folder: Path) -> Suite:
    """Make a suite of one scene."""
    folder.mkdir()
    (folder / "coin.toml").write_text(SCENE)
    (folder / "suite.toml").write_text(SUITE)
    video.write_still(np.zeros((64, 64, 3), dtype=np.uint8), folder / "coin.png")
    return load_suite(folder)


def sell(url: multiprocessing.Queue[str], done: multiprocessing.Queue[int]) -> None:
    """Answer until told to stop."""
    # one clip for all: what is measured is the engine, not the encoder
    provider = FakeProvider(outcomes={"coin": 2}, latency_s=LATENCY_S, all_seeds_as=1)
    with LocalServer(provider) as local:
        url.put(local.url)
        done.get()


def buying(folder: Path, suite: Suite, jobs: int, in_flight: int) -> str:
    """Return the row on buying so many clips."""
    context = multiprocessing.get_context("spawn")
    url, done = context.Queue(), context.Queue()
    seller = context.Process(target=sell, args=(url, done))
    seller.start()
    with RunStore(folder / "run") as store:
        wanted = plan(suite, server(url.get()), [], jobs)
        begun, cpu = time.monotonic(), time.process_time()
        summary = run(wanted, store, workers=in_flight)
        took_s, cpu_s = time.monotonic() - begun, time.process_time() - cpu
    done.put(1)
    seller.join()
    ideal_s = jobs / in_flight * LATENCY_S
    return (
        f"| {jobs} | {in_flight} | {LATENCY_S:g} | {ideal_s:.1f} | {took_s:.1f} | {ideal_s / took_s:.1%} "
        f"| {1000 * cpu_s / jobs:.1f} | {len(summary.open)} |"
    )


def keeping(folder: Path, suite: Suite, rollouts: int, kind: str) -> str:
    """Return the row on a large ledger: how long it takes to tell where it stands, and to go on."""
    submits: list[float] = []

    def note(step: str, _: str, __: int) -> None:
        if step == "submit":
            submits.append(time.monotonic())

    with LocalServer(FakeProvider(outcomes={"coin": 2}, all_seeds_as=1, fault=note)) as local:
        ledger, maker = folder / kind, server(local.url)
        fill(ledger, suite, maker, rollouts, kind)
        told, as_json = (asked(["status", str(ledger), *more], folder) for more in ([], ["--json"]))
        words = ["run", "--generator", maker.name, "--suite", str(suite.folder), "-n", str(rollouts)]
        command(["run", "--help"], folder)  # the disk's cache, and bytecode
        ran = command([*words, "--reader", "none", "-o", str(ledger)], folder)
    return (
        f"| {kind} | {told.seconds:.2f} | {told.memory_mb:.0f} | {as_json.seconds:.2f} "
        f"| {min(submits) - ran.begun:.2f} | {ran.memory_mb:.0f} |"
    )


def fill(folder: Path, suite: Suite, maker: HostedGenerator, rollouts: int, kind: str) -> None:
    """Write the ledger of a run that lacks its last clips."""
    rng, (scene,) = np.random.default_rng(0), suite.scenes
    with RunStore(folder) as store:
        store.freeze_suite(suite)
        store.note("generator", {"name": maker.name, "settings": dict(maker.settings)})
        store.note("command", ["worldodds", "run"])
        store.plan(scene.id, rollouts)
        place = store.scene_folder(scene)
        place.mkdir(parents=True)
        name, names = rollout_namer(scene, maker.name, maker.settings), reading_namer(scene, READER, {})
        with store.together():
            for index in range(rollouts - MISSING):
                key, path, sha256 = name(index, index), place / f"r{index:05d}.mp4", f"{index:064x}"
                path.touch()
                clip = Clip(path=path, sha256=sha256, seconds=3.0, frames=72)
                store.add_rollout(key, Rollout(scene=scene.id, index=index, seed=index, status="done", clip=clip))
                if kind != "filmed":
                    saw = Reading.saw(scene.labels[index % 2])
                    store.add_reading(reading_of(names(key, sha256)[0], key, sha256, saw))
                if kind == "bought":
                    buy(store, key, sha256, rng)


def reading_of(key: str, rollout: str, sha256: str, reading: Reading) -> StoredReading:
    """Return the line of a reading."""
    return StoredReading(
        key=key, rollout_key=rollout, sha256=sha256, reader=READER, settings={}, vote=0, reading=reading
    )


def buy(store: RunStore, key: str, sha256: str, rng: np.random.Generator) -> None:
    """Write a purchase, and the picture of a small ball somewhere before one grainy background."""
    bought = Attempt(key=key, state="done", token=key[:16], job=key[:8], cost_usd=0.5)
    for line in (replace(bought, state="intent", job=None, cost_usd=None), replace(bought, state="submitted"), bought):
        store.add_attempt(line)
    picture = 100 + np.arange(3 * 18 * 32).reshape(3, 18, 32) % 90 + rng.integers(-2, 3, (3, 18, 32))
    for moment, row, column in zip(picture, rng.integers(0, 17, 3), rng.integers(0, 31, 3), strict=True):
        moment[row : row + 2, column : column + 2] = 250
    store.add_look(sha256, picture.astype(np.uint8).tobytes())


def asked(words: Sequence[str], folder: Path) -> Spent:
    """Return the median of a command that was given before."""
    command(words, folder)
    spent = [command(words, folder) for _ in range(TIMES)]
    return sorted(spent, key=lambda one: one.seconds)[TIMES // 2]


def command(words: Sequence[str], folder: Path) -> Spent:
    """Run a command in a process of its own that may keep its bytecode."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    timed = [sys.executable, "-S", "-c", TIMER, sys.executable, "-m", "worldodds", *words]
    said = subprocess.run(timed, env=env, stdout=subprocess.PIPE, check=True)  # noqa: S603 - our own command
    begun, ended, memory_mb, code = map(float, said.stdout.split())
    if code not in (0, 3):
        raise SystemExit(f"worldodds {' '.join(words)} left with {code:g}")
    return Spent(begun=begun, seconds=ended - begun, memory_mb=memory_mb)


if __name__ == "__main__":
    main()
