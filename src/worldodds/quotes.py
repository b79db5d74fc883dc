"""What a plan still orders, what that costs, and what it buys: told before anything is paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worldodds.engine import Plan, check_same_run, pending
from worldodds.keys import named
from worldodds.plans import SuitePlan, plan_suite
from worldodds.pricing import Price, per_clip_usd
from worldodds.pricing.bill import Bill, Work, bill
from worldodds.protocols import Reader
from worldodds.purse import Purse
from worldodds.rollout import Reading
from worldodds.scene import Suite
from worldodds.still_open import seen_by
from worldodds.stopping import odds_of, stop_of
from worldodds.store import RunStore
from worldodds.tally import settled, votes_wanted

FAR_OFF = 0.5  # a TV at which early stopping shows what it saves
_UNASKED = Reading(status="missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """Mean rollouts that early stopping buys of ``planned``: if every scene is calibrated, if each is off by ``tv``."""

    planned: int
    if_calibrated: float
    if_off: float
    tv: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a plan still orders and costs; what all of it shows; ``spent_usd`` was paid in its folder already."""

    plan: Plan
    bill: Bill
    shows: SuitePlan
    saving: Saving | None
    spent_usd: float


def quote(plan: Plan, prices: Sequence[Price], *, store: RunStore | None = None, workers: int | None = None) -> Quote:
    """Work out what a plan still orders of a run that was begun, or all of a new one; buys and writes nothing.

    Raises:
        StoreError: the run was made with something else than this plan asks for.
    """
    work = _all_work(plan) if store is None else _work_left(plan, store)
    stops_early = plan.stop == "early" or (plan.stop is None and store is not None and stop_of(store) is not None)
    purse = Purse(per_clip_usd=per_clip_usd(plan.generator, prices) or 0.0)
    if store is not None:
        purse.remember(store.attempt_history())
    return Quote(
        plan=plan,
        bill=bill(plan.generator, plan.readers, prices, work=work, scenes=plan.suite.scenes, workers=workers),
        shows=plan_suite(plan.suite, n=plan.n),
        saving=saving(plan.suite, plan.n) if stops_early else None,
        spent_usd=purse.spent_usd,
    )


def saving(suite: Suite, n: int) -> Saving:
    """Say how many rollouts early stopping buys, on average over seeded paths, waves included."""
    from worldodds.statistics.planner import expected_rollouts
    from worldodds.statistics.power import default_spike
    from worldodds.statistics.waves import EarlyRule

    rule = EarlyRule(horizon=n)
    known = [odds for scene in suite.scenes if (odds := odds_of(scene))]
    means: list[float] = []
    for wanted in (0.0, FAR_OFF):
        reach = [min(wanted, 1 - float(odds.probabilities[default_spike(odds)])) for odds in known]
        each = [expected_rollouts(odds, tv=tv, rule=rule.cell) for odds, tv in zip(known, reach, strict=True)]
        means.append(sum(min(n, mean + (rule.wave - 1) / 2) for mean in each) + n * (len(suite.scenes) - len(known)))
    return Saving(planned=n * len(suite.scenes), if_calibrated=means[0], if_off=means[1], tv=FAR_OFF)


def _all_work(plan: Plan) -> Work:
    rollouts = dict.fromkeys(plan.suite.scene_ids, plan.n)
    return Work(rollouts=rollouts, readings={reader.name: _fresh(reader, rollouts) for reader in plan.readers})


def _work_left(plan: Plan, store: RunStore) -> Work:
    """Count what is not filmed, and what is not read of that and of the clips that are here."""
    check_same_run(plan, store)
    jobs = Counter(job.scene.id for job in pending(plan, store))
    rollouts = {scene: jobs[scene] for scene in plan.suite.scene_ids}
    known = [scene for scene in rollouts if scene in store.suite.scene_ids]
    here, states = list(named(store, dict.fromkeys(known, plan.n))), store.states()
    readings: dict[str, dict[str, tuple[int, int]]] = {}
    for reader in plan.readers:
        spans = _fresh(reader, rollouts)
        for scene, clips in seen_by(store, reader.name, reader.settings, here, states).items():
            open_votes = [_open(one.votes) for one in clips if one.rollout == "done"]
            least, most = spans[scene]
            spans[scene] = (least + sum(low for low, _ in open_votes), most + sum(high for _, high in open_votes))
        readings[reader.name] = spans
    return Work(rollouts=rollouts, readings=readings)


def _fresh(reader: Reader, rollouts: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return the fewest and the most votes on clips that nobody has read."""
    least, most = _open([_UNASKED] * int(reader.settings.get("votes") or 1))
    return {scene: (n * least, n * most) for scene, n in rollouts.items()}


def _open(votes: Sequence[Reading]) -> tuple[int, int]:
    """Return how many more votes settle a clip at least, and how many may be asked at most."""
    if not votes or settled(votes):
        return 0, 0
    return len(votes_wanted(votes)), sum(vote.status in ("missing", "failed") for vote in votes)
