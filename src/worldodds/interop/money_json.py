"""The JSON of what is ordered and what it costs: of ``run --dry-run``, and the bill in that of ``plan``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import msgspec

from worldodds._version import __version__
from worldodds.pricing.bill import Bill, Cost, total
from worldodds.quotes import Quote, Saving

FORMAT = "worldodds.dry_run/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceEntry:
    """The price of a unit, and where and when it was read; ``read_on`` is null where a setting gave it."""

    low_usd: float
    high_usd: float
    read_on: date | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEntry:
    """So many units of a generator or reader; without a price the amounts are null, with a reason."""

    name: str
    per: str
    units_low: float
    units_high: float
    low_usd: float | None
    high_usd: float | None
    price: PriceEntry | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BillEntry:
    """What is still to be filmed and read, what that costs, and how many hours filming takes at ``in_flight`` jobs."""

    generator: str
    settings: dict[str, Any]
    rollouts: int
    seconds: float | None
    readings_low: int
    readings_high: int
    costs: tuple[CostEntry, ...]
    low_usd: float | None
    high_usd: float | None
    in_flight: int | None
    hours_low: float | None
    hours_high: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowsEntry:
    """What a scene will show at n."""

    detectable_tv: float | None
    certifiable_delta: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEntry:
    """One generator's run: what it still orders, what was ``spent_usd`` in its folder, what all of it will show."""

    folder: str
    suite: str
    suite_hash: str
    n: int
    power: float
    bill: BillEntry
    spent_usd: float
    shows: dict[str, ShowsEntry]
    no_reference: tuple[str, ...]
    early: Saving | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitEntry:
    """``--max-cost``, which holds clips only: what was spent, what may still be, and whether that may pass it."""

    limit_usd: float
    spent_usd: float
    clips_high_usd: float | None
    may_pass: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunDocument:
    """What ``worldodds run --dry-run`` found: one job a generator, and their sum."""

    format: str
    worldodds_version: str
    jobs: tuple[JobEntry, ...]
    rollouts: int
    seconds: float | None
    readings_low: int
    readings_high: int
    low_usd: float | None
    high_usd: float | None
    max_cost: LimitEntry | None


def dry_run_json(quotes: Sequence[tuple[str, Quote]], limit_usd: float | None) -> str:
    """Return what jobs order and cost, each with its folder, as indented JSON text."""
    bills = [found.bill for _, found in quotes]
    document = DryRunDocument(
        format=FORMAT,
        worldodds_version=__version__,
        jobs=tuple(_job(folder, found) for folder, found in quotes),
        rollouts=sum(one.rollouts for one in bills),
        seconds=total(one.seconds for one in bills),
        readings_low=sum(one.readings[0] for one in bills),
        readings_high=sum(one.readings[1] for one in bills),
        low_usd=_usd(total(one.low_usd for one in bills)),
        high_usd=_usd(total(one.high_usd for one in bills)),
        max_cost=None if limit_usd is None else limit_entry([found for _, found in quotes], limit_usd),
    )
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def limit_entry(quotes: Sequence[Quote], limit_usd: float) -> LimitEntry:
    """Hold what all clips may cost against a limit."""
    spent = sum(found.spent_usd for found in quotes)
    clips = total(found.bill.clips.high_usd for found in quotes)
    may_pass = None if clips is None else spent + clips > limit_usd + 1e-9
    return LimitEntry(limit_usd=limit_usd, spent_usd=spent, clips_high_usd=clips, may_pass=may_pass)


def bill_entry(found: Quote) -> BillEntry:
    """Put a bill into the shape that documents have it in."""
    bill, maker = found.bill, found.plan.generator
    low, high = bill.hours or (None, None)
    return BillEntry(
        generator=maker.name,
        settings=dict(maker.settings),
        rollouts=bill.rollouts,
        seconds=bill.seconds,
        readings_low=bill.readings[0],
        readings_high=bill.readings[1],
        costs=tuple(_cost(cost) for cost in bill.costs),
        low_usd=_usd(bill.low_usd),
        high_usd=_usd(bill.high_usd),
        in_flight=bill.in_flight,
        hours_low=low,
        hours_high=high,
        reasons=_reasons(bill),
    )


def _reasons(bill: Bill) -> tuple[str, ...]:
    """Say why something of a bill is null."""
    told = [f"{cost.name}: {cost.reason}" for cost in bill.costs if cost.reason]
    if bill.seconds is None:
        told.append("seconds: the generator's settings do not say how long a clip is")
    if bill.hours is None:
        told.append("hours: clips are made here, how fast only filming tells")
    return tuple(told)


def _usd(amount: float | None) -> float | None:
    """Round away what binary fractions leave behind millionths."""
    return None if amount is None else round(amount, 6)


def _cost(cost: Cost) -> CostEntry:
    price = cost.price
    read = price and PriceEntry(
        low_usd=price.low_usd, high_usd=price.high_usd, read_on=price.read_on, source=price.source
    )
    return CostEntry(
        name=cost.name,
        per=cost.per,
        units_low=cost.least,
        units_high=cost.most,
        low_usd=_usd(cost.low_usd),
        high_usd=_usd(cost.high_usd),
        price=read,
        reason=cost.reason,
    )


def _job(folder: str, found: Quote) -> JobEntry:
    both = {**found.shows.scenes, **found.shows.uncertain}
    return JobEntry(
        folder=folder,
        suite=found.plan.suite.id,
        suite_hash=found.plan.suite.content_hash,
        n=found.plan.n,
        power=found.shows.power,
        bill=bill_entry(found),
        spent_usd=found.spent_usd,
        shows={
            scene: ShowsEntry(detectable_tv=one.detectable_tv, certifiable_delta=one.certifiable_delta)
            for scene, one in both.items()
        },
        no_reference=found.shows.unknown,
        early=found.saving,
    )
