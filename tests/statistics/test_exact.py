"""Exact tests: against slow enumeration, published figures and the ties that trap rounding."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, factorial, inf, log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, false_discovery_control, multinomial

from worldodds.errors import StatisticsError
from worldodds.outcome import Counts, Reference
from worldodds.statistics.exact import GoodnessOfFit, multinomial_test
from worldodds.statistics.shapes import shape_numbers, shapes
from worldodds.statistics.terms import STATISTICS


def value_of(x: tuple[int, ...], odds: tuple[Fraction, ...], statistic: str) -> float:
    """Return the statistic of one table, the slow way."""
    n = sum(x)
    pairs = [(c, float(n * o)) for c, o in zip(x, odds, strict=True) if o]
    if statistic == "g":
        return 2 * sum(c * log(c / e) for c, e in pairs if c)
    if statistic == "chi2":
        return sum((c - e) ** 2 / e for c, e in pairs)
    if statistic == "tv":
        return sum(abs(c - e) for c, e in pairs) / (2 * n)
    return -2 * log(factorial(n) / prod(map(factorial, x)) * prod(o**c for o, c in zip(odds, x, strict=True)))


@lru_cache(maxsize=64)
def law_of(odds: tuple[Fraction, ...], n: int, statistic: str) -> list[tuple[float, Fraction]]:
    """Value and exact probability of every possible table."""
    ranges = [range(n + 1) if o else range(1) for o in odds]
    possible = [x for x in product(*ranges[:-1]) if sum(x) <= n and (odds[-1] or sum(x) == n)]
    tables = [(*x, n - sum(x)) for x in possible]
    return [
        (
            value_of(x, odds, statistic),
            factorial(n) // prod(map(factorial, x)) * prod(o**c for o, c in zip(odds, x, strict=True)),
        )
        for x in tables
    ]


def p_by_enumeration(x: tuple[int, ...], odds: tuple[Fraction, ...], statistic: str) -> float:
    """Exact p-value in fractions, ties in full."""
    seen = value_of(x, odds, statistic)
    return float(sum(p for v, p in law_of(odds, sum(x), statistic) if v >= seen - 1e-9 * max(1.0, abs(seen))))


@st.composite
def small_cells(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Draw odds of two to four outcomes, some 0, and counts that they allow."""
    weights = draw(st.lists(st.integers(0, 6), min_size=2, max_size=4).filter(sum))
    odds = tuple(Fraction(w, sum(weights)) for w in weights)
    x = tuple(draw(st.integers(0, 4)) if o else 0 for o in odds)
    return (x, odds) if sum(x) else (tuple(int(i == odds.index(max(odds))) for i in range(len(odds))), odds)


