"""How fast the double pendulum forgets its start: P(left) against the time at which one looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from worldodds.errors import InputError

INNER_LENGTH_M = 0.15
OUTER_LENGTH_M = 0.82 * INNER_LENGTH_M
START_DEG = (146.0, 215.0)  # inner and outer rod, from the downward vertical
START_JITTER_DEG = 0.5
GRAVITY_M_S2 = 9.81
TIME_STEP_S = 1 / 600

State = tuple[Any, Any, Any, Any]  # angles of the inner and outer rod from the downward vertical (rad), and their rates
Ratio = Callable[[Any], Any]  # math.sin for one pendulum, np.sin for many


@dataclass(frozen=True, slots=True, kw_only=True)
class MixingPoint:
    """Releases whose lower mass was left of the pivot at one horizon, with the exact 95% interval of their share."""

    horizon_s: float
    left: int
    n: int
    share: float
    low: float
    high: float


def accelerations(state: State, sin: Ratio, cos: Ratio) -> tuple[Any, Any]:
    """Return the angular accelerations (rad/s2) of both rods: equal point masses, massless rods, no friction.

    Works on numbers with ``math.sin`` and on arrays with ``np.sin``. Lagrange's equations of the plane double pendulum.
    """
    a, b, va, vb = state
    d = a - b
    sin_d, cos_d = sin(d), cos(d)
    shared = 2 - cos_d * cos_d  # (m1 + m2 sin^2 d) / m with equal masses: 1 + sin^2 d
    pull_a = GRAVITY_M_S2 * sin(a)
    pull_b = GRAVITY_M_S2 * sin(b)
    spin_a = INNER_LENGTH_M * va * va * sin_d
    spin_b = OUTER_LENGTH_M * vb * vb * sin_d
    return (
        (cos_d * (pull_b - spin_a) - spin_b - 2 * pull_a) / (INNER_LENGTH_M * shared),
        (2 * (spin_a - pull_b) + cos_d * (spin_b + 2 * pull_a)) / (OUTER_LENGTH_M * shared),
    )


def step(state: State, sin: Ratio, cos: Ratio, step_s: float = TIME_STEP_S) -> State:
    """Advance angles and rates by ``step_s`` seconds with the classical Runge-Kutta method of fourth order."""
    a, b, va, vb = state
    half = step_s / 2
    p1, q1 = accelerations(state, sin, cos)
    va2, vb2 = va + half * p1, vb + half * q1
    p2, q2 = accelerations((a + half * va, b + half * vb, va2, vb2), sin, cos)
    va3, vb3 = va + half * p2, vb + half * q2
    p3, q3 = accelerations((a + half * va2, b + half * vb2, va3, vb3), sin, cos)
    va4, vb4 = va + step_s * p3, vb + step_s * q3
    p4, q4 = accelerations((a + step_s * va3, b + step_s * vb3, va4, vb4), sin, cos)
    sixth = step_s / 6
    return (
        a + sixth * (va + 2 * va2 + 2 * va3 + va4),
        b + sixth * (vb + 2 * vb2 + 2 * vb3 + vb4),
        va + sixth * (p1 + 2 * p2 + 2 * p3 + p4),
        vb + sixth * (q1 + 2 * q2 + 2 * q3 + q4),
    )


def energy(state: State) -> Any:
    """Return the energy per unit mass (m2/s2), zero level at the pivot: what friction-free motion keeps."""
    a, b, va, vb = state
    xa, ya = INNER_LENGTH_M * va * np.cos(a), INNER_LENGTH_M * va * np.sin(a)
    xb, yb = xa + OUTER_LENGTH_M * vb * np.cos(b), ya + OUTER_LENGTH_M * vb * np.sin(b)
    height = -2 * INNER_LENGTH_M * np.cos(a) - OUTER_LENGTH_M * np.cos(b)
    return (xa**2 + ya**2 + xb**2 + yb**2) / 2 + GRAVITY_M_S2 * height


def lower_mass_x(state: State) -> Any:
    """Return how far the lower mass is to the right of the pivot (m)."""
    a, b, _, _ = state
    return INNER_LENGTH_M * np.sin(a) + OUTER_LENGTH_M * np.sin(b)


def mixing_curve(
    n: int, horizons_s: Sequence[float], *, rng: np.random.Generator, jitter_deg: float = START_JITTER_DEG
) -> list[MixingPoint]:
    """Release ``n`` pendulums whose starts differ by Gaussian jitter; count those left of the pivot at each horizon.

    Intervals are Clopper-Pearson at 95%. Horizons are rounded to whole time steps.

    Raises:
        InputError: ``n`` below 1, no horizon, or a horizon that is not above 0 s.
    """
    from scipy.special import betaincinv

    if n < 1 or not horizons_s or min(horizons_s) <= 0:
        raise InputError("mixing_curve needs n >= 1 releases and at least one horizon, each above 0 s")
    a, b = np.radians(np.asarray(START_DEG)[:, None] + jitter_deg * rng.standard_normal((2, n)))
    state: State = (a, b, np.zeros(n), np.zeros(n))
    points: list[MixingPoint] = []
    done = 0
    for horizon in sorted(horizons_s):
        due = max(1, round(horizon / TIME_STEP_S))
        for _ in range(due - done):
            state = step(state, np.sin, np.cos)
        done = due
        left = int(np.count_nonzero(lower_mass_x(state) < 0))
        low = 0.0 if left == 0 else float(betaincinv(left, n - left + 1, 0.025))
        high = 1.0 if left == n else float(betaincinv(left + 1, n - left, 0.975))
        points.append(MixingPoint(horizon_s=horizon, left=left, n=n, share=left / n, low=low, high=high))
    return points
