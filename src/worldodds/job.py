"""One job at a provider: what is ordered, and what the provider says has become of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from worldodds.scene import Scene

JobStatus = Literal["waiting", "done", "refused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One clip to be bought.

    ``token`` is new for every purchase and stays the same however often the purchase is tried: providers that take an
    idempotency key make one job of it.
    """

    scene: Scene
    seed: int
    index: int
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A provider's word on a job.

    ``clip`` is where the finished clip lies. It may carry a signature, so it is used and never written down.
    """

    status: JobStatus
    message: str | None = None
    served_version: str | None = None
    cost_usd: float | None = None
    request_id: str | None = None
    clip: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
