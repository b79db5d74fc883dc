"""What judges are shown in most tests: one clip of a die."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldodds import video
from worldodds.rollout import Clip
from worldodds.scene import Scene, Suite
from worldodds.testing import CannedGenerator


@pytest.fixture
def die(tiny: Suite) -> Scene:
    return tiny.scene("die")


@pytest.fixture
def clip(tmp_path: Path, die: Scene) -> Clip:
    """A clip whose die shows 2."""
    CannedGenerator(outcomes={0: "2"}).generate(die, seed=0, index=0, into=tmp_path / "r000.mp4")
    return video.probe(tmp_path / "r000.mp4")
