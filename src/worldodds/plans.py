"""What a suite will show for its rollouts, before any is paid for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from worldodds.scene import Suite
from worldodds.statistics.experiment_plan import ExperimentPlan, plan_against_experiment
from worldodds.statistics.planner import ScenePlan, plan_scene


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """Every scene's plan at ``n`` rollouts, of which a share of ``scorability`` is expected to be readable.

    Scenes whose odds are not known are in ``unknown``: nothing can be planned for them. Those whose odds were counted
    in an experiment are in ``uncertain``, and are not stopped early.
    """

    suite: Suite
    n: int
    tv: float
    delta: float
    power: float
    scorability: float
    scenes: Mapping[str, ScenePlan]
    unknown: tuple[str, ...]
    uncertain: Mapping[str, ExperimentPlan] = field(default_factory=dict[str, ExperimentPlan])

    @property
    def rollouts(self) -> int:
        """Rollouts of one model at n a scene."""
        return self.n * (len(self.scenes) + len(self.uncertain))

    @property
    def expected_at_reference(self) -> float:
        """Mean rollouts of one calibrated model with early stopping."""
        return sum(scene.expected_at_reference for scene in self.scenes.values()) + self.n * len(self.uncertain)


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
    known = {scene.id: scene.reference for scene in suite.scenes if scene.reference}
    counted = {scene_id: reference for scene_id, reference in known.items() if reference.counts is not None}
    plan_counted = partial(plan_against_experiment, n=n, tv=tv, delta=delta, power=power, scorability=scorability)
    return SuitePlan(
        suite=suite,
        n=n,
        tv=tv,
        delta=delta,
        power=power,
        scorability=scorability,
        scenes={scene_id: plan_one(reference) for scene_id, reference in known.items() if scene_id not in counted},
        uncertain={scene_id: plan_counted(reference) for scene_id, reference in counted.items()},
        unknown=tuple(scene_id for scene_id in suite.scene_ids if scene_id not in known),
    )


def experiment_words(one: ExperimentPlan, plan: SuitePlan) -> str:
    """Say what a scene shows whose odds were counted in an experiment, and where that is too small."""
    far = one.detectable_tv
    seen = f"a TV of {far:.2f} is seen" if far is not None else "not even a collapse is sure to be seen"
    sure = f", calibration certified within {one.certifiable_delta:.2f}" if one.certifiable_delta is not None else ""
    parts = [f"odds from n = {one.n_observed} observed, uncertain; at n = {plan.n} {seen}{sure}"]
    needs = (
        (f"to see a TV of {plan.tv:g}", one.n_to_detect, one.trials_to_detect),
        (f"to certify within {plan.delta:g}", one.n_to_certify, one.trials_to_certify),
    )
    for what, rollouts, trials in needs:
        if rollouts is not None:
            parts.append(f"{what}: {rollouts} rollouts")
        elif trials is None or trials <= one.n_observed:
            parts.append(f"{what}: out of reach")
        else:
            parts.append(f"{what}: no number of rollouts is enough, the experiment needs more than {trials} trials")
    return "; ".join(parts)
