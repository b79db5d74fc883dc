"""Every example runs as it stands, stays short, and prints what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
MOST_LINES = 40

PROMISES = {
    "01_score_a_table": ("31 of 32 readable", "stuck_on_six", "miscalibrated"),
    "02_film_and_score": ("filmed 12, read 12, open 0; again: filmed 0", "simulator/collapsed", "miscalibrated"),
    "03_own_generator": ("one clip: done", "filmed 3 clips", "filmed only the 2 that were missing", "dice 4 done"),
    "04_own_reader": ("agrees with the truth in 8 of 8 clips",),
    "05_plan_and_monitor": ("to see a TV of 0.20: 60; to certify within 0.20: 86", "collapsed: miscalibrated after 5"),
}


def test_every_example_is_run() -> None:
    """The folder holds the examples promised here and no others."""
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(PROMISES)


@pytest.mark.parametrize("name", list(PROMISES))
def test_an_example_prints_what_it_promises(name: str, tmp_path: Path) -> None:
    """It runs in an empty folder without warnings, leaves nothing behind, and prints something worth reading."""
    quiet = {**os.environ, "PYTHONWARNINGS": "error", "OMP_NUM_THREADS": "1"}
    words = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(words, cwd=tmp_path, env=quiet, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for promise in PROMISES[name]:
        assert promise in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", list(PROMISES))
def test_an_example_is_short(name: str) -> None:
    """Under forty lines: an example that needs more shows a hole in the interface."""
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < MOST_LINES
