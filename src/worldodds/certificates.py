"""Certificates of readers: where they are kept, and what they say of whoever read these clips."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from worldodds.errors import SourceError
from worldodds.exam.grades import Grade, together
from worldodds.interop.certificate_json import (
    CertificateDocument,
    certificate_bytes,
    question_of,
    read_certificate,
    write_certificate,
)
from worldodds.judges import Judge, judges_of
from worldodds.scene import Scene, digest
from worldodds.sources import Source

PLACE = "WORLDODDS_CERTIFICATES"
IN_RUN = "certificates"
Standing = Literal["certified", "other version", "other settings", "version unknown", "other questions"]
_ORDER: tuple[Standing, ...] = ("certified", "other version", "version unknown", "other settings", "other questions")
_ASIDE = ("votes",)  # compared as a number: more of them than were examined need no exam of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a certificate says of a reader of these clips.

    Only ``certified`` speaks for them; any other ``standing`` says in ``why`` what is not the same. ``grade`` is of the
    scenes that were both examined and read, ``left_out`` names those read and not examined.
    """

    document: CertificateDocument
    standing: Standing
    why: str
    grade: Grade | None
    left_out: tuple[str, ...]


Quoted = tuple[Judge, Quote | None]


def quoted(source: Source, paths: Sequence[str | Path], given: Sequence[Path] = ()) -> tuple[Quoted, ...]:
    """Return who read a source, each with what is certified of it; ``given`` are certificates in files of their own.

    Raises:
        SourceError: a file given is no certificate.
    """
    certificates = kept(paths, given)
    found: list[Quoted] = []
    for judge in judges_of(source, paths):
        read = {row.scene for row in source.rows if row.reader == judge.name}
        found.append((judge, quote(judge, [s for s in source.suite.scenes if s.id in read], certificates)))
    return tuple(found)


def folder() -> Path:
    """Return where certificates are kept: ``WORLDODDS_CERTIFICATES``, else a folder for data of the user's programs."""
    if told := os.environ.get(PLACE):
        return Path(told)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "worldodds" / "certificates"
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "worldodds" / "certificates"


def keep(document: CertificateDocument) -> Path:
    """Keep a certificate among the user's, beside all earlier ones, and return its path."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", document.reader).strip("-.") or "reader"
    path = folder() / f"{name}-{document.made_at[:10]}-{digest(certificate_bytes(document).decode())[:8]}.json"
    write_certificate(document, path)
    return path


def kept(sources: Sequence[str | Path] = (), given: Sequence[Path] = ()) -> tuple[CertificateDocument, ...]:
    """Return certificates: those given as files, those that lie in the folders of runs, and the user's own.

    A file among the latter two that is none is passed over; one that was given is refused.
    """
    places = [*(Path(source) / IN_RUN for source in sources), folder()]
    return (*(read_certificate(path) for path in given), *(found for place in places for found in _in(place)))


def quote(judge: Judge, scenes: Sequence[Scene], certificates: Sequence[CertificateDocument]) -> Quote | None:
    """Return what is certified of a reader in these scenes: the certificate that fits best, then that of most clips.

    None where nobody has examined a reader of this name.
    """
    found = [_quote(judge, scenes, document) for document in certificates if document.reader == judge.name]
    return max(found, key=_worth, default=None)


def _worth(quoted: Quote) -> tuple[int, int, str]:
    return -_ORDER.index(quoted.standing), quoted.grade.n if quoted.grade else 0, quoted.document.made_at


def _quote(judge: Judge, scenes: Sequence[Scene], document: CertificateDocument) -> Quote:
    same = [s.id for s in scenes if s.id in document.scenes and document.scenes[s.id].question == question_of(s)]
    standing, why = _standing(judge, document, same)
    return Quote(
        document=document,
        standing=standing,
        why=why,
        grade=together([document.scenes[scene].total.grade() for scene in same]) if same else None,
        left_out=tuple(scene.id for scene in scenes if scene.id not in same),
    )


def _standing(judge: Judge, document: CertificateDocument, scenes: Sequence[str]) -> tuple[Standing, str]:
    if not scenes:
        return "other questions", "it was examined in none of these scenes as they are asked here"
    for settings in judge.settings:
        if apart := _apart(settings, document.reader_settings):
            name, here, there = apart
            word: Standing = "other version" if name in ("version", "wording") else "other settings"
            return word, f"certified with {name} = {there}, these clips were read with {name} = {here}"
    if judge.settings and judge.votes < (examined := int(document.reader_settings.get("votes") or 1)):
        return "other settings", f"certified with {examined} votes a clip, these clips were read with {judge.votes}"
    if others := [version for version in judge.spent.served if version not in document.served]:
        read, certified = " and ".join(others), " and ".join(document.served) or "no named version"
        return "other version", f"certified as {certified}, these clips were read by {read}"
    if not judge.settings or (document.served and not judge.spent.served):
        return "version unknown", "the source does not say with which settings and by which version it was read"
    return "certified", ""


def _apart(here: Mapping[str, Any], there: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    names = sorted((here.keys() | there.keys()) - set(_ASIDE))
    return next(((n, here.get(n), there.get(n)) for n in names if here.get(n) != there.get(n)), None)


def _in(place: Path) -> Iterator[CertificateDocument]:
    if not place.is_dir():
        return
    for path in sorted(place.glob("*.json")):
        try:
            yield read_certificate(path)
        except SourceError:
            continue
