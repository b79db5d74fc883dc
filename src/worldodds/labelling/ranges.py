"""Parts of files over HTTP: what a ``Range`` header asks for (RFC 9110, section 14)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ONE_RANGE = re.compile(r"bytes=\s*([0-9]*)-([0-9]*)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Bytes ``first`` to ``last`` of a file, both included."""

    first: int
    last: int

    @property
    def length(self) -> int:
        """How many bytes there are."""
        return self.last - self.first + 1


def parse_range(header: str | None, size: int) -> Span | None:
    """Return the one span that a header asks for; None for the whole file (no header, several spans, or no sense).

    Raises:
        IndexError: the span lies beyond the file.

    >>> parse_range("bytes=0-99", 1000)
    Span(first=0, last=99)
    >>> parse_range("bytes=-5", 1000)
    Span(first=995, last=999)
    """
    match = _ONE_RANGE.fullmatch(header or "")
    if match is None or match.groups() == ("", "") or max(map(len, match.groups())) > 18:
        return None
    begin, end = match.groups()
    if not begin:
        first, last = max(size - int(end), 0), size - 1
        wanted = int(end)
    else:
        first, last = int(begin), min(int(end), size - 1) if end else size - 1
        wanted = int(end or first) - first + 1
    if wanted < 0 or (begin and end and wanted == 0):
        return None
    if first > last or wanted == 0:
        raise IndexError(f"{header} of {size} bytes")
    return Span(first=first, last=last)
