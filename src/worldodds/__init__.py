"""worldodds tells whether a video world model gets the odds of the world right.

Names are loaded when first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from worldodds._version import __version__ as __version__

if TYPE_CHECKING:
    from worldodds.engine import plan as plan
    from worldodds.engine import read_clips as read_clips
    from worldodds.engine import run as run
    from worldodds.outcome import Counts as Counts
    from worldodds.outcome import Reference as Reference
    from worldodds.readers.oracle import Oracle as Oracle
    from worldodds.readers.tracker import Tracker as Tracker
    from worldodds.registry import make_generator as make_generator
    from worldodds.registry import make_reader as make_reader
    from worldodds.report.build import write_report as write_report
    from worldodds.scene import Scene as Scene
    from worldodds.scene import Suite as Suite
    from worldodds.serving import serve as serve
    from worldodds.sources import load as load
    from worldodds.store import RunStore as RunStore
    from worldodds.suites import find_suite as find_suite

_HOME = {
    "Counts": "outcome",
    "Oracle": "readers.oracle",
    "Reference": "outcome",
    "RunStore": "store",
    "Scene": "scene",
    "Suite": "scene",
    "Tracker": "readers.tracker",
    "find_suite": "suites",
    "load": "sources",
    "make_generator": "registry",
    "make_reader": "registry",
    "plan": "engine",
    "read_clips": "engine",
    "run": "engine",
    "serve": "serving",
    "write_report": "report.build",
}

__all__ = [*_HOME]  # noqa: PLE0604 - the table above is the one list  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
