"""Labels in and out: Label Studio's JSON both ways, and tables of readings into a run."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from worldodds.errors import InputError, SourceError
from worldodds.interop.files import write_bytes
from worldodds.interop.tables import SUFFIXES, read_table
from worldodds.labelling.label_studio import INTERFACE, Annotation, clip_name, read_tasks, tasks_json
from worldodds.labelling.session import check_answer
from worldodds.labelling.sheet import Per, Sheet, Task, answers_of, make_sheet, reader_name, recorded_seed, stored_label
from worldodds.rollout import Reading
from worldodds.store import RunStore, StoredReading

_ANYONE = "anyone"  # the sheet's order does not depend on who will label it elsewhere


def export_tasks(
    folder: Path,
    output: Path,
    *,
    annotators: Sequence[str] = (),
    sample: int | None = None,
    per: Per = "scene",
    scene_ids: Sequence[str] = (),
    seed: int | None = None,
    clips: Path | None = None,
    url: str = "clips/",
) -> tuple[int, int]:
    """Write clips and people's labels as Label Studio tasks; return how many of each.

    Raises:
        InputError: as `make_sheet`, or an annotator who has labelled nothing.
        SourceError: the file cannot be written, or does not end in .json.
    """
    if output.suffix.lower() != ".json":
        raise SourceError(
            f"{output}: Label Studio's tasks are JSON; let the name end in .json, or use export for tables"
        )
    with RunStore(folder, write=False) as store:
        drawn_by = recorded_seed(store) if seed is None else seed
        sheet = make_sheet(store, _ANYONE, sample=sample, per=per, scene_ids=scene_ids, seed=drawn_by)
        readings = store.readings()
    labels = {name: _labels(sheet, name, readings) for name in annotators or _annotators(readings)}
    for name in annotators:
        if not labels[name]:
            raise InputError(
                f"{folder}: {name!r} has labelled nothing of this; there are {_annotators(readings) or 'none'}"
            )
    write_bytes(output, tasks_json(sheet.tasks, labels, url))
    write_bytes(output.with_suffix(".xml"), INTERFACE.encode())
    if clips is not None:
        clips.mkdir(parents=True, exist_ok=True)
        for task in sheet.tasks:
            shutil.copyfile(task.clip.path, clips / clip_name(task))
    return len(sheet.tasks), sum(len(one) for one in labels.values())


def import_labels(folder: Path, file: Path, annotator: str | None = None) -> dict[str, tuple[int, int]]:
    """Take labels into a run; return by reader how many were new, and how many were known already.

    All labels are checked before the first is kept. A label that differs from the person's present one replaces it;
    the ledger keeps both.

    Raises:
        SourceError, InputError: the file is wrong, or speaks of clips that this run does not have.
    """
    with RunStore(folder, alone=False) as store:
        sheet = make_sheet(store, _ANYONE)
        given = _given(file, sheet, store, annotator)
        taken: dict[str, tuple[int, int]] = {}
        before = store.readings()
        with store.together():
            for reader, task, answer in given:
                label = stored_label(task, reader, answer)
                known = label.key in before and before[label.key].reading == answer
                new, same = taken.get(reader, (0, 0))
                taken[reader] = (new + (not known), same + known)
                if not known:
                    store.add_reading(label)
    if not taken:
        raise SourceError(f"{file}: there is no label in it")
    return taken


def _given(file: Path, sheet: Sheet, store: RunStore, annotator: str | None) -> list[tuple[str, Task, Reading]]:
    if file.suffix.lower() in SUFFIXES:
        found = _from_table(file, sheet, store, annotator)
    elif file.suffix.lower() == ".json":
        found = _from_tasks(read_tasks(file), sheet, annotator)
    else:
        raise SourceError(f"{file}: no kind of labels; give Label Studio's .json, or a table ({', '.join(SUFFIXES)})")
    given = list(found)
    for where, _, task, answer in given:
        try:
            check_answer(answer, task.scene)
        except InputError as error:
            raise SourceError(f"{where}: {error}") from None
    return [(reader, task, answer) for _, reader, task, answer in given]


_Given = Iterator[tuple[str, str, Task, Reading]]


def _from_tasks(annotations: Iterable[Annotation], sheet: Sheet, annotator: str | None) -> _Given:
    tasks = {task.rollout_key: task for task in sheet.tasks}
    for one in annotations:
        if one.rollout not in tasks:
            raise SourceError(f"{one.where}: this run has no clip {one.rollout[:16]}; give the run the tasks came from")
        yield (
            one.where,
            reader_name(annotator or one.annotator),
            tasks[one.rollout],
            one.reading(tasks[one.rollout].scene),
        )


def _from_table(file: Path, sheet: Sheet, store: RunStore, annotator: str | None) -> _Given:
    """Match rows by scene and index, and by the clip's hash where it is given; nothing read is no label."""
    model = store.about("generator")["name"]
    places = {(rollout.scene, rollout.index): key for key, rollout in store.rollouts().items()}
    tasks = {task.rollout_key: task for task in sheet.tasks}
    rows = read_table(file, store.suite)
    models = {row.model for row in rows}
    if model not in models and len(models) > 1:
        raise SourceError(f"{file}: none of its models ({', '.join(sorted(models))}) is this run's, {model!r}")
    for row in rows:
        if row.reading.status in ("failed", "missing") or (len(models) > 1 and row.model != model):
            continue
        task = tasks.get(places.get((row.scene, row.index), ""))
        if task is None:
            raise SourceError(f"{row.where}: this run has no clip {row.index} of scene {row.scene!r}")
        if row.clip_sha256 and row.clip_sha256 != task.clip.sha256:
            raise SourceError(f"{row.where}: clip {row.index} of scene {row.scene!r} is another file in this run")
        name = annotator or row.reader.removeprefix("people/")
        if not name:
            raise SourceError(f"{row.where}: it does not say who labelled; add --annotator NAME")
        yield row.where, reader_name(name), task, row.reading


def _annotators(readings: Mapping[str, StoredReading]) -> list[str]:
    readers = {stored.reader for stored in readings.values() if stored.reader.startswith("people/")}
    return sorted(reader.removeprefix("people/") for reader in readers)


def _labels(sheet: Sheet, name: str, readings: Mapping[str, StoredReading]) -> dict[str, Reading]:
    own = Sheet(reader=reader_name(name), tasks=sheet.tasks)
    answers = answers_of(own, readings)
    return {sheet.tasks[at].rollout_key: one for at, one in answers.items() if one.status != "missing"}
