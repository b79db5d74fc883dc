"""Labels go out to Label Studio and tables and come back as the same readings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from worldodds.cli import call
from worldodds.errors import InputError, SourceError
from worldodds.labelling.exchange import export_tasks, import_labels
from worldodds.labelling.session import open_session
from worldodds.rollout import Reading
from worldodds.store import RunStore

ANSWERS = (
    Reading(status="outcome", label="heads", raw="clear"),
    Reading(status="unreadable", reason="blank"),
    Reading(status="out_of_schema"),
    Reading(status="unreadable"),
)


@pytest.fixture
def labelled(run_folder: Path) -> Path:
    """Return a run whose coins anna has labelled, every status once, and one die of bea's."""
    anna, bea = open_session(run_folder, "anna"), open_session(run_folder, "bea")
    for at, answer in enumerate(ANSWERS):
        anna.answer(at, answer)
    bea.answer(5, Reading.saw("6"))
    return run_folder


def readings(folder: Path, name: str) -> dict[str, Reading]:
    with RunStore(folder, write=False) as store:
        kept = store.readings().values()
    return {stored.key: stored.reading for stored in kept if stored.reader == f"people/{name}"}


def renamed(folder: Path, old: str, new: str) -> dict[str, Reading]:
    """Return what one person saw, by the rollout."""
    with RunStore(folder, write=False) as store:
        kept = list(store.readings().values())
    sides = [{s.rollout_key: s.reading for s in kept if s.reader == f"people/{name}"} for name in (old, new)]
    assert sides[0] == sides[1]
    return sides[0]


def tasks_of(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text())


def test_labels_come_back_from_label_studio(labelled: Path, tmp_path: Path) -> None:
    """Out and in again changes nothing; into another name it is the same readings, notes included."""
    path = tmp_path / "tasks.json"
    assert export_tasks(labelled, path) == (8, 5)
    assert import_labels(labelled, path) == {"people/anna": (0, 4), "people/bea": (0, 1)}
    export_tasks(labelled, path, annotators=["anna"])
    assert import_labels(labelled, path, "cem") == {"people/cem": (4, 0)}
    assert sorted(map(str, renamed(labelled, "anna", "cem").values())) == sorted(map(str, ANSWERS))


def test_tasks_are_blind_and_whole(labelled: Path, tmp_path: Path) -> None:
    """A task has a neutral clip, its question and its choices; the interface names what the tasks bring."""
    path, clips = tmp_path / "tasks.json", tmp_path / "clips"
    export_tasks(labelled, path, sample=2, clips=clips, url="/data/local-files/?d=clips/")
    tasks = tasks_of(path)
    assert len(tasks) == 4
    assert not any(word in path.read_text() for word in ("secret", "canned", "seed", "r000", "rollouts/"))
    names = {task["data"]["video"].removeprefix("/data/local-files/?d=clips/") for task in tasks}
    assert {file.name for file in clips.iterdir()} == names
    coin = next(task["data"] for task in tasks if task["data"]["scene"] == "coin")
    assert [one["value"] for one in coin["outcomes"]][:3] == ["heads", "tails", "unreadable: blank"]
    interface = ET.fromstring(path.with_suffix(".xml").read_text())  # noqa: S314 - our own file
    used = {value.removeprefix("$") for tag in interface for value in tag.attrib.values() if value.startswith("$")}
    assert used <= set(coin)
    results = [item for task in tasks for one in task["annotations"] for item in one["result"]]
    assert {item["from_name"] for item in results} <= {tag.get("name") for tag in interface}


def studio(labelled: Path, tmp_path: Path, **changes: Any) -> Path:
    """Return one task as Label Studio exports it, answered by a user of its own."""
    path = tmp_path / "studio.json"
    export_tasks(labelled, path, scene_ids=["coin"])
    task = tasks_of(path)[0]
    choice = {"from_name": "outcome", "to_name": "clip", "type": "choices", "value": {"choices": ["tails"]}}
    annotation = {"id": 3, "was_cancelled": False, "completed_by": {"id": 9, "email": "dee@example.org"}}
    task |= {"id": 12, "annotations": [annotation | {"result": [choice]} | changes], "predictions": []}
    path.write_text(json.dumps([task]))
    return path


def test_users_of_label_studio_are_annotators(labelled: Path, tmp_path: Path) -> None:
    """Who is not named in a field is named by the address, else by the number."""
    assert import_labels(labelled, studio(labelled, tmp_path)) == {"people/dee": (1, 0)}
    assert import_labels(labelled, studio(labelled, tmp_path, completed_by=7)) == {"people/user-7": (1, 0)}
    assert import_labels(labelled, studio(labelled, tmp_path), "eve") == {"people/eve": (1, 0)}
    assert list(readings(labelled, "eve").values()) == [Reading.saw("tails")]


