"""Between which scores a cell must end while some of its rollouts are open: every completion there can be, at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worldodds.outcome import Counts, Reference
from worldodds.scene import Scene
from worldodds.statistics.floor import Floats, floors
from worldodds.tally import Tally


def score_bounds(tally: Tally, scene: Scene) -> tuple[float, float] | None:
    """Return the least and the largest cell score that the open rollouts of a cell could make.

    At best each has the outcome that the odds lack most; at worst all are nulls, or all have one outcome; and any of
    them may yet be refused, and then counts nowhere. None where the scene has no odds or nothing was asked for.
    """
    counts, reference, open_now = tally.counts, scene.reference, tally.failed + tally.missing
    if reference is None or counts.n_total + open_now == 0:
        return None
    kept = np.arange(0 if counts.n_total else 1, open_now + 1)
    least, largest = _apart(counts, reference, kept)
    as_seen = np.full(len(kept), np.abs(counts.array - counts.n * reference.probabilities).sum())
    scores = [
        _scores(least, counts.n + kept, counts.n_total + kept, reference),
        _scores(largest, counts.n + kept, counts.n_total + kept, reference),
        _scores(as_seen, np.full_like(kept, counts.n), counts.n_total + kept, reference),
    ]
    return float(np.min(scores)), float(np.max(scores))


def _apart(counts: Counts, reference: Reference, kept: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the least and the largest sum of ``|x - n p|`` after so many more outcomes, one a value of ``kept``.

    At least: whole deficits are filled first, and what is left goes where the largest part of an outcome is lacking.
    """
    lacking = (counts.n + kept)[:, None] * reference.probabilities - counts.array  # (kept, k)
    deficits = np.maximum(lacking, 0.0)
    whole = np.floor(deficits + 1e-9)  # 1e-9: 10 * 0.1 must count as 1
    parts = -np.sort(whole - deficits, axis=1)  # largest first
    left = np.maximum(kept - whole.sum(axis=1), 0.0)
    filled = np.where(np.arange(parts.shape[1]) < left[:, None], 1 - 2 * parts, 0.0).sum(axis=1)
    apart = np.abs(lacking)
    least = apart.sum(axis=1) - (kept - left) + filled
    on_one = apart.sum(axis=1)[:, None] - apart + np.abs(lacking - kept[:, None])
    return least, on_one.max(axis=1)


def _scores(apart: Floats, n: NDArray[np.int64], n_total: NDArray[np.int64], reference: Reference) -> Floats:
    """Return CaliBench's score of cells whose ``n`` outcomes lie ``apart`` from ``n p``; 1 where there are none."""
    some = np.maximum(n, 1)
    floor = floors(reference, int(some.max()))[some]
    rho = n / n_total
    return np.where(n > 0, (1 - rho) + rho * (apart / (2 * some) - floor) / (1 - floor), 1.0)
