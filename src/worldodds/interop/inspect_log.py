"""A run as a log of inspect_ai, to be opened with ``inspect view``: a sample a scene, an epoch a rollout.

An ``.eval`` file is a zip archive of strict JSON: ``header.json``, ``summaries.json``, ``_journal/start.json``, and
``samples/ID_epoch_N.json`` (facts/inspect_ai.toml). Written here without inspect_ai, which need not be installed.
"""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from worldodds._version import __version__
from worldodds.errors import SourceError, VideoError
from worldodds.interop.files import write_bytes
from worldodds.report.strips import pictures_of
from worldodds.row import Row
from worldodds.scene import Scene, digest
from worldodds.sources import Source
from worldodds.spending import spending
from worldodds.tally import settle

ENDING = ".eval"
_MEMBER_TIME = (1980, 1, 1, 0, 0, 0)  # the same run gives the same bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """One rollout of one scene with all its votes."""

    scene: Scene
    rows: Sequence[Row]
    clip: Path | None

    @property
    def first(self) -> Row:
        return self.rows[0]


def write_inspect_log(source: Source, path: Path, *, created: datetime) -> int:
    """Write a source as an ``.eval`` log and return how many samples it holds; the file appears by rename.

    A clip that was refused or failed has an error and no score; so has one that the reader could not read, for neither
    is an answer. Pictures of the clip stand where a model's reply would be.

    Raises:
        SourceError: the source holds several models, of which a log can tell only one.
    """
    models = sorted({row.model for row in source.rows})
    if len(models) != 1:
        raise SourceError(f"a log of inspect_ai holds one model; here are {len(models)}: {', '.join(models)}")
    samples = [_sample(member, source.reader or "reader") for member in _members(source)]
    header = _header(source, models[0], samples, created)
    start = {"version": header["version"], "eval": header["eval"], "plan": header["plan"]}
    members = {
        "_journal/start.json": start,
        **{f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples},
        "summaries.json": [_summary(one) for one in samples],
        "header.json": header,
    }
    write_bytes(path, _zipped(members))
    return len(samples)


def _members(source: Source) -> Iterator[_Member]:
    by_clip: dict[tuple[str, int], list[Row]] = {}
    for row in sorted(source.rows, key=lambda row: (source.suite.scene_ids.index(row.scene), row.index, row.vote)):
        by_clip.setdefault((row.scene, row.index), []).append(row)
    for (scene, index), rows in by_clip.items():
        clip = source.clips.get((rows[0].model, scene, index))
        yield _Member(scene=source.suite.scene(scene), rows=rows, clip=clip)


def _header(source: Source, model: str, samples: Sequence[Mapping[str, Any]], created: datetime) -> dict[str, Any]:
    scenes = list(dict.fromkeys(one["id"] for one in samples))
    at, about = created.isoformat(timespec="seconds"), {"suite": source.suite.content_hash, "reader": source.reader}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": digest({**about, "model": model})[:22],
            "run_id": digest({**about, "at": at})[:22],
            "created": at,
            "task": f"worldodds/{source.suite.id}",
            "task_id": source.suite.content_hash[:22],
            "task_version": source.suite.version,
            "dataset": {"name": source.suite.id, "samples": len(scenes), "sample_ids": scenes, "shuffled": False},
            "model": model,
            "config": {"epochs": max((one["epoch"] for one in samples), default=1)},
            "packages": {"worldodds": __version__},
            "metadata": about,
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(samples),
            "completed_samples": sum("error" not in one for one in samples),
            "scores": [_results(source, model, sum(bool(one["scores"]) for one in samples), len(samples))],
        },
        "stats": {"started_at": at, "completed_at": at, "model_usage": {}},
    }


def _results(source: Source, model: str, scored: int, total: int) -> dict[str, Any]:
    """Give what worldodds has measured as the metrics of the reader."""
    card = next(card for card in source.score(partial=True) if card.model == model)
    valid = sum(cell.measurement.counts.n for cell in card.cells)
    read = sum(cell.measurement.counts.n_total for cell in card.cells)
    found = {"mntv": card.mntv, "scorability": valid / read if read else None}
    return {
        "name": source.reader or "reader",
        "scorer": source.reader or "reader",
        "scored_samples": scored,
        "unscored_samples": total - scored,
        "metrics": {name: {"name": name, "value": value} for name, value in found.items() if value is not None},
    }


def _sample(member: _Member, reader: str) -> dict[str, Any]:
    scene, first = member.scene, member.first
    reading = settle([row.reading for row in member.rows])
    answer = reading.label or reading.status
    asked = {"id": "asked", "role": "user", "source": "input", "content": scene.prompt.strip()}
    filmed = {"id": "filmed", "role": "assistant", "source": "generate", "model": first.model}
    filmed |= {"content": [{"type": "text", "text": _told(member)}, *_pictures(member)]}
    sample: dict[str, Any] = {
        "id": scene.id,
        "epoch": first.index + 1,
        "input": [asked],
        "choices": list(scene.labels),
        "target": "",
        "messages": [asked, filmed],
        "output": {"model": first.model, "choices": [{"message": filmed, "stop_reason": "stop"}]},
        "scores": {},
        "metadata": _metadata(member),
    }
    if first.rollout_status != "done":
        return sample | {"error": _error(f"the rollout is {first.rollout_status}")}
    if reading.status in ("failed", "missing"):
        return sample | {"error": _error(reading.reason or f"the reading is {reading.status}")}
    score = {"value": answer, "answer": answer, "explanation": reading.reason, "history": []}
    return sample | {"scores": {reader: score}}


def _metadata(member: _Member) -> dict[str, Any]:
    first, odds = member.first, member.scene.reference.odds if member.scene.reference else None
    spent = spending(row.reading for row in member.rows)
    return {
        "scene": member.scene.id,
        "title": member.scene.title,
        "question": member.scene.readout.question.strip(),
        "odds": {label: str(p) for label, p in zip(member.scene.labels, odds, strict=True)} if odds else None,
        "index": first.index,
        "seed": first.seed,
        "clip": str(member.clip) if member.clip else None,
        "clip_sha256": first.clip_sha256,
        "votes": [row.reading.label or row.reading.status for row in member.rows],
        "judge": {"served": list(spent.served), "calls": spent.calls, "cost_usd": spent.cost_usd},
    }


def _told(member: _Member) -> str:
    where = str(member.clip) if member.clip else "not in this source"
    return f"Rollout {member.first.index}, seed {member.first.seed}. Clip: {where}"


def _pictures(member: _Member) -> list[dict[str, Any]]:
    if member.clip is None or not member.clip.is_file():
        return []
    try:
        pictures = pictures_of(member.clip)
    except VideoError:
        return []
    return [
        {"type": "image", "image": f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}", "detail": "auto"}
        for picture in pictures
    ]


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: sample[name] for name in ("id", "epoch", "input", "choices", "target", "scores")}
    short = {name: sample["metadata"][name] for name in ("scene", "seed")}
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {**kept, "metadata": short, "model_usage": {}, "completed": True, "message_count": 2, **error}


def _error(message: str) -> dict[str, str]:
    return {"message": message, "traceback": message, "traceback_ansi": message}


def _zipped(members: Mapping[str, object]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            archive.writestr(_info(name), msgspec.json.encode(value))
    return held.getvalue()


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=_MEMBER_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info
