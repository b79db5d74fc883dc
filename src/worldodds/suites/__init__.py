"""Suites that ship with worldodds, each a folder of TOML and PNG files, and how one is found by name or path."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from worldodds.errors import SceneError, UnknownNameError, nearest
from worldodds.scene import Suite, load_suite

_HERE = Path(__file__).parent
GROUP = "worldodds.suites"


def builtin_suites() -> tuple[str, ...]:
    """Return the names of the suites in the package, sorted."""
    return tuple(sorted(path.parent.name for path in _HERE.glob("*/suite.toml")))


def installed_suites() -> tuple[str, ...]:
    """Return the names under which installed packages offer suites, sorted; ours win over them."""
    from importlib.metadata import entry_points

    return tuple(sorted({point.name for point in entry_points(group=GROUP)} - set(builtin_suites())))


def find_suite(name: str | Path) -> Suite:
    """Return a suite by its name, by the folder that holds its ``suite.toml``, or by a zip file of such a folder.

    A name of the package wins over one of an installed package, and that over a folder of the same name; write
    ``./calibench`` for the folder.

    Raises:
        UnknownNameError: neither a known suite nor a folder or file; the message offers the nearest name.
        SceneError: there is no suite in it, or a wrong one, or the archive is unsafe.

    >>> find_suite("calibench").scene("roulette").labels
    ('red', 'black', 'green')
    """
    if isinstance(name, str) and name in builtin_suites():
        return _builtin(name)
    if isinstance(name, str) and name in installed_suites():
        return _installed(name)
    path = Path(name)
    if path.is_dir():
        return load_suite(path)
    if path.is_file():
        from worldodds.suites.archive import unpacked

        return load_suite(unpacked(path))
    known = nearest(str(name), (*builtin_suites(), *installed_suites()))
    raise UnknownNameError(f"No suite is called {str(name)!r}, nor is there such a folder.{known}")


@cache
def _builtin(name: str) -> Suite:
    return load_suite(_HERE / name)


def _installed(name: str) -> Suite:
    """Load a package's suite: its entry point names the suite's folder as a package, or a path, or what returns it."""
    from importlib.metadata import entry_points

    point = next(point for point in entry_points(group=GROUP) if point.name == name)
    found: object = point.load()
    found = found() if callable(found) else found
    if isinstance(found, Suite):
        return found
    folder = found if isinstance(found, str | Path) else next(iter(getattr(found, "__path__", ())), None)
    if folder is None:
        raise SceneError(f"suite {name!r}: {point.value} is neither a package, a path nor a suite")
    return load_suite(Path(folder))
