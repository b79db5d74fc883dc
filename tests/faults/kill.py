"""Kill a buying run at its k-th step, again and again, and finish it: a fork a life, so that a life costs little.

Used by tests/test_faults.py and benchmarks/faults.py as ``python kill.py SUITE FOLDER MODEL URL N STOP``; it reads one
number k a line (0: live to the end), with ``rebuy`` behind it where that life may buy again, and answers with how the
life ended. MODEL is ``server`` or a hosted model's name, STOP is ``early`` or ``never``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

import av  # noqa: F401 - loaded once, before the forks
import cv2  # noqa: F401
import httpx  # noqa: F401

from worldodds import filming, jobs, video, working_folder
from worldodds.clock import HastyClock
from worldodds.engine import plan, run
from worldodds.filming import Terms
from worldodds.generators.hosted.base import Hosted
from worldodds.generators.server import Server, server
from worldodds.registry import make_generator
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


@dataclass(frozen=True, kw_only=True)
class Wish:
    """The run that every life wants to see finished."""

    suite: Path
    folder: Path
    maker: Server | Hosted
    n: int
    stop: Literal["early", "never"]

    def live(self, steps: int, *, rebuy: bool) -> int:
        _mortal(Life(steps), type(self.maker))
        wanted = plan(load_suite(self.suite), self.maker, [CannedReader()], self.n, stop=self.stop)
        with RunStore(self.folder) as store:
            return 3 if run(wanted, store, workers=4, terms=Terms(clock=HastyClock(), rebuy=rebuy)).open else 0


def model(name: str, url: str) -> Server | Hosted:
    """Return the generator, talking to a fake at ``url``."""
    if name == "server":
        return server(url)
    maker = make_generator(name)
    assert isinstance(maker, Hosted)
    assert maker.client.key_variable
    os.environ[maker.client.key_variable] = "a key for tests"
    return replace(maker, client=replace(maker.client, base_url=url))


def _mortal(life: Life, maker: type[Server | Hosted]) -> None:
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
        (maker, "submit"),
        (maker, "poll"),
        (maker, "find"),
        (maker, "download"),
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
    suite, folder, name, url, n, stop = sys.argv[1:]
    kind = cast('Literal["early", "never"]', stop)
    wish = Wish(suite=Path(suite), folder=Path(folder), maker=model(name, url), n=int(n), stop=kind)
    for line in sys.stdin:
        steps, _, rebuy = line.strip().partition(" ")
        child = os.fork()
        if child == 0:
            os._exit(wish.live(int(steps), rebuy=bool(rebuy)))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
