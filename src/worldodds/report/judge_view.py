"""Who read the clips, as the page shows it: settings, versions, cost, votes, measured errors and the certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from worldodds.certificates import Quoted, Standing
from worldodds.judge_words import asked_words, may_sit, quote_words
from worldodds.judged import Judged, unaudited
from worldodds.report.words import judge_lines, percent
from worldodds.scorecard import Scorecard
from worldodds.statistics.judge import ErrorRate, JudgeError
from worldodds.votes import Votes


@dataclass(frozen=True, slots=True, kw_only=True)
class RateView:
    """One kind of error of a judge: what it is, how often it was seen, and the exact interval; None without trials."""

    name: str
    what: str
    errors: int
    trials: int
    estimate: str
    interval: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeView:
    """One reader. ``audit`` are sentences on its measured errors by model, ``rates`` the errors themselves.

    ``unaudited`` is said of a model that nobody has measured, ``votes`` holds only cells that have several a clip.
    """

    name: str
    models: tuple[str, ...]
    settings: tuple[str, ...]
    served: tuple[str, ...]
    readings: str
    asked: str
    certificate: str
    standing: Standing | None
    examined: str | None
    unaudited: str | None
    agreement: str | None
    rates: tuple[RateView, ...]
    audit: tuple[tuple[str, tuple[str, ...]], ...]
    votes: tuple[Votes, ...]


def judge_views(
    readers: Sequence[Quoted], cards: Sequence[Scorecard], votes: Sequence[Votes], allowed: Judged | None
) -> tuple[JudgeView, ...]:
    """Put together what the page tells of every reader; ``allowed`` holds the cards with the errors allowed for."""
    return tuple(_view(quoted, cards, votes, allowed) for quoted in readers)


def _view(quoted: Quoted, cards: Sequence[Scorecard], votes: Sequence[Votes], allowed: Judged | None) -> JudgeView:
    judge, found = quoted
    measured = allowed.measured if allowed else None
    document = found.document if found else None
    mine = [card for card in cards if card.model in judge.models]
    spent, failed = judge.spent, f", {judge.failed} of them failed" if judge.failed else ""
    return JudgeView(
        name=judge.name,
        models=judge.models,
        settings=tuple(_settings_words(settings) for settings in judge.settings),
        served=spent.served,
        readings=f"{judge.readings:,} {'reading' if judge.readings == 1 else 'readings'}{failed}",
        asked=asked_words(spent.calls, (spent.input_tokens, spent.output_tokens), spent.cost_usd, spent.untold),
        certificate=quote_words(judge, found) if found or may_sit(judge.name) else "",
        standing=found.standing if found else None,
        examined=f"{document.made_at[:10]}, worldodds {document.worldodds_version}" if document else None,
        unaudited=unaudited(judge.name, measured),
        agreement=judge_lines(mine[0], allowed)[0].partition(": ")[2] if allowed and mine else None,
        rates=_rates(measured.errors) if measured else (),
        audit=tuple((card.model, tuple(judge_lines(card, allowed)[1:])) for card in mine) if allowed else (),
        votes=tuple(v for v in votes if v.model in judge.models and v.planned > v.clips),
    )


def _settings_words(settings: Mapping[str, Any]) -> str:
    """Write settings as ``key = value``, those that are not set left out.

    >>> _settings_words({"votes": 3, "video_fps": None, "send_temperature": True})
    'votes = 3, send_temperature = true'
    """
    told = {name: str(value).lower() if isinstance(value, bool) else value for name, value in settings.items()}
    return ", ".join(f"{name} = {value}" for name, value in told.items() if value is not None)


def _rates(errors: JudgeError) -> tuple[RateView, ...]:
    kinds = (
        ("false null", "outcomes that were called null", errors.false_null),
        ("missed null", "nulls that were given an outcome", errors.missed_null),
        ("wrong label", "outcomes that were given another one", errors.wrong_label),
    )
    return tuple(_rate(name, what, rate) for name, what, rate in kinds)


def _rate(name: str, what: str, rate: ErrorRate) -> RateView:
    sure = rate.interval() if rate.trials else None
    return RateView(
        name=name,
        what=what,
        errors=rate.errors,
        trials=rate.trials,
        estimate="–" if rate.estimate is None else percent(rate.estimate),
        interval=f"{percent(sure.low)} to {percent(sure.high)}" if sure else None,
    )
