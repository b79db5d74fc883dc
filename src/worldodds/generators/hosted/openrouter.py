"""``openrouter/MODEL``: video jobs of OpenRouter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worldodds.errors import ProviderError
from worldodds.generators.hosted.base import Hosted, model_id, split_limits
from worldodds.generators.still import data_uri
from worldodds.http_client import Client
from worldodds.job import JobState, JobStatus, Order
from worldodds.typed_settings import recorded, typed

STATES: Mapping[str, JobStatus] = {
    "pending": "waiting",
    "in_progress": "waiting",
    "completed": "done",
    "failed": "failed",
    "cancelled": "failed",
    "expired": "failed",
}
REFUSALS = re.compile(r"moderat|content policy|safety|flagged", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """What OpenRouter takes beside frame, prompt and seed; which values a model allows, its page says."""

    duration: int | None = None
    resolution: str | None = None
    aspect_ratio: str | None = None
    generate_audio: bool | None = None
    size: str | None = None


@dataclass(frozen=True, kw_only=True)
class OpenRouter(Hosted):
    """One video model at OpenRouter."""

    def submit(self, order: Order) -> str:
        """Submit a video job."""
        first = {"type": "image_url", "image_url": {"url": data_uri(order.scene)}, "frame_type": "first_frame"}
        body = {
            "model": self.model,
            "prompt": order.scene.prompt,
            "seed": order.seed,
            "frame_images": [first],
            **self.inputs,
        }
        return self.client.ask("POST", "/videos", body=body, submitting=True).needed("id")

    def poll(self, job: str) -> JobState:
        """Get a job."""
        reply = self.client.ask("GET", f"/videos/{job}")
        said, error = reply.text("status") or "", reply.text("error")
        status = STATES.get(said, "waiting")
        if status == "failed" and error and REFUSALS.search(error):
            status = "refused"
        generation = reply.text("generation_id")
        return JobState(
            status=status,
            message=error or (said if status == "failed" else None),
            served_version=reply.text("model"),
            cost_usd=reply.number("usage", "cost"),
            request_id=reply.request_id,
            clip=f"/videos/{job}/content?index=0" if status == "done" else None,
            details={"generation": generation} if generation else {},
        )

    def cancel(self, job: str) -> None:
        """Say that OpenRouter documents no way to cancel a job."""
        raise ProviderError(f"openrouter documents no way to cancel job {job}")


def refused(status: int, body: Any) -> bool:
    """Tell a moderation's 403, which names its reasons, from a key without access."""
    try:
        return status == 403 and bool(body["error"]["metadata"]["reasons"])
    except (KeyError, TypeError):
        return False


def openrouter(model: str = "", **settings: Any) -> OpenRouter:
    """Return the generator ``openrouter/MODEL``.

    Raises:
        InputError: no model's name, an unknown setting or a value of the wrong kind.
    """
    name = model_id("openrouter", model, "google/veo-3.1")
    limits, given = split_limits(settings)
    inputs = recorded(typed(Knobs, given, part=f"openrouter/{name}"))
    client = Client(
        provider="openrouter",
        base_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        refused=refused,
    )
    return OpenRouter(name=f"openrouter/{name}", model=name, inputs=inputs, client=client, **limits)
