"""What reality scores: counting natural runs, and the truth read again from the last state."""

from __future__ import annotations

import json

import numpy as np
import pytest

from worldodds.cli import call
from worldodds.errors import InputError
from worldodds.suites import find_suite
from worldodds.worlds import WORLDS, check, load_world
from worldodds.worlds.check import Run
from worldodds.worlds.last_state import read_last_state

SUITE = find_suite("calibench")
BALL = SUITE.scene("ball")


def _runs(outcomes: str, shown: str | None = None) -> list[Run]:
    names = {"l": "left", "r": "right", "x": None}
    pairs = zip(outcomes, shown or outcomes, strict=True)
    return [
        Run(seed=i, outcome=names[a], invalid=None if names[a] else "escaped", shown=names[b])
        for i, (a, b) in enumerate(pairs)
    ]


@pytest.mark.parametrize("scene", WORLDS)
def test_the_last_state_shows_the_truth(scene: str) -> None:
    """In every world the outcome read again from the last state alone is the outcome that physics gave."""
    world = load_world(scene)
    motions = [world.simulate(start_seed=seed, noise_seed=seed) for seed in range(4)]
    assert [read_last_state(scene, m.states[-1]) for m in motions if m.outcome] == [
        m.outcome for m in motions if m.outcome
    ]


def test_runs_come_in_the_order_of_their_seeds() -> None:
    """Chunks on several cores give what one core gives, in order of seeds, and progress reaches the end."""
    told: list[tuple[int, int]] = []
    runs = check.run_physics(
        load_world("ball"), range(45), workers=1, watch=lambda done, total: told.append((done, total))
    )
    assert [run.seed for run in runs] == list(range(45))
    assert told[-1] == (45, 45)
    with pytest.raises(InputError, match="0 runs"):
        check.run_physics(load_world("ball"), range(0))


def test_natural_odds_count_each_run_once() -> None:
    """Valid runs, and the nulls by their kind: ``escaped`` is out of schema in this scene."""
    found = check.natural_odds(BALL, _runs("llrx"), rng=np.random.default_rng(0))
    assert found.counts.counts == (2, 1)
    assert (found.counts.out_of_schema, found.counts.unreadable) == (1, 0)
    assert found.invalid == {"escaped": 1}
    assert found.population is not None
    assert found.population.interval.low < found.population.estimate < found.population.interval.high


def test_without_a_valid_run_nothing_is_measured() -> None:
    """All invalid: counts and reasons, and None in place of numbers."""
    found = check.natural_odds(BALL, _runs("xx"), rng=np.random.default_rng(0))
    assert (found.tv, found.g_p_value, found.population) == (None, None, None)


def test_large_tables_are_tested_by_simulation() -> None:
    """Above 300 runs of more than three outcomes the method says that it is simulated."""
    dice = SUITE.scene("dice")
    runs = [Run(seed=i, outcome=str(i % 6 + 1), invalid=None, shown=str(i % 6 + 1)) for i in range(306)]
    found = check.natural_odds(dice, runs, rng=np.random.default_rng(0))
    assert found.g_method is not None
    assert found.g_method.startswith("simulated")


def test_a_state_that_shows_something_else_is_caught() -> None:
    """One run whose last state contradicts its outcome is enough to deny that target equals truth."""
    rng = np.random.default_rng(0)
    good = check.target_odds(BALL, load_world("ball"), _runs("llrr" * 5), rng=rng)
    bad = check.target_odds(BALL, load_world("ball"), _runs("lr" * 10, "rr" * 10), rng=rng)
    assert (good.n, good.target_equals_truth, good.unreached) == (20, True, ())
    assert not bad.target_equals_truth


def test_rare_outcomes_come_from_the_bank() -> None:
    """An outcome that no run ended in is drawn from the bank; where the bank has none, it is named."""
    galton = SUITE.scene("galton_board")
    runs = [Run(seed=0, outcome="6", invalid=None, shown="6")] * 3
    found = check.target_odds(galton, load_world("galton_board"), runs, rng=np.random.default_rng(0))
    assert "6" not in found.unreached
    assert "1" not in found.unreached


def test_the_command_prints_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    """``worlds check SCENE --json`` prints counts that sum to n, and says that targets are truths."""
    assert call(["worlds", "check", "ball", "-n", "30", "--workers", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["format"] == "worldodds.worlds_check/1"
    assert told["natural"]["n"] == 30 == sum(told["natural"]["counts"].values()) + told["natural"]["invalid"]
    assert told["fair"] == {"n": 30, "target_equals_truth": True, "unreached": []}


def test_the_command_reads_well(capsys: pytest.CaptureFixture[str]) -> None:
    """Without ``--json`` it says counts, TV with its floor, the interval, G, and what is certified."""
    assert call(["worlds", "check", "pendulum", "-n", "20", "--workers", "1"]) == 0
    out = capsys.readouterr().out
    for word in ("counts", "TV", "path inversion", "exact", "certified", "equals the target"):
        assert word in out
    assert call(["worlds", "check", "bal"]) == 2
    assert "Did you mean 'ball'" in capsys.readouterr().err


def test_mixing_is_a_table_and_a_plot(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    """``worlds mixing -o`` prints the share at 3 s and writes the same picture each time."""
    assert call(["worlds", "mixing", "-n", "40", "-o", str(tmp_path / "a.svg")]) == 0
    assert call(["worlds", "mixing", "-n", "40", "-o", str(tmp_path / "b.svg")]) == 0
    assert " 3 " in capsys.readouterr().out
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert call(["worlds", "mixing", "-n", "40", "-o", str(tmp_path / "a.txt")]) == 2
