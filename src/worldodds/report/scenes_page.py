"""The preview of a suite: every scene as a model and a reader will meet it, its risks, the rollouts it needs."""

from __future__ import annotations

import base64
from pathlib import Path

from worldodds._version import __version__
from worldodds.interop.files import write_bytes
from worldodds.report.environment import environment
from worldodds.report.words import number
from worldodds.scene import Scene
from worldodds.scene_check import CheckedSuite

_KINDS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}


def write_scenes_page(checked: CheckedSuite, output: Path) -> None:
    """Write one self-contained page; it appears by rename."""
    page = (
        environment()
        .get_template("scenes.html.j2")
        .render(
            version=__version__,
            suite=checked.suite,
            checked=checked,
            plan=checked.plan,
            frames={one.scene.id: _uri(one.scene) for one in checked.scenes},
            number=number,
        )
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(output, page.encode())


def _uri(scene: Scene) -> str | None:
    kind = _KINDS.get(scene.frame.suffix.lower()) if scene.frame else None
    if scene.frame is None or kind is None:
        return None
    return f"data:image/{kind};base64,{base64.b64encode(scene.frame.read_bytes()).decode()}"
