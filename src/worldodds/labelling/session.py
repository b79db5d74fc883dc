"""One person at work: the sheet, the answers so far, and every answer in the ledger before it is confirmed."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

from worldodds import video
from worldodds.errors import InputError, VideoError
from worldodds.labelling.sheet import Per, Sheet, Task, answers_of, make_sheet, recorded_seed, stored_label
from worldodds.rollout import Clip, Reading
from worldodds.scene import Scene
from worldodds.store import RunStore

LONGEST_NOTE = 2000
_NOTHING = Reading(status="missing")
_ANSWERS = ("outcome", "unreadable", "out_of_schema")


class Session:
    """What a labelling page asks: it may be called from several threads.

    Every change is a row of the ledger before the call returns, so whatever ends the process loses nothing. Undoing
    appends the former answer again, or that there is none.
    """

    def __init__(self, folder: Path, sheet: Sheet, answers: dict[int, Reading]) -> None:
        self.sheet = sheet
        self.scenes = sheet.scenes
        self._folder = folder
        self._answers = answers
        self._turn = threading.RLock()
        self._changes: list[tuple[int, Reading]] = [(at, _NOTHING) for at in answers if self.is_done(at)]
        self._whole: set[int] = set()
        self._totals = Counter(task.scene.id for task in sheet.tasks)
        self._done = Counter(sheet.tasks[at].scene.id for at in answers if self.is_done(at))

    @property
    def done(self) -> int:
        """How many clips have an answer."""
        return self._done.total()

    def is_done(self, at: int) -> bool:
        """Say whether a clip has an answer."""
        return self._answers.get(at, _NOTHING).status in _ANSWERS

    def answer_at(self, at: int) -> Reading:
        """Return the answer to a clip; its status is ``missing`` where there is none."""
        return self._answers.get(at, _NOTHING)

    def progress(self) -> list[tuple[Scene, int, int]]:
        """Return every scene with how many of its clips are answered, and how many there are."""
        return [(scene, self._done[scene.id], self._totals[scene.id]) for scene in self.scenes]

    def open_after(self, at: int) -> int | None:
        """Return the next clip without an answer after a place, from the beginning again at the end; None: all done."""
        total = len(self.sheet.tasks)
        with self._turn:
            places = ((at + step) % total for step in range(1, total + 1))
            return next((place for place in places if not self.is_done(place)), None)

    def task(self, at: int) -> Task:
        """Return the clip at a place.

        Raises:
            InputError: there is no such place.
        """
        if not 0 <= at < len(self.sheet.tasks):
            raise InputError(f"at: {at} is no place in a sheet of {len(self.sheet.tasks)} clips")
        return self.sheet.tasks[at]

    def clip(self, at: int) -> Clip:
        """Return a clip that is still the file that was filmed.

        Raises:
            VideoError: it is gone or another file; it is the clip's fault, and never a null.
        """
        clip = self.task(at).clip
        if at not in self._whole:
            if not clip.path.is_file() or video.sha256(clip.path) != clip.sha256:
                raise VideoError("this clip is gone or no longer the file that was filmed; run again to film it anew")
            self._whole.add(at)
        return clip

    def answer(self, at: int, answer: Reading) -> None:
        """Keep an answer (or, with the status ``missing``, a note alone).

        Raises:
            InputError: no such place, or an answer that the scene does not have.
            VideoError: the clip is gone or changed, so nobody can have seen it.
            StoreError, sqlite3.Error: the ledger cannot be written; nothing has changed.
        """
        check_answer(answer, self.task(at).scene)
        self.clip(at)
        with self._turn:
            before = self.answer_at(at)
            if answer != before:
                self._keep(at, answer)
                self._changes.append((at, before))

    def undo(self) -> int | None:
        """Take the last change back and return its place; None: there is nothing to take back."""
        with self._turn:
            if not self._changes:
                return None
            at, before = self._changes[-1]
            self._keep(at, before)
            self._changes.pop()
            return at

    def _keep(self, at: int, answer: Reading) -> None:
        task = self.sheet.tasks[at]
        with RunStore(self._folder, alone=False) as store:
            store.add_reading(stored_label(task, self.sheet.reader, answer))
        self._done[task.scene.id] -= self.is_done(at)
        self._answers[at] = answer
        self._done[task.scene.id] += self.is_done(at)


def open_session(
    folder: Path,
    annotator: str,
    *,
    sample: int | None = None,
    per: Per = "scene",
    scene_ids: tuple[str, ...] = (),
    seed: int | None = None,
) -> Session:
    """Open a run for one person; ``seed`` defaults to the run's last one, else 0, and is recorded.

    Raises:
        StoreError: no run there, or a ledger that cannot be read.
        InputError: as `make_sheet`.
    """
    with RunStore(folder, alone=False) as store:
        seed = recorded_seed(store) if seed is None else seed
        sheet = make_sheet(store, annotator, sample=sample, per=per, scene_ids=scene_ids, seed=seed)
        store.note("labelling", {"seed": seed})
        answers = answers_of(sheet, store.readings())
    return Session(folder, sheet, answers)


def check_answer(answer: Reading, scene: Scene) -> None:
    """Refuse an answer that the scene does not have.

    Raises:
        InputError: not a label, not a null rule, a rule of the other kind, or an overlong note.
    """
    if answer.status not in (*_ANSWERS, "missing"):
        raise InputError(
            f"status: {answer.status[:40]!r} is not what a person can see; use one of {', '.join(_ANSWERS)}"
        )
    if (answer.label is not None) != (answer.status == "outcome"):
        raise InputError("label: an outcome has a label, and nothing else has one")
    if answer.label is not None and answer.label not in scene.labels:
        raise InputError(f"label: {answer.label[:40]!r} is not an outcome of scene {scene.id!r}")
    if answer.reason is not None and scene.null_kind(answer.reason) != answer.status:
        raise InputError(f"reason: the rule {answer.reason!r} is {scene.null_kind(answer.reason)}, not {answer.status}")
    if len(answer.raw or "") > LONGEST_NOTE:
        raise InputError(f"note: it is longer than {LONGEST_NOTE} characters; shorten it")
