"""Suites that ship with worldodds, each a folder of TOML and PNG files, and how one is found by name or path."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from worldodds.errors import UnknownNameError, nearest
from worldodds.scene import Suite, load_suite

_HERE = Path(__file__).parent


def builtin_suites() -> tuple[str, ...]:
    """Return the names of the suites in the package, sorted."""
    return tuple(sorted(path.parent.name for path in _HERE.glob("*/suite.toml")))


def find_suite(name: str | Path) -> Suite:
    """Return a suite by its name, or by the folder that holds its ``suite.toml``.

    A name of the package wins over a folder of the same name; write ``./calibench`` for the folder.

    Raises:
        UnknownNameError: neither a suite of the package nor a folder; the message offers the nearest name.
        SceneError: the folder holds no suite, or a wrong one.

    >>> find_suite("calibench").scene("roulette").labels
    ('red', 'black', 'green')
    """
    if isinstance(name, str) and name in builtin_suites():
        return _builtin(name)
    folder = Path(name)
    if folder.is_dir():
        return load_suite(folder)
    known = nearest(str(name), builtin_suites())
    raise UnknownNameError(f"No suite is called {str(name)!r}, nor is there such a folder.{known}")


@cache
def _builtin(name: str) -> Suite:
    return load_suite(_HERE / name)
