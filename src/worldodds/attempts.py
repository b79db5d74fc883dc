"""What was tried at a provider, and what may be done next about a wanted clip: buy, ask, wait or leave it alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AttemptState = Literal["intent", "submitted", "done", "refused", "failed"]
NextStep = Literal["buy", "find", "attach", "leave"]

# Errors after which the clip may have been paid for, though there is nothing to fetch.
BOUGHT = ("perhaps bought", "gone")
# Errors after which the job still is, or may be, at the provider: asking for it again costs nothing.
REATTACH = ("download", "out of reach")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One line of a rollout's history at its provider.

    An ``intent`` is written before each submit, ``submitted`` with the job's id before any wait.
    """

    key: str
    state: AttemptState
    token: str
    job: str | None = None
    error_class: str | None = None
    message: str | None = None
    request_id: str | None = None
    cost_usd: float | None = None

    @property
    def perhaps_paid(self) -> bool:
        """Whether money may have been spent that no clip stands for."""
        return self.state == "failed" and self.error_class in BOUGHT


def next_step(last: Attempt | None, *, rebuy: bool = False) -> NextStep:
    """Say what may be done about a wanted clip, from the newest line of its history.

    >>> next_step(None), next_step(Attempt(key="k", state="intent", token="t"))
    ('buy', 'find')
    >>> lost = Attempt(key="k", state="failed", token="t", error_class="perhaps bought")
    >>> next_step(lost), next_step(lost, rebuy=True)
    ('leave', 'buy')
    """
    if last is None or last.state == "refused":
        return "buy"
    if last.state == "intent":
        return "find"
    if last.state in ("submitted", "done"):
        return "attach"
    if last.perhaps_paid:
        return "buy" if rebuy else "leave"
    return "attach" if last.error_class in REATTACH and last.job else "buy"
