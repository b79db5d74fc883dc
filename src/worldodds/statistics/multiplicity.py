"""Many cells at once: what stays true when fifty-four of them are tested together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import StatisticsError
from worldodds.statistics.checks import check_level


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return q-values: the smallest false discovery rate at which each cell is still declared.

    ``None`` marks a cell that was not tested (fewer than four valid outcomes); it stays out of the family and stays
    ``None``. Putting such cells in with p = 1 would cost power for nothing.

    Raises:
        StatisticsError: a p-value outside [0, 1].

    Source: Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57.

    >>> benjamini_hochberg([0.01, None, 0.02, 0.5])
    [0.03, None, 0.03, 0.5]
    """
    tested, p = _family(p_values)
    order = np.argsort(p, kind="stable")
    ranked = p[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty_like(p)
    q[order] = np.minimum(1.0, np.minimum.accumulate(ranked[::-1])[::-1])
    return _spread(q, tested, len(p_values))


def bonferroni(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values times the number of tested cells, at most 1; ``None`` stays out of the family.

    Raises:
        StatisticsError: a p-value outside [0, 1].

    >>> bonferroni([0.01, None, 0.6])
    [0.02, None, 1.0]
    """
    tested, p = _family(p_values)
    return _spread(np.minimum(1.0, p * len(p)), tested, len(p_values))


def e_bh(e_values: Sequence[float | None], *, alpha: float = 0.05) -> list[bool]:
    """Declare the k cells of largest e-value, k the largest with ``e_(k) >= m / (alpha k)``.

    The false discovery rate is at most ``alpha`` under any dependence between cells and any rule for stopping them.
    Infinite e-values (an outcome that cannot happen was seen) are allowed; ``None`` stays out of the family.

    Raises:
        StatisticsError: a negative e-value, ``alpha`` outside (0, 1).

    Source: Wang and Ramdas (2022), J. R. Stat. Soc. B 84.

    >>> e_bh([100.0, 45.0, 1.0, None])
    [True, True, False, False]
    """
    check_level("alpha", alpha)
    present = [e for e in e_values if e is not None]
    if wrong := [e for e in present if math.isnan(e) or e < 0]:
        raise StatisticsError(f"e_values: {wrong[0]} is no e-value; each must be 0 or more")
    ranked = sorted(present, reverse=True)
    declared = [e for k, e in enumerate(ranked, start=1) if e * alpha * k >= len(ranked)]
    threshold = declared[-1] if declared else math.inf
    return [bool(declared) and e is not None and e >= threshold for e in e_values]


def running_bh(anytime_p: Sequence[float | None], *, alpha: float = 0.05) -> list[bool]:
    """Declare cells by Benjamini-Hochberg on anytime p-values, to be asked again after every rollout.

    A cell may stop being bought only while this set holds it. Stopping cells at a fixed e-value and running
    Benjamini-Hochberg afterwards freezes their p-values too high: in simulation power fell to 0.045.
    With every planned cell in the family from the start, put those without evidence in with p = 1.

    Raises:
        StatisticsError: a p-value outside [0, 1], ``alpha`` outside (0, 1).

    >>> running_bh([0.001, 0.03, 1.0])
    [True, True, False]
    """
    check_level("alpha", alpha)
    return [q is not None and q <= alpha for q in benjamini_hochberg(anytime_p)]


def _family(p_values: Sequence[float | None]) -> tuple[list[int], NDArray[np.float64]]:
    tested = [i for i, p in enumerate(p_values) if p is not None]
    p = np.array([p for p in p_values if p is not None], dtype=float)
    if wrong := [value for value in p.tolist() if not 0 <= value <= 1]:
        raise StatisticsError(f"p_values: {wrong[0]} is no p-value; each must lie between 0 and 1")
    return tested, p


def _spread(values: NDArray[np.float64], tested: list[int], size: int) -> list[float | None]:
    spread: list[float | None] = [None] * size
    for index, value in zip(tested, values.tolist(), strict=True):
        spread[index] = value
    return spread
