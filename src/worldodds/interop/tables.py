"""Tables of readings, one row a reading: CSV and JSONL by the standard library, Parquet by pyarrow."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from worldodds.errors import MissingDependencyError, SourceError, UnknownNameError, nearest
from worldodds.interop.files import parse_json, read_bytes, read_text, write_bytes
from worldodds.interop.rows import Place, check_unique, row_of
from worldodds.row import Row
from worldodds.scene import Suite

COLUMNS = (
    "scene",
    "model",
    "index",
    "seed",
    "rollout_status",
    "reader",
    "vote",
    "status",
    "outcome",
    "reason",
    "clip_sha256",
    "stop",
)
SUFFIXES = (".csv", ".jsonl", ".parquet")
_REQUIRED = (("scene",), ("model",), ("seed", "index"), ("outcome", "human_label"))
_KNOWN = (*COLUMNS, "human_label")
_WHOLE = ("index", "seed", "vote")

Record = tuple[Place, dict[str, str]]
_Part = TypeVar("_Part")


def read_table(path: Path, suite: Suite) -> list[Row]:
    """Read a table of readings: ``scene,model,seed,outcome`` at least, an export of ours at most.

    An integer outcome is always the 1-based number of the outcome, else it is a label; empty is unreadable. The
    outcome column may be called ``human_label``, the seed column ``index``; columns we do not know are left alone.
    Rows are counted from 1, the header of a CSV being row 1.

    Raises:
        SourceError, UnknownNameError: the file is wrong; the message names the file, the row and the nearest name.
        MissingDependencyError: a Parquet file, and pyarrow is not installed.
    """
    records = _by_suffix(path, {".csv": _csv_records, ".jsonl": _jsonl_records, ".parquet": _parquet_records})(path)
    if not records:
        raise SourceError(f"{path}: there are no rows below the header; it should hold one row a rollout")
    rows = [row_of(fields, suite, place) for place, fields in records]
    check_unique(rows)
    return rows


def write_rows(rows: Iterable[Row], path: Path, suite: Suite) -> None:
    """Write readings as CSV, JSONL or Parquet, by the path's ending; all statuses are kept.

    Outcomes are written as labels, unless the label would be read back as another outcome's number. What was read
    raw is left out. The file appears by rename, whole or not at all.

    Raises:
        SourceError: there are no rows, the ending is unknown, or the file cannot be written.
        MissingDependencyError: a Parquet file, and pyarrow is not installed.
    """
    encode = _by_suffix(path, {".csv": _csv_bytes, ".jsonl": _jsonl_bytes, ".parquet": _parquet_bytes})
    records = [_fields(row, suite) for row in rows]
    if not records:
        raise SourceError(f"{path}: there are no rows to write")
    write_bytes(path, encode(records))


def _by_suffix(path: Path, parts: Mapping[str, _Part]) -> _Part:
    if (suffix := path.suffix.lower()) in parts:
        return parts[suffix]
    raise UnknownNameError(f"{path}: {suffix or 'no ending'} is no kind of table.{nearest(suffix, parts)}")


def _csv_records(path: Path) -> list[Record]:
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    records: list[Record] = []
    header: list[str] = []
    number = 0
    try:
        for number, cells in enumerate(reader, start=1):
            if not header:
                header = [cell.strip() for cell in cells]
                _check_header(path, header)
            elif cells:  # a blank line is no row
                place = Place(path=path, number=number)
                _check_width(place, cells, header)
                records.append((place, _known(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise SourceError(f"{path}: row {number + 1}: not valid CSV: {error}") from None
    return records


def _check_header(path: Path, header: Sequence[str]) -> None:
    if len(header) == 1 and (mark := next((m for m in ";\t|" if m in header[0]), None)):
        raise SourceError(f"{path}: row 1: columns are parted by {mark!r}; part them by commas")
    if twice := [name for name in header if name in _KNOWN and header.count(name) > 1]:
        raise SourceError(f"{path}: row 1: the column {twice[0]!r} is here twice; keep one")
    for names in _REQUIRED:
        if not any(name in header for name in names):
            found = ", ".join(header)
            raise SourceError(f"{path}: row 1: there is no column {names[0]!r} ({found}).{nearest(names[0], header)}")


def _check_width(place: Place, cells: Sequence[str], header: Sequence[str]) -> None:
    if len(cells) != len(header):
        raise SourceError(f"{place}: {len(cells)} fields where the header has {len(header)}; fill up or cut the row")


def _jsonl_records(path: Path) -> list[Record]:
    records: list[Record] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = Place(path=path, number=number)
        item = parse_json(line, str(place))
        if not isinstance(item, dict):
            raise SourceError(f"{place}: not an object; write one JSON object a line, with a key for each column")
        _check_keys(place, list(item))
        records.append((place, _texts(place, item)))
    return records


def _check_keys(place: Place, keys: Sequence[str]) -> None:
    for names in _REQUIRED:
        if not any(name in keys for name in names):
            raise SourceError(f"{place}: there is no key {names[0]!r}.{nearest(names[0], keys)}")


def _parquet_records(path: Path) -> list[Record]:
    pa, parquet = _pyarrow()
    try:
        with parquet.ParquetFile(io.BytesIO(read_bytes(path))) as file:
            header = list(file.schema_arrow.names)
            _check_header(path, header)
            items = file.read(columns=[name for name in header if name in _KNOWN]).to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: not a readable Parquet file: {str(error).splitlines()[0]}") from None
    places = [Place(path=path, number=number) for number in range(1, len(items) + 1)]
    return [(place, _texts(place, item)) for place, item in zip(places, items, strict=True)]


def _known(items: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: value for name, value in items if name in _KNOWN}


def _texts(place: Place, item: Mapping[str, Any]) -> dict[str, str]:
    return _known((name, _text(place, name, value)) for name, value in item.items() if name in _KNOWN)


def _text(place: Place, name: str, value: object) -> str:
    """Return a typed value as a CSV would hold it, so that one set of rules serves all formats."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise SourceError(f"{place}: {name}: {value!r} is a {type(value).__name__}; write text or a number")


