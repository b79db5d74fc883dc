"""MuJoCo with a way to draw off screen: the choice is made once, before the import, and never in silence."""

from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import importlib
import os
import sys
import weakref
from types import ModuleType
from typing import Any

from worldodds.errors import MissingDependencyError

_LIBRARIES = {"osmesa": "OSMesa", "egl": "EGL"}  # in the order of preference
_open: weakref.WeakSet[Any] = weakref.WeakSet()


def load_mujoco() -> ModuleType:
    """Import MuJoCo for physics; drawing is chosen along with it, since MuJoCo decides at import time.

    Raises:
        MissingDependencyError: the package is not installed.
    """
    if "MUJOCO_GL" not in os.environ and (backend := find_backend()):
        os.environ["MUJOCO_GL"] = backend
    try:
        return importlib.import_module("mujoco")
    except ImportError as error:
        raise MissingDependencyError(
            f"this world needs the package 'mujoco', which cannot be imported ({error}); "
            "run: pip install 'worldodds[run]'"
        ) from None


def find_backend() -> str | None:
    """Return ``osmesa`` or ``egl``, whichever library this machine has; None off Linux, where MuJoCo brings its own."""
    if not sys.platform.startswith("linux"):
        return None
    for backend, library in _LIBRARIES.items():
        if _loads(library):
            return backend
    return None


def make_renderer(model: object, size: tuple[int, int]) -> Any:
    """Return a ``mujoco.Renderer`` for pictures of ``size`` = (width, height) in pixels.

    Raises:
        MissingDependencyError: nothing on this machine can draw off screen; the message names the package.
    """
    mujoco = load_mujoco()
    width, height = size
    try:
        renderer = mujoco.Renderer(model, height=height, width=width)
    except Exception as error:  # noqa: BLE001 - every drawing library fails with errors of its own
        raise MissingDependencyError(_why(error)) from None
    _open.add(renderer)
    return renderer


def _why(error: Exception) -> str:
    chosen = os.environ.get("MUJOCO_GL")
    told = f"this world cannot be drawn: OpenGL by {chosen or 'the default'} does not start ({error}). "
    if chosen is None or sys.modules.get("glfw"):
        told += "Where MuJoCo is imported by other code first, set MUJOCO_GL=osmesa before Python starts. "
    return told + "On Debian or Ubuntu run: apt-get install libosmesa6; or set MUJOCO_GL=egl where EGL works"


@atexit.register
def _close_all() -> None:
    for renderer in list(_open):  # while OpenGL is still there
        renderer.close()


def _loads(library: str) -> bool:
    name = ctypes.util.find_library(library)
    if name is None:
        return False
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
