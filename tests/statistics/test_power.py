"""Tests of what a number of rollouts can see."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics import (
    Monitor,
    StoppingRule,
    certifiable_delta,
    default_spike,
    detectable_tv,
    expected_rollouts,
    multinomial_test,
    plan_scene,
    power_of_test,
    rollouts_by_formula,
    rollouts_needed,
    spiked,
)
from worldodds.statistics.experiment_plan import plan_against_experiment

FORK, ROULETTE = Reference.uniform(2), Reference.of(["18/37", "18/37", "1/37"])
CARDS, DICE, GALTON, LOTTERY = (
    Reference.uniform(4),
    Reference.uniform(6),
    Reference.binomial(10),
    Reference.uniform(20),
)


def test_the_default_spike_is_the_papers() -> None:
    """Centre of the Galton board, green, else the first outcome."""
    assert [default_spike(r) for r in (GALTON, ROULETTE, DICE, FORK)] == [5, 2, 0, 0]


@pytest.mark.parametrize(
    ("reference", "spike", "tv", "power"),
    [
        (GALTON, None, 0.25, 0.54),
        (ROULETTE, 0, 0.25, 0.77),
        (CARDS, None, 0.25, 0.69),
        (DICE, None, 0.25, 0.69),
        (LOTTERY, None, 0.35, 0.96),
    ],
)
def test_power_at_32(reference: Reference, spike: int | None, tv: float, power: float) -> None:
    """Powers of exact G measured independently with 200,000 draws."""
    assert power_of_test(reference, 32, tv=tv, spike=spike) == pytest.approx(power, abs=0.02)


@pytest.mark.parametrize("n", [10, 32])
def test_power_of_a_fork_is_an_exact_sum(n: int) -> None:
    """Adds the binomial probabilities of all counts that the exact test rejects."""
    rejected = [multinomial_test([x, n - x], FORK).p_value <= 0.05 for x in range(n + 1)]
    assert power_of_test(FORK, n, tv=0.3) == pytest.approx(binom.pmf(range(n + 1), n, 0.8) @ rejected, rel=1e-9)


def test_power_at_the_reference_is_at_most_the_level() -> None:
    """Size never exceeds alpha where it is exact."""
    for reference, n in ((FORK, 32), (ROULETTE, 32), (CARDS, 20)):
        assert 0 < power_of_test(reference, n, tv=0.0) <= 0.05


@pytest.mark.parametrize("reference", [FORK, ROULETTE, CARDS, GALTON])
def test_detectable_tv_has_the_asked_power(reference: Reference) -> None:
    """At the answer power is 0.8, a little below it is not."""
    tv = detectable_tv(reference, 32)
    assert tv is not None
    assert power_of_test(reference, 32, tv=tv) >= 0.8
    assert power_of_test(reference, 32, tv=tv - 0.005) < 0.81


def test_nothing_is_detectable_with_two_rollouts() -> None:
    """Even a collapse cannot be told from chance: None, not a number."""
    assert detectable_tv(FORK, 2) is None


@pytest.mark.parametrize(
    ("reference", "needed", "smallest"),
    [
        (ROULETTE, (261, 116, 66), (0.29, 0.23, 0.16, 0.11)),
        (CARDS, (294, 131, 74), (0.30, 0.24, 0.17, 0.12)),
        (DICE, (343, 153, 86), (0.33, 0.26, 0.19, 0.13)),
        (GALTON, (431, 192, 108), (0.37, 0.29, 0.21, 0.15)),
        (LOTTERY, (540, 240, 135), (0.41, 0.33, 0.23, 0.16)),
    ],
)
def test_the_planner_table(reference: Reference, needed: tuple[int, ...], smallest: tuple[float, ...]) -> None:
    """Rollouts to certify 0.1, 0.15 and 0.2, and what 32, 50, 100 and 200 certify: the published plan."""
    assert [rollouts_needed(reference, delta=d) for d in (0.1, 0.15, 0.2)] == pytest.approx(needed, abs=1)
    assert [certifiable_delta(reference, n) for n in (32, 50, 100, 200)] == pytest.approx(smallest, abs=0.0051)


def test_a_fork_is_planned_exactly() -> None:
    """The formula says 54 for delta 0.2; the exact power of the two tests stays at 0.8 from 57 on."""

    def power(n: int) -> float:
        lower, upper = binom.cdf(range(n + 1), n, 0.7) <= 0.05, binom.sf(np.arange(n + 1) - 1, n, 0.3) <= 0.05
        return float(binom.pmf(range(n + 1), n, 0.5) @ (lower & upper))

    assert [rollouts_by_formula(2, delta=d) for d in (0.1, 0.15, 0.2)] == [215, 96, 54]
    assert rollouts_needed(FORK, delta=0.2) == 57
    assert power(54) < 0.8
    assert power(56) < 0.8
    assert all(power(n) >= 0.8 for n in range(57, 120))


def test_rollouts_to_see_a_fork_bend() -> None:
    """From the answer on, and not just before it, exact power is at least 0.8."""
    n = rollouts_needed(FORK, tv=0.2)
    assert all(power_of_test(FORK, m, tv=0.2) >= 0.8 for m in range(n, n + 40))
    assert power_of_test(FORK, n - 1, tv=0.2) < 0.8


def test_a_leaning_pencil_can_be_planned() -> None:
    """A reference with one certain outcome: certifying needs 1 - 0.05^(1/n) within delta, seeing needs one slip."""
    pencil = Reference.of([1, 0])
    assert rollouts_needed(pencil, delta=0.1) == math.ceil(math.log(0.05) / math.log(0.9))
    assert rollouts_needed(pencil, tv=0.1, spike=1) == math.ceil(math.log(0.2) / math.log(0.9))


@pytest.mark.parametrize(("reference", "low", "high"), [(DICE, 4, 7), (LOTTERY, 4, 7), (GALTON, 5, 8)])
def test_a_collapsed_cell_costs_little(reference: Reference, low: int, high: int) -> None:
    """A model that always gives one outcome is settled in a handful of rollouts."""
    tv = 1 - reference.probabilities.max()
    assert low <= expected_rollouts(reference, tv=tv) <= high


def test_a_calibrated_cell_costs_the_horizon() -> None:
    """Early stops at the reference are false alarms, one in a hundred."""
    assert 31.5 < expected_rollouts(CARDS) <= 32


def test_an_unreadable_scene_is_given_up() -> None:
    """At 3% readable rollouts buying stops at about 16."""
    assert 15 < expected_rollouts(FORK, scorability=0.03) < 22


def test_expected_rollouts_allow_for_the_judges_errors_as_the_rule_does() -> None:
    """A rule that allows for wrong labels needs more; a Monitor fed one by one needs as many on average."""
    rule = StoppingRule(judge_error=0.03)
    planned = expected_rollouts(CARDS, tv=0.5, rule=rule, scorability=0.8)
    rng = np.random.default_rng(1)
    used: list[int] = []
    for _ in range(120):
        cell = Monitor(reference=CARDS, rule=rule)
        while cell.worth_buying:
            cell.feed(int(rng.choice(4, p=[0.75, 1 / 12, 1 / 12, 1 / 12])) if rng.random() < 0.8 else None)
        used.append(cell.used)
    assert planned > expected_rollouts(CARDS, tv=0.5, scorability=0.8) + 0.5
    assert abs(planned - np.mean(used)) < 3 * np.std(used) / len(used) ** 0.5 + 0.6


def test_a_plan_counts_nulls() -> None:
    """With 80% readable rollouts everything costs a quarter more, and a TV out of reach is None."""
    plan = plan_scene(ROULETTE, scorability=0.8)
    assert plan.n_to_certify == math.ceil(66 / 0.8)
    assert plan.detectable_tv == detectable_tv(ROULETTE, 25)
    assert plan_scene(FORK, tv=0.6).n_to_detect is None
    assert plan_scene(FORK, tv=0.6).expected_at_tv is None


def test_spikes_reach_what_they_say() -> None:
    """The spiked odds lie at the asked TV and sum to 1."""
    for reference in (GALTON, ROULETTE, LOTTERY):
        q = spiked(reference, 0.3)
        assert np.abs(q - reference.probabilities).sum() / 2 == pytest.approx(0.3)
        assert q.sum() == pytest.approx(1)


@pytest.mark.parametrize("asked", [{"n": 10**9}, {"tv": 1e-9}, {"delta": 1e-9}])
def test_a_plan_that_would_take_for_ever_is_refused(asked: dict[str, float]) -> None:
    """Against known odds and counted ones alike, with what can be planned."""
    (name,) = asked
    with pytest.raises(StatisticsError, match=f"^{name}: .*; give"):
        plan_scene(FORK, **asked)  # type: ignore[arg-type]
    with pytest.raises(StatisticsError, match=f"^{name}: .*; give"):
        plan_against_experiment(Reference.observed([81, 51]), **asked)  # type: ignore[arg-type]


def test_refuses_arguments_out_of_range() -> None:
    """Each message names the argument and what would do."""
    with pytest.raises(StatisticsError, match="give exactly one"):
        rollouts_needed(FORK)
    with pytest.raises(StatisticsError, match=r"a spike on outcome 1 reaches 0 to 0\.5"):
        rollouts_needed(FORK, tv=0.7)
    with pytest.raises(StatisticsError, match="power: 1 is out of range"):
        rollouts_needed(FORK, tv=0.2, power=1)
    with pytest.raises(StatisticsError, match="n: 0 is out of range"):
        detectable_tv(FORK, 0)
    with pytest.raises(StatisticsError, match="spike: 2 is out of range; give an outcome from 0 to 1"):
        detectable_tv(FORK, 32, spike=2)
    with pytest.raises(StatisticsError, match="scorability: 0 is out of range"):
        plan_scene(FORK, scorability=0)
