"""What all providers share: limits checked before anything is paid, and downloads by the client."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worldodds.errors import InputError, ProviderError, UncertainError
from worldodds.generators.still import check_limits
from worldodds.http_client import Client
from worldodds.job import JobState, Order
from worldodds.rollout import Settings
from worldodds.scene import Scene


@dataclass(frozen=True, kw_only=True)
class Hosted:
    """One model at one provider.

    ``inputs`` is what goes to the model beside frame, prompt and seed: recorded, and part of every key.
    """

    name: str
    model: str
    client: Client
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    in_flight: int = 4
    longest_s: float = 1800.0
    settle_s: float = 0.0
    frame_bytes_most: int = 10_000_000
    prompt_most: int | None = None

    @property
    def settings(self) -> Settings:
        """The inputs."""
        return self.inputs

    def check(self, scenes: Sequence[Scene]) -> None:
        """Refuse a missing key, a frame or a prompt that does not fit."""
        _ = self.client.key
        check_limits(self.name, scenes, frame_bytes_most=self.frame_bytes_most, prompt_most=self.prompt_most)

    def find(self, order: Order, known: Collection[str]) -> str | None:
        """Say that this provider documents neither idempotency keys nor a list of jobs with their inputs."""
        del known
        raise UncertainError(f"{self.name} cannot be asked what became of order {order.token}")

    def download(self, job: str, state: JobState, into: Path) -> None:
        """Fetch the clip from where the provider says it lies."""
        if state.clip is None:
            raise ProviderError(f"{self.name}: job {job} is done, but the answer names no clip")
        self.client.fetch(state.clip, into)


def split_limits(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part what the engine heeds (``in_flight``, ``longest_s``) from what the model is given."""
    limits = {name: settings[name] for name in ("in_flight", "longest_s") if name in settings}
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 1 or value > 100_000:
            raise InputError(f"{name}: {value!r} is no number from 1 to 100000")
    if "in_flight" in limits:
        limits["in_flight"] = int(limits["in_flight"])
    return limits, {name: value for name, value in settings.items() if name not in limits}


def model_id(part: str, model: str, example: str, *, slashes: bool = True) -> str:
    """Refuse a model's name that is empty or would change the address it goes into.

    Raises:
        InputError: which name, and what one looks like.
    """
    pieces = model.split("/")
    plain = all(piece and piece not in (".", "..") and not set(piece) & set("?#%\\ :&") for piece in pieces)
    if not plain or (not slashes and len(pieces) > 1):
        raise InputError(f"{part}/{model}: no model's name; write {part}/{example}")
    return model
