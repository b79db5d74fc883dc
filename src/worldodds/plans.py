"""What a suite will show for its rollouts, before any is paid for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from worldodds.scene import Suite
from worldodds.statistics.planner import ScenePlan, plan_scene


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """Every scene's plan at ``n`` rollouts, of which a share of ``scorability`` is expected to be readable.

    Scenes whose odds are not known are in ``unknown``: nothing can be planned for them.
    """

    suite: Suite
    n: int
    tv: float
    delta: float
    power: float
    scorability: float
    scenes: Mapping[str, ScenePlan]
    unknown: tuple[str, ...]

    @property
    def rollouts(self) -> int:
        """Rollouts of one model at n a scene."""
        return self.n * len(self.scenes)

    @property
    def expected_at_reference(self) -> float:
        """Mean rollouts of one calibrated model with early stopping."""
        return sum(scene.expected_at_reference for scene in self.scenes.values())


def plan_suite(
    suite: Suite,
    *,
    n: int | None = None,
    tv: float = 0.2,
    delta: float = 0.2,
    power: float = 0.8,
    scorability: float = 1.0,
) -> SuitePlan:
    """Plan every scene of a suite; ``n`` defaults to the suite's protocol.

    Raises:
        StatisticsError: an argument out of its range; the message names it.
    """
    n = suite.protocol.rollouts if n is None else n
    plan_one = partial(plan_scene, n=n, tv=tv, delta=delta, power=power, scorability=scorability)
    known = {scene.id: scene.reference for scene in suite.scenes if scene.reference and scene.reference.odds}
    return SuitePlan(
        suite=suite,
        n=n,
        tv=tv,
        delta=delta,
        power=power,
        scorability=scorability,
        scenes={scene_id: plan_one(reference) for scene_id, reference in known.items()},
        unknown=tuple(scene_id for scene_id in suite.scene_ids if scene_id not in known),
    )
