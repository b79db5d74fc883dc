"""The JSON of ``worldodds doctor``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worldodds._version import __version__
from worldodds.doctor import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorDocument:
    """What was looked for; ``scenes`` says None of a scene that can be filmed here, else what it lacks."""

    format: str
    worldodds_version: str
    findings: tuple[Finding, ...]
    scenes: dict[str, str | None]


def doctor_document(findings: Sequence[Finding], scenes: Mapping[str, str | None]) -> DoctorDocument:
    """Put findings into the document's shape."""
    return DoctorDocument(
        format="worldodds.doctor/1", worldodds_version=__version__, findings=tuple(findings), scenes=dict(scenes)
    )
