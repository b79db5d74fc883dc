"""``google/veo-...``: Veo behind the Gemini API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from worldodds.errors import InputError, ProviderError
from worldodds.generators.hosted.base import Hosted, model_id, split_limits
from worldodds.generators.still import base64_frame
from worldodds.http_client import Client, Reply
from worldodds.job import JobState, Order
from worldodds.typed_settings import one_of, recorded, typed


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """What Veo takes beside frame and prompt.

    The Gemini API documents no seed for Veo, so none is sent unless ``send_seed`` says so: rollouts then differ by the
    provider's own randomness, and two of them with the same settings are still two draws.
    """

    duration_s: int = 8
    resolution: str = "720p"
    aspect_ratio: str = "16:9"
    negative_prompt: str | None = None
    send_seed: bool = False


@dataclass(frozen=True, kw_only=True)
class Veo(Hosted):
    """One Veo model."""

    knobs: Knobs

    def submit(self, order: Order) -> str:
        """Begin a long-running operation."""
        frame, kind = base64_frame(order.scene)
        image = {"bytesBase64Encoded": frame, "mimeType": kind}
        knobs = self.knobs
        parameters: dict[str, Any] = {
            "durationSeconds": knobs.duration_s,
            "resolution": knobs.resolution,
            "aspectRatio": knobs.aspect_ratio,
        }
        if knobs.negative_prompt is not None:
            parameters["negativePrompt"] = knobs.negative_prompt
        if knobs.send_seed:
            parameters["seed"] = order.seed
        body = {"instances": [{"prompt": order.scene.prompt, "image": image}], "parameters": parameters}
        path = f"/models/{self.model}:predictLongRunning"
        return self.client.ask("POST", path, body=body, submitting=True).needed("name")

    def poll(self, job: str) -> JobState:
        """Get the operation."""
        reply = self.client.ask("GET", f"/{job}")
        if reply.at("done") is not True:
            return JobState(status="waiting", request_id=reply.request_id)
        if error := reply.text("error", "message"):
            return JobState(status="failed", message=error, request_id=reply.request_id)
        clip = reply.text("response", "generateVideoResponse", "generatedSamples", 0, "video", "uri")
        if clip is None:
            return _filtered(reply)
        return JobState(status="done", clip=clip, served_version=self.model, request_id=reply.request_id)

    def cancel(self, job: str) -> None:
        """Say that the Gemini API documents no way to cancel a Veo operation."""
        raise ProviderError(f"google documents no way to cancel operation {job}")


def _filtered(reply: Reply) -> JobState:
    """An operation that ended without a clip: filtered by responsible-AI rules where it says so, else failed."""
    answer = Reply(reply.at("response", "generateVideoResponse"))
    reason = answer.text("raiMediaFilteredReasons", 0)
    if reason or (answer.number("raiMediaFilteredCount") or 0) > 0:
        return JobState(status="refused", message=reason, request_id=reply.request_id)
    return JobState(status="failed", message="the operation ended without a clip", request_id=reply.request_id)


def google(model: str = "", **settings: Any) -> Veo:
    """Return the generator ``google/veo-...``.

    Raises:
        InputError: no Veo model, an unknown setting, a value that Veo does not allow.
    """
    name = model_id("google", model, "veo-3.1-generate-preview", slashes=False)
    if not name.startswith("veo-"):
        raise InputError(f"google/{name}: only Veo films here; write google/veo-3.1-generate-preview")
    limits, given = split_limits(settings)
    part = f"google/{name}"
    knobs = typed(Knobs, given, part=part)
    one_of(part, "duration_s", knobs.duration_s, (4, 5, 6, 8))
    one_of(part, "resolution", knobs.resolution, ("720p", "1080p", "4k"))
    one_of(part, "aspect_ratio", knobs.aspect_ratio, ("16:9", "9:16"))
    client = Client(
        provider="google",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        key_variable="GEMINI_API_KEY",
        authorize=lambda key: {"x-goog-api-key": key},
    )
    return Veo(name=part, model=name, knobs=knobs, inputs=recorded(knobs), client=client, prompt_most=4000, **limits)
