"""Run one function over many tasks on all cores, or on threads where tasks only wait; results come as they finish."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_parallel(
    function: Callable[[Task], Result], tasks: Sequence[Task], cpu_bound: bool, workers: int | None
) -> Iterator[tuple[Task, Result]]:
    """Yield (task, result) in order of finishing; an error in a task, or Ctrl-C, cancels what has not begun."""
    workers = min(workers or cores(), max(len(tasks), 1))
    if not tasks:
        return
    if workers == 1 and cpu_bound:
        for task in tasks:
            yield task, function(task)
        return
    executor = _processes(workers) if cpu_bound else ThreadPoolExecutor(workers)
    futures = {executor.submit(function, task): task for task in tasks}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()
        executor.shutdown(wait=True)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processes(workers: int) -> Executor:
    # loky starts clean processes without importing the caller's script again, so a plain script needs no main guard,
    # and nothing of an OpenGL context or a codec's threads is inherited.
    from loky import ProcessPoolExecutor

    return ProcessPoolExecutor(workers, initializer=_begin_worker, initargs=(os.getpid(),))


def _begin_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, stay on one core, and end when the parent is gone (also after kill -9)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
