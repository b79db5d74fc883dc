"""What reality scores: a world's natural odds by running its physics many times, without drawing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from worldodds.errors import InputError
from worldodds.outcome import Counts
from worldodds.scene import Scene
from worldodds.worlds.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalOdds:
    """How often physics ended in each outcome, and why it gave none where it gave none.

    ``invalid`` counts the reasons; those runs are nulls in ``counts``, of the kind the scene's null rule says, else
    unreadable. ``certified_delta`` is the least total variation that is certified at 95% (None: no reference odds).
    """

    counts: Counts
    invalid: Mapping[str, int]
    tv: float | None
    floor: float | None
    g_p_value: float | None
    certified_delta: float | None


def check_world(scene: Scene, world: World, n: int, *, first_seed: int = 0) -> NaturalOdds:
    """Run a world's physics ``n`` times from the start seeds ``first_seed``, ``first_seed + 1`` ...

    Raises:
        InputError: ``n`` below 1.
    """
    if n < 1:
        raise InputError(f"n: {n} runs tell nothing; give 1 or more")
    seen: Counter[str] = Counter()
    invalid: Counter[str] = Counter()
    for seed in range(first_seed, first_seed + n):
        motion = world.simulate(start_seed=seed, noise_seed=seed)
        if motion.outcome is None:
            invalid[motion.invalid or "not said"] += 1
        else:
            seen[motion.outcome] += 1
    kinds = {null.name: null.kind for null in scene.readout.nulls}
    outside = sum(count for rule, count in invalid.items() if kinds.get(rule) == "out_of_schema")
    counts = Counts.of(
        [seen[label] for label in scene.labels],
        labels=scene.labels,
        unreadable=invalid.total() - outside,
        out_of_schema=outside,
    )
    return _measured(scene, counts, dict(invalid))


def _measured(scene: Scene, counts: Counts, invalid: Mapping[str, int]) -> NaturalOdds:
    from worldodds.statistics.distance import null_floor, total_variation
    from worldodds.statistics.equivalence import certify
    from worldodds.statistics.exact import multinomial_test

    known = scene.reference
    if known is None or known.odds is None or counts.n == 0:
        return NaturalOdds(counts=counts, invalid=invalid, tv=None, floor=None, g_p_value=None, certified_delta=None)
    return NaturalOdds(
        counts=counts,
        invalid=invalid,
        tv=total_variation(counts, known),
        floor=null_floor(known, counts.n),
        g_p_value=multinomial_test(counts, known).p_value,
        certified_delta=certify(counts, known).certified_delta,
    )