def test_what_is_no_answer_is_not_taken(labelled: Path, tmp_path: Path) -> None:
    """A skipped task has no label; two outcomes, an unknown one or another run's clip are errors: nothing enters."""
    with pytest.raises(SourceError, match="no label in it"):
        import_labels(labelled, studio(labelled, tmp_path, was_cancelled=True))
    two = {"from_name": "outcome", "value": {"choices": ["heads", "tails"]}}
    with pytest.raises(SourceError, match="task 1: 2 outcomes are chosen"):
        import_labels(labelled, studio(labelled, tmp_path, result=[two]))
    odd = {"from_name": "outcome", "value": {"choices": ["head"]}}
    with pytest.raises(SourceError, match="Did you mean 'heads'"):
        import_labels(labelled, studio(labelled, tmp_path, result=[odd]))
    path = studio(labelled, tmp_path)
    path.write_text(path.read_text().replace('"rollout": "', '"rollout": "f'))
    with pytest.raises(SourceError, match="no clip f"):
        import_labels(labelled, path)
    path.write_text('{"tasks": []}')
    with pytest.raises(SourceError, match="a list of tasks"):
        import_labels(labelled, path)
    path.write_text('[{"data": {"video": "x"}}]')
    with pytest.raises(SourceError, match="not a task of ours"):
        import_labels(labelled, path)
    assert readings(labelled, "dee") == {}


def test_labels_come_back_from_a_table(labelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What export writes, label-import reads: the same outcomes and nulls (a table has no notes)."""
    table = str(tmp_path / "labels.csv")
    assert (
        call(["export", str(labelled), "--reader", "people/anna", "-o", table]) == 3
    )  # clips that nobody has labelled yet are open
    assert call(["label-import", str(labelled), table, "--annotator", "cem"]) == 0
    assert "people/cem: 4 labels taken in" in capsys.readouterr().out
    got = {(one.status, one.label, one.reason) for one in readings(labelled, "cem").values()}
    assert got == {(one.status, one.label, one.reason) for one in ANSWERS}


def test_a_spreadsheet_of_labels_will_do(labelled: Path, tmp_path: Path) -> None:
    """Scene, model, seed and human_label are enough; who labelled must be said; clips must be this run's."""
    table = tmp_path / "labels.csv"
    table.write_text("scene,model,seed,human_label\ncoin,any,0,heads\ncoin,any,1,\n")
    with pytest.raises(SourceError, match="add --annotator NAME"):
        import_labels(labelled, table)
    assert import_labels(labelled, table, "fay") == {"people/fay": (2, 0)}
    assert set(readings(labelled, "fay").values()) == {Reading.saw("heads"), Reading(status="unreadable")}
    table.write_text("scene,model,seed,outcome\ncoin,any,9,heads\n")
    with pytest.raises(SourceError, match="no clip 9 of scene 'coin'"):
        import_labels(labelled, table, "fay")
    table.write_text("scene,model,seed,outcome,clip_sha256\ncoin,any,0,heads,00ff\n")
    with pytest.raises(SourceError, match="another file in this run"):
        import_labels(labelled, table, "fay")


def test_a_table_of_many_models_gives_this_run_its_own(labelled: Path, tmp_path: Path) -> None:
    """Of several models only the run's counts; where it is none of them, nothing is taken."""
    table = tmp_path / "labels.csv"
    table.write_text("scene,model,seed,outcome\ncoin,canned/secretmodel,0,heads\ncoin,other,0,tails\n")
    assert import_labels(labelled, table, "gus") == {"people/gus": (1, 0)}
    table.write_text("scene,model,seed,outcome\ncoin,one,0,heads\ncoin,other,0,tails\n")
    with pytest.raises(SourceError, match="is this run's"):
        import_labels(labelled, table, "gus")


def test_wrong_wishes_are_refused(labelled: Path, tmp_path: Path) -> None:
    """Endings and names that make no sense are told."""
    with pytest.raises(SourceError, match=r"end in \.json"):
        export_tasks(labelled, tmp_path / "tasks.csv")
    with pytest.raises(InputError, match="'zoe' has labelled nothing"):
        export_tasks(labelled, tmp_path / "tasks.json", annotators=["zoe"])
    with pytest.raises(SourceError, match="no kind of labels"):
        import_labels(labelled, tmp_path / "labels.xlsx")
