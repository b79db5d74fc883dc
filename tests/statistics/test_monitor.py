"""Tests of buying rollouts one at a time."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics import Family, Monitor, StoppingRule, log_e_path, multinomial_test, replay, replay_family
from worldodds.statistics.monitor import chance_of_legible

DIE = Reference.uniform(6)


def test_the_published_replay(grid) -> None:
    """Bought in order of seeds the published grid needs 1,197 of 1,728 rollouts and changes no verdict."""
    result = replay(grid.readings)
    ends = Counter((cell.stopped_by, cell.verdict) for cell in result.cells)
    spent = Counter()
    for cell in result.cells:
        spent[cell.stopped_by, cell.verdict] += cell.used
    assert (result.used, result.available) == (1197, 1728)
    assert ends == {
        ("early e-value", "miscalibrated"): 20,
        ("horizon", "miscalibrated"): 10,
        ("horizon", "undecided"): 14,
        ("illegible", "illegible"): 10,
    }
    assert spent == {
        ("early e-value", "miscalibrated"): 232,
        ("horizon", "miscalibrated"): 320,
        ("horizon", "undecided"): 448,
        ("illegible", "illegible"): 197,
    }
    called = {key for key, verdict in zip(grid.keys, result.verdicts, strict=True) if verdict == "miscalibrated"}
    assert called == grid.rejected


@pytest.mark.parametrize(("method", "least_saved", "declared"), [("running_bh", 0.26, 29), ("e_bh", 0.30, 20)])
def test_the_published_replay_as_one_family(grid, method: str, least_saved: float, declared: int) -> None:
    """With one false discovery rate a quarter is saved, and nothing is declared that the full data do not reject."""
    family = replay_family(grid.readings, method=method)  # type: ignore[arg-type]
    called = {k for k, verdict in zip(grid.keys, family.verdicts, strict=True) if verdict == "miscalibrated"}
    assert 1 - family.used / 1728 > least_saved
    assert len(called) == declared
    assert called <= grid.rejected


def test_three_published_cells_are_certified(grid) -> None:
    """Asked for delta = 0.2, the monitor certifies ball/happyhorse, walking/runway45 and walking/cosmos3_super."""
    result = replay(grid.readings, rule=StoppingRule(delta=0.2))
    certified = {key for key, verdict in zip(grid.keys, result.verdicts, strict=True) if verdict == "calibrated"}
    assert certified == {("ball", "happyhorse"), ("walking", "runway45"), ("walking", "cosmos3_super")}


def test_a_null_costs_a_rollout_and_leaves_the_evidence() -> None:
    """E stays, the count of rollouts grows."""
    cell = Monitor(reference=DIE)
    cell.feed(2)
    before = cell.log_e
    cell.feed(None)
    assert (cell.log_e, cell.used, cell.worth_buying, cell.verdict) == (before, 2, 30, None)


def test_nothing_but_nulls_stops_at_16() -> None:
    """With a horizon of 32 a cell without any outcome is given up after 16 rollouts."""
    cell = Monitor(reference=DIE)
    while cell.worth_buying:
        cell.feed(None)
    assert (cell.used, cell.stopped_by, cell.verdict, cell.p_value) == (16, "illegible", "illegible", None)
    assert "needs 4" in cell.reason


def test_no_fixed_n_p_value_after_an_early_stop() -> None:
    """An early stop leaves an anytime p-value only, and says why."""
    cell = Monitor(reference=DIE)
    while cell.worth_buying:
        cell.feed(0)
    assert cell.verdict == "miscalibrated"
    assert cell.p_value is None
    assert "stopped early" in cell.reason
    assert cell.anytime_p == pytest.approx(0.05 * 100 / math.exp(cell.max_log_e))
    with pytest.raises(StatisticsError, match="the cell stopped after 5 rollouts"):
        cell.feed(0)


def test_the_horizon_tests_once_by_exact_g() -> None:
    """At the horizon the anytime p-value is the smaller of 5 / max E and 1.25 p."""
    cell = Monitor(reference=Reference.uniform(2))
    for turn in range(32):
        cell.feed(int(turn % 3 == 0))
    p = multinomial_test([21, 11], [0.5, 0.5]).p_value
    assert cell.p_value == pytest.approx(p)
    assert cell.anytime_p == pytest.approx(min(1.25 * p, 5 / math.exp(cell.max_log_e), 1))
    assert (cell.reason, cell.stopped_by) == ("", "horizon")


def test_an_impossible_outcome_stops_at_once() -> None:
    """One look at what cannot happen is enough."""
    cell = Monitor(reference=Reference.of([1, 0]))
    cell.feed(1)
    assert (cell.verdict, cell.used, cell.anytime_p) == ("miscalibrated", 1, 0.0)


@given(st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=1, max_size=40))
def test_never_buys_beyond_the_horizon(outcomes: list[int | None]) -> None:
    """Used plus worth buying is the horizon until the stop, and a stopped cell wants nothing."""
    result = replay([(DIE, outcomes)], rule=StoppingRule(horizon=20))
    cell = result.cells[0]
    assert cell.used <= min(20, len(outcomes))
    assert cell.worth_buying in (0, 20 - cell.used)
    assert (cell.verdict is None) == (cell.worth_buying > 0)


@pytest.mark.parametrize(("valid", "bought"), [(0, 5), (1, 9), (3, 20)])
def test_the_chance_of_legible_cells_by_simulation(valid: int, bought: int) -> None:
    """Draws of the scorability from its Beta posterior, then of the rollouts to come, give the same chance."""
    rng = np.random.default_rng(0)
    rates = rng.beta(1 + valid, 1 + bought - valid, size=200_000)
    more = rng.binomial(32 - bought, rates)
    assert chance_of_legible(valid, bought, 32) == pytest.approx((valid + more >= 4).mean(), abs=0.005)


def test_a_doubted_judge_costs_rollouts(grid) -> None:
    """With a share of wrong labels allowed for, evidence follows the robust path and fewer cells are rejected."""
    rule = StoppingRule(judge_error=0.02)
    result = replay(grid.readings, rule=rule)
    for cell, (reference, seen) in zip(result.cells, grid.readings, strict=True):
        path = log_e_path(seen[: cell.used], reference, judge_error=0.02)
        assert cell.log_e == pytest.approx(path[-1], abs=1e-9)
    called = {k for k, verdict in zip(grid.keys, result.verdicts, strict=True) if verdict == "miscalibrated"}
    assert called < grid.rejected
    assert result.used > 1197


def test_a_family_stops_no_cell_at_a_fixed_e_value() -> None:
    """Among many calibrated cells one strong cell goes on until the family can afford to declare it."""
    rng = np.random.default_rng(1)
    others = [(DIE, list(map(int, rng.integers(6, size=32)))) for _ in range(40)]
    alone = replay([(DIE, [0] * 32)]).used
    family = replay_family([(DIE, [0] * 32), *others], method="e_bh")
    assert family.cells[0].used > alone
    assert family.verdicts[0] == "miscalibrated"


def test_refuses_settings_out_of_range() -> None:
    """Each message names the setting."""
    with pytest.raises(StatisticsError, match="early_e: 1 is out of range"):
        StoppingRule(early_e=1)
    with pytest.raises(StatisticsError, match="final_level: 0 is out of range"):
        StoppingRule(final_level=0)
    with pytest.raises(StatisticsError, match="horizon: nan is out of range"):
        StoppingRule(horizon=math.nan)  # type: ignore[arg-type]
    with pytest.raises(StatisticsError, match="horizon: 0 is out of range"):
        StoppingRule(horizon=0)
    with pytest.raises(StatisticsError, match="must stay below 1"):
        StoppingRule(early_e=2, final_level=0.6)
    with pytest.raises(StatisticsError, match="no readings"):
        replay([])
    with pytest.raises(StatisticsError, match="'bh' is not known"):
        Family.of([DIE], method="bh")  # type: ignore[arg-type]
