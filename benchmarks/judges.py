"""How close reading with a slow judge comes to the ideal, how often clips are decoded, and what adaptive votes save.

``python benchmarks/judges.py [--clips 2500] [--latency 1] [--in-flight 64]`` judges clips of 640x480 and 3 s on two
axes against a local endpoint that takes a second for each answer, then reads them again with a second judge.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from worldodds import video
from worldodds.engine import plan, read_clips_with, run
from worldodds.fake_judge import FakeJudge, Step, pictures_of
from worldodds.readers.vlm.judge import Judge
from worldodds.registry import make_reader
from worldodds.rollout import Reading, Rollout
from worldodds.scene import Scene
from worldodds.store import RunStore
from worldodds.suites import find_suite
from worldodds.tally import votes_wanted
from worldodds.workers import cores

CHECKS = ("scene_grounding", "action_execution", "object_continuity", "physical_process")
SCENE = "dice"


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Films by copying: one clip of noise that moves, made different by a box at its end that no decoder looks at."""

    original: Path
    made: list[int] = field(default_factory=list[int])
    name: str = "copies/one"
    cpu_bound: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        """Copy the clip."""
        self.made.append(index)
        shutil.copyfile(self.original, into)
        with into.open("ab") as file:
            file.write((16).to_bytes(4, "big") + b"free" + index.to_bytes(8, "big"))
        return Rollout(scene=scene.id, index=index, seed=seed, status="done")


def answer(body: Any) -> Step:
    if "scene_grounding" in json.dumps(body["response_format"]):
        return Step(text=json.dumps({"seen": "x", **dict.fromkeys(CHECKS, "pass"), "status": "trusted"}))
    return Step(text=json.dumps({"seen": f"{len(pictures_of(body))} pictures", "answer": "3", "null_rule": "none"}))


def serve(latency_s: float, pipe: Connection) -> None:
    with FakeJudge(labels=("1", "2", "3", "4", "5", "6"), answer=answer, latency_s=latency_s, keep=False) as judge:
        pipe.send(judge.url)
        pipe.recv()
        pipe.send((judge.served, judge.most_at_once, time.process_time()))


def original(folder: Path, scene: Scene) -> Path:
    """Film the scene's own picture, 640x480, the camera trembling: 72 frames in 3 s."""
    import cv2

    assert scene.frame is not None
    large = cv2.resize(video.read_still(scene.frame), (656, 496), interpolation=cv2.INTER_AREA)
    rng = np.random.default_rng(0)
    places = rng.integers(0, 16, size=(72, 2))
    path = folder / "original.mp4"
    video.encode([np.asarray(large, dtype=np.uint8)[y : y + 480, x : x + 640] for y, x in places], path, frame_rate=24)
    return path


def timed(store: RunStore, *readers: Any) -> tuple[float, float, int]:
    """Return seconds, this process's seconds of CPU, and how much was read."""
    begun, cpu = time.perf_counter(), time.process_time()
    read = read_clips_with(store, readers).read
    return time.perf_counter() - begun, time.process_time() - cpu, read


def measure(clips: int, latency_s: float, in_flight: int, folder: Path) -> None:
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(latency_s, theirs), daemon=True)
    server.start()
    url = ours.recv()
    suite = find_suite("calibench").only([SCENE])
    settings = {"base_url": url, "in_flight": in_flight}
    copies = Copies(original=original(folder, suite.scenes[0]))
    with RunStore(folder / "run") as store:
        run(plan(suite, copies, [], clips), store)
        judges = [make_reader(name, settings) for name in ("vlm/m", "trust/vlm/m")]
        assert isinstance(judges[0], Judge)
        evidence = judges[0].evidence
        took, cpu, calls = timed(store, *judges)
        decoded, generated = evidence.decoded, len(copies.made)
        again, _, more = timed(store, make_reader("vlm/another", settings))
    ours.send("stop")
    served, most, endpoint_cpu = ours.recv()
    ideal = calls * latency_s / in_flight
    print(f"{clips} clips, 2 axes, {calls} calls, {served} served in all, at most {most} at once")
    print(f"took {took:.1f} s; ideal {ideal:.1f} s; ratio {took / ideal:.3f}")
    print(f"a sequential judge: {calls * latency_s:.0f} s, {calls * latency_s / took:.1f} times as long")
    share = (cpu + endpoint_cpu) / took / cores()
    print(
        f"CPU: {cpu:.1f} s, {1000 * cpu / clips:.1f} ms a clip; the endpoint's, with its start, {endpoint_cpu:.1f} s;"
    )
    print(f"together {cpu + endpoint_cpu:.1f} s, {share:.0%} of what {cores()} cores had meanwhile")
    print(f"decoded {decoded} times, {decoded / clips:.2f} a clip; another judge read {more} clips in {again:.1f} s")
    print(f"and decoded {evidence.decoded - decoded} and generated {len(copies.made) - generated} of them")


def saved(agreement: float, votes: int = 3, clips: int = 20_000) -> float:
    """Share of calls saved where two votes agree with this chance."""
    rng = np.random.default_rng(0)
    asked = 0
    for _ in range(clips):
        known = [Reading(status="missing")] * votes
        while wanted := votes_wanted(known):
            for place in wanted:
                usual = rng.random() < agreement
                known[place] = Reading.saw("usual" if usual else str(rng.integers(5)))
                asked += 1
    return 1 - asked / (votes * clips)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=2500)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--in-flight", type=int, default=64)
    given = parser.parse_args()
    for share in (1.0, 0.97, 0.9, 0.7):
        print(f"a vote is the usual one with chance {share:.2f}: {saved(share):.1%} of the calls at 3 votes saved")
    with tempfile.TemporaryDirectory() as name:
        measure(given.clips, given.latency, given.in_flight, Path(name))
