"""Let readers read: in rounds of votes, those that wait for others all at once, each answer stored as it comes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from worldodds.errors import OutOfRangeError, VideoError
from worldodds.progress import Progress, Watcher
from worldodds.protocols import OtherAxis, Reader, WaitingReader
from worldodds.rollout import Clip, Reading
from worldodds.scene import Scene
from worldodds.store import RunStore, StoredReading
from worldodds.workers import in_batches

Unread = Callable[[Reader, Collection[str]], "list[ReadTask]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTask:
    """One reader, one clip, one vote."""

    key: str
    rollout: str
    clip: Clip
    scene: Scene
    reader: Reader
    vote: int


def read_in_rounds(
    store: RunStore, readers: Sequence[Reader], unread: Unread, workers: int | None, watch: Watcher
) -> int:
    """Ask as few votes of each clip as could settle it, then those that turned out to be needed; return how many.

    ``unread`` returns what a reader has still to read, but for the keys it is given.
    """
    waiting = [reader for reader in readers if isinstance(reader, WaitingReader)]
    groups = [[reader] for reader in readers if not isinstance(reader, WaitingReader)]
    return sum(_read_group(store, group, unread, workers, watch) for group in (*groups, waiting) if group)


def _read_group(store: RunStore, group: Sequence[Reader], unread: Unread, workers: int | None, watch: Watcher) -> int:
    """Let readers of one group take turns over the clips, so that they share what is decoded."""
    if workers is None and (waits := [reader.in_flight for reader in group if isinstance(reader, WaitingReader)]):
        workers = sum(waits)
    asked: set[str] = set()
    while tasks := [t for turn in zip_longest(*(unread(reader, asked) for reader in group)) for t in turn if t]:
        total = len(asked) + len(tasks)
        for batch in in_batches(read_one, tasks, group[0].cpu_bound, workers):
            with store.together():
                for task, answer in batch:
                    store.add_reading(_stored(task, answer))
            for task, answer in batch:
                asked.add(task.key)
                watch(_read(task, answer, len(asked), total))
    return len(asked)


def _read(task: ReadTask, answer: Reading, done: int, total: int) -> Progress:
    return Progress(
        step="read",
        scene=task.scene.id,
        done=done,
        total=total,
        status=answer.status,
        label=answer.label,
        reader=task.reader.name,
        rollout=task.rollout,
    )


def read_one(task: ReadTask) -> Reading:
    """Read one clip; what the reader cannot do, or answers wrongly, is its failure."""
    try:
        answer = task.reader.read(task.clip, task.scene, vote=task.vote)
    except (OutOfRangeError, VideoError) as error:
        return Reading(status="failed", reason=str(error))
    labels = task.reader.labels if isinstance(task.reader, OtherAxis) else task.scene.labels
    if answer.status == "outcome" and answer.label not in labels:
        told = f"the reader answered {answer.label!r}, which is not an outcome of scene {task.scene.id!r}"
        return Reading(status="failed", reason=told, raw=answer.raw)
    return answer


def _stored(task: ReadTask, answer: Reading) -> StoredReading:
    return StoredReading(
        key=task.key,
        rollout_key=task.rollout,
        sha256=task.clip.sha256,
        reader=task.reader.name,
        settings=dict(task.reader.settings),
        vote=task.vote,
        reading=answer,
    )
