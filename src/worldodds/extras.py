"""Packages that only some parts need: imported when used, and named plainly when they are not there."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from worldodds.errors import MissingDependencyError


def need(module: str, extra: str) -> Any:
    """Import a module that comes with the extra ``worldodds[extra]``.

    Raises:
        MissingDependencyError: it is not installed; the message says how to get it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        raise MissingDependencyError(f"{missing} is not installed; run: pip install 'worldodds[{extra}]'") from None
