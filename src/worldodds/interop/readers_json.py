"""Who read the clips, as ``worldodds score --json`` tells it: settings, versions, cost, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass

from worldodds.certificates import Quote, Quoted
from worldodds.interop.certificate_json import GradeEntry, Value, grade_entry
from worldodds.judge_words import quote_words


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteEntry:
    """The certificate that fits a reader best. It speaks for these clips where ``standing`` is ``certified`` only.

    Other standings are ``other version``, ``other settings``, ``version unknown`` and ``other questions``; ``reason``
    says what is not the same. ``grade`` is of the scenes that were examined and read here, ``not_examined`` names the
    others.
    """

    standing: str
    reason: str | None
    made_at: str
    worldodds_version: str
    served: tuple[str, ...]
    grade: GradeEntry | None
    not_examined: tuple[str, ...]
    validated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderEntry:
    """One reader. ``settings`` has one entry for each way it was set up, none where the source does not tell.

    ``readings`` counts votes that were asked, ``failed`` those without an answer, ``calls`` what the endpoint was
    asked. Tokens and cost are null where nobody told them. ``words`` says in a sentence what is certified.
    """

    reader: str
    models: tuple[str, ...]
    settings: tuple[dict[str, Value], ...]
    served: tuple[str, ...]
    readings: int
    failed: int
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    words: str
    certificate: QuoteEntry | None


def reader_entry(quoted: Quoted) -> ReaderEntry:
    """Put a reader and what is certified of it into the shape of its JSON entry."""
    judge, found = quoted
    spent = judge.spent
    return ReaderEntry(
        reader=judge.name,
        models=judge.models,
        settings=tuple(dict(settings) for settings in judge.settings),
        served=spent.served,
        readings=judge.readings,
        failed=judge.failed,
        calls=spent.calls,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cost_usd=spent.cost_usd,
        words=quote_words(judge, found),
        certificate=_quote_entry(found) if found else None,
    )


def _quote_entry(found: Quote) -> QuoteEntry:
    return QuoteEntry(
        standing=found.standing,
        reason=found.why or None,
        made_at=found.document.made_at,
        worldodds_version=found.document.worldodds_version,
        served=found.document.served,
        grade=grade_entry(found.grade) if found.grade else None,
        not_examined=found.left_out,
        validated=found.document.validated,
    )
