"""Tests of evidence for calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, ncx2

from worldodds.errors import StatisticsError
from worldodds.outcome import Reference
from worldodds.statistics import certify, log_e_calibrated, three_way

COIN = Reference.uniform(2)
CARDS = Reference.uniform(4)


@pytest.mark.parametrize(
    ("scene", "model", "delta"),
    [
        ("ball", "happyhorse", 0.161),
        ("walking", "runway45", 0.185),
        ("walking", "cosmos3_super", 0.187),
        ("lottery", "seedance", 0.571),
    ],
)
def test_published_certificates(grid, scene: str, model: str, delta: float) -> None:
    """The certified delta of four published cells."""
    found = certify(grid.published[scene, model], grid.references[scene])
    assert found.certified_delta == pytest.approx(delta, abs=5e-4)
    assert found.certified == (delta <= 0.2)


def test_only_three_published_cells_are_calibrated(grid) -> None:
    """Of the cells that are not rejected, three are certified within 0.2: not significant is not calibrated."""
    kept = [k for k in grid.keys if k not in grid.rejected and grid.published[k].n >= 4]
    certified = {k for k in kept if certify(grid.published[k], grid.references[k[0]]).certified}
    assert len(kept) == 14
    assert certified == {("ball", "happyhorse"), ("walking", "runway45"), ("walking", "cosmos3_super")}


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.5, 0.3, 1.0]))
def test_two_outcomes_are_two_exact_one_sided_tests(a: int, b: int, p: float) -> None:
    """The bound is the wider side of a 90% Clopper-Pearson interval about p0 (scipy)."""
    if a + b == 0:
        return
    shown = binomtest(a, a + b).proportion_ci(0.90, method="exact")
    found = certify([a, b], Reference.of([p, 1 - p])).certified_delta
    assert found == pytest.approx(max(shown.high - p, p - shown.low), abs=1e-9)


def test_more_outcomes_follow_the_non_central_chi_squared() -> None:
    """At the certified delta the lower tail of the non-central law is exactly alpha."""
    counts = np.array([12, 9, 20, 9])
    found = certify(counts, CARDS, alpha=0.05).certified_delta
    statistic = ((counts - 12.5) ** 2 / 12.5).sum()
    assert found is not None
    assert ncx2.cdf(statistic, 3, 4 * 50 * found**2) == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize("n", [4, 8, 400])
def test_a_perfect_fit_is_never_certified_within_nothing(n: int) -> None:
    """Counts exactly in proportion leave a bound above 0 that shrinks with n."""
    fit = certify([n // 4] * 4, CARDS)
    assert fit.certified_delta is not None
    assert 0.3 / math.sqrt(n) < fit.certified_delta


def test_odds_of_zero_count() -> None:
    """Mass on outcomes that cannot happen is bounded too, seen or not."""
    blind = Reference.of(["1/3", "1/3", "1/3", "0"])
    unseen, seen = certify([30, 30, 30, 0], blind), certify([28, 29, 28, 5], blind)
    assert unseen.certified_delta is not None
    assert seen.certified_delta is not None
    assert unseen.certified_delta > 1 - 0.025 ** (1 / 90)
    assert seen.certified_delta > 5 / 90 + unseen.certified_delta / 2
    assert certify([20, 0, 0], Reference.of([1, 0, 0])).certified_delta == pytest.approx(1 - 0.025 ** (1 / 20))


def test_without_outcomes_there_is_a_reason_instead_of_a_number() -> None:
    """No valid outcome: None, and why."""
    nothing = certify([0, 0], COIN)
    assert (nothing.certified_delta, nothing.certified) == (None, False)
    assert nothing.reason == "no valid outcome was seen"


@pytest.mark.parametrize("n", [32, 60])
def test_false_certificates_of_a_fork(n: int) -> None:
    """At a TV of exactly delta a fork is certified with probability at most alpha (exact sum)."""
    certified = [certify([x, n - x], COIN, delta=0.2).certified for x in range(n + 1)]
    assert binom.pmf(range(n + 1), n, 0.7) @ certified <= 0.05


def test_false_certificates_of_cards() -> None:
    """At the least favourable truth on TV = delta, half the cards up and half down, at most about 5% are certified."""
    rng = np.random.default_rng(5)
    draws = rng.multinomial(80, [0.35, 0.35, 0.15, 0.15], size=1000)
    assert np.mean([certify(x, CARDS, delta=0.2).certified for x in draws]) < 0.07


def _e_by_definition(counts: np.ndarray, p: np.ndarray, delta: float) -> float:
    """Log of the ratio of likelihoods, its denominator maximised over odds at TV >= delta event by event."""
    n, k = counts.sum(), len(p)
    share = counts / n
    best = math.inf
    for mask in range(1, 2**k - 1):
        event = np.array([mask >> j & 1 for j in range(k)], dtype=bool)
        far, seen = p[event].sum() + delta, share[event].sum()
        if far <= 1:
            pairs = [(seen, far), (1 - seen, 1 - far)]
            kl = sum(0 if a <= 0 else math.inf if b <= 0 else a * math.log(a / b) for a, b in pairs)
            best = min(best, kl if seen < far else 0.0)
    fit = sum(a * math.log(a / b) for a, b in zip(share, p, strict=True) if a > 0)
    return n * (best - fit)


@given(
    st.sampled_from([Reference.uniform(3), Reference.binomial(4), Reference.of(["18/37", "18/37", "1/37"])]),
    st.lists(st.integers(0, 12), min_size=5, max_size=5),
    st.sampled_from([0.05, 0.2, 0.4]),
)
def test_e_for_calibration_by_brute_force(reference: Reference, numbers: list[int], delta: float) -> None:
    """Looking at every event gives what the grouped search gives."""
    counts = np.array(numbers[: reference.k])
    if counts.sum() == 0:
        return
    expected = _e_by_definition(counts, reference.probabilities, delta)
    assert log_e_calibrated(counts, reference, delta=delta) == pytest.approx(expected, abs=1e-9)


def test_three_verdicts() -> None:
    """A balanced fork is certified, a stuck one rejected, a short one left open."""
    assert three_way([0, 1] * 60, COIN, delta=0.2).verdict == "calibrated"
    assert three_way([0] * 20, COIN, delta=0.2).verdict == "miscalibrated"
    short = three_way([0, 1, None, 1], COIN, delta=0.2)
    assert (short.verdict, short.used) == ("undecided", 4)


def test_three_way_errors_stay_below_alpha() -> None:
    """Forks at exactly TV = delta are certified, and fair ones rejected, in at most 5% of 400 sequences each."""
    rng = np.random.default_rng(7)
    fair = [three_way(list(map(int, rng.random(128) < 0.5)), COIN).verdict for _ in range(400)]
    bent = [three_way(list(map(int, rng.random(128) < 0.7)), COIN).verdict for _ in range(400)]
    assert fair.count("miscalibrated") / 400 < 0.05
    assert bent.count("calibrated") / 400 < 0.05
    assert fair.count("calibrated") / 400 > 0.9


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 1.5])
def test_refuses_a_delta_out_of_range(wrong: float) -> None:
    """Names delta and the range."""
    with pytest.raises(StatisticsError, match=r"delta: .* must lie between 0 and 1"):
        certify([5, 5], COIN, delta=wrong)
    with pytest.raises(StatisticsError, match="alpha: "):
        certify([5, 5], COIN, alpha=wrong)


def test_refuses_too_many_events() -> None:
    """Thirty different odds cannot be searched; the message says how many can."""
    total = sum(range(1, 31))
    uneven = Reference.of([f"{j}/{total}" for j in range(1, 31)])
    with pytest.raises(StatisticsError, match="200000 events"):
        log_e_calibrated([1] * 30, uneven)
