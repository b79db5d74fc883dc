"""Models against each other: what differs, what ties, and in which scenes the odds themselves moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from worldodds.errors import SourceError
from worldodds.headline import compared
from worldodds.scene import Scene, Suite
from worldodds.scorecard import best_first
from worldodds.sources import Source
from worldodds.statistics.comparison import Difference, rank_ranges, ties
from worldodds.statistics.multiplicity import benjamini_hochberg
from worldodds.statistics.two_sample import TwoSampleTest, paired_test, two_sample_test

Readings = Mapping[int, int | None]  # 0-based outcomes by seed, None a null


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneTest:
    """Whether two models have the same odds in one scene; ``q_value`` is over the scenes of the pair."""

    test: TwoSampleTest
    q_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two models: the difference of their mnTV, and their scenes one by one."""

    difference: Difference
    scenes: Mapping[str, SceneTest]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All pairs of models over the scenes that all of them have; ranks and ties hold for all models at once."""

    scenes: tuple[str, ...]
    left_out: tuple[str, ...]
    pairs: tuple[Pair, ...]
    ranks: Mapping[str, tuple[int, int]]
    ties: tuple[tuple[str, ...], ...]


def compare(source: Source, *, paired: bool = False, seed: int = 0) -> Comparison:
    """Compare every two models of the sources, recomputed over exactly the scenes that all of them have.

    ``paired`` is for rollouts that share their seeds, such as one model under two prompts: two clips of one seed are
    then a pair, and a clip whose twin was not read is left out. ``seed`` starts the permutations of the tests that are
    too large to enumerate.

    Raises:
        SourceError: fewer than two models, no scene that all of them have, ``paired`` without any seed in common, or a
            model that was stopped early.
    """
    tallies = source.tallies()
    if len(tallies) < 2:
        raise SourceError(f"{len(tallies)} model given ({', '.join(tallies)}); a comparison needs two or more")
    if source.early:
        told = f"{next(iter(source.early))} was stopped early: its rollouts were bought until its verdicts stood"
        raise SourceError(f"{told}, so it cannot be compared; run it with --stop never first, which buys the rest")
    read = [{scene for scene, tally in scenes.items() if tally.counts.n_total} for scenes in tallies.values()]
    shared = [scene_id for scene_id in source.suite.scene_ids if all(scene_id in scenes for scenes in read)]
    if not shared:
        raise SourceError(f"no scene was read for all of {', '.join(tallies)}; compare models of the same scenes")
    same = source.only(shared)
    # all scenes are there; partial only leaves out those without known odds, the same for every model
    found = compared(best_first(same.score(partial=True)))
    if not found:
        raise SourceError(f"the odds of {', '.join(shared)} are not known, so there is no score to compare")
    readings = same.by_seed()
    return Comparison(
        scenes=tuple(shared),
        left_out=tuple(scene_id for scene_id in source.suite.scene_ids if scene_id not in shared),
        pairs=tuple(
            Pair(difference=d, scenes=_scene_tests(same.suite, d, readings[d.a], readings[d.b], paired, seed))
            for d in found
        ),
        ranks=rank_ranges(found),
        ties=tuple(ties(found)),
    )


def _scene_tests(
    suite: Suite, pair: Difference, a: Mapping[str, Readings], b: Mapping[str, Readings], paired: bool, seed: int
) -> dict[str, SceneTest]:
    tests: dict[str, TwoSampleTest] = {}
    for scene in suite.scenes:
        # a stream of its own for every test, so that leaving out a scene changes no other
        rng = np.random.default_rng([seed, crc32(f"{pair.a} {pair.b} {scene.id}".encode())])
        tests[scene.id] = _test(a[scene.id], b[scene.id], scene, paired, rng)
    corrected = benjamini_hochberg([test.p_value for test in tests.values()])
    return {name: SceneTest(test=test, q_value=q) for (name, test), q in zip(tests.items(), corrected, strict=True)}


def _test(a: Readings, b: Readings, scene: Scene, paired: bool, rng: np.random.Generator) -> TwoSampleTest:
    k = len(scene.labels)
    if not paired:
        first, second = ([list(side.values()).count(outcome) for outcome in range(k)] for side in (a, b))
        return two_sample_test(first, second, rng=rng)
    shared = sorted(a.keys() & b.keys())
    if not shared:
        raise SourceError(
            f"scene {scene.id!r}: no seed was read on both sides, so there is no pair; leave out --paired"
        )
    return paired_test([a[seed] for seed in shared], [b[seed] for seed in shared], k=k, rng=rng)
