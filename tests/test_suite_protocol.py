"""Suites of tracks: what their protocol and their scenes must have, and what the hash covers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from worldodds.errors import SceneError
from worldodds.scene import load_suite
from worldodds.suite_protocol import Protocol
from worldodds.suites import find_suite

PLACE = '\n[placement]\ntrack = "calibration"\ngroup = "toss"\n'


@pytest.mark.parametrize(
    ("gate", "message"),
    [(None, "protocol.gate: the aggregate 'tracks' needs this key"), (0, "gate: 0 given"), (7, "gate: 7 given")],
)
def test_tracks_need_a_gate(tiny_folder: Path, gate: int | None, message: str) -> None:
    """Between 1 and the rollouts of a scene."""
    path = tiny_folder / "suite.toml"
    told = "" if gate is None else f"\ngate = {gate}"
    path.write_text(path.read_text().replace('aggregate = "mntv"', f'aggregate = "tracks"{told}'))
    with pytest.raises(SceneError, match=message):
        load_suite(tiny_folder)


def test_a_gate_is_for_tracks_only() -> None:
    """The mean of CaliBench has no gate."""
    assert "does not take this key" in (Protocol(rollouts=32, aggregate="mntv", gate=20).fault or "")
    assert Protocol(rollouts=50, aggregate="tracks", gate=20).most_nulls == 30


def test_scenes_of_tracks_have_a_place(tiny_folder: Path) -> None:
    """A scene without track and group is named; with them the suite loads."""
    path = tiny_folder / "suite.toml"
    path.write_text(path.read_text().replace('aggregate = "mntv"', 'aggregate = "tracks"\ngate = 2'))
    with pytest.raises(SceneError, match=r"scene 'coin' has no table \[placement\]"):
        load_suite(tiny_folder)
    for name in ("coin", "die"):
        scene = tiny_folder / f"{name}.toml"
        scene.write_text(scene.read_text().replace("\n[readout]", f"{PLACE}\n[readout]"))
    assert [scene.placement is not None for scene in load_suite(tiny_folder).scenes] == [True, True]


def test_a_place_is_content() -> None:
    """Moving a scene to another group changes the hash; a suite without places does not mention them."""
    suite = find_suite("pawbench")
    first = suite.scenes[0]
    assert first.placement is not None
    moved = replace(first, placement=replace(first.placement, group="draw"))
    assert replace(suite, scenes=(moved, *suite.scenes[1:])).content_hash != suite.content_hash
    assert "placement" not in find_suite("calibench").scenes[0].identity
    assert set(find_suite("calibench").protocol.identity) == {"rollouts", "aggregate"}
