"""What goes to a judge and what comes back, in no provider's dialect."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request: a text and pictures (or a whole clip), and the shape of the reply.

    ``schema`` is None where the endpoint cannot be held to one. ``video`` is the clip's bytes, type and frames a
    second, for providers that decode it themselves.
    """

    model: str
    text: str
    pictures: tuple[bytes, ...]
    schema: Mapping[str, Any] | None
    temperature: float | None
    max_tokens: int
    video: tuple[bytes, str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One reply. ``refused`` is the judge's own refusal; ``cut`` says that it ran out of tokens."""

    text: str
    model: str | None
    refused: str | None = None
    cut: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    request_id: str | None = None


class Dialect(Protocol):
    """How one kind of endpoint is asked."""

    def ask(self, asked: Asked) -> Said:
        """Send one request; raises the errors of `worldodds.errors.ProviderError`."""
        ...


def base64_text(data: bytes) -> str:
    """Return bytes as base64."""
    return base64.b64encode(data).decode("ascii")


def whole(number: float | None) -> int | None:
    """Return a count of tokens."""
    return None if number is None else int(number)
