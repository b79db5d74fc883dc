"""Who read the clips of a source: settings, versions as served, questions, tokens, money, and votes that agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worldodds.keys import reader_settings
from worldodds.run_folder import is_run
from worldodds.sources import Source
from worldodds.spending import Spending, spending
from worldodds.store import RunStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One reader of a source, with what its readings tell of it.

    ``settings`` has one entry for each way it was set up; none where the source does not say. ``answered`` counts
    readings with an answer, ``failed`` those without. ``readings`` are votes that were asked.
    """

    name: str
    models: tuple[str, ...]
    settings: tuple[Mapping[str, Any], ...]
    readings: int
    failed: int
    spent: Spending

    @property
    def votes(self) -> int:
        """How many votes a clip may have."""
        return max((int(settings.get("votes") or 1) for settings in self.settings), default=1)


def judges_of(source: Source, paths: Sequence[str | Path]) -> tuple[Judge, ...]:
    """Return who read a source, by name; ``paths`` are those that it was loaded from."""
    settings = _settings([Path(path) for path in paths])
    names = sorted({row.reader for row in source.rows if row.reader})
    return tuple(_judge(source, name, settings.get(name, ())) for name in names)


def _judge(source: Source, name: str, settings: tuple[Mapping[str, Any], ...]) -> Judge:
    rows = [row for row in source.rows if row.reader == name]
    asked = [row.reading for row in rows if row.reading.status != "missing"]
    return Judge(
        name=name,
        models=tuple(sorted({row.model for row in rows})),
        settings=settings,
        readings=len(asked),
        failed=sum(reading.status == "failed" for reading in asked),
        spent=spending(asked),
    )


def _settings(paths: Sequence[Path]) -> dict[str, tuple[Mapping[str, Any], ...]]:
    """Return by reader how the runs among the sources have set it up."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for path in paths:
        if not is_run(path):
            continue
        with RunStore(path, write=False) as store:
            known = {stored.reader: stored.settings for stored in store.readings().values()}
            for reader, used in known.items():
                now = dict(reader_settings(store, reader, used))
                if now not in found.setdefault(reader, []):
                    found[reader].append(now)
    return {reader: tuple(ways) for reader, ways in found.items()}
