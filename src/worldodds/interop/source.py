"""Tell what kind of source of outcomes a path is, and read it."""

from __future__ import annotations

from pathlib import Path

from worldodds.errors import SourceError
from worldodds.interop.calibench import ENDING, read_bins
from worldodds.interop.pawbench import is_official, read_official
from worldodds.interop.tables import SUFFIXES, read_table
from worldodds.row import Row
from worldodds.scene import Suite

_KINDS = f"a table ({', '.join(SUFFIXES)}), a folder of <scene>_<model>{ENDING} files, or PAWBench's rows.jsonl"


def read_source(path: str | Path, suite: Suite) -> list[Row]:
    """Read a table of readings, a folder of CaliBench's bins files, or rows of PAWBench's evaluator.

    Of the last, rows that cannot be used are left out; `worldodds.interop.pawbench.read_official` names them.

    Raises:
        SourceError, UnknownNameError: none of these, or one of them and wrong; the message names file, row and fix.
        MissingDependencyError: a Parquet file, and pyarrow is not installed.
    """
    path = Path(path)
    if is_bins(path):
        return read_bins(path, suite)
    if is_official(path):
        return read_official(path, suite).rows
    if path.is_dir():
        raise SourceError(f"{path}: this folder is none of the known kinds; give {_KINDS}")
    if not path.exists():
        raise SourceError(f"{path}: there is no such file or folder")
    if path.suffix.lower() not in SUFFIXES:
        raise SourceError(f"{path}: this file is none of the known kinds; give {_KINDS}")
    return read_table(path, suite)


def is_bins(path: Path) -> bool:
    """Say whether the path is a bins file of CaliBench or a folder that has one."""
    if path.is_dir():
        return any(path.glob(f"*{ENDING}"))
    return path.is_file() and path.name.endswith(ENDING)