def _fields(row: Row, suite: Suite) -> dict[str, Any]:
    label = row.reading.label
    return {
        "scene": row.scene,
        "model": row.model,
        "index": row.index,
        "seed": row.seed,
        "rollout_status": row.rollout_status,
        "reader": row.reader,
        "vote": row.vote,
        "status": row.reading.status,
        "outcome": suite.scene(row.scene).name_of(label) if label is not None else None,
        "reason": row.reading.reason,
        "clip_sha256": row.clip_sha256,
        "stop": row.stop or None,
    }


def _csv_bytes(records: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    careful = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)  # the plain one leaves "\r" without quotes
    writer.writerow(COLUMNS)
    for record in records:
        cells = [record[name] for name in COLUMNS]
        (careful if "\r" in str(record["reason"]) + record["reader"] else writer).writerow(cells)
    return _encoded(text.getvalue())


def _jsonl_bytes(records: Sequence[Mapping[str, Any]]) -> bytes:
    return _encoded("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def _encoded(text: str) -> bytes:
    """Return UTF-8 that our own reader accepts: a reason may quote bytes that were no text."""
    return text.replace("\0", "\\x00").encode("utf-8", errors="backslashreplace")


def _parquet_bytes(records: Sequence[Mapping[str, Any]]) -> bytes:
    pa, parquet = _pyarrow()
    schema = pa.schema([(name, pa.int64() if name in _WHOLE else pa.string()) for name in COLUMNS])
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(list(records), schema=schema), sink)
    return sink.getvalue()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingDependencyError(
            "Parquet files need pyarrow, which is not installed; run: pip install 'worldodds[tables]'"
        ) from None
    return pa, parquet
