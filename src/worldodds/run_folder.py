"""The folder of a run: how it is known, made, and kept for one writer at a time."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from worldodds.errors import StoreError

LEDGER = "run.sqlite"


def is_run(folder: Path) -> bool:
    """Say whether a folder holds a run."""
    return (folder / LEDGER).is_file()


def need_run(folder: Path) -> None:
    """Refuse a folder that holds no run."""
    if not is_run(folder):
        raise StoreError(f"{folder}: no run here (there is no {LEDGER}); give the folder a run was made in")


def prepare(folder: Path) -> None:
    """Make the folder of a new run; refuse one that holds something else."""
    if is_run(folder):
        return
    if folder.is_dir() and any(entry.name != "run.lock" for entry in folder.iterdir()):
        raise StoreError(f"{folder}: not a run, and not empty; name a new folder so that nothing is mixed up")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be made: {error.strerror}; name a folder you may write to") from None


def lock(folder: Path) -> IO[str]:
    """Take the folder's writer lock, or say who holds it; the lock falls with its process, however that ends."""
    file = (folder / "run.lock").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise StoreError(f"{folder}: another worldodds (process {holder}) is writing here; wait for it") from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file
