"""Find the two readings of an audit: in files, in run folders, or among what a suite ships."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from worldodds.audit import Audit, audit
from worldodds.errors import InputError, SourceError, nearest
from worldodds.interop.audit_json import judge_error, read_audit
from worldodds.interop.source import read_source
from worldodds.judged import Measured
from worldodds.row import Row
from worldodds.run_folder import is_run
from worldodds.scene import Suite
from worldodds.sources import Source, load, suite_of
from worldodds.store import RunStore
from worldodds.suites import find_suite
from worldodds.suites.published import human_readings

PEOPLE = ("human", "people")


def audit_source(
    source: str | Path, truth: str, *, suite: str | Path | Suite | None = None, reader: str | None = None
) -> Audit:
    """Hold one source against a truth; see `audit_read`, which returns the source as well."""
    return audit_read(source, truth, suite=suite, reader=reader)[0]


def audit_read(
    source: str | Path, truth: str, *, suite: str | Path | Suite | None = None, reader: str | None = None
) -> tuple[Audit, Source]:
    """Hold one source against a truth, and return what was found with the source as it was read.

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
    rows, name = find_truth(truth, chosen, (source,))
    return audit(read.rows, rows, chosen, reader=read.reader, truth_name=name), read


def readers_of(source: str | Path, suite: Suite) -> tuple[str, ...]:
    """Return who has read a source, sorted."""
    path = Path(source)
    if is_run(path):
        with RunStore(path, write=False) as store:
            return tuple(sorted({stored.reader for stored in store.readings().values()}))
    if not path.exists():
        return ()
    return tuple(sorted({row.reader for row in read_source(path, suite) if row.reader}))


def measured_judge(source: Source, paths: Sequence[str | Path], judge: str) -> Measured:
    """Return what was measured of the judge that read a source.

    ``judge`` is an audit's JSON file, or a truth as for `audit_source` that the source is held against now.

    Raises:
        InputError: the audit is of another reader than these readings.
    """
    if judge.endswith(".json") and Path(judge).is_file():
        document = read_audit(Path(judge))
        if None not in (document.reader, source.reader) and document.reader != source.reader:
            raise InputError(f"{judge}: an audit of {document.reader}, but {source.reader} read these clips")
        return Measured(errors=judge_error(document), n=document.n, agree=document.agree, truth=document.truth)
    rows, name = find_truth(judge, source.suite, paths)
    overall = audit(source.rows, rows, source.suite, reader=source.reader, truth_name=name).overall
    return Measured(errors=overall.errors, n=overall.n, agree=overall.agree, truth=name)


def find_truth(truth: str, suite: Suite, sources: Sequence[str | Path]) -> tuple[Sequence[Row], str]:
    """Return the rows that a truth stands for, and whose they are; ``sources`` are searched for a reader's name."""
    readers: list[str] = []
    for source in sources:
        found = readers_of(source, suite)
        readers += found
        if truth in found:
            return load(source, suite=_name(suite), reader=truth).rows, truth
    if Path(truth).exists() or truth == "published":
        found = load(truth, suite=_name(suite))
        return found.rows, found.reader or truth
    if truth in PEOPLE:
        if rows := human_readings(suite):
            return rows, rows[0].reader
        raise SourceError(f"suite {suite.id!r} ships no labels by people; name a table of labels")
    told = " or ".join(map(str, sources))
    known = [*readers, *PEOPLE[:1], "published"]
    raise SourceError(f"--truth {truth!r}: neither a file, a run folder nor a reader of {told}.{nearest(truth, known)}")


def _name(suite: Suite) -> str | Path:
    """Return how `load` finds the very same suite: the folder it was read from."""
    return suite.folder
