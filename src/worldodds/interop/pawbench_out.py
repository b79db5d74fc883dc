"""Rows in the official PAWBench evaluator's format: ``rows.jsonl`` and ``checkpoint.jsonl``, a line a planned slot."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from worldodds.errors import SourceError
from worldodds.interop.files import write_bytes
from worldodds.interop.pawbench import CHECKPOINT, CHECKPOINT_FORMAT, METRICS, NOT_FILMED, ROWS
from worldodds.interop.pawbench_metrics import metrics_json
from worldodds.rollout import Reading
from worldodds.row import Row
from worldodds.scene import Scene, Suite
from worldodds.tally import settle
from worldodds.tracks import TrackCard, placement_of

UNREAD = "malformed_outcome_readout"
REFUSED = "refused_by_provider"


def write_official(rows: Iterable[Row], cards: Sequence[TrackCard], folder: Path, suite: Suite) -> list[str]:
    """Write ``rows.jsonl``, ``checkpoint.jsonl`` and ``metrics.json``; return what the format cannot hold, in words.

    Every planned slot gets a row: votes are settled to one reading, what is missing, refused or failed becomes an
    ``infrastructure_failure``, never a null. The checkpoint holds outcomes and nulls only; its video fingerprints are
    content hashes, which the official evaluator does not resume from.

    Raises:
        SourceError: there are no rows, or the folder cannot be written.
    """
    seen: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in rows:
        seen[row.model, row.scene, row.index].append(row)
    if not seen:
        raise SourceError(f"{folder}: there are no rows to write")
    models = list(dict.fromkeys(model for model, _, _ in seen))
    slots = [
        (_fields(scene, model, index, seen.get((model, scene.id, index), [])), seen.get((model, scene.id, index), []))
        for model in models
        for scene in suite.scenes
        for index in range(suite.protocol.rollouts)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    write_bytes(folder / ROWS, _lines(fields for fields, _ in slots))
    judged = [_checkpoint(fields, votes) for fields, votes in slots if "failure_code" not in fields]
    write_bytes(folder / CHECKPOINT, _lines(judged))
    write_bytes(folder / METRICS, metrics_json(cards).encode())
    most = suite.protocol.rollouts
    beyond = [
        f"{model}, scene {scene}: rollout {index} is beyond the protocol's {most} and left out"
        for model, scene, index in seen
        if not 0 <= index < most
    ]
    read = {scene for _, scene, _ in seen}
    counted = [(one.id, one.reference.n_observed) for one in suite.scenes if one.id in read and one.reference]
    return beyond + [
        f"scene {scene}: that its odds are uncertain, counted in {n} trials; metrics.json takes the shares as known"
        for scene, n in counted
        if n is not None
    ]


def _fields(scene: Scene, model: str, index: int, votes: Sequence[Row]) -> dict[str, Any]:
    ordered = sorted(votes, key=lambda row: row.vote)
    status = ordered[0].rollout_status if ordered else "missing"
    reading = settle([row.reading for row in ordered])
    sample = f"{model}::{scene.id}::r{index:03d}"
    judged = status == "done" and reading.status in ("outcome", "unreadable", "out_of_schema")
    return {
        "sample_id": f"{sample}::repeat={index}" if judged else sample,
        "scene_id": scene.id,
        "track": placement_of(scene).track,
        "model_or_lane": model,
        "repeat_index": index,
        **(_observed(scene, reading) if judged else _failed(status, reading)),
        "source_sample_id": sample,
        "outcome_readout": _readout(scene, reading) if judged else None,
        "trustworthiness_audit": None,
    }


def _observed(scene: Scene, reading: Reading) -> dict[str, Any]:
    if reading.label is None:
        return {"observation": "null_observation"}
    assert reading.label in scene.labels
    return {"observation": "outcome", "outcome_label": reading.label}


def _failed(status: str, reading: Reading) -> dict[str, Any]:
    code = {"refused": REFUSED, "missing": NOT_FILMED, "failed": NOT_FILMED}.get(status)
    return {"observation": "infrastructure_failure", "failure_code": code or reading.reason or UNREAD}


def _readout(scene: Scene, reading: Reading) -> Mapping[str, Any]:
    """Return the judge's own answer where it was kept, else one that says the same."""
    if reading.raw is not None and reading.raw.startswith("{"):
        return json.loads(reading.raw)
    words = {"outcome": "IN_SCHEMA", "unreadable": "NOT_READABLE", "out_of_schema": "OUT_OF_SCHEMA"}
    return {
        "scene_id": scene.id,
        "outcome_readable": reading.status != "unreadable",
        "outcome_in_schema": words[reading.status],
        "outcome_label": reading.label,
    }


def _checkpoint(fields: Mapping[str, Any], votes: Sequence[Row]) -> dict[str, Any]:
    return {
        "schema_version": CHECKPOINT_FORMAT,
        "scene_id": fields["scene_id"],
        "repeat_index": fields["repeat_index"],
        "video_fingerprint": votes[0].clip_sha256 if votes else None,
        "row": fields,
    }


def _lines(values: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()
