"""Where a world's chance comes from: an unbiased split, with intervals that hold what is true."""

from __future__ import annotations

import json

import numpy as np
import pytest

from worldodds.cli import call
from worldodds.errors import InputError
from worldodds.worlds import load_world
from worldodds.worlds.closure import closure_runs, split


def _table(rng: np.random.Generator, m: int, r: int, start: float, noise: float, both: float) -> np.ndarray:
    """Outcomes 0 and 1 by the sign of a sum of what the start, the noise, and each pair bring."""
    parts = (
        start * rng.standard_normal((m, 1)),
        noise * rng.standard_normal((1, r)),
        both * rng.standard_normal((m, r)),
    )
    return (sum(parts) > 0).astype(int)


def test_pure_cases_are_told() -> None:
    """Rows alike: all in the start. Columns alike: all in the noise. No row or column effect: all in the pair."""
    rng = np.random.default_rng(0)
    row = rng.integers(0, 3, 12)
    assert split(np.tile(row[:, None], (1, 10))).aliasing.share == pytest.approx(1)
    assert split(np.tile(row[None], (10, 1))).process_noise.share == pytest.approx(1)
    assert split(_table(rng, 40, 40, 0, 0, 1)).interaction.share == pytest.approx(1, abs=0.1)


def test_swapping_starts_and_noises_swaps_their_parts() -> None:
    """The split is symmetric in its two sides."""
    table = _table(np.random.default_rng(1), 9, 14, 1, 0.4, 0.7)
    one, other = split(table), split(table.T)
    assert one.aliasing.variance == pytest.approx(other.process_noise.variance)
    assert one.interaction.variance == pytest.approx(other.interaction.variance)


def test_the_split_is_unbiased() -> None:
    """Over many small tables the parts average to those of a large one."""
    rng = np.random.default_rng(2)
    small = [split(_table(rng, 6, 5, 1, 0.5, 1)) for _ in range(300)]
    large = [split(_table(rng, 60, 60, 1, 0.5, 1)) for _ in range(4)]
    for name in ("aliasing", "process_noise", "interaction"):
        mean = np.mean([getattr(found, name).variance for found in small])
        assert mean == pytest.approx(np.mean([getattr(found, name).variance for found in large]), abs=0.03)


def test_intervals_hold_the_truth() -> None:
    """In 60 tables of 12 x 12 the interval misses a true zero hardly ever, and never has no width."""
    rng = np.random.default_rng(3)
    found = [split(_table(rng, 12, 12, 1, 0, 0.6)).process_noise for _ in range(60)]
    assert sum(part.low <= 0 <= part.high for part in found) >= 54
    alike = split(np.tile(np.array([0, 1, 1, 0, 1])[:, None], (1, 5)))
    assert all(part.high - part.low > 0.1 for part in (alike.aliasing, alike.process_noise, alike.interaction))


def test_what_cannot_be_split_is_said() -> None:
    """No variance, too few runs, or a world without process noise."""
    with pytest.raises(InputError, match="ended alike"):
        split(np.zeros((4, 4), dtype=int))
    with pytest.raises(InputError, match="three of each"):
        split(np.array([[0, 1], [1, 0]]))
    with pytest.raises(InputError, match="no process noise"):
        closure_runs(load_world("ball"), 5, 5)


def test_the_walker_decides_in_advance(capsys: pytest.CaptureFixture[str]) -> None:
    """The walker's side is a hidden intention: all of its chance is aliasing, gait noise adds none."""
    assert call(["worlds", "closure", "walking", "-m", "6", "-r", "3", "--workers", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["aliasing"]["share"] == pytest.approx(1)
    assert (told["starts"], told["noises"]) == (6, 3)
    assert call(["worlds", "closure", "walking", "-m", "6", "-r", "3", "--workers", "1"]) == 0
    assert "the hidden start (aliasing)" in capsys.readouterr().out
