"""Which clips a person labels: drawn by a seed, the same for all, larger samples holding smaller ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from worldodds.errors import InputError, StoreError, UnknownNameError
from worldodds.labelling.session import open_session
from worldodds.labelling.sheet import Sheet, make_sheet, reader_name
from worldodds.store import RunStore


def sheet(folder: Path, annotator: str = "anna", **how: object) -> Sheet:
    with RunStore(folder, write=False) as store:
        return make_sheet(store, annotator, **how)  # type: ignore[arg-type]


def keys(one: Sheet) -> list[str]:
    return [task.rollout_key for task in one.tasks]


def test_everything_is_labelled_scene_by_scene(run_folder: Path) -> None:
    """Without a sample every clip is on the sheet once, and scenes come in the suite's order."""
    one = sheet(run_folder)
    assert [task.scene.id for task in one.tasks] == ["coin"] * 4 + ["die"] * 4
    assert len(set(keys(one))) == 8


def test_the_order_is_not_the_order_of_filming(run_folder: Path) -> None:
    """Some seed in a few moves a clip: the place says nothing about the rollout's index."""
    with RunStore(run_folder, write=False) as store:
        filmed = list(store.rollouts())
    assert any(keys(sheet(run_folder, seed=seed)) != filmed for seed in range(3))
    assert keys(sheet(run_folder, seed=1)) == keys(sheet(run_folder, seed=1))


def test_annotators_share_the_sample_but_not_the_order(run_folder: Path) -> None:
    """The draw is the seed's, the shuffle the annotator's too."""
    sheets = [sheet(run_folder, name, sample=3, seed=5) for name in ("anna", "bea", "cem", "dee")]
    assert len({frozenset(keys(one)) for one in sheets}) == 1
    assert len({tuple(keys(one)) for one in sheets}) > 1


def test_a_larger_sample_holds_the_smaller_one(run_folder: Path) -> None:
    """Labels of a first sample count in a second, larger one."""
    small, large = (set(keys(sheet(run_folder, sample=n))) for n in (2, 3))
    assert small < large
    assert (len(small), len(large)) == (4, 6)


def test_a_sample_can_be_of_the_whole_run(run_folder: Path) -> None:
    """Per run, n clips are drawn over all scenes."""
    assert len(sheet(run_folder, sample=3, per="run").tasks) == 3


def test_wrong_wishes_are_refused(run_folder: Path, tmp_path: Path) -> None:
    """Names, samples, scenes and folders that cannot be used are named."""
    for name in ("", "a/b", "../x", "x" * 41, "é"):
        with pytest.raises(InputError, match="annotator"):
            reader_name(name)
    with pytest.raises(InputError, match="sample: 0"):
        sheet(run_folder, sample=0)
    with pytest.raises(UnknownNameError, match="Did you mean 'coin'"):
        sheet(run_folder, scene_ids=["coim"])
    with pytest.raises(StoreError, match="no run here"):
        open_session(tmp_path / "nowhere", "anna")


def test_a_run_without_clips_is_refused(run_folder: Path) -> None:
    """A run in which nothing was filmed has nothing to label."""
    with RunStore(run_folder, write=False) as store:
        frozen = store.suite.folder
    empty = run_folder.parent / "empty"
    with RunStore(empty) as store:
        shutil.copytree(frozen, empty / "suite" / frozen.name)
        store.note("suite", frozen.name)
    with pytest.raises(InputError, match="no clip to label"):
        open_session(empty, "anna")


def test_the_seed_is_recorded_and_used_again(run_folder: Path) -> None:
    """A session without a seed takes the run's last one."""
    first = open_session(run_folder, "anna", seed=7)
    assert keys(open_session(run_folder, "anna").sheet) == keys(first.sheet)
    with RunStore(run_folder, write=False) as store:
        assert store.about("labelling") == {"seed": 7}
