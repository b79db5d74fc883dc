"""One function over many tasks: nothing that was made is lost, whatever ends the others."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import pytest

from worldodds.errors import InputError
from worldodds.workers import in_batches, in_parallel, kept_processes

# a worker process cannot import this file, and is sent what has no name in it
double: Callable[[int], int] = lambda n: 2 * n  # noqa: E731
process: Callable[[int], int] = lambda _: (time.sleep(0.05), os.getpid())[1]  # noqa: E731


@pytest.mark.parametrize("cpu_bound", [False, True])
def test_every_task_comes_back_with_its_result(cpu_bound: bool) -> None:
    """On threads and on processes, each exactly once."""
    found = dict(in_parallel(double, range(20), cpu_bound, 2))
    assert found == {n: 2 * n for n in range(20)}


def test_processor_work_leaves_this_process() -> None:
    """What computes runs in processes of its own; what waits stays here, on threads."""
    assert os.getpid() not in dict(in_parallel(process, range(4), True, 2)).values()
    assert set(dict(in_parallel(process, range(4), False, 2)).values()) == {os.getpid()}


def test_what_finished_together_comes_together() -> None:
    """While the consumer is busy results pile up, and come as one batch."""
    batches = []
    for batch in in_batches(double, range(9), False, 9):
        batches.append([task for task, _ in batch])
        time.sleep(0.2)
    assert sorted(task for batch in batches for task in batch) == list(range(9))
    assert len(batches) <= 3


def test_an_error_cancels_what_has_not_begun_and_loses_nothing() -> None:
    """What runs when one task fails is still finished and handed over; then the error is raised."""
    begun: list[int] = []
    gate = threading.Event()

    def work(n: int) -> int:
        begun.append(n)
        if n == 0:
            gate.wait(2)
            raise ValueError("zero")
        gate.set()
        time.sleep(0.1)
        return n

    found: list[int] = []
    with pytest.raises(ValueError, match="zero"):
        found.extend(task for task, _ in in_parallel(work, range(50), False, 2))
    assert sorted([0, *found]) == sorted(begun)
    assert len(begun) < 50


def test_waves_share_their_worker_processes() -> None:
    """Inside, nobody starts anew, however small a wave is; outside, each call has its own."""
    with kept_processes():
        waves = [set(dict(in_parallel(process, range(n), True, 2)).values()) for n in (6, 2, 6)]
    assert len(set[int]().union(*waves)) <= 2
    assert os.getpid() not in waves[0]
    assert not set(dict(in_parallel(process, range(2), True, 2)).values()) & waves[0]


def test_no_workers_is_refused() -> None:
    """Fewer than one worker would never finish."""
    with pytest.raises(InputError, match="give 1 or more"):
        list(in_parallel(double, [1], False, 0))
