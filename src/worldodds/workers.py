"""Run one function over many tasks on all cores, or on threads where tasks only wait; results come as they finish."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

from worldodds.errors import InputError

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_parallel(
    function: Callable[[Task], Result], tasks: Sequence[Task], cpu_bound: bool, workers: int | None
) -> Iterator[tuple[Task, Result]]:
    """Yield (task, result) in order of finishing; see `in_batches`."""
    for batch in in_batches(function, tasks, cpu_bound, workers):
        yield from batch


def in_batches(
    function: Callable[[Task], Result], tasks: Sequence[Task], cpu_bound: bool, workers: int | None
) -> Iterator[list[tuple[Task, Result]]]:
    """Yield (task, result) in order of finishing, all at once that have finished since the last time.

    An error in a task, or Ctrl-C, cancels what has not begun; what has begun is still finished and yielded, so that
    nothing made is lost, and then the error is raised.

    Raises:
        InputError: fewer than one worker.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers: {workers} given; give 1 or more")
    if not tasks:
        return
    if cpu_bound and min(workers or cores(), len(tasks)) == 1:
        for task in tasks:
            yield [(task, function(task))]
        return
    executor, stays = _executor(workers, len(tasks), cpu_bound)
    futures = {executor.submit(function, task): task for task in tasks}
    try:
        for batch in _finished(futures):
            yield [(futures[future], future.result()) for future in batch]
    finally:
        for future in futures:
            future.cancel()
        if stays:
            wait(futures)
        else:
            executor.shutdown(wait=True)


@contextmanager
def kept_processes() -> Generator[None]:
    """Let all calls inside share their worker processes: a run in waves would start new ones for each."""
    global _kept  # noqa: PLW0603 - one run at a time has it
    before, _kept = _kept, {}
    try:
        yield
    finally:
        for executor in _kept.values():
            executor.shutdown(wait=True)
        _kept = before


_kept: dict[int, Executor] | None = None


def _executor(workers: int | None, tasks: int, cpu_bound: bool) -> tuple[Executor, bool]:
    """Return who works, and whether they go on afterwards."""
    many = workers or cores()
    if not cpu_bound or _kept is None:
        return (_processes if cpu_bound else ThreadPoolExecutor)(min(many, tasks)), False
    if many not in _kept:
        _kept[many] = _processes(many)
    return _kept[many], True


def _finished(futures: Collection[Future[Result]]) -> Iterator[list[Future[Result]]]:
    """Yield what finished well, then raise the first error; a second Ctrl-C does not wait."""
    ended: SimpleQueue[Future[Result]] = SimpleQueue()  # waiting on the futures would look at all of them every time
    for future in futures:
        future.add_done_callback(ended.put)
    left, stopped = len(futures), None
    while left:
        batch: list[Future[Result]] = []
        try:
            batch.append(ended.get())
        except KeyboardInterrupt as error:
            if stopped is not None:
                raise
            stopped = error
        while not ended.empty():
            batch.append(ended.get())
        left -= len(batch)
        failures = {future: future.exception() for future in batch if not future.cancelled()}
        if good := [future for future, failure in failures.items() if failure is None]:
            yield good
        stopped = stopped or next((failure for failure in failures.values() if failure is not None), None)
        if stopped is not None:
            for future in futures:
                future.cancel()  # those that have not begun; what is cancelled already stays so
    if stopped is not None:
        raise stopped


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processes(workers: int) -> Executor:
    # loky starts clean processes without importing the caller's script again, so a plain script needs no main guard,
    # and nothing of an OpenGL context or a codec's threads is inherited.
    from loky import ProcessPoolExecutor

    return ProcessPoolExecutor(workers, initializer=_begin_worker, initargs=(os.getpid(),))


def _begin_worker(parent: int) -> None:
    """Leave Ctrl-C and SIGTERM to the parent, and end when the parent is gone (also after kill -9)."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
