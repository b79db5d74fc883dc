"""Beyond what can be enumerated: close to the exact laws where both can be had, and quick."""

from __future__ import annotations

import numpy as np
import pytest

from worldodds.outcome import Reference
from worldodds.statistics.distance import null_band, null_floor
from worldodds.statistics.exact import multinomial_test
from worldodds.statistics.large import chi2_tail, g_tail, is_large, tv_band

# counts below the border, where the exact test can be had too
NEAR = [
    (Reference.uniform(6), [70, 60, 75, 62, 58, 75]),
    (Reference.uniform(4), [190, 160, 175, 175]),
    (Reference.binomial(10), [0, 3, 8, 20, 40, 60, 38, 20, 8, 2, 1]),
    (Reference.uniform(20), [6] * 10 + [4] * 5 + [8] * 5),
]


@pytest.mark.parametrize(("reference", "counts"), NEAR)
def test_g_is_close_to_exact(reference: Reference, counts: list[int]) -> None:
    """Within 3% of the exact p-value."""
    exact = multinomial_test(counts, reference)
    assert not is_large(exact.n, reference.k)
    assert g_tail(exact.statistic, reference.probabilities, exact.n) == pytest.approx(exact.p_value, rel=0.03)


def test_chi_squared_has_the_right_moments() -> None:
    """Against simulation of a die at n = 3,000."""
    p, rng, n = np.full(6, 1 / 6), np.random.default_rng(0), 3000
    drawn = ((rng.multinomial(n, p, size=40_000) - n * p) ** 2 / (n * p)).sum(axis=1)
    for value in (2.0, 5.0, 11.0):
        assert chi2_tail(value, p, n) == pytest.approx((drawn >= value).mean(), abs=0.008)


@pytest.mark.parametrize(("reference", "counts"), NEAR)
def test_the_band_is_close_to_exact(reference: Reference, counts: list[int]) -> None:
    """Within a tenth of its own width."""
    n = sum(counts)
    exact = null_band(reference, n)
    close = tv_band(reference.probabilities, n, null_floor(reference, n), 0.95)
    assert close == pytest.approx(exact, abs=0.1 * (exact[1] - exact[0]))


def test_large_cells_say_that_they_are_approximate() -> None:
    """No silent change of method, and no wait."""
    found = multinomial_test([1700, 1600, 1700, 1650, 1650, 1700], Reference.uniform(6))
    assert found.method == "approximate (n = 10000 is too large to be exact)"
    assert 0 < found.p_value < 1
    assert multinomial_test([10_000, 0, 0, 0, 0, 0], Reference.uniform(6)).p_value < 1e-200
