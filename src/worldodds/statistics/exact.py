"""Exact goodness-of-fit tests of outcomes against their odds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, inf, lcm, lgamma, log

import numpy as np

from worldodds.errors import StatisticsError
from worldodds.statistics.cell import CountsLike, ReferenceLike, as_cell
from worldodds.statistics.enumerate import group_log_total, tables_needed, tail_probability
from worldodds.statistics.large import chi2_tail, g_tail, is_large
from worldodds.statistics.observed import two_sample_p
from worldodds.statistics.tails import MAX_CELLS, TIES, convolved_tail, lattice_tail
from worldodds.statistics.terms import STATISTICS, Group, Statistic, groups_of

MAX_TABLES = 1_500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodnessOfFit:
    """A test of counts against a reference: the statistic seen, its p-value, the valid outcomes, and the method."""

    statistic: float
    p_value: float
    n: int
    method: str


def multinomial_test(counts: CountsLike, reference: ReferenceLike, *, statistic: Statistic = "g") -> GoodnessOfFit:
    """Test whether valid outcomes came from the reference's odds, exactly.

    ``statistic`` is ``"g"`` (likelihood ratio ``2 sum x ln(x / e)``, the default), ``"chi2"`` (Pearson), ``"tv"`` or
    ``"probability"`` (``-2 ln P(x)``). The p-value is the multinomial probability of a value at least as large as the
    one seen; ties, which are values equal to 1e-9 relative, count in full.

    Uniform references up to n = 50, and every table of up to a million points, agree with enumeration to 1e-12
    relative; so does everything small enough to be enumerated in two halves. Beyond that p-values are never below the
    exact ones: within 1e-6 of them for statistics on a lattice (TV, and chi-squared of a uniform reference); else terms
    are rounded up to a grid that is refined until the p-value is within 0.5% of the exact one, and ``method`` says by
    how much it may be above, also where that would take too much memory. P-values keep their accuracy down to the
    smallest float.

    Where more than three outcomes and hundreds of rollouts would take too long (``n (k - 1) > 2500``), G and
    chi-squared are compared with chi-squared and gamma laws of the right moments, and ``method`` says so: G within 1%
    of the exact p-value on a die or a lottery and 20% on a Galton board's far tail, chi-squared rougher there.

    A reference that was counted in an experiment is tested as a second sample, conditional on both samples' margins
    (`observed.two_sample_p`): exact or never below the exact p-value, and nothing is ruled out.

    An outcome that the reference rules out gives p = 0 and an infinite statistic (for TV its value), and ``method``
    says so.

    Raises:
        StatisticsError: no valid outcome, unknown odds, or an unknown statistic.

    Source: Baglivo, Olivier and Pagano, JASA 1992; Keich and Nagarajan, JCGS 2006 (rounded lattices).

    >>> multinomial_test([3, 2, 2, 2, 2, 2, 2, 2, 1, *[0] * 11], [0.05] * 20).p_value.__round__(4)
    0.0687
    """
    if statistic not in STATISTICS:
        raise StatisticsError(f"statistic: {statistic!r} is not one of {', '.join(STATISTICS)}")
    seen, expected = as_cell(counts, reference)
    if seen.n == 0:
        raise StatisticsError("counts: n = 0; a test needs at least 1 valid outcome")
    if expected.counts is not None:
        value, p_value, method = two_sample_p(seen.counts, expected.counts, statistic)
        return GoodnessOfFit(statistic=value, p_value=p_value, n=seen.n, method=method)
    ruled_out = [label for label, x, o in zip(seen.labels, seen.counts, expected.odds, strict=True) if x and not o]
    value, p_value, method = _test(seen.counts, expected.odds, statistic)
    if ruled_out:
        p_value, method = 0.0, f"outcome {ruled_out[0]!r} was seen and has odds 0"
    return GoodnessOfFit(statistic=value, p_value=p_value, n=seen.n, method=method)


@lru_cache(maxsize=65536)
def _test(counts: tuple[int, ...], odds: tuple[Fraction, ...], statistic: Statistic) -> tuple[float, float, str]:
    n = sum(counts)
    groups = groups_of(odds, n, statistic)
    if any(x and not o for x, o in zip(counts, odds, strict=True)):
        return (_tv(counts, odds) if statistic == "tv" else inf), 0.0, ""
    seen = _value(counts, odds, groups)
    threshold = seen * (1 - TIES) - 1e-12
    p_value, method = (1.0, "exact") if threshold <= 0 else _tail(counts, odds, groups, threshold, statistic)
    return _shown(seen, n, statistic), min(1.0, max(p_value, 5e-324)), method


def _tail(
    counts: tuple[int, ...], odds: tuple[Fraction, ...], groups: list[Group], threshold: float, statistic: Statistic
) -> tuple[float, str]:
    n = sum(counts)
    if is_large(n, len(odds)) and statistic in ("g", "chi2"):
        tail = g_tail if statistic == "g" else chi2_tail
        return tail(threshold, np.array([float(o) for o in odds]), n), f"approximate (n = {n} is too large to be exact)"
    if tables_needed(groups, n) <= MAX_TABLES:
        return tail_probability(groups, n, threshold), "exact"
    lattice = _on_lattice(groups, n, threshold, statistic)
    if lattice is not None:
        return lattice_tail(*lattice, n), "exact"
    return _conservative(counts, odds, threshold, statistic)


def _on_lattice(groups: list[Group], n: int, threshold: float, statistic: Statistic) -> tuple[list[Group], int] | None:
    """Groups with whole-number terms, and the threshold, where the statistic lives on a lattice not too fine."""
    total = lcm(*(g.odds.denominator for g in groups))
    x = np.arange(n + 1)
    if statistic == "tv":
        steps = [np.abs(total * x - n * int(g.odds * total)) for g in groups]
        limit = ceil(threshold * total - 1e-6)
    elif statistic == "chi2" and len(groups) == 1:
        # chi2 = k sum x^2 / n - n, and x (x - 1) / 2 sums to (sum x^2 - n) / 2
        steps = [x * (x - 1) // 2]
        limit = ceil(((threshold + n) * n / groups[0].size - n) / 2 - 1e-6)
    else:
        return None
    if limit * (n + 1) > MAX_CELLS:
        return None
    return [replace(g, terms=s.astype(np.float64)) for g, s in zip(groups, steps, strict=True)], limit


def _conservative(
    counts: tuple[int, ...], odds: tuple[Fraction, ...], threshold: float, statistic: Statistic
) -> tuple[float, str]:
    at, atom = np.array([threshold]), _probability_of_likes(counts, odds)
    law = convolved_tail(odds, sum(counts), statistic, at, atom)
    gap = float(law.gap(at, atom)[0])
    return float(law(at)[0]), f"conservative (at most {gap:.2%} above exact)"


def _probability_of_likes(counts: Sequence[int], odds: Sequence[Fraction]) -> float:
    """Probability of the table seen or one that only rearranges outcomes of equal odds, rounded down a little."""
    log_chance = lgamma(sum(counts) + 1)
    for p in {o for o in odds if o}:
        alike = [x for x, o in zip(counts, odds, strict=True) if o == p]
        log_chance += sum(x * log(p) - lgamma(x + 1) for x in alike)
        log_chance += lgamma(len(alike) + 1) - sum(lgamma(alike.count(x) + 1) for x in set(alike))
    return exp(log_chance) * (1 - 1e-9)


def _value(counts: Sequence[int], odds: Sequence[Fraction], groups: list[Group]) -> float:
    tables = {g.odds: g.terms for g in groups}
    return float(sum(tables[o][x] for x, o in zip(counts, odds, strict=True) if o))


def _shown(value: float, n: int, statistic: Statistic) -> float:
    if statistic == "tv":
        return value / (2 * n)
    if statistic == "probability":
        return value + 2 * group_log_total(n)
    return value


def _tv(counts: Sequence[int], odds: Sequence[Fraction]) -> float:
    n = sum(counts)
    return float(sum(abs(x - n * o) for x, o in zip(counts, odds, strict=True)) / (2 * n))
