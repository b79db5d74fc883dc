"""Killed at any moment, the same command finishes the run as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from worldodds.store import RunStore

SCRIPT = """
import sys
from worldodds.engine import plan, run
from worldodds.scene import load_suite
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator, CannedReader

suite, folder, processes = load_suite(__import__("pathlib").Path(sys.argv[1])), sys.argv[2], sys.argv[3] == "processes"
wanted = plan(suite, CannedGenerator(cpu_bound=processes), [CannedReader(cpu_bound=processes)], 12)
print("begun", flush=True)
with RunStore(folder) as store:
    sys.exit(3 if run(wanted, store, workers=2).open else 0)
"""


def state(folder: Path) -> tuple[list[object], list[object], dict[str, bytes]]:
    db = sqlite3.connect(folder / "run.sqlite")
    rollouts = db.execute("select key, scene, idx, seed, status, sha256, path from rollout_now order by key").fetchall()
    readings = db.execute("select key, status, label from reading_now order by key").fetchall()
    doubly = db.execute("select key from rollout where status = 'done' group by key having count(*) > 1").fetchall()
    db.close()
    assert doubly == [], "no rollout is made twice"
    clips = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.glob("rollouts/*/*")}
    return rollouts, readings, clips


def begin(suite: Path, folder: Path, how: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", SCRIPT, str(suite), str(folder), how]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> None:
    _, complaints = process.communicate()
    assert process.returncode == 0, complaints


@pytest.mark.parametrize(("how", "kills", "longest_s"), [("threads", 8, 0.5), ("processes", 4, 2.0)])
def test_kill_9_at_random_points_loses_nothing(
    tiny_folder: Path, tmp_path: Path, how: str, kills: int, longest_s: float
) -> None:
    """Keys, statuses, outcomes, hashes and files equal an undisturbed run's; nothing is made twice or left over."""
    finish(begin(tiny_folder, tmp_path / "calm", how))
    rng = random.Random(0)
    for _ in range(kills):
        process = begin(tiny_folder, tmp_path / "killed", how)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0, longest_s))
        process.kill()
        process.communicate()
    finish(begin(tiny_folder, tmp_path / "killed", how))
    assert state(tmp_path / "killed") == state(tmp_path / "calm")


RUN = "from worldodds.cli import main; main()"


@pytest.mark.parametrize("all_of_them", [False, True])
def test_sigterm_ends_a_run_as_ctrl_c_does(all_of_them: bool, tmp_path: Path) -> None:
    """One sentence and 143, also where a scheduler tells every process of the run; the same command then goes on."""
    words = [sys.executable, "-c", RUN, "run", "--generator", "simulator/fair", "--scene", "galton_board", "-n", "40"]
    words += ["--reader", "oracle", "-o", str(tmp_path / "run"), "--workers", "2"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    longest = time.monotonic() + 60
    while len(list(tmp_path.glob("run/rollouts/*/*.mp4"))) < 3 and time.monotonic() < longest:
        time.sleep(0.02)
    (os.killpg if all_of_them else os.kill)(process.pid, signal.SIGTERM)
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 143, complaints
    assert complaints.splitlines()[-1] == "worldodds: stopped; nothing is lost, the same command goes on from here"
    with RunStore(tmp_path / "run", write=False) as store:
        kept = {rollout.index for rollout in store.rollouts().values() if rollout.status == "done"}
    clips = {int(clip.stem[1:]) for clip in tmp_path.glob("run/rollouts/*/*.mp4")}
    assert kept <= clips
    assert 0 < len(kept) < 40
