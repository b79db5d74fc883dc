"""Kill a buying run at its k-th step, again and again, and finish it: a fork a life, so that a life costs little.

Used by tests/test_faults.py and benchmarks/faults.py as ``python kill.py SUITE FOLDER URL N``; it reads one number k a
line (0: live to the end) and answers with how that life ended.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av  # noqa: F401 - loaded once, before the forks
import cv2  # noqa: F401
import httpx  # noqa: F401

from worldodds import filming, jobs, video, working_folder
from worldodds.clock import HastyClock
from worldodds.engine import plan, run
from worldodds.filming import Terms
from worldodds.generators.server import Server, server
from worldodds.scene import load_suite
from worldodds.store import RunStore
from worldodds.testing import CannedReader


class Life:
    """Counts the steps of a run and ends it by kill -9 at the chosen one."""

    def __init__(self, steps_left: int) -> None:
        self.steps_left = steps_left

    def step(self) -> None:
        self.steps_left -= 1
        if self.steps_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def live(suite: Path, folder: Path, url: str, n: int, steps: int) -> int:
    life = Life(steps)
    _mortal(life)
    wanted = plan(load_suite(suite), server(url), [CannedReader()], n)
    with RunStore(folder) as store:
        return 3 if run(wanted, store, workers=4, terms=Terms(clock=HastyClock())).open else 0


def _mortal(life: Life) -> None:
    """Put a step before and after every commit, every word with the provider, every move of a file."""
    together = RunStore.together

    @contextmanager
    def mortal_together(self: RunStore) -> Iterator[None]:
        life.step()
        with together(self):
            yield
            life.step()
        life.step()

    RunStore.together = mortal_together  # type: ignore[method-assign]
    for owner, name in (
        (Server, "submit"),
        (Server, "poll"),
        (Server, "find"),
        (Server, "download"),
        (video, "probe"),
        (jobs, "move_in"),
        (filming, "move_in"),
        (working_folder, "begin"),
    ):
        setattr(owner, name, _around(life, getattr(owner, name)))


def _around(life: Life, function):  # type: ignore[no-untyped-def]
    def mortal(*words, **named):  # type: ignore[no-untyped-def]
        life.step()
        result = function(*words, **named)
        life.step()
        return result

    return mortal


def main() -> None:
    suite, folder, url, n = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(live(suite, folder, url, n, int(line)))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
