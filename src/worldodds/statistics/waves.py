"""Which rollouts to buy now: waves of a few a cell, until the family's verdict on each cell stands.

Everything is decided from what was seen, by index, and from nothing else: not from the order in which clips arrived,
nor from where an earlier attempt was cut off. The same readings always lead to the same purchases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics.checks import LEAST_VALID, check_level, check_size
from worldodds.statistics.family import Family, FamilyMethod
from worldodds.statistics.monitor import Monitor, StoppingRule

_NUMBER = r"[0-9.]{1,12}(?:e-?[0-9]{1,3})?"
_LINE = re.compile(
    rf"early n=(?P<n>[0-9]{{1,6}}) e=(?P<e>{_NUMBER}) g=(?P<g>{_NUMBER}) illegible=(?P<i>{_NUMBER}) "
    rf"(?P<family>running_bh|e_bh)=(?P<alpha>{_NUMBER})"
)
WAVE = 4  # rollouts of a cell bought at once: enough to keep a provider busy over nine cells, at most three too many

Step = int | Literal["null", "refused", "failed", "missing"]
"""What is known of one rollout: its 0-based outcome, a null, refused by the provider; else open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyRule:
    """When a run stops buying: the hybrid rule of every cell, declared together, asked in waves.

    Attributes:
        horizon: rollouts of a cell at most.
        early_e, final_level, illegible_below: as in `StoppingRule`.
        family: how the cells of a run share their error rate `alpha`; see `Family`.
        wave: rollouts of a cell that are bought together.

    Raises:
        StatisticsError: a setting out of range, a horizon too short for any test.
    """

    horizon: int = 32
    early_e: float = 100.0
    final_level: float = 0.04
    illegible_below: float = 0.05
    family: FamilyMethod = "running_bh"
    alpha: float = 0.05
    wave: int = WAVE

    def __post_init__(self) -> None:
        if self.horizon < LEAST_VALID:
            told = f"horizon: {self.horizon} rollouts are too few to stop early"
            raise StatisticsError(f"{told}; a verdict needs {LEAST_VALID} valid outcomes")
        check_size("wave", self.wave)
        check_level("alpha", self.alpha)
        assert self.cell

    @property
    def cell(self) -> StoppingRule:
        """The rule of one cell."""
        return StoppingRule(
            horizon=self.horizon,
            early_e=self.early_e,
            final_level=self.final_level,
            illegible_below=self.illegible_below,
        )

    @property
    def text(self) -> str:
        """The rule in one line, as tables of readings carry it; `of` reads it back."""
        numbers = f"n={self.horizon} e={self.early_e!r} g={self.final_level!r} illegible={self.illegible_below!r}"
        return f"early {numbers} {self.family}={self.alpha!r}"

    @classmethod
    def of(cls, text: str) -> EarlyRule:
        """Read a rule from its line.

        Raises:
            StatisticsError: this is no such line.

        >>> EarlyRule.of(EarlyRule(horizon=50).text).horizon
        50
        """
        found = _LINE.fullmatch(text.strip())
        if found is None:
            raise StatisticsError(f"stop: {text!r} is no rule of early stopping; it reads like {EarlyRule().text!r}")
        return cls(
            horizon=int(found["n"]),
            early_e=float(found["e"]),
            final_level=float(found["g"]),
            illegible_below=float(found["i"]),
            family="e_bh" if found["family"] == "e_bh" else "running_bh",
            alpha=float(found["alpha"]),
        )

    def start(self, references: Sequence[Reference]) -> Family:
        """Return the family before anything is bought."""
        fresh = Family.of(references, rule=self.cell, method=self.family)
        return Family(cells=fresh.cells, method=self.family, alpha=self.alpha)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where the cells stand: ``family`` knows what it was fed; ``wanted`` are the indices to buy or read now, by cell.

    A cell that wants nothing has its verdict, or ended before it.
    """

    family: Family
    wanted: tuple[tuple[int, ...], ...]

    @property
    def stands(self) -> tuple[bool, ...]:
        """Say of each cell whether its verdict stands."""
        return tuple(not cell.worth_buying for cell in self.family.cells)


def next_wave(cells: Sequence[tuple[Reference, Sequence[Step]]], rule: EarlyRule) -> Standing:
    """Feed what was seen to the family, index by index in all cells alike, and say which rollouts to buy next.

    A wave that was begun is bought whole, also where a cell's verdict stands before its end: so a run that was cut off
    buys what an undisturbed one buys. Refused rollouts are passed over. A failed one holds its cell, which waits there
    while the others go on; a missing one holds all, so that every cell is asked at the same moment however the run was
    interrupted. A sequence that is shorter than the horizon ends there, as if the next rollout had failed.

    Raises:
        StatisticsError: an outcome outside 0 .. k-1.

    >>> die, coin = Reference.uniform(6), Reference.uniform(2)
    >>> missing = ["missing"] * 32
    >>> next_wave([(die, missing), (coin, missing)], EarlyRule()).wanted
    ((0, 1, 2, 3), (0, 1, 2, 3))
    >>> next_wave([(die, [5] * 8 + missing[8:]), (coin, [0, 1] * 4 + missing[8:])], EarlyRule()).wanted
    ((), (8, 9, 10, 11))
    """
    steps = [steps for _, steps in cells]
    family = rule.start([reference for reference, _ in cells])
    held: dict[int, int] = {}  # index at which a cell waits
    for index in range(rule.horizon):
        going = [place for place, cell in enumerate(family.cells) if cell.worth_buying and place not in held]
        now: dict[int, Step] = {place: _at(steps[place], index) for place in going}
        if "missing" in now.values():
            held |= dict.fromkeys(now, index)
            break
        for place, step in now.items():
            _take(family, place, step, held, index)
        family.settle()
    wanted = [_wanted(cell, steps[place], held.get(place, 0), rule) for place, cell in enumerate(family.cells)]
    return Standing(family=family, wanted=tuple(wanted))


def _at(steps: Sequence[Step], index: int) -> Step:
    return steps[index] if index < len(steps) else "failed"


def _take(family: Family, place: int, step: Step, held: dict[int, int], index: int) -> None:
    cell = family.cells[place]
    if step == "failed":
        held[place] = index
    elif step == "refused":
        cell.pass_over()
    else:
        cell.feed(None if isinstance(step, str) else step)


def _wanted(cell: Monitor, steps: Sequence[Step], held: int, rule: EarlyRule) -> tuple[int, ...]:
    """Return what is open of the wave in which a cell waits; of the one in which it stopped, what was never tried."""
    index = held if cell.worth_buying else cell.used + cell.refused - 1
    end = min((index // rule.wave + 1) * rule.wave, rule.horizon)
    open_steps = ("failed", "missing") if cell.worth_buying else ("missing",)
    return tuple(i for i in range(index, end) if i < len(steps) and steps[i] in open_steps)
