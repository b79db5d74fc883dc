"""What a reader's own records tell: which version served it, how often it was asked, and what that took and cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from worldodds.rollout import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Sums over the replies of a judge.

    ``served`` are the versions as the endpoint named them, sorted. Tokens and ``cost_usd`` are None where no reply
    told any; ``untold`` counts the replies that told no cost. A reader that asks nobody has made no calls.
    """

    served: tuple[str, ...] = ()
    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    untold: int = 0


class _Reply(msgspec.Struct):
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class _Raw(msgspec.Struct):
    replies: list[_Reply] = []
    evidence: str | None = None
    frames: list[str] = []


def spending(readings: Iterable[Reading]) -> Spending:
    """Add up what the records of these readings tell.

    >>> raw = '{"replies": [{"model": "m-2026-01", "input_tokens": 90, "output_tokens": 9, "cost_usd": 0.25}]}'
    >>> spent = spending([Reading.saw("left", raw), Reading.saw("right", raw), Reading.saw("left")])
    >>> spent.served, spent.calls, spent.input_tokens, spent.cost_usd
    (('m-2026-01',), 2, 180, 0.5)
    """
    replies = [reply for reading in readings for reply in _read(reading).replies]
    costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    return Spending(
        served=tuple(sorted({reply.model for reply in replies if reply.model})),
        calls=len(replies),
        input_tokens=_sum([reply.input_tokens for reply in replies]),
        output_tokens=_sum([reply.output_tokens for reply in replies]),
        cost_usd=sum(costs) if costs else None,
        untold=len(replies) - len(costs),
    )


def evidence_of(reading: Reading) -> tuple[str, tuple[str, ...]] | None:
    """Return where the frames that a judge was shown are kept (the folder's name) and their hashes, in their order."""
    raw = _read(reading)
    return (raw.evidence, tuple(raw.frames)) if raw.evidence and raw.frames else None


def _read(reading: Reading) -> _Raw:
    """Decode a reading's record; readers that keep another kind of note have none."""
    if not reading.raw or not reading.raw.startswith("{"):
        return _Raw()
    try:
        return msgspec.json.decode(reading.raw, type=_Raw)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return _Raw()


def _sum(numbers: list[int | None]) -> int | None:
    told = [number for number in numbers if number is not None]
    return sum(told) if told else None
