"""Where one clip is made or fetched before it counts, and how it moves to its place."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from worldodds.rollout import Rollout


def working_folder(scene_folder: Path, index: int) -> Path:
    """Return the folder of a clip in the making; what a killed run leaves there is removed by the next."""
    return scene_folder / f".part-{index:03d}"


def begin(folder: Path) -> Path:
    """Make the working folder anew and return the file to write the clip to."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder / f"r{folder.name.removeprefix('.part-')}.mp4"


def move_in(folder: Path, rollout: Rollout) -> Rollout:
    """Move a finished clip to its place by rename, the clip itself last, and forget the working folder."""
    if rollout.clip:
        name = rollout.clip.path.name
        for file in sorted(folder.iterdir(), key=lambda file: file.name == name):
            file.replace(folder.parent / file.name)
        rollout = replace(rollout, clip=replace(rollout.clip, path=folder.parent / name))
    shutil.rmtree(folder, ignore_errors=True)
    return rollout
