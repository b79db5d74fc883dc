"""The clips behind an audit's disagreements: where they lie, and which frames the reader was shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from worldodds.audit import Audit, Pair
from worldodds.evidence import FOLDER
from worldodds.row import Row
from worldodds.spending import evidence_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A clip that two readers read differently.

    ``clip`` is its file, None where the source has no clips; ``frames`` are the pictures that a judge was shown, empty
    for readers that keep none. ``reason`` is what the reader itself gave: a null rule, as a rule.
    """

    pair: Pair
    index: int | None = None
    clip: Path | None = None
    clip_sha256: str | None = None
    frames: tuple[Path, ...] = ()
    reason: str | None = None


def disputes_of(found: Audit, rows: Iterable[Row], clips: Mapping[tuple[str, str, int], Path]) -> tuple[Dispute, ...]:
    """Find the clips of an audit's disagreements, in their order; ``clips`` are files by model, scene and index."""
    wanted = {(pair.scene, pair.model, pair.seed) for pair in found.disagreements}
    read: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        if (key := (row.scene, row.model, row.seed)) in wanted:
            read.setdefault(key, []).append(row)
    return tuple(
        _dispute(pair, read.get((pair.scene, pair.model, pair.seed), []), clips) for pair in found.disagreements
    )


def _dispute(pair: Pair, votes: list[Row], clips: Mapping[tuple[str, str, int], Path]) -> Dispute:
    if not votes:
        return Dispute(pair=pair)
    first = min(votes, key=lambda row: row.vote)
    clip = clips.get((pair.model, pair.scene, first.index))
    # of several votes, one that gave the answer that counts
    said = next((row.reading for row in votes if row.reading.label == pair.read and row.reading.raw), first.reading)
    reason = said.reason if said.label == pair.read else None
    shown = evidence_of(said)
    frames = [clip.parent / FOLDER / shown[0] / f"{sha}.jpg" for sha in shown[1]] if clip and shown else []
    return Dispute(
        pair=pair,
        index=first.index,
        clip=clip if clip and clip.is_file() else None,
        clip_sha256=first.clip_sha256,
        frames=tuple(frame for frame in frames if frame.is_file()),
        reason=reason,
    )
