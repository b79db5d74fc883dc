"""``runway/MODEL``: Runway's own API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worldodds.generators.hosted.base import Hosted, model_id, split_limits
from worldodds.generators.still import data_uri
from worldodds.http_client import Client
from worldodds.job import JobState, JobStatus, Order
from worldodds.typed_settings import recorded, typed, within

STATES: Mapping[str, JobStatus] = {
    "PENDING": "waiting",
    "THROTTLED": "waiting",
    "RUNNING": "waiting",
    "SUCCEEDED": "done",
    "FAILED": "failed",
    "CANCELLED": "failed",
}
REFUSED_PREFIX = "SAFETY"
MOST_SEED = 4_294_967_295


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """What Runway takes beside frame, prompt and seed; ``ratio`` is width:height in pixels."""

    duration_s: int = 5
    ratio: str = "1280:720"


@dataclass(frozen=True, kw_only=True)
class Runway(Hosted):
    """One model at Runway."""

    knobs: Knobs

    def submit(self, order: Order) -> str:
        """Begin a task."""
        body = {
            "model": self.model,
            "promptImage": data_uri(order.scene),
            "promptText": order.scene.prompt,
            "ratio": self.knobs.ratio,
            "duration": self.knobs.duration_s,
            "seed": order.seed % (MOST_SEED + 1),
        }
        return self.client.ask("POST", "/v1/image_to_video", body=body, submitting=True).needed("id")

    def poll(self, job: str) -> JobState:
        """Get a task."""
        reply = self.client.ask("GET", f"/v1/tasks/{job}")
        said, code = reply.text("status") or "", reply.text("failureCode") or ""
        status = STATES.get(said, "waiting")
        if status == "failed" and code.startswith(REFUSED_PREFIX):
            status = "refused"
        told = ": ".join(part for part in (code, reply.text("failure")) if part)
        return JobState(
            status=status,
            message=told or (said if status == "failed" else None),
            request_id=reply.request_id,
            clip=reply.text("output", 0),
        )

    def cancel(self, job: str) -> None:
        """Delete a task, which cancels it."""
        self.client.ask("DELETE", f"/v1/tasks/{job}")


def runway(model: str = "", **settings: Any) -> Runway:
    """Return the generator ``runway/MODEL``.

    Raises:
        InputError: no model's name, an unknown setting, a value out of range.
    """
    name = model_id("runway", model, "gen4.5", slashes=False)
    limits, given = split_limits(settings)
    part = f"runway/{name}"
    knobs = typed(Knobs, given, part=part)
    within(part, "duration_s", knobs.duration_s, 2, 15)
    client = Client(
        provider="runway",
        base_url="https://api.dev.runwayml.com",
        key_variable="RUNWAYML_API_SECRET",
        headers={"X-Runway-Version": "2024-11-06"},
    )
    return Runway(
        name=part,
        model=name,
        knobs=knobs,
        inputs=recorded(knobs),
        client=client,
        frame_bytes_most=3_300_000,
        prompt_most=1000,
        **limits,
    )
