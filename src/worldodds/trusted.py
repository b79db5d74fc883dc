"""Audits of trust beside a score: how many clips are trusted, and what the score is of those alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from worldodds.errors import SourceError
from worldodds.scorecard import Scorecard
from worldodds.sources import Source, load
from worldodds.store import RunStore

KEPT = ("trusted",)
NOT_AUDITED = "not audited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Both results: of all clips, which is the score, and of the trusted ones alone, None where there are none.

    ``audits`` counts by scene.
    """

    auditor: str
    audits: Mapping[str, Mapping[str, int]]
    all_clips: Scorecard
    trusted_clips: Scorecard | None


def trust_beside(folder: Path, *, reader: str | None = None, auditor: str | None = None) -> Trust:
    """Score a run twice, with all its clips and with the trusted ones; the audit changes neither.

    A clip whose audit failed or is missing counts in the first and not in the second, and is told.

    Raises:
        SourceError: nobody has audited the run, or several have and none is named.
    """
    with RunStore(folder, write=False) as store:
        stored, rollouts = list(store.readings().values()), store.rollouts()
    auditors = sorted({one.reader for one in stored if one.reader.startswith("trust/")})
    if auditor is None and len(auditors) == 1:
        auditor = auditors[0]
    if auditor not in auditors:
        if not auditors:
            raise SourceError(f"{folder}: nobody has audited it; read it with a reader such as trust/vlm/MODEL")
        raise SourceError(f"{folder}: audited by {' and '.join(auditors)}; choose one with --auditor")
    status = {
        (rollouts[one.rollout_key].scene, rollouts[one.rollout_key].index): one.reading.label or NOT_AUDITED
        for one in stored
        if one.reader == auditor
    }
    source = load(folder, reader=reader)
    (whole,) = source.score(partial=True)
    part = next(iter(only(source, status).score(partial=True)), None)
    return Trust(auditor=auditor, audits=_counted(source, status), all_clips=whole, trusted_clips=part)


def only(source: Source, status: Mapping[tuple[str, int], str], kept: tuple[str, ...] = KEPT) -> Source:
    """Return the source without the clips whose audit is none of ``kept``."""
    rows = tuple(row for row in source.rows if status.get((row.scene, row.index)) in kept)
    return replace(source, rows=rows)


def _counted(source: Source, status: Mapping[tuple[str, int], str]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for scene, index in sorted({(row.scene, row.index) for row in source.rows if row.rollout_status == "done"}):
        counts[scene][status.get((scene, index), NOT_AUDITED)] += 1
    return {scene: dict(counter) for scene, counter in counts.items()}
