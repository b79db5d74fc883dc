"""From the rows of a source to what its own rule makes of every model that was stopped early."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from worldodds.early import Bought, Early, follow
from worldodds.outcome import Reference
from worldodds.row import Row
from worldodds.scene import Scene, Suite
from worldodds.statistics.waves import EarlyRule, Step
from worldodds.stopping import odds_of, step_of
from worldodds.tally import Seen


def followed(rows: Sequence[Row], cells: Mapping[str, Mapping[str, Sequence[Seen]]], suite: Suite) -> dict[str, Early]:
    """Follow every model whose rows name a rule of early stopping, over all cells of its run, in index order."""
    rules = {row.model: EarlyRule.of(row.stop) for row in rows if row.stop}
    costs: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for row in rows if rules else ():
        if row.cost_usd is not None:
            costs[row.model, row.scene][row.index] = row.cost_usd
    return {model: _follow(model, cells[model], suite, rule, costs) for model, rule in rules.items()}


def _follow(
    model: str,
    cells: Mapping[str, Sequence[Seen]],
    suite: Suite,
    rule: EarlyRule,
    costs: Mapping[tuple[str, str], Mapping[int, float]],
) -> Early:
    known: dict[str, tuple[Reference, list[Step]]] = {}
    bought: dict[str, Bought] = {}
    for scene in suite.scenes:
        if scene.id in cells and (odds := odds_of(scene)):
            paid = costs.get((model, scene.id))
            known[scene.id] = odds, _steps(scene, cells[scene.id], rule)
            bought[scene.id] = _bought(cells[scene.id], sum(paid.values()) if paid else None)
    return follow(known, rule, bought)


def _steps(scene: Scene, seen: Sequence[Seen], rule: EarlyRule) -> list[Step]:
    """Return what is known by index; a rollout without a row was wanted by no verdict, and ends its cell."""
    steps: dict[int, Step] = {one.index: step_of(scene, one.rollout, one.votes) for one in seen}
    return [steps.get(index, "failed") for index in range(rule.horizon)]


def _bought(seen: Sequence[Seen], cost_usd: float | None) -> Bought:
    here = sum(one.rollout in ("done", "refused") for one in seen)
    return Bought(rollouts=here, open=len(seen) - here, cost_usd=cost_usd)
