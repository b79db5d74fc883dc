"""Plain text fields to rows: the rules that all formats of outcome files share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from worldodds.errors import InputError, SourceError, StatisticsError, UnknownNameError, nearest
from worldodds.rollout import Reading, ReadingStatus, RolloutStatus
from worldodds.row import Row
from worldodds.scene import Scene, Suite
from worldodds.statistics.waves import EarlyRule

__all__ = ["Place", "Row", "check_unique", "row_of"]

_ROLLOUT_WORDS: tuple[str, ...] = get_args(RolloutStatus)
_READING_WORDS: tuple[str, ...] = get_args(ReadingStatus)
_NULL_WORDS = ("null", "none", "nan", "na", "n/a", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a row stands: its file and number, for messages that say where to look."""

    path: Path
    number: int
    unit: str = "row"

    def __str__(self) -> str:
        return f"{self.path}: {self.unit} {self.number}"

    @property
    def where(self) -> str:
        """Return ``file:number``."""
        return f"{self.path}:{self.number}"


def row_of(fields: Mapping[str, str], suite: Suite, place: Place) -> Row:
    """Make one row from text fields by column name; empty and absent fields are the same.

    The outcome is read from ``outcome``, else ``human_label``. Without a status, an empty outcome is ``unreadable``.

    Raises:
        SourceError: a value is empty, not whole, or contradicts its status.
        UnknownNameError: an unknown scene, outcome or status; the message offers the nearest.
    """
    scene = _scene(fields, suite, place)
    model = fields.get("model", "").strip()
    if not model or not model.isprintable():
        raise SourceError(f"{place}: model: {model!r} is no name; write one in printable characters")
    seed = _whole(fields, "seed" if "seed" in fields else "index", place)
    status, reading = _statuses(fields, scene, place)
    return Row(
        scene=scene.id,
        model=model,
        index=_whole(fields, "index", place) if fields.get("index", "").strip() else seed,
        seed=seed,
        reading=reading,
        rollout_status=status,
        reader=fields.get("reader", ""),
        vote=_whole(fields, "vote", place) if fields.get("vote", "").strip() else 0,
        clip_sha256=fields.get("clip_sha256") or None,
        stop=_stop(fields.get("stop", ""), place),
        where=place.where,
    )


def check_unique(rows: Iterable[Row]) -> None:
    """Refuse two readings of the same rollout by the same reader at the same vote.

    Raises:
        SourceError: the same seed or index twice; the message names both rows.
    """
    seen: dict[tuple[str, str, str, str, int, int], Row] = {}
    for row in rows:
        for name, value in (("seed", row.seed), ("index", row.index)):
            key = (name, row.scene, row.model, row.reader, row.vote, value)
            if first := seen.get(key):
                raise SourceError(
                    f"{_spot(row)}: {name} {value} of scene {row.scene!r}, model {row.model!r} is here twice; "
                    f"it was first given at {_spot(first)}; keep one"
                )
            seen[key] = row


def _spot(row: Row) -> str:
    file, _, number = row.where.rpartition(":")
    return f"{file}: row {number}"


def _stop(text: str, place: Place) -> str:
    try:
        return EarlyRule.of(text).text if text.strip() else ""
    except StatisticsError as error:
        raise SourceError(f"{place}: {error}") from None


def _scene(fields: Mapping[str, str], suite: Suite, place: Place) -> Scene:
    try:
        return suite.scene(fields.get("scene", "").strip())
    except UnknownNameError as error:
        raise UnknownNameError(f"{place}: {error}") from None


def _whole(fields: Mapping[str, str], name: str, place: Place) -> int:
    text = fields.get(name, "").strip()
    if re.fullmatch(r"[+-]?[0-9]{1,19}", text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    raise SourceError(f"{place}: {name}: {_short(text)} is not a whole number; write one such as 0 or 17")


def _statuses(fields: Mapping[str, str], scene: Scene, place: Place) -> tuple[RolloutStatus, Reading]:
    """Tell what became of the clip and what was read, from one status column or both."""
    outcome = fields.get("outcome", fields.get("human_label", "")).strip()
    rollout = fields.get("rollout_status", "").strip()
    status = fields.get("status", "").strip()
    if "rollout_status" not in fields and status in _ROLLOUT_WORDS:  # a lone column speaks of the rollout where it can
        rollout, status = status, ""
    rollout = _word(rollout or "done", _ROLLOUT_WORDS, "rollout_status", place)
    default = "missing" if rollout != "done" else "outcome" if outcome else "unreadable"
    words = _READING_WORDS if "rollout_status" in fields else tuple(dict.fromkeys(_READING_WORDS + _ROLLOUT_WORDS))
    status = _word(status or default, words, "status", place)
    if rollout != "done" and status != "missing":
        raise SourceError(f"{place}: status: a rollout that is {rollout!r} cannot have been read as {status!r}")
    if outcome and status != "outcome":
        called = status if rollout == "done" else rollout
        raise SourceError(f"{place}: outcome: {_short(outcome)} is given for a row called {called!r}; leave it empty")
    if status == "outcome":
        return "done", Reading.saw(_label(outcome, scene, place))
    reading = Reading(status=cast("ReadingStatus", status), reason=fields.get("reason") or None)
    return cast("RolloutStatus", rollout), reading


def _label(outcome: str, scene: Scene, place: Place) -> str:
    if not outcome:
        raise SourceError(f"{place}: outcome: it is empty though the status says 'outcome'; write 'unreadable' there")
    try:
        return scene.label_of(outcome)
    except InputError as error:
        hint = " Leave it empty for an unreadable clip." if outcome.lower() in _NULL_WORDS else ""
        raise UnknownNameError(f"{place}: {error}{hint}") from None


def _word(text: str, known: tuple[str, ...], column: str, place: Place) -> str:
    if text in known:
        return text
    raise UnknownNameError(f"{place}: {column}: {_short(text)} is not a status.{nearest(text, known)}")


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
