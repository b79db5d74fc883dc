"""A document as text, for the commands that print one."""

from __future__ import annotations

from typing import Any

import msgspec


def as_json(document: Any) -> str:
    """Return a document, or a list of them, as indented JSON text."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
