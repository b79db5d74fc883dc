"""Tests of many cells at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from worldodds.errors import StatisticsError
from worldodds.statistics import benjamini_hochberg, bonferroni, e_bh, running_bh

shares = st.floats(0, 1)


@given(st.lists(shares, min_size=1, max_size=30))
def test_q_values_are_scipys(p_values: list[float]) -> None:
    """Agrees with an independent implementation."""
    assert benjamini_hochberg(p_values) == pytest.approx(false_discovery_control(p_values), rel=1e-12)


@given(st.lists(st.one_of(st.none(), shares), max_size=20))
def test_untested_cells_change_nothing(p_values: list[float | None]) -> None:
    """A cell that was not tested stays None and leaves the others' q-values alone."""
    tested = [p for p in p_values if p is not None]
    q_values = benjamini_hochberg(p_values)
    assert [q for q in q_values if q is not None] == benjamini_hochberg(tested)
    assert [q is None for q in q_values] == [p is None for p in p_values]


@given(st.lists(shares, min_size=1, max_size=20))
def test_q_lies_between_p_and_bonferroni(p_values: list[float]) -> None:
    """Costs something, and never more than Bonferroni."""
    for p, q, b in zip(p_values, benjamini_hochberg(p_values), bonferroni(p_values), strict=True):
        assert q is not None
        assert b is not None
        assert p - 1e-15 <= q <= b + 1e-15


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_e_bh_is_bh_on_inverse_e_values(e_values: list[float]) -> None:
    """Declares what Benjamini-Hochberg declares on p = 1 / e."""
    q_values = benjamini_hochberg([min(1.0, 1 / e) if e > 0 else 1.0 for e in e_values])
    near = any(q is not None and abs(q - 0.05) < 1e-9 for q in q_values)
    assert near or e_bh(e_values) == [q is not None and q <= 0.05 for q in q_values]


def test_published_verdicts(grid) -> None:
    """Thirty of the 44 testable published cells are miscalibrated by exact G."""
    assert len(grid.rejected) == 30


def test_an_infinite_e_value_counts_as_one_cell() -> None:
    """An outcome that cannot happen is declared, and helps no unlike cell over the bar by itself."""
    assert e_bh([math.inf, 1.0, 1.0, 1.0]) == [True, False, False, False]


@pytest.mark.parametrize("wrong", [-0.1, 1.1, np.nan])
def test_refuses_what_is_no_p_value(wrong: float) -> None:
    """Names the value and the range."""
    with pytest.raises(StatisticsError, match=r"p_values: .* between 0 and 1"):
        benjamini_hochberg([0.5, wrong])


def test_refuses_a_level_out_of_range() -> None:
    """Names the argument and the range."""
    with pytest.raises(StatisticsError, match="alpha: 1 is out of range"):
        running_bh([0.5], alpha=1)
    with pytest.raises(StatisticsError, match="e_values: -1"):
        e_bh([-1.0])
