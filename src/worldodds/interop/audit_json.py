"""The JSON of ``worldodds audit`` (format ``worldodds.audit/1``): written, and read back for ``score --judge``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from worldodds._version import __version__
from worldodds.audit import Agreement, Audit, Pair, SceneAudit
from worldodds.disputes import Dispute
from worldodds.errors import SourceError
from worldodds.interop.files import read_bytes
from worldodds.statistics.interval import Interval
from worldodds.statistics.judge import ErrorRate, JudgeError

FORMAT = "worldodds.audit/1"
Count = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeEntry:
    """The exact interval of a share."""

    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RangesEntry:
    """Intervals of the shares that agree, and of those that err; null where there was nothing to err on."""

    agree: RangeEntry
    false_null: RangeEntry | None
    missed_null: RangeEntry | None
    wrong_label: RangeEntry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneAuditEntry:
    """One scene. ``confusion`` counts clips: rows the truth, columns what was read, in the order of ``answers``."""

    n: int
    agree: int
    false_null: Count
    missed_null: Count
    wrong_label: int
    intervals: RangesEntry
    kappa: float | None
    alpha: float | None
    answers: tuple[str | None, ...]
    confusion: tuple[tuple[int, ...], ...]
    kappa_interval: RangeEntry | None = None
    alpha_interval: RangeEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementEntry:
    """A clip that the two read differently; null is a null.

    ``clip`` is its file and ``frames`` the files of what a judge was shown, by their hash; null and empty where the
    source does not have them. ``reason`` is the reader's own.
    """

    scene: str
    model: str
    seed: int
    read: str | None
    truth: str | None
    index: int | None = None
    clip: str | None = None
    clip_sha256: str | None = None
    frames: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDocument:
    """Everything that ``worldodds audit`` found."""

    format: str
    worldodds_version: str
    suite: str
    suite_hash: str
    reader: str | None
    truth: str | None
    n: int
    agree: int
    false_null: Count
    missed_null: Count
    wrong_label: int
    intervals: RangesEntry
    kappa: float | None
    alpha: float | None
    unread: tuple[str, ...]
    unmatched: int
    scenes: dict[str, SceneAuditEntry]
    disagreements: tuple[DisagreementEntry, ...]
    kappa_interval: RangeEntry | None = None
    alpha_interval: RangeEntry | None = None


def audit_document(audit: Audit, disputes: Sequence[Dispute] = ()) -> AuditDocument:
    """Put an audit into the shape of its JSON document; ``disputes`` know the clips behind its disagreements."""
    overall, errors = audit.overall, audit.overall.errors
    return AuditDocument(
        format=FORMAT,
        worldodds_version=__version__,
        suite=audit.suite.id,
        suite_hash=audit.suite.content_hash,
        reader=audit.reader,
        truth=audit.truth,
        n=overall.n,
        agree=overall.agree,
        false_null=_count(errors.false_null),
        missed_null=_count(errors.missed_null),
        wrong_label=errors.wrong_label.errors,
        intervals=_ranges(overall),
        kappa=overall.kappa,
        alpha=overall.alpha,
        unread=audit.unread,
        unmatched=audit.unmatched,
        scenes={scene.scene.id: _scene_entry(scene) for scene in audit.scenes},
        disagreements=tuple(map(_dispute, disputes) if disputes else map(_disagreement, audit.disagreements)),
        kappa_interval=_maybe(overall.kappa_interval),
        alpha_interval=_maybe(overall.alpha_interval),
    )


def audit_json(audit: Audit, disputes: Sequence[Dispute] = ()) -> str:
    """Return the document as indented JSON text."""
    return msgspec.json.format(msgspec.json.encode(audit_document(audit, disputes)), indent=2).decode()


def read_audit(path: Path) -> AuditDocument:
    """Read a document back.

    Raises:
        SourceError: not such a document, or counts in it that cannot be.
    """
    try:
        document = msgspec.json.decode(read_bytes(path), type=AuditDocument)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise SourceError(f"{path}: not an audit: {error}; make one with: worldodds audit SOURCE --json") from None
    if document.format != FORMAT:
        raise SourceError(f"{path}: format {document.format!r}; this worldodds reads {FORMAT!r}")
    return document


def judge_error(document: AuditDocument) -> JudgeError:
    """Return the pooled error rates that a document holds; raises StatisticsError where they cannot be."""
    lost, outcomes = document.false_null
    missed, nulls = document.missed_null
    return JudgeError(
        false_null=ErrorRate(errors=lost, trials=outcomes),
        missed_null=ErrorRate(errors=missed, trials=nulls),
        wrong_label=ErrorRate(errors=document.wrong_label, trials=outcomes - lost),
    )


def _scene_entry(scene: SceneAudit) -> SceneAuditEntry:
    agreement, errors = scene.agreement, scene.agreement.errors
    return SceneAuditEntry(
        n=agreement.n,
        agree=agreement.agree,
        false_null=_count(errors.false_null),
        missed_null=_count(errors.missed_null),
        wrong_label=errors.wrong_label.errors,
        intervals=_ranges(agreement),
        kappa=agreement.kappa,
        alpha=agreement.alpha,
        answers=(*scene.scene.labels, None),
        confusion=scene.confusion,
        kappa_interval=_maybe(agreement.kappa_interval),
        alpha_interval=_maybe(agreement.alpha_interval),
    )


def _dispute(dispute: Dispute) -> DisagreementEntry:
    pair = dispute.pair
    return DisagreementEntry(
        scene=pair.scene,
        model=pair.model,
        seed=pair.seed,
        read=pair.read,
        truth=pair.truth,
        index=dispute.index,
        clip=str(dispute.clip) if dispute.clip else None,
        clip_sha256=dispute.clip_sha256,
        frames=tuple(map(str, dispute.frames)),
        reason=dispute.reason,
    )


def _maybe(interval: Interval | None) -> RangeEntry | None:
    return _range(interval) if interval else None


def _disagreement(pair: Pair) -> DisagreementEntry:
    return DisagreementEntry(scene=pair.scene, model=pair.model, seed=pair.seed, read=pair.read, truth=pair.truth)


def _count(rate: ErrorRate) -> Count:
    return rate.errors, rate.trials


def _ranges(agreement: Agreement) -> RangesEntry:
    errors = agreement.errors
    return RangesEntry(
        agree=_range(agreement.interval()),
        false_null=_rate_range(errors.false_null),
        missed_null=_rate_range(errors.missed_null),
        wrong_label=_rate_range(errors.wrong_label),
    )


def _rate_range(rate: ErrorRate) -> RangeEntry | None:
    return _range(rate.interval()) if rate.trials else None


def _range(interval: Interval) -> RangeEntry:
    return RangeEntry(low=interval.low, high=interval.high, level=interval.level)
