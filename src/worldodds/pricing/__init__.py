"""What a run will cost, from a table of prices with dates that anyone may edit; what is not in it is never guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from worldodds.errors import InputError
from worldodds.protocols import Generator, HostedGenerator
from worldodds.toml_file import read_toml

FORMAT = "worldodds.prices/1"
INPUT, OUTPUT = "million input tokens", "million output tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one unit of a model costs, between low and high, and where and when that was read.

    ``read_on`` is None only for a price that a setting gives; a table dates each of its prices.
    """

    model: str
    per: Literal["second", "clip", "reading", "million input tokens", "million output tokens"]
    low_usd: float
    high_usd: float
    read_on: date | None = None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _PriceFile:
    format: str
    price: tuple[Price, ...]


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
        if price.read_on is None:
            raise InputError(f"price of {price.model}: read_on is missing; write the day on which you read it")
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
