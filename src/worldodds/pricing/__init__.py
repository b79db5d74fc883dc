"""What a run will cost, from a table of prices with dates that anyone may edit; what is not in it is never guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from worldodds.errors import InputError
from worldodds.protocols import Generator, HostedGenerator, Reader
from worldodds.toml_file import read_toml

FORMAT = "worldodds.prices/1"
TYPICAL_S = (30.0, 300.0)  # a hosted clip takes "30 seconds to several minutes" (OpenRouter's documentation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one unit of a model costs, between low and high, and where and when that was read."""

    model: str
    per: Literal["second", "clip", "reading"]
    low_usd: float
    high_usd: float
    read_on: date
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _PriceFile:
    format: str
    price: tuple[Price, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """One line of a plan: so many units of a model, at a price (None: the table knows none)."""

    name: str
    units: float
    per: str
    price: Price | None

    @property
    def low_usd(self) -> float | None:
        """The least it may cost."""
        return None if self.price is None else self.units * self.price.low_usd

    @property
    def high_usd(self) -> float | None:
        """The most it may cost."""
        return None if self.price is None else self.units * self.price.high_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a run orders: clips, seconds of video, readings, their cost, and the time at a concurrency.

    ``hours`` is None where clips are made here: then only filming tells.
    """

    rollouts: int
    seconds: float | None
    readings: int
    costs: tuple[Cost, ...]
    in_flight: int | None
    hours: tuple[float, float] | None

    @property
    def high_usd(self) -> float | None:
        """The most that all may cost, None where a price is missing."""
        highs = [cost.high_usd for cost in self.costs]
        return None if None in highs else sum(high for high in highs if high is not None)

    @property
    def low_usd(self) -> float | None:
        """The least that all may cost, None where a price is missing."""
        lows = [cost.low_usd for cost in self.costs]
        return None if None in lows else sum(low for low in lows if low is not None)


def load_prices(own: Path | None = None) -> tuple[Price, ...]:
    """Return the table of prices, a file of your own first.

    Raises:
        InputError: the file is missing or wrong.
    """
    files = [] if own is None else [own]
    if own is not None and not own.is_file():
        raise InputError(f"{own}: there is no such table of prices; write one as docs/generators.md shows")
    tables = [read_toml(file, _PriceFile, FORMAT) for file in (*files, Path(__file__).parent / "prices.toml")]
    prices = [price for table in tables for price in table.price]
    for price in prices:
        if not 0 <= price.low_usd <= price.high_usd:
            raise InputError(f"price of {price.model}: {price.low_usd:g} to {price.high_usd:g} USD is no range")
    return tuple(prices)


def price_of(name: str, prices: Sequence[Price], *, per: tuple[str, ...] = ("second", "clip")) -> Price | None:
    """Return the first price that fits a name."""
    return next((price for price in prices if price.per in per and fnmatchcase(name, price.model)), None)


def clip_seconds(settings: Mapping[str, Any]) -> float | None:
    """Return how long a clip is by its settings, None where they do not say."""
    for name in ("duration", "duration_s", "seconds"):
        value = settings.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    frames, fps = settings.get("frames"), settings.get("fps")
    return frames / fps if isinstance(frames, int) and isinstance(fps, int) and fps else None


def per_clip_usd(maker: Generator | HostedGenerator, prices: Sequence[Price]) -> float | None:
    """Return the most that one clip may cost, None where the table or the settings do not tell."""
    price, seconds = price_of(maker.name, prices), clip_seconds(maker.settings)
    if price is None or (price.per == "second" and seconds is None):
        return None
    return price.high_usd * (seconds or 0.0) if price.per == "second" else price.high_usd


def bill(
    maker: Generator | HostedGenerator,
    readers: Sequence[Reader],
    prices: Sequence[Price],
    *,
    rollouts: int,
    workers: int | None = None,
) -> Bill:
    """Work out what so many rollouts cost, with every reader's votes."""
    price, seconds = price_of(maker.name, prices), clip_seconds(maker.settings)
    by_second = price is not None and price.per == "second"
    units = rollouts * (seconds or 0.0) if by_second else float(rollouts)
    known = price if not by_second or seconds is not None else None
    costs = [Cost(name=maker.name, units=units, per=price.per if price else "clip", price=known)]
    readings = 0
    for reader in readers:
        votes = rollouts * int(reader.settings.get("votes") or 1)
        readings += votes
        found = price_of(reader.name, prices, per=("reading",))
        costs.append(Cost(name=reader.name, units=float(votes), per="reading", price=found))
    in_flight = (workers or maker.in_flight) if isinstance(maker, HostedGenerator) else None
    hours = None
    if in_flight:
        hours = (rollouts / in_flight * TYPICAL_S[0] / 3600, rollouts / in_flight * TYPICAL_S[1] / 3600)
    return Bill(
        rollouts=rollouts,
        seconds=None if seconds is None else rollouts * seconds,
        readings=readings,
        costs=tuple(costs),
        in_flight=in_flight,
        hours=hours,
    )
