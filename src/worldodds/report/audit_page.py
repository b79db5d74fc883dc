"""The page of an audit: how often two readers agree, which way one errs, and every disputed clip to look at."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from worldodds._version import __version__
from worldodds.audit import Agreement, Audit
from worldodds.disputes import Dispute
from worldodds.errors import VideoError
from worldodds.interop.files import write_bytes
from worldodds.report.environment import environment
from worldodds.report.strips import pictures_of
from worldodds.report.words import number, percent
from worldodds.statistics.interval import Interval
from worldodds.statistics.judge import ErrorRate

MOST_CLIPS = 150  # on one page
MOST_FRAMES = 5  # of one clip


@dataclass(frozen=True, slots=True, kw_only=True)
class Disputed:
    """One disputed clip as the page shows it: pictures as data URIs, and how they came about."""

    dispute: Dispute
    pictures: tuple[str, ...]
    shown: str


def write_audit_page(found: Audit, disputes: Sequence[Dispute], output: Path) -> None:
    """Write one self-contained page; it appears by rename.

    A strip holds the frames that the judge was shown, where they are kept, else a few frames of the clip.
    """
    shown = [_disputed(dispute) for dispute in disputes[:MOST_CLIPS]]
    page = (
        environment()
        .get_template("audit.html.j2")
        .render(
            version=__version__,
            audit=found,
            scenes=found.scenes,
            disputed={s.scene.id: [d for d in shown if d.dispute.pair.scene == s.scene.id] for s in found.scenes},
            more=len(disputes) - len(shown),
            rows=[*((s.scene.id, s.agreement) for s in found.scenes), ("all", found.overall)],
            share=_share,
            rate=_rate,
            coefficient=_coefficient,
            percent=percent,
        )
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(output, page.encode())


def _disputed(dispute: Dispute) -> Disputed:
    if dispute.frames:
        count = len(dispute.frames)
        chosen = np.linspace(0, count - 1, min(MOST_FRAMES, count)).round().astype(int)
        of = "" if count <= MOST_FRAMES else f"{len(chosen)} of the {count} "
        pictures = tuple(_uri(dispute.frames[i].read_bytes()) for i in chosen)
        return Disputed(dispute=dispute, pictures=pictures, shown=f"{of}frames that the judge was shown")
    if dispute.clip is None:
        return Disputed(dispute=dispute, pictures=(), shown="the source has no clip of it")
    try:
        pictures = tuple(map(_uri, pictures_of(dispute.clip)))
    except VideoError as error:
        return Disputed(dispute=dispute, pictures=(), shown=f"the clip cannot be shown: {error.__class__.__name__}")
    return Disputed(dispute=dispute, pictures=pictures, shown="frames of the clip, first to last")


def _uri(picture: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}"


def _share(agreement: Agreement) -> str:
    sure = agreement.interval()
    return f"{percent(sure.low)} to {percent(sure.high)}"


def _rate(rate: ErrorRate) -> str:
    """Write a rate with its interval.

    >>> _rate(ErrorRate(errors=4, trials=107)), _rate(ErrorRate(errors=0, trials=0))
    ('4 of 107 (1% to 9.3%)', '–')
    """
    if not rate.trials:
        return "–"
    sure = rate.interval()
    return f"{rate.errors} of {rate.trials} ({percent(sure.low)} to {percent(sure.high)})"


def _coefficient(value: float | None, interval: Interval | None) -> str:
    return number(value, 2) + (f" ({number(interval.low, 2)} to {number(interval.high, 2)})" if interval else "")
