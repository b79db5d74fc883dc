"""Claims about the double pendulum's motion and about how fast it forgets its start."""

from __future__ import annotations

import math

import numpy as np
import pytest

from worldodds.errors import InputError
from worldodds.worlds import mixing


def from_the_textbook(a, b, va, vb):
    """The usual closed form for equal masses, written independently of ours."""
    g, l1, l2 = mixing.GRAVITY_M_S2, mixing.INNER_LENGTH_M, mixing.OUTER_LENGTH_M
    d = a - b
    below = 3 - math.cos(2 * d)
    first = -3 * g * math.sin(a) - g * math.sin(a - 2 * b)
    first -= 2 * math.sin(d) * (vb * vb * l2 + va * va * l1 * math.cos(d))
    second = 2 * math.sin(d) * (2 * va * va * l1 + 2 * g * math.cos(a) + vb * vb * l2 * math.cos(d))
    return first / (l1 * below), second / (l2 * below)


def test_accelerations_are_those_of_the_textbook():
    """Our arrangement of Lagrange's equations gives the numbers of the usual one."""
    for state in ((1.0, 2.0, 3.0, -4.0), (-0.3, 2.9, 0.0, 11.0), (2.5, 3.7, 0.0, 0.0)):
        ours = mixing.accelerations(state, math.sin, math.cos)
        assert ours == pytest.approx(from_the_textbook(*state), rel=1e-12)


def test_energy_is_kept():
    """Three and a half seconds of friction-free motion change the energy by less than 1 in 10,000."""
    a, b = np.radians(mixing.START_DEG)
    state = (a, b, 0.0, 0.0)
    start = mixing.energy(state)
    for _ in range(2100):
        state = mixing.step(state, math.sin, math.cos)
    assert abs(mixing.energy(state) - start) < 1e-4 * abs(start)


def test_small_swings_have_the_lower_normal_period():
    """Released in its slow normal mode, the pendulum is back after the period of the linear theory."""
    g, l1, l2 = mixing.GRAVITY_M_S2, mixing.INNER_LENGTH_M, mixing.OUTER_LENGTH_M
    stiffness, mass = np.diag([2 * g * l1, g * l2]), np.array([[2 * l1 * l1, l1 * l2], [l1 * l2, l2 * l2]])
    squares, modes = np.linalg.eig(np.linalg.solve(mass, stiffness))
    slow = int(squares.argmin())
    start = 1e-3 * modes[:, slow] / modes[0, slow]
    state = (*start.tolist(), 0.0, 0.0)
    steps = 4000
    period = 2 * math.pi / math.sqrt(squares[slow])
    for _ in range(steps):
        state = mixing.step(state, math.sin, math.cos, period / steps)
    assert state[:2] == pytest.approx(tuple(start), rel=1e-5)


def test_the_start_is_forgotten():
    """At half a second nearly all releases are on one side, after three on both alike."""
    early, late = mixing.mixing_curve(1500, [3.0, 0.5], rng=np.random.default_rng(7))
    assert (early.horizon_s, late.horizon_s) == (0.5, 3.0)
    assert early.low > 0.9
    assert 0.4 < late.low < late.share < late.high < 0.6
    assert late.left / late.n == late.share


def test_interval_of_a_certain_side_is_not_empty():
    """Where all releases agree the interval still has a width."""
    (point,) = mixing.mixing_curve(50, [0.05], rng=np.random.default_rng(1), jitter_deg=0.0)
    assert point.share in {0.0, 1.0}
    assert point.high - point.low == pytest.approx(1 - 0.025 ** (1 / 50))


@pytest.mark.parametrize(("n", "horizons"), [(0, [1.0]), (5, []), (5, [1.0, 0.0])])
def test_refuses_nothing_to_do(n, horizons):
    """No releases, no horizon, or one at the release itself is an error with a sentence."""
    with pytest.raises(InputError, match="n >= 1 releases"):
        mixing.mixing_curve(n, horizons, rng=np.random.default_rng(0))
