"""What so much work costs, reader by reader, and how long it takes at a concurrency."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from worldodds.pricing import INPUT, OUTPUT, Price, clip_seconds, price_of
from worldodds.pricing.tokens import Span, tokens_of
from worldodds.protocols import Generator, HostedGenerator, Reader
from worldodds.scene import Scene

TYPICAL_S = (30.0, 300.0)  # a hosted clip takes "30 seconds to several minutes" (OpenRouter's documentation)
NO_PRICE = "no price in the table"
NO_LENGTH = "the settings do not say how long a clip is"


@runtime_checkable
class PricedReader(Protocol):
    """A reader whose settings say what a million tokens cost, in and out."""

    @property
    def prices(self) -> tuple[float, float] | None:
        """Return both in USD; None where nothing was said."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is still to be done: rollouts to film, by scene id, and the fewest and the most readings, by reader too."""

    rollouts: Mapping[str, int]
    readings: Mapping[str, Mapping[str, tuple[int, int]]]

    @property
    def filmed(self) -> int:
        """Rollouts of all scenes."""
        return sum(self.rollouts.values())

    def read_by(self, reader: str) -> tuple[int, int]:
        """Readings of all scenes by one reader, fewest and most."""
        spans = self.readings[reader].values()
        return sum(low for low, _ in spans), sum(high for _, high in spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """One line of a bill: between ``least`` and ``most`` units at a price; ``reason`` says why there is none."""

    name: str
    least: float
    most: float
    per: str
    price: Price | None
    reason: str | None = None

    @property
    def low_usd(self) -> float | None:
        """The least it may cost."""
        return None if self.price is None else self.least * self.price.low_usd

    @property
    def high_usd(self) -> float | None:
        """The most it may cost."""
        return None if self.price is None else self.most * self.price.high_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a run orders: clips, seconds of video, readings, their cost, and the time that filming takes.

    ``clips`` is the cost of the clips, ``judging`` that of reading them. ``hours`` is None where clips are made here:
    then only filming tells.
    """

    rollouts: int
    seconds: float | None
    readings: tuple[int, int]
    clips: Cost
    judging: tuple[Cost, ...]
    in_flight: int | None
    hours: Span | None

    @property
    def costs(self) -> tuple[Cost, ...]:
        """All lines."""
        return (self.clips, *self.judging)

    @property
    def high_usd(self) -> float | None:
        """The most that all may cost, None where a price is missing."""
        return total(cost.high_usd for cost in self.costs)

    @property
    def low_usd(self) -> float | None:
        """The least that all may cost, None where a price is missing."""
        return total(cost.low_usd for cost in self.costs)


def total(parts: Iterable[float | None]) -> float | None:
    """Add up what is known of every part; None where one is not known."""
    known = list(parts)
    return None if None in known else sum(part for part in known if part is not None)


def bill(
    maker: Generator | HostedGenerator,
    readers: Sequence[Reader],
    prices: Sequence[Price],
    *,
    work: Work,
    scenes: Sequence[Scene],
    workers: int | None = None,
) -> Bill:
    """Work out what so much work costs."""
    seconds, rollouts = clip_seconds(maker.settings), work.filmed
    spans = [work.read_by(reader.name) for reader in readers]
    in_flight = (workers or maker.in_flight) if isinstance(maker, HostedGenerator) else None
    rounds_h = rollouts / in_flight / 3600 if in_flight else None
    return Bill(
        rollouts=rollouts,
        seconds=None if seconds is None else rollouts * seconds,
        readings=(sum(low for low, _ in spans), sum(high for _, high in spans)),
        clips=_clips(maker, prices, rollouts, seconds),
        judging=tuple(cost for reader in readers for cost in _judging(reader, prices, work, scenes, seconds)),
        in_flight=in_flight,
        hours=None if rounds_h is None else (rounds_h * TYPICAL_S[0], rounds_h * TYPICAL_S[1]),
    )


def _clips(maker: Generator | HostedGenerator, prices: Sequence[Price], rollouts: int, seconds: float | None) -> Cost:
    price = price_of(maker.name, prices)
    if price is None or price.per == "clip":
        reason = NO_PRICE if price is None else None
        return Cost(name=maker.name, least=rollouts, most=rollouts, per="clip", price=price, reason=reason)
    if seconds is None:
        return Cost(name=maker.name, least=rollouts, most=rollouts, per="clip", price=None, reason=NO_LENGTH)
    units = rollouts * seconds
    return Cost(name=maker.name, least=units, most=units, per="second", price=price)


def _judging(
    reader: Reader, prices: Sequence[Price], work: Work, scenes: Sequence[Scene], seconds: float | None
) -> tuple[Cost, ...]:
    """Return one line for a reader that has a price a reading or none, two for one that is paid by the token."""
    least, most = work.read_by(reader.name)
    flat, (asked, replied) = price_of(reader.name, prices, per=("reading",)), _by_token(reader, prices)
    if flat or asked is None or replied is None:
        told = None if flat else NO_PRICE
        return (Cost(name=reader.name, least=least, most=most, per="reading", price=flat, reason=told),)
    tokens = {scene.id: tokens_of(reader, scene, seconds) for scene in scenes}
    spans = [(work.readings[reader.name][scene], taken) for scene, taken in tokens.items() if taken]
    if len(spans) < len(tokens):
        return (Cost(name=reader.name, least=least, most=most, per="reading", price=None, reason=NO_LENGTH),)
    into = [(n[0] * taken.asked[0], n[1] * taken.asked[1]) for n, taken in spans]
    out = [(n[0] * taken.replied[0], n[1] * taken.replied[1]) for n, taken in spans]
    return tuple(
        Cost(
            name=reader.name,
            least=sum(low for low, _ in some) / 1e6,
            most=sum(high for _, high in some) / 1e6,
            per=price.per,
            price=price,
        )
        for some, price in ((into, asked), (out, replied))
    )


def _by_token(reader: Reader, prices: Sequence[Price]) -> tuple[Price | None, Price | None]:
    """Return what tokens cost, in and out: as the reader's own settings say, else as the table does."""
    if isinstance(reader, PricedReader) and reader.prices is not None:
        asked, replied = reader.prices
        told = "settings input_usd and output_usd"
        return (
            Price(model=reader.name, per=INPUT, low_usd=asked, high_usd=asked, source=told),
            Price(model=reader.name, per=OUTPUT, low_usd=replied, high_usd=replied, source=told),
        )
    return price_of(reader.name, prices, per=(INPUT,)), price_of(reader.name, prices, per=(OUTPUT,))
