"""An experiment as a file: several generators, their settings, readers and scenes; one run folder a generator."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worldodds.errors import InputError
from worldodds.stopping import When
from worldodds.suites import builtin_suites, installed_suites
from worldodds.toml_file import read_toml

FORMAT = "worldodds.experiment/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One generator of an experiment, with its settings and the name of its run folder (made of its name without)."""

    name: str
    folder: str | None = None
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def run_folder(self) -> str:
        """The folder given, else the name with everything unusual as a dash."""
        return self.folder or re.sub(r"[^A-Za-z0-9._]+", "-", self.name).strip("-.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """What to film and who reads it; what is left out is as for ``worldodds run``."""

    format: str
    generators: tuple[Model, ...]
    output: str = "."
    suite: str = "calibench"
    scenes: tuple[str, ...] = ()
    readers: tuple[str, ...] = ("tracker",)
    reader_settings: dict[str, Any] = field(default_factory=dict[str, Any])
    n: int | None = None
    workers: int | None = None
    max_cost: float | None = None
    stop: When | None = None

    def suite_beside(self, path: Path) -> str:
        """The suite as it is named, or, where no suite has that name, what lies beside the experiment's own file."""
        beside = path.parent / self.suite
        named = self.suite in (*builtin_suites(), *installed_suites())
        return str(beside) if beside.exists() and not named else self.suite


def load_experiment(path: Path) -> Experiment:
    """Read an experiment.

    Raises:
        InputError: the file is missing or wrong, has no generator, or two that share a folder or lead out of it.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such experiment; write a TOML file as docs/generators.md shows")
    found = read_toml(path, Experiment, FORMAT)
    if not found.generators:
        raise InputError(f"{path}: generators: the list is empty; name at least one")
    folders = [model.run_folder for model in found.generators]
    for folder in folders:
        if not folder or Path(folder).is_absolute() or ".." in Path(folder).parts:
            raise InputError(f"{path}: folder: {folder!r} leads out of the output; name a folder inside")
        if folders.count(folder) > 1:
            raise InputError(f"{path}: folder: two generators share {folder!r}; give each a folder of its own")
    return found
