"""Killed at any step while a provider misbehaves, a run loses nothing and buys nothing twice."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from worldodds.fake_provider import FakeProvider, LocalServer, Response

KILL = Path(__file__).parent / "faults/kill.py"
OUTCOMES = {"coin": 2, "die": 6}
N = 6


class Trouble:
    """Passing faults, drawn anew for each request but never without end."""

    def __init__(self, seed: int, most: int = 3) -> None:
        self._rng = random.Random(seed)
        self._most = most
        self._lock = threading.Lock()

    def __call__(self, step: str, token: str, count: int) -> Response | None:
        with self._lock:
            luck = self._rng.random()
        if count >= self._most or luck > 0.25:
            return None
        busy = Response(status=429, body={"message": "slow down"}, headers={"Retry-After": "0"})
        broken = Response(status=500, body={"message": "oops"}, headers={"Retry-After": "0"})
        page = Response(body=b"<html>an error page</html>", headers={"Content-Type": "video/mp4"})
        cut = Response(body=b"\0\0\0\x20ftypisom" + bytes(900), cut=200)
        kinds = {"submit": (busy, broken, Response(drop=True)), "poll": (broken, Response(drop=True))}
        kinds["clip"] = (page, cut, broken)
        choices = kinds.get(step, (broken,))
        return choices[int(luck * 4 * len(choices)) % len(choices)]


def state(folder: Path) -> tuple[list[object], list[object], dict[str, bytes]]:
    """Return what must not depend on how often a run was killed."""
    db = sqlite3.connect(folder / "run.sqlite")
    columns = "scene, idx, seed, status, sha256, path"
    rollouts = db.execute(f"select {columns} from rollout_now order by scene, idx").fetchall()  # noqa: S608
    readings = db.execute("select sha256, status, label from reading_now order by sha256, label").fetchall()
    db.close()
    clips = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.glob("rollouts/*/*")}
    return rollouts, readings, clips


class Lives:
    """A run that is begun as often as it is killed."""

    def __init__(self, suite: Path, folder: Path, url: str, n: int = N) -> None:
        words = [sys.executable, str(KILL), str(suite), str(folder), url, str(n)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def live(self, steps: int) -> int:
        """Live for so many steps (0: to the end) and return the exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


@pytest.mark.parametrize("troubled", [False, True])
def test_thirty_kills_lose_nothing_and_buy_nothing_twice(troubled: bool, tiny_folder: Path, tmp_path: Path) -> None:
    """Statuses, outcomes, hashes and files equal an undisturbed run's; each clip was sold once."""
    rng = random.Random(troubled)
    calm = FakeProvider(outcomes=OUTCOMES, refuse=frozenset({4}))
    wild = FakeProvider(outcomes=OUTCOMES, refuse=frozenset({4}))
    if troubled:
        wild.fault = Trouble(1)
    with LocalServer(calm) as quiet, LocalServer(wild) as loud:
        first = Lives(tiny_folder, tmp_path / "calm", quiet.url)
        assert first.live(0) == 0
        first.close()
        lives = Lives(tiny_folder, tmp_path / "killed", loud.url)
        deaths = 0
        while deaths < 15:
            end = lives.live(rng.randint(1, 45))
            assert end in (-9, 0)
            deaths += end == -9
            if end == 0:  # finished: take some clips away, so that there is something to be killed at
                for clip in rng.sample(sorted((tmp_path / "killed").glob("rollouts/*/*.mp4")), 4):
                    clip.unlink()
        assert lives.live(0) == 0
        lives.close()
    assert state(tmp_path / "killed") == state(tmp_path / "calm")
    assert len({(scene, seed) for scene, seed, _ in wild.sold}) == len(wild.sold) == 2 * N
