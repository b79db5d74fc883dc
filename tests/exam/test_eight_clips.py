"""The tracker before eight fresh clips of every scene, as they would be filmed: all parts at work together."""

from __future__ import annotations

import pytest

pytest.importorskip("av")

from worldodds.exam.sitting import CLEAN, sit
from worldodds.generators.simulator import simulator
from worldodds.readers.tracker import Tracker
from worldodds.suites import find_suite

SUITE = find_suite("calibench")
CLIPS = 8


@pytest.mark.parametrize("scene", SUITE.scene_ids)
def test_eight_clean_clips_are_read_right(scene: str) -> None:
    """Eight clips of the fair world at 640x480, eight right answers."""
    answers = sit(Tracker(), simulator("fair"), [SUITE.scene(scene)], CLIPS, conditions=[CLEAN], workers=1)
    assert [answer.result for answer in answers] == ["agree"] * CLIPS
    assert all(answer.reading.label == answer.truth for answer in answers)
