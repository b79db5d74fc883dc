"""Evidence that may be looked at after every rollout: the `mix` e-process.

``E_n = M_n / prod p0(x_t)``, where M is a mixture of sequence likelihoods fixed before the first rollout. If the model
draws from the reference, E crosses 1 / alpha with probability at most alpha, however often one looks (Ville 1939).
The mixture is 0.35 contamination spikes (uniform over outcomes), 0.15 spikes (outcomes weighted by p0), 0.35 Dirichlet
(equal parts of p0, 4 p0, 16 p0 and 1/2) and 0.15 sharpened or flattened references p0^g.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from worldodds.errors import StatisticsError
from worldodds.statistics.cell import CountsLike, ReferenceLike, as_cell, as_reference, need_known_odds
from worldodds.statistics.checks import check_rate

Floats = NDArray[np.float64]
NullRule = Literal["skip", "worst"]

SPIKE_SHARES = np.array([0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])
DIRICHLET_SCALES = (1.0, 4.0, 16.0)
POWERS = np.array([0.3, 0.6, 1.5, 2.0, 3.0, 5.0])
WEIGHTS = {"uniform_spikes": 0.35, "weighted_spikes": 0.15, "dirichlet": 0.35, "powers": 0.15}
ROWS_AT_ONCE = 4096


def log_e_value(counts: CountsLike, reference: ReferenceLike) -> float:
    """Return the natural logarithm of the `mix` e-value of one cell; nulls are skipped.

    Depends on the counts only, so the order of rollouts does not matter. Infinite once an outcome with odds 0 was seen.
    One wrong label in a rare bin can carry it far: where judges err, use `log_e_path` with ``judge_error``.

    Raises:
        StatisticsError: counts that do not belong to the reference, or odds that were counted in an experiment.

    >>> ball = [0.5, 0.5]
    >>> round(log_e_value([16, 16], ball), 2), round(log_e_value([32, 0], ball), 2)
    (-1.06, 19.06)
    """
    seen, expected = as_cell(counts, reference)
    need_known_odds(expected, "an e-value")
    return float(log_e_of(seen.array[None, :], expected.probabilities)[0])


def log_e_path(
    outcomes: Sequence[int | None],
    reference: ReferenceLike,
    *,
    judge_error: float = 0.0,
    nulls: NullRule = "skip",
) -> Floats:
    """Return log E after every reading, shape (len(outcomes),); an outcome is a 0-based index, ``None`` a null.

    Args:
        outcomes: readings in index order.
        reference: the odds under test.
        judge_error: an upper bound on the share of wrong labels; every bet f is divided by (1 - eps) + eps max f, so
            that E stays an e-process whatever the wrong labels are (Saha and Ramdas, arXiv 2408.14015).
        nulls: ``"skip"`` leaves E as it is (valid if nulls do not depend on the outcome); ``"worst"`` gives a null the
            smallest bet, valid under any mechanism of nulls.

    Raises:
        StatisticsError: an outcome outside 0 .. k-1, ``judge_error`` outside [0, 0.5).

    >>> die = [1 / 6] * 6
    >>> path = log_e_path([0, 0, None, 0, 0, 0, 0], die)
    >>> path.round(1).tolist()[1:]
    [0.9, 0.9, 2.3, 3.8, 5.4, 7.1]
    >>> log_e_path([0, 0, None, 0, 0, 0, 0], die, judge_error=0.05).round(1).tolist()[1:]
    [0.8, 0.8, 2.0, 3.4, 4.9, 6.3]
    """
    check_rate("judge_error", judge_error)
    expected = as_reference(reference)
    need_known_odds(expected, "an e-value")
    p = expected.probabilities
    check_outcomes(outcomes, len(p))
    seen = running_counts(outcomes, len(p))  # (T + 1, k)
    if judge_error == 0 and nulls == "skip":
        return log_e_of(seen, p)[1:]
    bets = log_bets(seen[:-1], p, judge_error)  # (T, k)
    null_bets = np.zeros(len(outcomes)) if nulls == "skip" else bets.min(axis=1)
    gains = [null_bets[t] if x is None else bets[t, x] for t, x in enumerate(outcomes)]
    return np.cumsum(np.array(gains, dtype=float))


def log_e_of(counts: NDArray[np.int64], p: Floats) -> Floats:
    """Return log E for many tables of counts, shape (rows, k), at once; shape (rows,)."""
    return log_mixture(counts, p) - xlogy(counts, p).sum(axis=1)


def log_mixture(counts: NDArray[np.int64], p: Floats) -> Floats:
    """Return the log likelihood of sequences with these counts, shape (rows, k), under the `mix` mixture."""
    pieces = [_mixture_rows(counts[i : i + ROWS_AT_ONCE], p) for i in range(0, len(counts), ROWS_AT_ONCE)]
    return np.concatenate(pieces) if pieces else np.zeros(0)


def log_bets(seen: NDArray[np.int64], p: Floats, judge_error: float) -> Floats:
    """Return the log of the bet on each next outcome after counts (T, k), safe against a share of wrong labels."""
    rows, k = seen.shape
    nexts = (seen[:, None, :] + np.eye(k, dtype=np.int64)).reshape(rows * k, k)
    predicted = np.exp(log_mixture(nexts, p).reshape(rows, k) - log_mixture(seen, p)[:, None])
    with np.errstate(divide="ignore"):
        if judge_error == 0:
            return np.log(predicted) - np.log(p)
        # An outcome with odds 0 can still come from a wrong label; this bet is the best one against such a judge.
        bets = predicted / np.where(p > 0, p, judge_error / (1 - judge_error))
        normaliser = (1 - judge_error) * (bets @ p) + judge_error * bets.max(axis=1)
        return np.log(bets) - np.log(normaliser)[:, None]


def running_counts(outcomes: Sequence[int | None], k: int) -> NDArray[np.int64]:
    """Return the counts before the first and after every reading, shape (len(outcomes) + 1, k)."""
    steps = np.zeros((len(outcomes) + 1, k), dtype=np.int64)
    for t, x in enumerate(outcomes, start=1):
        if x is not None:
            steps[t, x] = 1
    return steps.cumsum(axis=0)


def check_outcomes(outcomes: Sequence[int | None], k: int) -> None:
    """Refuse an outcome that is not a whole number from 0 to k - 1 (or None, a null)."""
    for x in outcomes:
        if x is not None and (not 0 <= x < k or x % 1 != 0):
            raise StatisticsError(f"outcome: {x} is out of range; give 0 to {k - 1}, or None for a null")


def _mixture_rows(x: NDArray[np.int64], p: Floats) -> Floats:
    spikes = _log_spikes(x, p)  # (rows, k, 8)
    k, shares = len(p), len(SPIKE_SHARES)
    with np.errstate(divide="ignore"):
        weights = WEIGHTS["uniform_spikes"] / k + WEIGHTS["weighted_spikes"] * p
        log_weights = np.concatenate(
            [
                np.repeat(np.log(weights / shares), shares),
                np.full(len(DIRICHLET_SCALES) + 1, math.log(WEIGHTS["dirichlet"] / (len(DIRICHLET_SCALES) + 1))),
                np.full(len(POWERS), math.log(WEIGHTS["powers"] / len(POWERS))),
            ]
        )
    dirichlets = [_log_dirichlet(x, scale * p) for scale in DIRICHLET_SCALES] + [_log_dirichlet(x, np.full(k, 0.5))]
    parts = np.concatenate([spikes.reshape(len(x), -1), np.stack(dirichlets, axis=1), _log_powers(x, p)], axis=1)
    return _log_sum(parts + log_weights)


def _log_spikes(x: NDArray[np.int64], p: Floats) -> Floats:
    """Log likelihood under (1 - e) p0 + e [outcome j], for every j and e; shape (rows, k, 8)."""
    terms = xlogy(x, p)  # (rows, k); -inf where an outcome with odds 0 was seen
    finite = np.where(np.isfinite(terms), terms, 0.0)
    impossible = ~np.isfinite(terms)
    others = finite.sum(axis=1, keepdims=True) - finite
    others[impossible.sum(axis=1, keepdims=True) - impossible > 0] = -np.inf
    n = x.sum(axis=1)
    rest = (n[:, None] - x)[:, :, None] * np.log1p(-SPIKE_SHARES)
    hits = x[:, :, None] * np.log(np.outer(p, 1 - SPIKE_SHARES) + SPIKE_SHARES)
    return others[:, :, None] + rest + hits


def _log_dirichlet(x: NDArray[np.int64], a: Floats) -> Floats:
    possible = a > 0
    on, b = x[:, possible], a[possible]
    value = gammaln(b.sum()) - gammaln(b.sum() + on.sum(axis=1)) + (gammaln(b + on) - gammaln(b)).sum(axis=1)
    return np.where(x[:, ~possible].any(axis=1), -np.inf, value)


def _log_powers(x: NDArray[np.int64], p: Floats) -> Floats:
    sharpened = p[None, :] ** POWERS[:, None]
    sharpened /= sharpened.sum(axis=1, keepdims=True)
    return xlogy(x[:, None, :], sharpened[None, :, :]).sum(axis=2)


def _log_sum(values: Floats) -> Floats:
    top = values.max(axis=1)
    return top + np.log(np.exp(values - top[:, None]).sum(axis=1))
