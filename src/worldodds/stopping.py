"""A run that stops early: the rule its ledger was begun with, and what the ledger says to buy next or never.

Nothing is stored but the rule. Where the cells stand is worked out anew, each time, from the rollouts and readings that
the ledger holds, so that a run that was killed goes on as one that was not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from worldodds.errors import InputError, StoreError
from worldodds.keys import named, reader_settings
from worldodds.outcome import Reference
from worldodds.protocols import OtherAxis, Reader
from worldodds.rollout import Reading
from worldodds.scene import Scene, Suite
from worldodds.still_open import Place, seen_by
from worldodds.store import RunStore
from worldodds.tally import settle

if TYPE_CHECKING:  # the rule's mathematics is loaded for runs that stop early only
    from worldodds.statistics.waves import EarlyRule, Standing, Step

When = Literal["early", "never"]

_NOTE = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """How a run stops early: by which rule, on whose readings."""

    rule: EarlyRule
    reader: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a ledger leads to: rollouts to buy or read now, and those that no verdict needs any more.

    ``steps`` are what is known of every rollout, by scene id; ``standing`` has their cells in the same order.
    """

    steps: Mapping[str, tuple[Step, ...]]
    standing: Standing

    @property
    def wanted(self) -> frozenset[Place]:
        """The rollouts of the next wave."""
        both = zip(self.steps, self.standing.wanted, strict=True)
        return frozenset((scene, index) for scene, indices in both for index in indices)

    @property
    def spared(self) -> frozenset[Place]:
        """What is open behind the stop of a cell whose verdict stands, and not of the wave that it stopped in."""
        cells = zip(self.steps.items(), self.standing.family.cells, strict=True)
        behind = frozenset(
            (scene, index)
            for (scene, steps), cell in cells
            if not cell.worth_buying
            for index in range(cell.used + cell.refused, len(steps))
            if steps[index] in ("failed", "missing")
        )
        return behind - self.wanted


def stop_of(store: RunStore) -> Stop | None:
    """Return how a run stops early; None where it buys all that was planned."""
    if not (noted := store.about(_NOTE)):
        return None
    from worldodds.statistics.waves import EarlyRule

    return Stop(rule=msgspec.convert(noted["rule"], EarlyRule), reader=noted["reader"])


def keep_stop(store: RunStore, stop: Stop | None) -> None:
    """Record how a run stops."""
    store.note(_NOTE, msgspec.to_builtins(stop))


def choose_stop(
    asked: When | None, before: Stop | None, *, suite: Suite, readers: Collection[Reader], n: int
) -> Stop | None:
    """Return how a run is to stop: as asked, else as it was begun. The first reader named decides, once and for all.

    Raises:
        InputError: no reader that could decide, or a suite that cannot be stopped early.
        StoreError: the run was begun with a rule that these readers or this n would break.
    """
    if asked == "never" or (asked is None and before is None):
        return None
    if not readers:
        raise InputError(
            "stop: early stopping needs a reader, whose readings decide; name one, or buy all with --stop never"
        )
    from worldodds.statistics.waves import EarlyRule

    names = {reader.name: reader for reader in readers}
    first = next(iter(names))
    stop = before or Stop(rule=EarlyRule(horizon=n), reader=first)
    if stop.reader not in names:
        told = f"stop: this run stops early by what {stop.reader!r} reads, and {first!r} is named"
        raise StoreError(f"{told}; name {stop.reader!r} among the readers, or buy all with --stop never")
    if stop.rule.horizon != n:
        told = f"stop: this run stops early, at {stop.rule.horizon} rollouts at the latest, and n = {n} is asked for"
        raise StoreError(f"{told}; a rule is kept to: ask for -n {stop.rule.horizon}, or buy all with --stop never")
    _check(suite, names[stop.reader])
    return stop


def _check(suite: Suite, reader: Reader) -> None:
    if isinstance(reader, OtherAxis):
        raise InputError(f"stop: {reader.name!r} reads no outcomes, so it cannot decide; name another reader first")
    if suite.protocol.aggregate == "tracks":
        told = f"stop: suite {suite.id!r} counts coverage and readable scenes over all rollouts of its protocol"
        raise InputError(f"{told}, which early stopping would distort; run it without --stop early")
    if counted := [scene.id for scene in suite.scenes if scene.reference and scene.reference.counts]:
        told = f"stop: the odds of {counted[0]} were counted in an experiment, and stopping early needs known odds"
        raise InputError(f"{told}; leave out --stop early, or run its other scenes alone with --scene")
    if not any(odds_of(scene) for scene in suite.scenes):
        raise InputError(f"stop: no scene of suite {suite.id!r} has known odds, so no verdict can stand early")


def check_planned(store: RunStore, stop: Stop) -> None:
    """Refuse to stop early where a scene was planned with another number of rollouts.

    Raises:
        StoreError: naming the scene and its n.
    """
    for scene, n in store.planned().items():
        if n != stop.rule.horizon:
            told = f"stop: {n} rollouts of scene {scene!r} are planned here, not {stop.rule.horizon}"
            raise StoreError(f"{told}; one rule serves all scenes: ask for -n {n}, or name another folder")


def decide(store: RunStore, stop: Stop, *, asked: Collection[str] | None = None) -> Decision:
    """Work out from the ledger what to buy next.

    ``asked`` are the scenes that are filmed now: what is missing in others does not hold these up.
    """
    from worldodds.statistics.waves import next_wave

    planned, suite = store.planned(), store.suite
    odds = {scene.id: known for scene in suite.scenes if scene.id in planned and (known := odds_of(scene))}
    rollouts = named(store, dict.fromkeys(odds, stop.rule.horizon))
    seen = seen_by(store, stop.reader, reader_settings(store, stop.reader, {}), rollouts, store.states())
    steps: dict[str, tuple[Step, ...]] = {}
    for scene in odds:
        found: list[Step] = [step_of(suite.scene(scene), one.rollout, one.votes) for one in seen[scene]]
        if asked is not None and scene not in asked:
            found = ["failed" if step == "missing" else step for step in found]
        steps[scene] = tuple(found)
    return Decision(steps=steps, standing=next_wave([(odds[scene], steps[scene]) for scene in odds], stop.rule))


def spared(store: RunStore) -> frozenset[Place]:
    """Return the rollouts of a run that were planned and that no verdict needs; none where it does not stop early."""
    stop = stop_of(store)
    return decide(store, stop).spared if stop else frozenset()


def step_of(scene: Scene, status: str, votes: Collection[Reading]) -> Step:
    """Say in the words of the rule what is known of a rollout, its votes settled."""
    if status != "done":
        return "refused" if status == "refused" else "failed" if status == "failed" else "missing"
    reading = settle(list(votes))
    if reading.status == "outcome":
        assert reading.label is not None
        return scene.labels.index(reading.label)
    return "failed" if reading.status == "failed" else "missing" if reading.status == "missing" else "null"


def odds_of(scene: Scene) -> Reference | None:
    """Return the reference of a scene whose odds are known, not counted: what can be followed in sequence."""
    known = scene.reference is not None and scene.reference.counts is None
    return scene.reference if known else None


def why_not_followed(scene: Scene) -> str | None:
    """Say why a scene has no e-value; None where its odds are known, so that it can be followed."""
    if odds_of(scene):
        return None
    counted = scene.reference is not None and scene.reference.counts is not None
    return "odds counted in an experiment have no e-value" if counted else "its odds are not known"
