"""A goodness-of-fit test by simulation, valid at any size: for cells too large to be enumerated."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from worldodds.errors import StatisticsError
from worldodds.statistics.cell import CountsLike, ReferenceLike, as_cell, need_known_odds
from worldodds.statistics.checks import check_size
from worldodds.statistics.exact import GoodnessOfFit
from worldodds.statistics.tails import TIES

DRAWS = 20_000
_AT_ONCE = 2_000_000  # numbers held in memory


def simulated_test(
    counts: CountsLike, reference: ReferenceLike, *, rng: np.random.Generator, draws: int = DRAWS
) -> GoodnessOfFit:
    """Test whether valid outcomes came from the reference's odds: G against ``draws`` simulated tables.

    ``p = (b + 1) / (m + 1)``, where b of m simulated tables have a G at least as large as the one seen; ties (values
    equal to 1e-9 relative) count in full. Valid at every number of draws: under the reference P(p <= a) is at most a.
    No p is smaller than 1 / (m + 1), and a repeat with another ``rng`` moves p by about sqrt(p (1 - p) / m).

    Raises:
        StatisticsError: no valid outcome, unknown odds, fewer than 100 draws.

    Source: Hope, J. R. Stat. Soc. B 1968.

    >>> simulated_test([700, 800, 900, 600], [0.25] * 4, rng=np.random.default_rng(0), draws=999).p_value
    0.001
    """
    seen, expected = as_cell(counts, reference)
    need_known_odds(expected, "a simulated test")
    check_size("draws", draws, least=100)
    if seen.n == 0:
        raise StatisticsError("counts: n = 0; a test needs at least 1 valid outcome")
    p0 = expected.probabilities
    value = inf if seen.array[p0 == 0].any() else float(_g(seen.array[None, :], p0)[0])
    threshold = value * (1 - TIES) - 1e-12
    step = max(1, _AT_ONCE // expected.k)
    beyond = 0
    for begin in range(0, draws, step):
        drawn = rng.multinomial(seen.n, p0, size=min(step, draws - begin))  # (tables, k)
        beyond += int(np.count_nonzero(_g(drawn, p0) >= threshold))
    return GoodnessOfFit(
        statistic=value, p_value=(beyond + 1) / (draws + 1), n=seen.n, method=f"simulated ({draws} draws, Hope 1968)"
    )


def _g(tables: NDArray[np.int64], p0: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 2 sum x ln(x / e) of each table (tables, k) over the outcomes that the reference allows."""
    x, expected = tables[:, p0 > 0], tables.sum(axis=1, keepdims=True) * p0[p0 > 0]
    return 2 * xlogy(x, x / expected).sum(axis=1)
