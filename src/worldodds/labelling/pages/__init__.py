"""What the page is told and what it tells: small JSON, without a model's name, a seed, an index or a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from worldodds.errors import InputError, VideoError
from worldodds.labelling.session import Session
from worldodds.rollout import Reading
from worldodds.scene import Scene


def sheet(session: Session) -> dict[str, Any]:
    """Return what the page needs once: the scenes, the progress, and where to begin."""
    return {
        "annotator": session.sheet.reader.partition("/")[2],
        "total": len(session.sheet.tasks),
        "start": session.open_after(-1),
        "scenes": [_scene(scene) for scene in session.scenes],
        "progress": _progress(session),
    }


def task(session: Session, at: int) -> dict[str, Any]:
    """Return one clip's place, scene, length and answer, and which open clip comes next.

    A clip that is gone or changed has a ``fault``, and cannot be answered.

    Raises:
        InputError: there is no such place.
    """
    one, kept = session.task(at), session.answer_at(at)
    try:
        session.clip(at)
        fault = None
    except VideoError as error:
        fault = str(error)
    return {
        "at": at,
        "scene": session.scenes.index(one.scene),
        "frames": one.clip.frames,
        "seconds": one.clip.seconds,
        "answer": {"status": kept.status, "label": kept.label, "reason": kept.reason},
        "note": kept.raw or "",
        "next": session.open_after(at),
        "fault": fault,
    }


def answer(session: Session, body: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the answer that the page sends, and return which open clip comes next.

    Raises:
        InputError: it is not an answer, or not one that the scene has.
        VideoError: the clip is gone or changed.
    """
    try:
        given = msgspec.convert(body, _Answer)
    except msgspec.ValidationError as error:
        raise InputError(f"not an answer: {error}") from None
    kept = Reading(status=given.status, label=given.label, reason=given.reason, raw=given.note.strip() or None)  # pyright: ignore[reportArgumentType]
    session.answer(given.at, kept)
    return {"at": given.at, "next": session.open_after(given.at), "progress": _progress(session)}


def undo(session: Session) -> dict[str, Any]:
    """Take the last change back and return its place, None where there is nothing to take back."""
    return {"at": session.undo(), "progress": _progress(session)}


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    at: int
    status: str
    label: str | None = None
    reason: str | None = None
    note: str = ""


def _scene(scene: Scene) -> dict[str, Any]:
    return {
        "title": scene.title,
        "question": scene.readout.question,
        "evidence": scene.readout.evidence,
        "labels": scene.labels,
        "nulls": [{"name": null.name, "kind": null.kind, "rule": null.rule} for null in scene.readout.nulls],
    }


def _progress(session: Session) -> list[list[int]]:
    """Return (answered, of how many) of every scene."""
    return [[done, total] for _, done, total in session.progress()]
