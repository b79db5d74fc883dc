"""The workers of a run in waves: the same ones for all of it."""

from __future__ import annotations

import os
from collections.abc import Callable

from worldodds.workers import in_parallel, kept_processes


def test_waves_share_their_worker_processes() -> None:
    """Inside, nobody starts anew, however small a wave is; outside, each call has its own."""
    pid: Callable[[int], int] = lambda _: os.getpid()  # noqa: E731 - a worker cannot import this file
    with kept_processes():
        waves = [{one for _, one in in_parallel(pid, range(n), True, 2)} for n in (6, 2, 6)]
    assert len(set[int]().union(*waves)) <= 2
    assert os.getpid() not in waves[0]
    later = {one for _, one in in_parallel(pid, range(2), True, 2)}
    assert not later & waves[0]
