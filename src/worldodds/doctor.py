"""What this machine lacks: packages, a codec, OpenGL, a typeface; each with the package that brings it.

Nothing is installed and nothing falls back: a part that lacks something says so and stops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from worldodds.errors import MissingDependencyError

RUN_PACKAGES: Mapping[str, str] = {
    "av": "av",
    "cv2": "opencv-python-headless",
    "mujoco": "mujoco",
    "OpenGL": "PyOpenGL",
    "pymunk": "pymunk",
    "PIL": "pillow",
    "loky": "loky",
    "httpx": "httpx",
}
TABLE_PACKAGES: Mapping[str, str] = {"pandas": "pandas", "pyarrow": "pyarrow"}
PLANE_SCENES = ("galton_board", "ball", "pendulum")  # neither OpenGL nor MuJoCo
_SOLID = ("mujoco", "PyOpenGL", "OpenGL off screen")
NEEDS: Mapping[str, tuple[str, ...]] = {
    "galton_board": ("pymunk",),
    "ball": ("pymunk",),
    "pendulum": (),
    "cards": ("mujoco",),  # painted, not rendered
}
_TINY = '<mujoco><worldbody><geom size=".1"/></worldbody></mujoco>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked for: what it is ``needed_for``, whether it is there, and the line that brings it."""

    name: str
    there: bool
    needed_for: str
    detail: str
    fix: str = ""
    optional: bool = False


def examine() -> tuple[Finding, ...]:
    """Look for all that filming, reading and tables need."""
    found = [_package(*pair, extra="run", needed_for="filming and reading clips") for pair in RUN_PACKAGES.items()]
    found += [_package(*pair, extra="tables", needed_for="Parquet and data frames") for pair in TABLE_PACKAGES.items()]
    return (*found, _codec(), _opengl(), _typeface())


def scenes_that_work(findings: Sequence[Finding]) -> dict[str, str | None]:
    """Return every scene with None where its world can be filmed here, else the name of what it lacks."""
    from worldodds.worlds import WORLDS

    missing = [finding.name for finding in findings if not finding.there and not finding.optional]
    shared = [name for name in ("av", "opencv-python-headless", "pillow", "H.264 codec", "typeface") if name in missing]
    lacks = {scene: [*shared, *(name for name in NEEDS.get(scene, _SOLID) if name in missing)] for scene in WORLDS}
    return {scene: ", ".join(names) or None for scene, names in lacks.items()}


def _package(module: str, package: str, *, extra: str, needed_for: str) -> Finding:
    optional, fix = extra != "run", f"pip install 'worldodds[{extra}]'"
    try:
        import_one(module)
    except ImportError as error:
        detail = f"the package {package!r} cannot be imported ({error})"
        return Finding(name=package, there=False, needed_for=needed_for, detail=detail, fix=fix, optional=optional)
    return Finding(name=package, there=True, needed_for=needed_for, detail=_version(package), optional=optional)


def import_one(module: str) -> Any:
    """Import a module; OpenGL's platform is chosen before MuJoCo or PyOpenGL is."""
    if module in ("mujoco", "OpenGL"):
        from worldodds.worlds.gl import load_mujoco

        try:
            load_mujoco()
        except MissingDependencyError as error:
            if module == "mujoco":
                raise ImportError(str(error)) from None
    return import_module(module)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "installed under another name"


def _look(name: str, needed_for: str, check: Callable[[], str], fix: str) -> Finding:
    try:
        detail = check()
    except (MissingDependencyError, ImportError) as error:
        return Finding(name=name, there=False, needed_for=needed_for, detail=str(error), fix=fix)
    return Finding(name=name, there=True, needed_for=needed_for, detail=detail)


def _codec() -> Finding:
    def check() -> str:
        av = import_one("av")
        for mode in ("w", "r"):
            name = "libx264" if mode == "w" else "h264"
            try:
                av.codec.Codec(name, mode)
            except ValueError as error:  # av.codec.UnknownCodecError
                raise MissingDependencyError(f"this build of PyAV has no {name} ({error})") from None
        return f"libx264 writes, h264 reads; PyAV {av.__version__}"

    return _look(
        "H.264 codec", "filming and reading clips", check, "pip install --force-reinstall --only-binary=:all: av"
    )


def _opengl() -> Finding:
    def check() -> str:
        import os

        from worldodds.worlds.gl import load_mujoco, make_renderer

        model = load_mujoco().MjModel.from_xml_string(_TINY)
        make_renderer(model, (16, 16)).close()
        return f"MuJoCo draws by {os.environ.get('MUJOCO_GL', 'its own choice')}"

    return _look("OpenGL off screen", "drawing the solid worlds", check, "apt-get install libosmesa6 (Debian, Ubuntu)")


def _typeface() -> Finding:
    def check() -> str:
        fonts = import_one("PIL.ImageFont")
        face = fonts.load_default(20)
        if not isinstance(face, fonts.FreeTypeFont):
            raise MissingDependencyError("this build of Pillow has no FreeType, so no number can be drawn or compared")
        return f"{face.getname()[0]}, from Pillow itself"

    return _look(
        "typeface",
        "numbers on balls, cards and bins",
        check,
        "pip install --force-reinstall --only-binary=:all: pillow",
    )
