"""Where a scene stands in its suite: its track and group, what it is a variant of, and how sure we are of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Track = Literal["calibration", "coverage"]
Cue = Literal["causal", "non-causal"]
Certainty = Literal["C", "I", "U"]

CERTAINTY_WORDS: Mapping[Certainty, str] = {"C": "read in the source", "I": "inferred", "U": "not found"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The scene that this one differs from in one thing only, ``changes``.

    A ``causal`` change is one of the physics, so that the odds may move; a ``non-causal`` one is of the picture only,
    so that they must stay.
    """

    of: str
    cue: Cue
    changes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A scene's track and group, its kinship, and per fact (labels, group, reference, ...) how it is known.

    ``C`` is read in the source, ``I`` inferred, ``U`` not found.
    """

    track: Track
    group: str
    variant: Variant | None = None
    certainty: Mapping[str, Certainty] = field(default_factory=dict[str, Certainty])
