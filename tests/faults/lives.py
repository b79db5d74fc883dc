"""Runs that are killed and begun anew, the passing faults of a provider meanwhile, and what a run leaves."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Self

from worldodds.fake_provider import Response

KILL = Path(__file__).parent / "kill.py"
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
    """A run that is begun as often as it is killed; a context."""

    def __init__(
        self, suite: Path, folder: Path, url: str, n: int = N, *, model: str = "server", stop: str = "never"
    ) -> None:
        words = [sys.executable, str(KILL), str(suite), str(folder), model, url, str(n), stop]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def live(self, steps: int, *, rebuy: bool = False) -> int:
        """Live for so many steps (0: to the end) and return the exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{steps} rebuy\n" if rebuy else f"{steps}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
