"""A run's own copy of its suite: named by what it holds, so that a copy that was changed is known."""

from __future__ import annotations

import shutil
from pathlib import Path

from worldodds.errors import SceneError, StoreError
from worldodds.scene import Suite, load_suite

_NAME_LENGTH = 12  # of the content's hash


def freeze(suite: Suite, run: Path | None) -> str:
    """Copy the whole suite into a run's folder, unless the copy is there, and return its name; None: only name it."""
    whole = load_suite(suite.folder)
    name = whole.content_hash[:_NAME_LENGTH]
    if run is None or (target := _place(run, name)).is_dir():
        return name
    part = target.with_name(f".part-{name}")
    shutil.rmtree(part, ignore_errors=True)
    frames = [scene.frame for scene in whole.scenes if scene.frame]
    texts = [whole.folder / f"{name}.toml" for name in ("suite", *whole.scene_ids)]
    for file in (*texts, *frames):
        copy = part / file.relative_to(whole.folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    part.rename(target)
    return name


def thaw(run: Path, name: str) -> Suite:
    """Load a run's copy of its suite.

    Raises:
        StoreError: the copy is gone, cannot be read, or is no longer what was frozen.
    """
    folder = _place(run, name)
    advice = "restore it from a copy, or give the command that made the run once more, with the suite it had then"
    try:
        suite = load_suite(folder)
        changed = suite.content_hash[:_NAME_LENGTH] != name
    except SceneError as error:
        told = f"cannot be read ({error})" if folder.is_dir() else "is gone"
        raise StoreError(f"{run}: the run's copy of its suite, {folder}, {told}; {advice}") from None
    if changed:
        raise StoreError(f"{run}: the run's copy of its suite, {folder}, was changed; {advice}")
    return suite


def mend(suite: Suite, run: Path, name: str) -> None:
    """Put a copy back that is gone or was changed, if this is the suite that it was made of."""
    try:
        thaw(run, name)
    except StoreError:
        if freeze(suite, None) == name:
            shutil.rmtree(_place(run, name), ignore_errors=True)
            freeze(suite, run)


def _place(run: Path, name: str) -> Path:
    return run / "suite" / name
