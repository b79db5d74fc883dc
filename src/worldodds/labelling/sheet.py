"""Which clips a person labels, and in which order: a sample and a shuffle that a recorded seed gives."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from worldodds.errors import InputError
from worldodds.keys import reading_keys
from worldodds.rollout import Clip, Reading, Rollout
from worldodds.scene import Scene, Suite
from worldodds.store import RunStore, StoredReading

Per = Literal["scene", "run"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One clip to label."""

    rollout_key: str
    clip: Clip
    scene: Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """All that one person labels of one run, scene by scene, shuffled within a scene."""

    reader: str
    tasks: tuple[Task, ...]

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The scenes, in order."""
        return tuple({task.scene.id: task.scene for task in self.tasks}.values())


def reader_name(annotator: str) -> str:
    """Return the name under which a person's readings are kept.

    Raises:
        InputError: not a short plain name.

    >>> reader_name("anna")
    'people/anna'
    """
    if not _NAME.fullmatch(annotator):
        raise InputError(f"annotator: {annotator[:40]!r} is no name; use up to 40 letters, digits, dots, - and _")
    return f"people/{annotator}"


def make_sheet(
    store: RunStore,
    annotator: str,
    *,
    sample: int | None = None,
    per: Per = "scene",
    scene_ids: Sequence[str] = (),
    seed: int = 0,
) -> Sheet:
    """Draw what a person labels: every clip of the run, or ``sample`` of each scene (or of the whole run).

    The draw depends on the seed alone, so that all annotators get the same clips and a larger sample holds the smaller
    one; the order depends on the annotator too, so that no two of them tire at the same clips.

    Raises:
        InputError: not a name, a sample below 1, or a run without clips in these scenes.
        UnknownNameError: a scene that the run does not have.
    """
    reader = reader_name(annotator)
    if sample is not None and sample < 1:
        raise InputError(f"sample: {sample} clips are none; give 1 or more, or leave it out for all")
    suite = store.suite.only(scene_ids) if scene_ids else store.suite
    drawn = _draw(_filmed(store.rollouts(), suite), sample, per, seed)
    places = {scene.id: place for place, scene in enumerate(suite.scenes)}
    drawn.sort(key=lambda task: (places[task.scene.id], _hash(f"{seed}/{annotator}/{task.rollout_key}")))
    if not drawn:
        raise InputError(f"{store.folder}: there is no clip to label here; film some first")
    return Sheet(reader=reader, tasks=tuple(drawn))


def recorded_seed(store: RunStore) -> int:
    """Return the seed that the run's clips were last drawn and shuffled by; 0 where nobody has labelled yet."""
    return int((store.about("labelling") or {"seed": 0})["seed"])


def answers_of(sheet: Sheet, readings: Mapping[str, StoredReading]) -> dict[int, Reading]:
    """Return what the person has answered so far, by place in the sheet, in order of answering."""
    own = [stored for stored in readings.values() if stored.reader == sheet.reader]
    places = {task.rollout_key: at for at, task in enumerate(sheet.tasks)} if own else {}
    found: dict[int, Reading] = {}
    for stored in own:
        at = places.get(stored.rollout_key)
        if at is not None and stored.key == key_of(sheet.tasks[at], sheet.reader):
            found[at] = stored.reading
    return found


def key_of(task: Task, reader: str) -> str:
    """Return the key of a person's reading of a clip."""
    return reading_keys(task.rollout_key, task.clip.sha256, task.scene, reader, {})[0]


def stored_label(task: Task, reader: str, answer: Reading) -> StoredReading:
    """Return a person's answer as the ledger keeps it."""
    return StoredReading(
        key=key_of(task, reader),
        rollout_key=task.rollout_key,
        sha256=task.clip.sha256,
        reader=reader,
        settings={},
        vote=0,
        reading=answer,
    )


def _filmed(rollouts: Mapping[str, Rollout], suite: Suite) -> Iterator[Task]:
    scenes = {scene.id: scene for scene in suite.scenes}
    for key, rollout in rollouts.items():
        if rollout.status == "done" and rollout.clip is not None and rollout.scene in scenes:
            yield Task(rollout_key=key, clip=rollout.clip, scene=scenes[rollout.scene])


def _draw(tasks: Iterator[Task], sample: int | None, per: Per, seed: int) -> list[Task]:
    if sample is None:
        return list(tasks)
    taken: dict[str, int] = {}
    drawn: list[Task] = []
    for task in sorted(tasks, key=lambda task: _hash(f"{seed}/{task.rollout_key}")):
        pot = task.scene.id if per == "scene" else ""
        if taken.get(pot, 0) < sample:
            taken[pot] = taken.get(pot, 0) + 1
            drawn.append(task)
    return drawn


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