@pytest.mark.parametrize("statistic", STATISTICS)
@given(cell=small_cells())
def test_agrees_with_enumeration(statistic, cell):
    """Equals the sum over all tables to 1e-12, whatever the odds, zeros and point masses included."""
    x, odds = cell
    found = multinomial_test(x, Reference.of(odds), statistic=statistic)
    assert found.p_value == pytest.approx(p_by_enumeration(x, odds, statistic), rel=1e-12)
    assert found.statistic == pytest.approx(value_of(x, odds, statistic), rel=1e-9, abs=1e-9)
    assert found.method == "exact"


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(("size", "n"), [(20, 32), (20, 50), (6, 50), (11, 41), (50, 50)])
def test_uniform_laws_sum_to_one_and_are_exact(statistic, size, n):
    """Uniform references up to n = 50 are listed in full: the least extreme table has p = 1."""
    even = [n // size + (i < n % size) for i in range(size)]
    found = multinomial_test(even, Reference.uniform(size), statistic=statistic)
    assert found.method == "exact"
    assert found.p_value == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_half_lists_agree_with_every_single_table(statistic):
    """Uneven odds, 142,506 tables listed one by one: the two halves that meet give the same p-values."""
    odds = np.array([0.3, 0.3, 0.2, 0.1, 0.05, 0.05])
    n, reference = 25, Reference.of(odds.tolist())
    bars = np.array([x for x in product(range(n + 1), repeat=2) if sum(x) <= n])
    tables = np.concatenate([_extend(b, n) for b in bars])
    assert len(tables) == comb(n + 5, 5)
    mass, e = multinomial.pmf(tables, n, odds), n * odds
    with np.errstate(divide="ignore", invalid="ignore"):
        values = {
            "g": 2 * np.nansum(np.where(tables > 0, tables * np.log(tables / e), 0.0), axis=1),
            "chi2": ((tables - e) ** 2 / e).sum(axis=1),
            "tv": np.abs(tables - e).sum(axis=1) / (2 * n),
            "probability": -2 * multinomial.logpmf(tables, n, odds),
        }[statistic]
    for row in np.random.default_rng(0).integers(len(tables), size=12):
        wanted = mass[values >= values[row] - 1e-9 * max(1.0, values[row])].sum()
        found = multinomial_test(tables[row].tolist(), reference, statistic=statistic)
        assert found.p_value == pytest.approx(wanted, rel=1e-10)


def _extend(start: np.ndarray, n: int) -> np.ndarray:
    left = n - int(start.sum())
    rest = [x for x in product(range(left + 1), repeat=3) if sum(x) <= left]
    return np.array([(*start, *x, left - sum(x)) for x in rest])


def test_ties_count_in_full():
    """Tables with the same value to the last digit are not split: the two cases that rounding gets wrong."""
    lottery = multinomial_test([3, *[2] * 7, 1, *[0] * 11], Reference.uniform(20))
    assert lottery.p_value == pytest.approx(0.0687, abs=5e-5)
    dice = multinomial_test([0, 0, 2, 3, 3, 4], Reference.uniform(6))
    assert dice.p_value == pytest.approx(0.1355, abs=5e-5)


def test_published_verdicts(published, references, cell_table):
    """28 of the 44 testable cells are significant by chi-squared after Benjamini-Hochberg, and 30 by G."""
    tested = [key for key, seen in published.items() if seen.n >= 4]
    assert len(tested) == 44
    for statistic, wanted in (("chi2", 28), ("g", 30)):
        p = [multinomial_test(published[k], references[k[0]], statistic=statistic).p_value for k in tested]
        assert (false_discovery_control(p) < 0.05).sum() == wanted
    for row in cell_table:
        seen = published[row["scene"], row["model"]]
        if seen.n:
            found = multinomial_test(seen, references[row["scene"]], statistic="chi2")
            assert found.statistic == pytest.approx(float(row["chi2"]), abs=5.1e-3)


def test_published_p_values_agree_with_the_papers_monte_carlo(published, references):
    """Within the noise of 50,000 draws, which is what the paper had."""
    for key, wanted in {
        ("galton_board_real", "happyhorse"): 0.00356,
        ("galton_board", "veo31"): 0.05692,
        ("ball", "wan"): 0.00712,
        ("dice", "cosmos3_super"): 0.01112,
        ("cards", "happyhorse"): 0.00778,
        ("lottery", "cosmos3_super"): 0.69631,
        ("roulette", "veo31"): 0.48967,
    }.items():
        found = multinomial_test(published[key], references[key[0]], statistic="chi2")
        assert found.p_value == pytest.approx(wanted, abs=4 * (wanted * (1 - wanted) / 50_000) ** 0.5)


def test_published_lottery(published, references):
    """SeeDance's lottery has exact chi-squared p = 0.0476385, where Monte Carlo says 0.0490."""
    found = multinomial_test(published["lottery", "seedance"], references["lottery"], statistic="chi2")
    assert found == GoodnessOfFit(
        statistic=pytest.approx(31.0), p_value=pytest.approx(0.0476385, abs=5e-8), n=24, method="exact"
    )


@given(st.integers(1, 60), st.data(), st.sampled_from(["1/2", "1/3", "9/10", "1/100"]))
def test_fork_is_the_two_sided_binomial_test(n, data, left):
    """For two outcomes the probability ordering is scipy's two-sided binomial test."""
    x = data.draw(st.integers(0, n))
    found = multinomial_test([x, n - x], Reference.of([left, 1 - Fraction(left)]), statistic="probability")
    assert found.p_value == pytest.approx(binomtest(x, n, float(Fraction(left))).pvalue, rel=1e-6)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(("size", "n"), [(2, 660), (6, 50), (6, 150), (20, 50)])
def test_tiny_p_values_keep_their_digits(statistic, size, n):
    """A collapsed cell has p = k^(1 - n) by every statistic, down to 1e-200, listed or not."""
    found = multinomial_test([n, *[0] * (size - 1)], Reference.uniform(size), statistic=statistic)
    assert found.p_value == pytest.approx(
        float(Fraction(size) ** (1 - n)), rel=1e-11 if found.method == "exact" else 5e-3
    )


def test_tiny_p_value_of_a_table_too_large_to_list():
    """One outcome only, 260 times on a die: p = 6^-259 = 3e-202, never below and within 0.5%."""
    found = multinomial_test([260, 0, 0, 0, 0, 0], Reference.uniform(6))
    assert found.method.startswith("conservative")
    assert 1 <= found.p_value / float(Fraction(6) ** -259) < 1.005


@pytest.mark.parametrize(
    ("counts", "statistic"),
    [
        ((3, 0, 1, 5, 9, 16, 12, 3, 1, 0, 0), "g"),
        ((0, 0, 4, 4, 9, 16, 12, 3, 2, 0, 0), "chi2"),
        ((0, 0, 4, 4, 9, 16, 12, 3, 2, 0, 0), "probability"),
        ((0, 1, 4, 4, 9, 16, 12, 3, 1, 0, 0), "tv"),
    ],
)
def test_large_tables_are_never_below_and_within_half_a_percent(counts, statistic, monkeypatch):
    """Where tables are too many to list, the p-value lies from the exact one to 0.5% above it."""
    monkeypatch.setattr("worldodds.statistics.exact.MAX_CELLS", 0)
    monkeypatch.setattr("worldodds.statistics.exact.MAX_TABLES", 1e7)
    multinomial_test.__globals__["_test"].cache_clear()
    exact = multinomial_test(counts, Reference.binomial(10), statistic=statistic)
    assert exact.method == "exact"
    monkeypatch.setattr("worldodds.statistics.exact.MAX_TABLES", 0)
    multinomial_test.__globals__["_test"].cache_clear()
    rounded = multinomial_test(counts, Reference.binomial(10), statistic=statistic)
    multinomial_test.__globals__["_test"].cache_clear()
    assert rounded.method.startswith("conservative")
    assert exact.p_value <= rounded.p_value <= 1.005 * exact.p_value


@pytest.mark.parametrize("statistic", ["chi2", "tv"])
def test_lattice_agrees_with_lists(statistic, monkeypatch):
    """Chi-squared and TV on their lattice give what listing gives."""
    counts, reference = [9, 1, 4, 4, 2, 12], Reference.uniform(6)
    listed = multinomial_test(counts, reference, statistic=statistic).p_value
    monkeypatch.setattr("worldodds.statistics.exact.MAX_TABLES", 0)
    multinomial_test.__globals__["_test"].cache_clear()
    lattice = multinomial_test(counts, reference, statistic=statistic)
    multinomial_test.__globals__["_test"].cache_clear()
    assert lattice.method == "exact"
    assert 1 - 1e-12 <= lattice.p_value / listed < 1 + 1e-6


def test_impossible_outcome_gives_zero_and_says_so():
    """An outcome with odds 0 cannot come from the reference, by any statistic."""
    pencil = Reference.of([1, 0], labels=["falls left", "falls right"])
    for statistic in STATISTICS:
        found = multinomial_test(Counts.of([9, 1], labels=pencil.labels), pencil, statistic=statistic)
        assert found.p_value == 0
        assert found.method == "outcome 'falls right' was seen and has odds 0"
        assert found.statistic == (pytest.approx(0.1) if statistic == "tv" else inf)
    assert multinomial_test([10, 0], pencil).p_value == 1


def test_point_mass_beside_real_chances():
    """An impossible outcome that was not seen changes nothing."""
    with_zero = multinomial_test([3, 9, 0], Reference.of(["1/2", "1/2", 0]))
    assert with_zero.p_value == pytest.approx(multinomial_test([3, 9], Reference.uniform(2)).p_value, rel=1e-14)


def test_shapes_count_every_arrangement():
    """Arrangements of the shapes of n over k outcomes add up to all tables, and shapes are as many as partitions."""
    rows, log_arrangements = shapes(6, 12, whole=True)
    assert np.exp(log_arrangements).sum() == pytest.approx(comb(17, 5))
    assert len(rows) == shape_numbers(6, 12)[12]
    rows, log_arrangements = shapes(3, 9, whole=False)
    assert np.exp(log_arrangements).sum() == pytest.approx(comb(12, 3))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: multinomial_test([0, 0], [0.5, 0.5]), "n = 0"),
        (lambda: multinomial_test([1, 2], [0.5, 0.5], statistic="G"), "statistic: 'G' is not one of g, chi2"),
        (lambda: multinomial_test([1, 2.5], [0.5, 0.5]), "2.5 is not a whole number"),
        (lambda: multinomial_test([1, 2], [0.7, 0.5]), "not to 1"),
    ],
)
def test_bad_input_is_named(call, words):
    """Refuses what it cannot test, naming the argument."""
    with pytest.raises(StatisticsError, match=words):
        call()
