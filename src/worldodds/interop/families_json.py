"""The JSON of families and of the crosscheck, strict; their schemas are made of these types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from worldodds._version import __version__
from worldodds.crosscheck import Crosscheck, CrossModel, Swap
from worldodds.families import Reaction

FAMILIES_FORMAT = "worldodds.families/1"
CROSSCHECK_FORMAT = "worldodds.crosscheck/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionEntry:
    """A variant against its base; shifts are total variations in percent, ``reaction`` the part of what is expected."""

    base: str
    member: str
    cue: str
    changes: str
    n: tuple[int, int]
    counts: dict[str, tuple[int, int]]
    shift: float | None
    chance: float | None
    expected: float | None
    reaction: float | None
    reaction_low: float | None
    reaction_high: float | None
    p_value: float | None
    q_value: float | None
    method: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FamiliesDocument:
    """What ``worldodds pawbench families`` found, by model."""

    format: str
    worldodds_version: str
    models: dict[str, tuple[ReactionEntry, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrosscheckDocument:
    """What ``worldodds crosscheck`` found."""

    format: str
    worldodds_version: str
    scenes: tuple[str, ...]
    gate: float
    models: tuple[CrossModel, ...]
    swaps: tuple[Swap, ...]


def families_json(found: Mapping[str, Sequence[Reaction]]) -> str:
    """Return reactions by model as indented JSON text."""
    models = {model: tuple(_entry(one) for one in some) for model, some in found.items()}
    return _text(FamiliesDocument(format=FAMILIES_FORMAT, worldodds_version=__version__, models=models))


def crosscheck_json(found: Crosscheck) -> str:
    """Return a crosscheck as indented JSON text."""
    document = CrosscheckDocument(
        format=CROSSCHECK_FORMAT,
        worldodds_version=__version__,
        scenes=found.scenes,
        gate=found.gate,
        models=found.models,
        swaps=found.swaps,
    )
    return _text(document)


def _text(document: FamiliesDocument | CrosscheckDocument) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _entry(one: Reaction) -> ReactionEntry:
    a, b = one.counts
    return ReactionEntry(
        base=one.base.id,
        member=one.member.id,
        cue=one.variant.cue,
        changes=one.variant.changes,
        n=(a.n, b.n),
        counts={label: (x, y) for label, x, y in zip(a.labels, a.counts, b.counts, strict=True)},
        shift=one.shift,
        chance=one.chance,
        expected=one.expected,
        reaction=one.reaction,
        reaction_low=one.interval.low if one.interval else None,
        reaction_high=one.interval.high if one.interval else None,
        p_value=one.test.p_value,
        q_value=one.q_value,
        method=one.test.method,
        verdict=one.verdict,
    )
