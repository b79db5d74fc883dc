"""What reality scores: a world's natural odds by running its physics many times, and whether its truth holds.

Nothing is drawn. The same runs then stand in for rollouts with target odds: outcomes are drawn from the reference, each
from a run that ended in it, and the outcome is read again from the run's last state.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import InputError
from worldodds.outcome import Counts, Reference
from worldodds.scene import Scene
from worldodds.statistics.inversion import Population
from worldodds.workers import in_parallel
from worldodds.worlds import bank
from worldodds.worlds.last_state import read_last_state
from worldodds.worlds.world import World

FIRST_SEED = 500_000  # seeds below were used to tune the worlds
EXACT_N, EXACT_K = 300, 3  # beyond both, the exact test takes minutes
_CHUNK = 20

Watch = Callable[[int, int], None]  # (done, total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How one run of the physics ended: its truth, and the label read again from its last state (``shown``)."""

    seed: int
    outcome: str | None
    invalid: str | None
    shown: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalOdds:
    """How often physics ended in each outcome, and why it gave none where it gave none.

    ``invalid`` counts the reasons; those runs are nulls in ``counts``, of the kind the scene's null rule says, else
    unreadable. ``certified_delta`` is the least total variation that is certified at 95%; ``population`` the score at
    unlimited runs with its interval, by path inversion. All are None without reference odds or valid runs.
    """

    counts: Counts
    invalid: Mapping[str, int]
    tv: float | None = None
    floor: float | None = None
    g_p_value: float | None = None
    g_method: str | None = None
    certified_delta: float | None = None
    population: Population | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOdds:
    """Outcomes drawn from the reference, each from a run that ended so: how many show the target in their last state.

    ``unreached`` are outcomes that the reference allows and no run ended in: none can be drawn.
    """

    n: int
    equal: int
    unreached: tuple[str, ...]

    @property
    def target_equals_truth(self) -> bool:
        """Whether every rollout drawn shows its target."""
        return self.n > 0 and self.equal == self.n


def run_physics(
    world: World, seeds: Sequence[int], *, workers: int | None = None, watch: Watch | None = None
) -> tuple[Run, ...]:
    """Run a world once for each seed (of start and noise alike), on all cores; results in the order of ``seeds``.

    Raises:
        InputError: no seed.
        MissingDependencyError: a package is not installed; the message names it.
    """
    if not seeds:
        raise InputError("n: 0 runs tell nothing; give 1 or more")
    chunks = [tuple(seeds[i : i + _CHUNK]) for i in range(0, len(seeds), _CHUNK)]
    found: dict[tuple[int, ...], list[Run]] = {}
    for done, (chunk, runs) in enumerate(in_parallel(partial(_run_some, world), chunks, True, workers), start=1):
        found[chunk] = runs
        if watch:
            watch(min(done * _CHUNK, len(seeds)), len(seeds))
    return tuple(run for chunk in chunks for run in found[chunk])


def natural_odds(scene: Scene, runs: Sequence[Run], *, rng: np.random.Generator) -> NaturalOdds:
    """Count how runs ended and measure how far that is from the scene's reference odds."""
    kinds = {null.name: null.kind for null in scene.readout.nulls}
    invalid = Counter(run.invalid or "not said" for run in runs if run.outcome is None)
    seen = Counter(run.outcome for run in runs if run.outcome is not None)
    outside = sum(count for rule, count in invalid.items() if kinds.get(rule) == "out_of_schema")
    counts = Counts.of(
        [seen[label] for label in scene.labels],
        labels=scene.labels,
        unreadable=invalid.total() - outside,
        out_of_schema=outside,
    )
    known = scene.reference
    if known is None or counts.n == 0:
        return NaturalOdds(counts=counts, invalid=dict(invalid))
    return measure_natural(counts, dict(invalid), known, rng=rng)


def target_odds(scene: Scene, world: World, runs: Sequence[Run], *, rng: np.random.Generator) -> TargetOdds:
    """Draw as many targets from the reference as there are runs, and compare each with a run that ended in it.

    Rare outcomes that no run ended in are taken from the world's bank of starts.

    Raises:
        InputError: the scene has no reference odds.
    """
    if scene.reference is None:
        raise InputError(f"scene {scene.id!r} has no reference odds to target")
    ended: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.outcome is not None:
            ended[run.outcome].append(run)
    wanted = [label for label, odds in zip(scene.labels, scene.reference.odds, strict=True) if odds]
    for label in wanted:
        if label not in ended:
            ended[label] = [run for run in _run_some(world, bank.starts(world, label)) if run.outcome == label]
    targets = rng.choice(np.array(scene.labels), size=len(runs), p=scene.reference.probabilities).tolist()
    drawn = [(target, ended[target][int(rng.integers(len(ended[target])))]) for target in targets if ended[target]]
    return TargetOdds(
        n=len(drawn),
        equal=sum(run.shown == target for target, run in drawn),
        unreached=tuple(label for label in wanted if not ended[label]),
    )


def measure_natural(
    counts: Counts, invalid: Mapping[str, int], reference: Reference, *, rng: np.random.Generator
) -> NaturalOdds:
    """Measure how far counted runs are from known odds; ``counts`` must hold a valid outcome."""
    from worldodds.statistics.distance import null_floor, total_variation
    from worldodds.statistics.equivalence import certify
    from worldodds.statistics.exact import multinomial_test
    from worldodds.statistics.inversion import invert
    from worldodds.statistics.simulated import simulated_test

    small = counts.n <= EXACT_N or reference.k <= EXACT_K
    test = multinomial_test(counts, reference) if small else simulated_test(counts, reference, rng=rng)
    tv, floor = total_variation(counts, reference), null_floor(reference, counts.n)
    return NaturalOdds(
        counts=counts,
        invalid=invalid,
        tv=tv,
        floor=floor,
        g_p_value=test.p_value,
        g_method=test.method,
        certified_delta=certify(counts, reference).certified_delta,
        population=invert([(counts, reference)], rng=rng, along=far_enough(tv, floor)).cells[0],
    )


def far_enough(tv: float, floor: float) -> NDArray[np.float64]:
    """Return the points of the inversion's path, going on to five floors where the seen TV is within one."""
    from worldodds.statistics.inversion import ALONG

    reach = 5 * floor / max(tv, floor / 100)
    return ALONG if reach <= ALONG[-1] else np.append(ALONG, np.linspace(ALONG[-1], reach, 13)[1:])


def _run_some(world: World, seeds: Sequence[int]) -> list[Run]:
    runs: list[Run] = []
    for seed in seeds:
        motion = world.simulate(start_seed=seed, noise_seed=seed)
        shown = read_last_state(world.scene, motion.states[-1])
        runs.append(Run(seed=seed, outcome=motion.outcome, invalid=motion.invalid, shown=shown))
    return runs
