"""The doctor names what is missing and the package that brings it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module

import pytest

from worldodds import doctor
from worldodds.cli import call
from worldodds.worlds import gl


def test_nothing_is_missing_where_the_tests_run(capsys: pytest.CaptureFixture[str]) -> None:
    """With the extra ``run`` and OpenGL in software all nine scenes work, and the exit code is 0."""
    assert call(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "MISSING" not in out
    assert "roulette" in out


def test_a_missing_package_is_named_with_its_line(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Without pymunk the code is 2, the line to run is printed, and the scenes that need it are named."""

    def absent(module: str):
        if module == "pymunk":
            raise ImportError("No module named 'pymunk'")
        return import_module(module)

    monkeypatch.setattr(doctor, "import_one", absent)
    assert call(["doctor"]) == 2
    out = capsys.readouterr().out
    assert "For pymunk: pip install 'worldodds[run]'" in out
    assert "ball lacks pymunk" in out
    assert "dice lacks" not in out


def test_without_opengl_the_plane_scenes_still_work(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Where nothing can draw off screen, the Debian package is named, and plane scenes are not affected."""

    def broken(*_args, **_how):
        raise gl.MissingDependencyError("no context")

    monkeypatch.setattr(gl, "make_renderer", broken)
    assert call(["doctor", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    (finding,) = [finding for finding in told["findings"] if not finding["there"]]
    assert finding["name"] == "OpenGL off screen"
    assert "libosmesa6" in finding["fix"]
    able = {scene for scene, lack in told["scenes"].items() if lack is None}
    assert able == {*doctor.PLANE_SCENES, "cards"}
    assert told["scenes"]["dice"] == "OpenGL off screen"


def test_optional_extras_do_not_fail(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Missing pandas is told as optional; the code stays 0."""

    def absent(module: str):
        if module == "pandas":
            raise ImportError("No module named 'pandas'")
        return import_module(module)

    monkeypatch.setattr(doctor, "import_one", absent)
    assert call(["doctor"]) == 0
    assert "worldodds[tables]" in capsys.readouterr().out


def test_plane_scenes_are_drawn_with_no_opengl_at_all() -> None:
    """With MuJoCo hidden and OpenGL switched off, the plane scenes draw, and a solid one says what it lacks."""
    script = (
        "import sys; sys.modules['mujoco'] = None\n"
        "from worldodds.worlds import load_world\n"
        "from worldodds.errors import MissingDependencyError\n"
        f"for name in {doctor.PLANE_SCENES!r}:\n"
        "    world = load_world(name)\n"
        "    next(iter(world.draw(world.simulate(start_seed=0), (160, 120))))\n"
        "try:\n"
        "    load_world('dice').simulate(start_seed=0)\n"
        "except MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MUJOCO_GL": "off"},
    )
    assert "pip install 'worldodds[run]'" in done.stdout
