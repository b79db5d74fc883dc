"""Our readers as scorers of inspect_ai, by its documented interface; inspect_ai itself is only imported when used."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worldodds import video
from worldodds.errors import InputError, OutOfRangeError, VideoError
from worldodds.extras import need
from worldodds.protocols import Reader
from worldodds.rollout import Reading
from worldodds.scene import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A reading as a score: ``value`` is None where the reader failed, which says nothing of the model."""

    value: str | None
    answer: str
    explanation: str | None


def read_sample(reader: Reader, suite: Suite, metadata: Mapping[str, Any], target: str) -> Scored:
    """Read the clip that a sample's metadata names by ``clip`` (a path) and ``scene`` (an id).

    The value is ``C`` or ``I`` where the sample has a target; else it is the answer: a label or a kind of null.

    Raises:
        InputError: the metadata names no clip or no scene of the suite.
    """
    if missing := [name for name in ("clip", "scene") if not isinstance(metadata.get(name), str)]:
        raise InputError(f"metadata: {missing[0]!r} is missing; a sample names its clip (a path) and its scene (an id)")
    scene = suite.scene(metadata["scene"])
    try:
        reading = reader.read(video.probe(Path(metadata["clip"])), scene, vote=0)
    except (OutOfRangeError, VideoError) as error:
        reading = Reading(status="failed", reason=str(error))
    answer = reading.label or reading.status
    if reading.status in ("failed", "missing"):
        return Scored(value=None, answer=answer, explanation=reading.reason)
    value = ("C" if answer == target else "I") if target else answer
    return Scored(value=value, answer=answer, explanation=reading.reason)


def reader_scorer(reader: Reader, suite: Suite) -> Any:
    """Return a scorer for ``Task(scorer=...)``; samples name their clip and scene in their metadata.

    A reader that fails leaves the sample unscored, so that no metric counts it against the model.

    Raises:
        MissingDependencyError: inspect_ai is not installed.
    """
    kit = need("inspect_ai.scorer", "inspect")

    @kit.scorer(metrics=[kit.accuracy(), kit.stderr()], name=f"worldodds/{reader.name}")
    def worldodds_reader() -> Any:
        return scoring(reader, suite)

    return worldodds_reader()


def scoring(reader: Reader, suite: Suite) -> Callable[[Any, Any], Awaitable[Any]]:
    """Return what inspect_ai calls for every sample, with its state and its target."""
    kit = need("inspect_ai.scorer", "inspect")

    async def score(state: Any, target: Any) -> Any:
        found = await asyncio.to_thread(read_sample, reader, suite, state.metadata, target.text)
        if found.value is None:
            return kit.Score.unscored(answer=found.answer, explanation=found.explanation)
        return kit.Score(value=found.value, answer=found.answer, explanation=found.explanation)

    return score
