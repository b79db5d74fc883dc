"""Find the two readings of an audit: in files, in run folders, or among what a suite ships."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from worldodds.audit import Audit, audit
from worldodds.errors import SourceError, nearest
from worldodds.interop.source import read_source
from worldodds.row import Row
from worldodds.scene import Suite
from worldodds.sources import load, suite_of
from worldodds.store import RunStore, is_run
from worldodds.suites import find_suite
from worldodds.suites.published import human_readings

PEOPLE = ("human", "people")


def audit_source(
    source: str | Path, truth: str, *, suite: str | Path | Suite | None = None, reader: str | None = None
) -> Audit:
    """Hold one source against a truth.

    ``truth`` is a source (table, run folder, bins, ``published``), the word ``human`` for the labels by people that
    the suite ships, or the name of another reader of the same source; a source's own reader of that name wins.
    ``reader`` is needed where the source was read by several besides the truth.

    Raises:
        SourceError: neither of these, or a source without the reader asked for.
        InputError: the two have no clip in common.
    """
    chosen = suite if isinstance(suite, Suite) else find_suite(suite) if suite is not None else suite_of([source])
    readers = readers_of(source, chosen)
    others = [name for name in readers if name != truth]
    if reader is None and truth in readers and len(others) == 1:
        reader = others[0]
    read = load(source, suite=_name(chosen), reader=reader)
    rows, name = _truth(source, truth, chosen, readers)
    return audit(read.rows, rows, chosen, reader=read.reader, truth_name=name)


def readers_of(source: str | Path, suite: Suite) -> tuple[str, ...]:
    """Return who has read a source, sorted."""
    path = Path(source)
    if is_run(path):
        with RunStore(path, write=False) as store:
            return tuple(sorted({stored.reader for stored in store.readings().values()}))
    if not path.exists():
        return ()
    return tuple(sorted({row.reader for row in read_source(path, suite) if row.reader}))


def _truth(source: str | Path, truth: str, suite: Suite, readers: Sequence[str]) -> tuple[Sequence[Row], str]:
    if truth in readers:
        found = load(source, suite=_name(suite), reader=truth)
        return found.rows, truth
    if Path(truth).exists() or truth == "published":
        found = load(truth, suite=_name(suite))
        return found.rows, found.reader or truth
    if truth in PEOPLE:
        if rows := human_readings(suite):
            return rows, rows[0].reader
        raise SourceError(f"suite {suite.id!r} ships no labels by people; name a table of labels")
    known = [*readers, *PEOPLE[:1], "published"]
    raise SourceError(
        f"--truth {truth!r}: neither a file, a run folder nor a reader of {source}.{nearest(truth, known)}"
    )


def _name(suite: Suite) -> str | Path:
    """Return how `load` finds the very same suite: the folder it was read from."""
    return suite.folder
