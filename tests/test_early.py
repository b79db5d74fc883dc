"""Early stopping in the loop: bought in waves until the verdict stands, whatever happens on the way."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from worldodds.engine import Plan, pending, plan, read_clips, run
from worldodds.errors import InputError, StatisticsError, StoreError
from worldodds.progress import Progress
from worldodds.rollout import Clip, Reading, Rollout
from worldodds.scene import Scene, Suite
from worldodds.sources import load
from worldodds.status import run_status
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator, CannedReader

COLLAPSED: dict[int, str | None] = dict.fromkeys(range(32))


def make(suite: Suite, n: int = 32, *, readers: tuple[Any, ...] = (CannedReader(),), **changes: Any) -> Plan:
    return plan(suite, CannedGenerator(**changes), readers, n, stop="early")


class Collapsing(CannedGenerator):
    """Throws the coin on heads always, and the die evenly."""

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        place = 0 if scene.id == "coin" else index
        return replace(super().generate(scene, seed=seed, index=place, into=into), index=index, seed=seed)


def bought(store: RunStore) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for rollout in store.rollouts().values():
        found.setdefault(rollout.scene, []).append(rollout.index)
    return found


def test_a_collapsed_cell_stops_and_a_fair_one_runs_to_its_horizon(tiny: Suite, tmp_path: Path) -> None:
    """Nothing is open in the end, though not everything was bought."""
    with RunStore(tmp_path / "run") as store:
        summary = run(plan(tiny, Collapsing(), [CannedReader()], 32, stop="early"), store)
        assert bought(store) == {"coin": list(range(12)), "die": list(range(32))}
    assert (summary.filmed, summary.open) == (44, ())
