"""The ledger: append-only, one writer, never guesses."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from worldodds.attempts import Attempt
from worldodds.cli import call
from worldodds.engine import plan, run
from worldodds.errors import StoreError
from worldodds.rollout import Rollout
from worldodds.run_folder import LEDGER
from worldodds.scene import load_suite
from worldodds.store import MIGRATIONS, RunStore
from worldodds.testing import CannedGenerator, CannedReader


def refused(index: int, status: str = "refused") -> Rollout:
    return Rollout(scene="coin", index=index, seed=index, status=status)  # type: ignore[arg-type]


def test_rows_are_added_and_never_changed() -> None:
    """The newest row of a key is its state; the older ones stay as its history."""
    with RunStore(":memory:") as store:
        store.add_rollout("a", refused(0, "failed"))
        store.add_rollout("a", refused(0))
        store.add_rollout("b", refused(1))
        assert [r.status for r in store.rollouts().values()] == ["refused", "refused"]
        assert store.attempts("a") == 2


def test_facts_are_kept_once() -> None:
    """Noting the same fact again adds nothing; a new one wins."""
    with RunStore(":memory:") as store:
        store.note("generator", {"name": "x", "settings": {"a": 1}})
        store.note("generator", {"settings": {"a": 1}, "name": "x"})
        assert store._db.execute("select count(*) from run").fetchone()[0] == 1
        store.note("generator", "y")
        assert store.about("generator") == "y"
        assert store.about("nothing") is None


def test_plans_only_grow() -> None:
    """Asking for fewer rollouts than before forgets none."""
    with RunStore(":memory:") as store:
        for n in (4, 2, 8):
            store.plan("coin", n)
        assert store.planned() == {"coin": 8}


def test_only_one_process_writes(tmp_path: Path) -> None:
    """A second writer is told who holds the lock; readers go on."""
    with RunStore(tmp_path / "run") as store:
        store.note("generator", "x")
        code = "import sys; from worldodds.store import RunStore; RunStore(sys.argv[1])"
        second = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], capture_output=True, text=True)
        assert "another worldodds (process" in second.stderr
        with RunStore(tmp_path / "run", write=False) as reader:
            assert reader.about("generator") == "x"
    with RunStore(tmp_path / "run"):
        pass


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    """Neither read nor written into; nothing is changed."""
    with pytest.raises(StoreError, match="no run here"):
        RunStore(tmp_path / "nowhere", write=False)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/a.jpg").write_text("x")
    with pytest.raises(StoreError, match="not a run, and not empty"):
        RunStore(tmp_path / "photos")
    assert [p.name for p in (tmp_path / "photos").iterdir()] == ["a.jpg"]


def test_a_damaged_ledger_is_named(tmp_path: Path) -> None:
    """A file that is no database is not overwritten."""
    (tmp_path / LEDGER).write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match=r"run\.sqlite: not a readable ledger"):
        RunStore(tmp_path)
    assert (tmp_path / LEDGER).read_bytes().startswith(b"not a database")


def test_a_newer_ledger_is_left_alone(tmp_path: Path) -> None:
    """An old worldodds says that it is old."""
    with RunStore(tmp_path / "run"):
        pass
    with sqlite3.connect(tmp_path / "run" / LEDGER) as db:
        db.execute(f"pragma user_version = {len(MIGRATIONS) + 1}")
    db.close()
    with pytest.raises(StoreError, match="made by a newer worldodds"):
        RunStore(tmp_path / "run")


def test_a_run_that_was_never_started_has_no_suite() -> None:
    """It says so instead of failing on a path."""
    with RunStore(":memory:") as store, pytest.raises(StoreError, match="never started"):
        _ = store.suite


def test_an_older_ledger_is_read_as_it_is_and_brought_up_to_date_by_a_writer(tmp_path: Path) -> None:
    """Reading changes nothing; writing runs the steps that are missing and keeps every row."""
    folder = tmp_path / "run"
    folder.mkdir()
    db = sqlite3.connect(folder / LEDGER)
    db.executescript(f"{MIGRATIONS[0]} pragma user_version = 1;")
    db.execute("insert into run (at, name, value) values ('then', 'generator', '\"x\"')")
    db.commit()
    db.close()
    before = (folder / LEDGER).read_bytes()
    with RunStore(folder, write=False) as store:
        assert store.about("generator") == "x"
        assert (store.attempts_now(), store.attempt_history(), store.looks()) == ({}, [], {})
    assert (folder / LEDGER).read_bytes() == before
    with RunStore(folder) as store:
        store.add_attempt(Attempt(key="k", state="intent", token="t"))  # noqa: S106 - an order's name
        assert store.about("generator") == "x"
        assert store.attempts_now()["k"].state == "intent"


def test_rows_written_together_are_all_there_or_none() -> None:
    """An error in the middle leaves the ledger as it was."""
    with RunStore(":memory:") as store:

        def broken_off() -> None:
            with store.together():
                store.add_rollout("a", refused(0))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            broken_off()
        assert store.rollouts() == {}


def _gone(copy: Path) -> None:
    shutil.rmtree(copy)


def _reworded(copy: Path) -> None:
    (copy / "coin.toml").write_text((copy / "coin.toml").read_text().replace("A coin is flipped", "A coin flies"))


def _broken(copy: Path) -> None:
    (copy / "coin.toml").write_text("labels = [")


def _repainted(copy: Path) -> None:
    (copy / "frames" / "coin.png").write_bytes((copy / "frames" / "die.png").read_bytes())


@pytest.mark.parametrize("spoil", [_gone, _reworded, _broken, _repainted])
def test_a_frozen_suite_that_is_gone_or_changed_is_told_and_mended(
    spoil: Callable[[Path], None], tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command that opens the run says so and what to do; the run's own command puts the copy back."""
    folder = tmp_path / "run"
    with RunStore(folder) as store:
        run(plan(load_suite(tiny_folder), CannedGenerator(), [CannedReader()], 2), store)
    (copy,) = (folder / "suite").iterdir()
    spoil(copy)
    page = ["-o", str(tmp_path / "page.html")]
    for command in (["status"], ["score"], ["report", *page], ["read", "--reader", "oracle"], ["export", *page]):
        assert call([command[0], str(folder), *command[1:]]) == 2
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert f"the run's copy of its suite, {copy}, " in told
        assert "restore it from a copy, or give the command that made the run once more" in told
    other = tmp_path / "other"
    shutil.copytree(tiny_folder, other)
    _reworded(other)
    with RunStore(folder) as store, pytest.raises(StoreError, match="the run's copy of its suite"):
        run(plan(load_suite(other), CannedGenerator(), [CannedReader()], 2), store)
    with RunStore(folder) as store:
        assert run(plan(load_suite(tiny_folder), CannedGenerator(), [CannedReader()], 2), store).filmed == 0
    assert call(["status", str(folder)]) == 0
    assert [path.name for path in (folder / "suite").iterdir()] == [copy.name]
