"""Killed at any step while a provider misbehaves, a run loses nothing and buys nothing twice."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from worldodds.fake_provider import FakeProvider, LocalServer

sys.path.insert(0, str(Path(__file__).parent / "faults"))
from lives import Lives, N, Trouble, state

OUTCOMES = {"coin": 2, "die": 6}


@pytest.mark.parametrize("troubled", [False, True])
def test_thirty_kills_lose_nothing_and_buy_nothing_twice(troubled: bool, tiny_folder: Path, tmp_path: Path) -> None:
    """Statuses, outcomes, hashes and files equal an undisturbed run's; each clip was sold once."""
    rng = random.Random(troubled)
    calm = FakeProvider(outcomes=OUTCOMES, refuse=frozenset({4}))
    wild = FakeProvider(outcomes=OUTCOMES, refuse=frozenset({4}))
    if troubled:
        wild.fault = Trouble(1)
    with LocalServer(calm) as quiet, Lives(tiny_folder, tmp_path / "calm", quiet.url) as first:
        assert first.live(0) == 0
    with LocalServer(wild) as loud, Lives(tiny_folder, tmp_path / "killed", loud.url) as lives:
        deaths = 0
        while deaths < 15:
            end = lives.live(rng.randint(1, 45))
            assert end in (-9, 0)
            deaths += end == -9
            if end == 0:  # finished: take some clips away, so that there is something to be killed at
                for clip in rng.sample(sorted((tmp_path / "killed").glob("rollouts/*/*.mp4")), 4):
                    clip.unlink()
        assert lives.live(0) == 0
    assert state(tmp_path / "killed") == state(tmp_path / "calm")
    assert len({(scene, seed) for scene, seed, _ in wild.sold}) == len(wild.sold) == 2 * N
