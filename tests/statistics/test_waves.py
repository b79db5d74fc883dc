"""Waves: what is bought follows from what was seen, and from nothing else."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics.family import replay_family
from worldodds.statistics.waves import EarlyRule, Standing, Step, next_wave

N = 12
Truth = tuple[Reference, list[Step]]


@st.composite
def truths(draw: st.DrawFn, *, refused: bool = True) -> list[Truth]:
    """Draw what every rollout of one to four cells would show, if it were bought."""
    cells: list[Truth] = []
    for _ in range(draw(st.integers(1, 3))):
        k = draw(st.integers(2, 5))
        others: list[Step] = ["null", "refused"] if refused else ["null"]
        favourite = draw(st.integers(0, k - 1))
        one = st.sampled_from([*range(k), *[favourite] * draw(st.sampled_from([0, 4, 40])), *others])
        cells.append((Reference.uniform(k), draw(st.lists(one, min_size=N, max_size=N))))
    return cells


rules = st.builds(EarlyRule, horizon=st.just(N), wave=st.integers(1, 6))


class Buyer:
    """Buys what it is told; ``shown`` is what the ledger holds."""

    def __init__(self, truth: Sequence[Truth], rule: EarlyRule) -> None:
        self.truth, self.rule = truth, rule
        self.shown: list[list[Step]] = [["missing"] * N for _ in truth]

    def ask(self) -> Standing:
        return next_wave([(odds, shown) for (odds, _), shown in zip(self.truth, self.shown, strict=True)], self.rule)

    def finish(self) -> Standing:
        while any((standing := self.ask()).wanted):
            for place, indices in enumerate(standing.wanted):
                for index in indices:
                    self.show(place, index)
        return standing

    def show(self, place: int, index: int) -> None:
        assert self.shown[place][index] in ("missing", "failed"), "what is known is never wanted again"
        self.shown[place][index] = self.truth[place][1][index]

    @property
    def bought(self) -> list[set[int]]:
        return [{i for i, step in enumerate(steps) if step != "missing"} for steps in self.shown]


@settings(max_examples=30)
@given(truths(), rules, st.randoms(use_true_random=False))
def test_an_interrupted_run_buys_what_an_undisturbed_one_buys(
    truth: list[Truth], rule: EarlyRule, rng: random.Random
) -> None:
    """Cut off at any point, with any part of a wave here, in any order: the same rollouts, the same verdicts."""
    calm, hasty = Buyer(truth, rule), Buyer(truth, rule)
    undisturbed = calm.finish()
    while places := [(place, index) for place, indices in enumerate(hasty.ask().wanted) for index in indices]:
        for place, index in rng.sample(places, rng.randint(-(-len(places) // 3), len(places))):
            hasty.show(place, index)
    assert hasty.bought == calm.bought
    assert hasty.ask().family.verdicts == undisturbed.family.verdicts
    assert all(undisturbed.stands)


@settings(max_examples=30)
@given(truths(), rules, st.randoms(use_true_random=False))
def test_what_fails_and_comes_back_changes_no_verdict(truth: list[Truth], rule: EarlyRule, rng: random.Random) -> None:
    """A failed rollout holds its cell, which waits open; at worst others are bought a little further meanwhile."""
    calm, unlucky = Buyer(truth, rule), Buyer(truth, rule)
    undisturbed = calm.finish()
    for _ in range(200):
        wanted = unlucky.ask().wanted
        missing = [(c, i) for c, indices in enumerate(wanted) for i in indices if unlucky.shown[c][i] == "missing"]
        failed = [(c, i) for c, indices in enumerate(wanted) for i in indices if unlucky.shown[c][i] == "failed"]
        if not missing and not failed:
            break
        for place, index in missing:
            if rng.random() < 0.2:
                unlucky.shown[place][index] = "failed"
            else:
                unlucky.show(place, index)
        if failed and (not missing or rng.random() < 0.3):
            unlucky.show(*rng.choice(failed))
    standing = unlucky.ask()
    assert standing.family.verdicts == undisturbed.family.verdicts
    assert all(a >= b for a, b in zip(unlucky.bought, calm.bought, strict=True))


@settings(max_examples=30)
@given(truths(refused=False), rules)
def test_it_buys_what_a_replay_of_the_whole_would_have_bought(truth: list[Truth], rule: EarlyRule) -> None:
    """Reading by reading as `replay_family` does over a finished source, but for the rest of each cell's last wave."""
    buyer = Buyer(truth, rule)
    standing = buyer.finish()
    readings = [(odds, [None if isinstance(step, str) else step for step in steps]) for odds, steps in truth]
    replayed = replay_family(readings, rule=rule.cell)
    assert [cell.used for cell in standing.family.cells] == [cell.used for cell in replayed.cells]
    assert standing.family.verdicts == replayed.verdicts
    waves = [min(-(-cell.used // rule.wave) * rule.wave, N) for cell in replayed.cells]
    assert buyer.bought == [set(range(n)) for n in waves]


def test_a_failed_rollout_is_no_null_and_a_refused_one_neither() -> None:
    """The failed one holds its cell alone; the refused one brings the horizon nearer."""
    coin, rule = Reference.uniform(2), EarlyRule(horizon=8)
    fine: list[Step] = [0, 1, 0, 1, *["missing"] * 4]  # type: ignore[list-item]
    standing = next_wave([(coin, [0, "failed", 0, 1, *["missing"] * 4]), (coin, fine)], rule)
    assert standing.wanted == ((1,), (4, 5, 6, 7))
    assert (standing.family.cells[0].used, standing.family.cells[0].nulls) == (1, 0)
    whole = next_wave([(coin, [0, "refused", 0, 1, 1, 0, 0, 1])], rule)
    assert whole.stands == (True,)
    (cell,) = whole.family.cells
    assert (cell.used, cell.nulls, cell.refused, cell.stopped_by) == (7, 0, 1, "horizon")


def test_all_refused_is_illegible_and_done() -> None:
    """Nothing more is asked of a provider that refuses a scene."""
    standing = next_wave([(Reference.uniform(2), ["refused"] * 8)], EarlyRule(horizon=8))
    assert (standing.stands, standing.family.verdicts) == ((True,), ["illegible"])


def test_one_cell_lowers_no_bar_for_itself() -> None:
    """Declared within its family: alone at E >= 100, among nine calibrated cells only at nine times that."""
    coin, die = Reference.uniform(2), Reference.uniform(6)
    alone = next_wave([(die, [5] * 32)], EarlyRule())
    fair: list[Step] = [0, 1] * 16
    among = next_wave([(die, [5] * 32), *[(coin, fair)] * 8], EarlyRule())
    assert alone.family.cells[0].used < among.family.cells[0].used
    assert among.family.verdicts[0] == "miscalibrated"


def test_a_rule_is_a_line_of_text() -> None:
    """It is read back as it was written; anything else is refused with an example."""
    rule = EarlyRule(horizon=50, early_e=250.5, family="e_bh", alpha=0.1, final_level=1e-5)
    assert EarlyRule.of(rule.text) == rule
    with pytest.raises(StatisticsError, match="it reads like 'early n=32"):
        EarlyRule.of("early")


def test_too_few_for_a_verdict_is_refused() -> None:
    """One sentence."""
    with pytest.raises(StatisticsError, match="3 rollouts are too few to stop early"):
        EarlyRule(horizon=3)
