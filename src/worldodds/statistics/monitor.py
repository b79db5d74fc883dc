"""Buy rollouts one at a time and stop as soon as the verdict is known: the hybrid rule with a fixed horizon.

A cell is rejected early once its e-value reaches `early_e`, else tested once, at the horizon, by exact G at
`final_level`; the two chances of a false alarm add up to 1 / early_e + final_level. It is given up as illegible when
four valid outcomes within the horizon have become improbable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from scipy.special import betaln, comb

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics.cell import need_known_odds
from worldodds.statistics.checks import LEAST_VALID, check_level, check_rate, check_size
from worldodds.statistics.equivalence import certify
from worldodds.statistics.robustness import p_with_error_rate
from worldodds.statistics.sequential import check_outcomes, log_bets, log_e_of

EARLY = ("early e-value", "declared")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """When to stop buying rollouts of a cell.

    Attributes:
        horizon: rollouts bought at most, nulls included.
        early_e: reject as soon as the e-value reaches this.
        final_level: level of exact G at the horizon.
        illegible_below: stop when the chance of four valid outcomes by the horizon falls below this.
        delta: certify calibration within this TV at the horizon; ``None`` asks for no certificate.
        judge_error: upper bound on the share of wrong labels; "miscalibrated" then holds against any such labels.

    Raises:
        StatisticsError: a setting out of range, or levels that add up to 1 or more.
    """

    horizon: int = 32
    early_e: float = 100.0
    final_level: float = 0.04
    illegible_below: float = 0.05
    delta: float | None = None
    judge_error: float = 0.0

    def __post_init__(self) -> None:
        check_size("horizon", self.horizon)
        check_level("final_level", self.final_level)
        check_level("illegible_below", self.illegible_below)
        if self.delta is not None:
            check_level("delta", self.delta)
        check_rate("judge_error", self.judge_error)
        if not 1 < self.early_e < math.inf:
            raise StatisticsError(f"early_e: {self.early_e} is out of range; it must be above 1 and finite")
        if self.alpha >= 1:
            raise StatisticsError(f"early_e, final_level: 1/{self.early_e} + {self.final_level} must stay below 1")

    @property
    def alpha(self) -> float:
        """Chance, at most, that a calibrated cell is called miscalibrated."""
        return 1 / self.early_e + self.final_level


@dataclass(slots=True, kw_only=True)
class Monitor:
    """Follow one cell: feed readings in index order, ask for the verdict and what is still worth buying.

    Readings fed after a stop are refused: they would not have been bought. With ``alone`` false the cell does not stop
    on its own e-value: the family it belongs to declares it (see `family`). A rollout that the provider refused is
    passed over: it is no null, and the horizon comes one rollout nearer.

    Raises:
        StatisticsError: an outcome outside 0 .. k-1, a reading after the stop, odds that were counted in an experiment.

    >>> die = Monitor(reference=Reference.uniform(6))
    >>> while die.worth_buying:
    ...     die.feed(5)
    >>> die.verdict, die.used, die.stopped_by
    ('miscalibrated', 5, 'early e-value')
    """

    reference: Reference
    rule: StoppingRule = field(default_factory=StoppingRule)
    alone: bool = True
    seen: list[int] = field(init=False)
    nulls: int = field(init=False, default=0)
    refused: int = field(init=False, default=0)
    max_log_e: float = field(init=False, default=0.0)
    log_e: float = field(init=False, default=0.0)
    stopped_by: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        need_known_odds(self.reference, "stopping early")
        self.seen = [0] * self.reference.k

    def feed(self, outcome: int | None) -> None:
        """Take the next reading: a 0-based outcome, or ``None`` for a null."""
        if self.stopped_by:
            raise StatisticsError(f"outcome: the cell stopped after {self.used} rollouts ({self.stopped_by})")
        check_outcomes([outcome], self.reference.k)
        if outcome is None:
            self.nulls += 1
        else:
            self._bet(outcome)
            self.max_log_e = max(self.max_log_e, self.log_e)
        self.stopped_by = self._reason_to_stop()

    def pass_over(self) -> None:
        """Take note that the next rollout was refused by the provider: neither an outcome nor a null."""
        if self.stopped_by:
            raise StatisticsError(f"refused: the cell stopped after {self.used} rollouts ({self.stopped_by})")
        self.refused += 1
        self.stopped_by = self._reason_to_stop()

    def declare(self, *, miscalibrated: bool = True) -> None:
        """Stop because the family calls the cell miscalibrated, or go on because it no longer does."""
        if miscalibrated and self.stopped_by is None:
            self.stopped_by = "declared"
        elif not miscalibrated and self.stopped_by == "declared":
            self.stopped_by = None

    @property
    def counts(self) -> Counts:
        """What was seen so far (nulls are booked as unreadable)."""
        return Counts(labels=self.reference.labels, counts=tuple(self.seen), unreadable=self.nulls)

    @property
    def used(self) -> int:
        """Rollouts bought so far."""
        return sum(self.seen) + self.nulls

    @property
    def horizon(self) -> int:
        """Rollouts at most that can be read: those of the rule, without the refused ones."""
        return self.rule.horizon - self.refused

    @property
    def worth_buying(self) -> int:
        """Rollouts still worth buying, at most; 0 once the cell has stopped."""
        return 0 if self.stopped_by else self.horizon - self.used

    @property
    def p_value(self) -> float | None:
        """Exact G at the horizon; ``None`` before it and after an early stop, where no fixed-n p-value holds."""
        if self.stopped_by != "horizon" or sum(self.seen) < LEAST_VALID:
            return None
        return p_with_error_rate(self.counts, self.reference, rate=self.rule.judge_error)

    @property
    def anytime_p(self) -> float:
        """P-value that holds at any moment: min(1, (alpha / a1) / max E, (alpha / a2) p_G), a1 + a2 = alpha."""
        rule, p = self.rule, self.p_value
        early = rule.alpha * rule.early_e * math.exp(-self.max_log_e)  # 0 once an impossible outcome was seen
        return min(1.0, early, 1.0 if p is None else rule.alpha / rule.final_level * p)

    @property
    def verdict(self) -> str | None:
        """``miscalibrated``, ``calibrated``, ``undecided`` or ``illegible``; ``None`` while the cell is open."""
        if self.stopped_by is None:
            return None
        if self.stopped_by in EARLY:
            return "miscalibrated"
        p, rule = self.p_value, self.rule
        if p is None:
            return "illegible"
        if p <= rule.final_level:
            return "miscalibrated"
        if rule.delta is not None and certify(self.counts, self.reference, delta=rule.delta).certified:
            return "calibrated"
        return "undecided"

    @property
    def reason(self) -> str:
        """Why there is no fixed-n p-value, in words; empty where there is one."""
        if self.p_value is not None:
            return ""
        if self.stopped_by is None:
            return f"{self.worth_buying} rollouts are open; the test belongs to the horizon"
        if self.stopped_by in EARLY:
            return "stopped early on evidence: fixed-n p-values and intervals do not hold, the e-value does"
        return f"{sum(self.seen)} valid outcomes of {self.used}; a test needs {LEAST_VALID}"

    def _bet(self, outcome: int) -> None:
        p, judge_error, before = self.reference.probabilities, self.rule.judge_error, self.counts.array[None, :]
        self.seen[outcome] += 1
        if judge_error:
            self.log_e += float(log_bets(before, p, judge_error)[0, outcome])
        else:
            self.log_e = float(log_e_of(self.counts.array[None, :], p)[0])

    def _reason_to_stop(self) -> str | None:
        if self.alone and self.max_log_e >= math.log(self.rule.early_e):
            return "early e-value"
        if chance_of_legible(sum(self.seen), self.used, self.horizon) < self.rule.illegible_below:
            return "illegible"
        return "horizon" if self.used >= self.horizon else None


def chance_of_legible(valid: int, bought: int, horizon: int, *, least: int = LEAST_VALID) -> float:
    """Return the predictive chance of ``least`` valid outcomes by the horizon, prior Beta(1, 1).

    >>> round(chance_of_legible(0, 15, 32), 3), round(chance_of_legible(0, 16, 32), 3)
    (0.058, 0.044)
    """
    if valid >= least:
        return 1.0
    left, a, b = horizon - bought, 1 + valid, 1 + bought - valid
    few = range(min(least - valid, left + 1))
    below = math.fsum(float(comb(left, j)) * math.exp(betaln(a + j, b + left - j) - betaln(a, b)) for j in few)
    return max(0.0, 1.0 - below)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A finished source, bought again in index order under a stopping rule.

    Attributes:
        cells: the state of every cell at its end.
        available: rollouts of the source.
    """

    cells: tuple[Monitor, ...]
    available: int

    @property
    def used(self) -> int:
        """Rollouts the rule would have bought."""
        return sum(cell.used for cell in self.cells)

    @property
    def saved_share(self) -> float:
        """Share of the source's rollouts that were not needed."""
        return 1 - self.used / self.available

    @property
    def verdicts(self) -> list[str | None]:
        """Verdict of each cell; ``None`` where the source ends before the rule does."""
        return [cell.verdict for cell in self.cells]


def replay(cells: Sequence[tuple[Reference, Sequence[int | None]]], *, rule: StoppingRule | None = None) -> Replay:
    """Buy every cell's readings again, in index order, until its own stop.

    Args:
        cells: reference and readings (0-based outcomes, ``None`` a null) of each cell, at least one reading each.
        rule: when to stop; by default E >= 100, else exact G at 0.04 after 32 rollouts.

    Raises:
        StatisticsError: no cells, an outcome outside 0 .. k-1.

    >>> result = replay([(Reference.uniform(6), [5] * 32), (Reference.uniform(2), [0, 1] * 16)])
    >>> result.used, result.verdicts
    (37, ['miscalibrated', 'undecided'])
    """
    available = sum(len(readings) for _, readings in cells)
    if not available:
        raise StatisticsError("cells: there are no readings to replay; give at least one")
    monitors: list[Monitor] = []
    for reference, readings in cells:
        monitor = Monitor(reference=reference, rule=rule or StoppingRule())
        for reading in readings:
            if not monitor.worth_buying:
                break
            monitor.feed(reading)
        monitors.append(monitor)
    return Replay(cells=tuple(monitors), available=available)
