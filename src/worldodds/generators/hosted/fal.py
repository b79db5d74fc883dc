"""``fal/MODEL``: models behind fal's queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worldodds.errors import GoneError, ProviderError, RefusedError
from worldodds.generators.hosted.base import Hosted, model_id, split_limits
from worldodds.generators.still import data_uri
from worldodds.http_client import Client
from worldodds.job import JobState, JobStatus, Order

STATES: Mapping[str, JobStatus] = {"IN_QUEUE": "waiting", "IN_PROGRESS": "waiting", "COMPLETED": "done"}
REFUSAL = "content_policy_violation"


@dataclass(frozen=True, kw_only=True)
class Fal(Hosted):
    """One model at fal; a job is known by the address of its result, as fal gives it."""

    frame_field: str = "image_url"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The inputs, and the field that the frame goes to."""
        return {**self.inputs, "frame_field": self.frame_field}

    def submit(self, order: Order) -> str:
        """Put a request into the queue."""
        given = {**self.inputs, "prompt": order.scene.prompt, "seed": order.seed}
        given[self.frame_field] = data_uri(order.scene)
        reply = self.client.ask("POST", f"/{self.model}", body=given, submitting=True)
        return reply.needed("response_url")

    def poll(self, job: str) -> JobState:
        """Ask for the status, and for the result once it is complete."""
        reply = self.client.ask("GET", f"{job}/status")
        if STATES.get(reply.text("status") or "", "waiting") != "done":
            return JobState(status="waiting", request_id=reply.request_id)
        try:
            result = self.client.ask("GET", job)
        except RefusedError as error:
            return JobState(status="refused", message=str(error), request_id=error.request_id)
        except GoneError:
            raise
        except ProviderError as error:
            if type(error) is not ProviderError:
                raise
            return JobState(status="failed", message=str(error), request_id=error.request_id)
        return JobState(status="done", request_id=result.request_id, clip=result.text("video", "url"))

    def cancel(self, job: str) -> None:
        """Ask fal to cancel a request."""
        self.client.ask("PUT", f"{job}/cancel")


def refused(_: int, body: Any) -> bool:
    """Tell a content checker's "no" by the type of the error."""
    details: Any = body.get("detail") if isinstance(body, dict) else body
    return isinstance(details, list) and any(isinstance(d, dict) and d.get("type") == REFUSAL for d in details)


def fal(model: str = "", **settings: Any) -> Fal:
    """Return the generator ``fal/MODEL``; settings go to the model as they are.

    Raises:
        InputError: no model's name.
    """
    name = model_id("fal", model, "fal-ai/wan/v2.7/image-to-video")
    limits, inputs = split_limits(settings)
    frame_field = str(inputs.pop("frame_field", "image_url"))
    client = Client(
        provider="fal",
        base_url="https://queue.fal.run",
        key_variable="FAL_KEY",
        authorize=lambda key: {"Authorization": f"Key {key}"},
        refused=refused,
    )
    return Fal(name=f"fal/{name}", model=name, inputs=inputs, frame_field=frame_field, client=client, **limits)
