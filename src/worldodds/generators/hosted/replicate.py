"""``replicate/OWNER/NAME``: models behind Replicate's predictions API, with CaliBench's settings as presets."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from worldodds.errors import GoneError, InputError, UncertainError, UnknownNameError, nearest
from worldodds.generators.hosted.base import Hosted, model_id, split_limits
from worldodds.generators.still import data_uri, frame_bytes
from worldodds.http_client import Client, Reply
from worldodds.job import JobState, JobStatus, Order
from worldodds.scene import Scene

STATES: Mapping[str, JobStatus] = {
    "starting": "waiting",
    "processing": "waiting",
    "succeeded": "done",
    "failed": "failed",
    "canceled": "failed",
    "aborted": "failed",
}
REFUSALS = re.compile(r"\(E005\)|flagged as sensitive|content policy|moderation|safety filter", re.IGNORECASE)
LARGEST_INLINE_BYTES = 256_000
MOST_PAGES = 20

# The main run of CaliBench (arXiv 2608.16829): what each model was given beside frame, prompt and seed.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "wan-video/wan-2.7-i2v": {
        "duration": 3,
        "resolution": "720p",
        "enable_prompt_expansion": True,
        "negative_prompt": "",
        "frame_field": "first_frame",
    },
    "bytedance/seedance-2.0": {"duration": 4, "resolution": "480p", "generate_audio": False},
    "alibaba/happyhorse-1.0": {"duration": 3, "resolution": "720p"},
    "google/veo-3.1": {"duration": 4, "resolution": "720p"},
    "runwayml/gen-4.5": {"duration": 5},
}


@dataclass(frozen=True, kw_only=True)
class Replicate(Hosted):
    """One model at Replicate. A model without a seed has ``seed_field`` empty."""

    frame_field: str = "image"
    seed_field: str = "seed"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The inputs, and the fields that frame and seed go to."""
        return {**self.inputs, "frame_field": self.frame_field, "seed_field": self.seed_field}

    def check(self, scenes: Sequence[Scene]) -> None:
        """Compare every input with the model's own schema, which also tells a wrong key or model."""
        super().check(scenes)
        try:
            about = self.client.ask("GET", f"/v1/models/{self.model}")
        except GoneError:
            raise InputError(f"{self.name}: Replicate has no model called {self.model!r}") from None
        known = about.at("latest_version", "openapi_schema", "components", "schemas", "Input", "properties")
        if not isinstance(known, dict):
            return
        fields = [self.frame_field, "prompt", *([self.seed_field] if self.seed_field else []), *self.inputs]
        for name in fields:
            if name not in known:
                advice = "; a model without a seed needs -G seed_field=" if name == self.seed_field else ""
                raise UnknownNameError(f"{self.name} has no input called {name!r}.{nearest(name, known)}{advice}")

    def submit(self, order: Order) -> str:
        """Create a prediction."""
        given = {**self.inputs, "prompt": order.scene.prompt, self.frame_field: self._frame(order.scene)}
        if self.seed_field:
            given[self.seed_field] = order.seed
        path = f"/v1/models/{self.model}/predictions"
        return self.client.ask("POST", path, body={"input": given}, submitting=True).needed("id")

    def find(self, order: Order, known: Collection[str]) -> str | None:
        """Look for a prediction of this model with the order's prompt, seed and settings that no other order has.

        The list goes from the newest back; it is read until it ends, and given up after 20 pages.
        """
        page: str | None = "/v1/predictions"
        if not self.seed_field:
            raise UncertainError(f"{self.name} takes no seed, so that its jobs cannot be told apart")
        for _ in range(MOST_PAGES):
            reply = self.client.ask("GET", page)
            ours = [one for one in reply.at("results") or () if self._is_of(Reply(one), order)]
            if free := [one["id"] for one in ours if one["id"] not in known]:
                return free[0]
            page = reply.text("next")
            if page is None:
                return None
        raise UncertainError(f"{self.name}: the order is not among the newest jobs, and there are many more")

    def poll(self, job: str) -> JobState:
        """Get a prediction."""
        reply = self.client.ask("GET", f"/v1/predictions/{job}")
        said, error = reply.text("status") or "", reply.text("error")
        status = STATES.get(said, "waiting")
        if status == "failed" and error and REFUSALS.search(error):
            status = "refused"
        output = reply.at("output")
        clip = output[0] if isinstance(output, list) and output else output
        return JobState(
            status=status,
            message=error or (said if status == "failed" else None),
            served_version=reply.text("version"),
            request_id=reply.request_id,
            clip=clip if isinstance(clip, str) else None,
            details={"seconds": seconds} if (seconds := reply.number("metrics", "predict_time")) else {},
        )

    def cancel(self, job: str) -> None:
        """Cancel a prediction."""
        self.client.ask("POST", f"/v1/predictions/{job}/cancel")

    def _is_of(self, one: Reply, order: Order) -> bool:
        same = one.at("input", self.seed_field) == order.seed and one.at("input", "prompt") == order.scene.prompt
        mine = same and one.text("model") == self.model and one.text("id") is not None
        return mine and not self._contradicts(one, order)

    def _contradicts(self, one: Reply, order: Order) -> bool:
        """Say whether a job was plainly ordered with other settings or another frame, as by another run.

        A field that the list leaves out, or a frame that it shows by another address, tells nothing: to take a job of
        ours for another's would buy it twice.
        """
        given = one.at("input")
        if any(name in given and given[name] != value for name, value in self.inputs.items()):
            return True
        frame, ours = one.text("input", self.frame_field) or "", data_uri(order.scene)
        return frame.startswith("data:") and ours != frame

    def _frame(self, scene: Scene) -> str:
        """Send a small frame within the order, upload a larger one first."""
        data, kind = frame_bytes(scene)
        if len(data) <= LARGEST_INLINE_BYTES:
            return data_uri(scene)
        name = f"frame.{kind.rpartition('/')[2]}"
        reply = self.client.upload("/v1/files", name, data, kind)
        return reply.text("urls", "get") or data_uri(scene)


def replicate(model: str = "", **settings: Any) -> Replicate:
    """Return the generator ``replicate/OWNER/NAME``; CaliBench's five models have its settings unless you say else.

    Raises:
        InputError: no model's name.
    """
    name = model_id("replicate", model, "google/veo-3.1")
    if name.count("/") != 1:
        raise InputError(f"replicate/{name}: no model's name; write replicate/OWNER/NAME")
    limits, given = split_limits(settings)
    inputs = {**PRESETS.get(name, {}), **given}
    frame_field, seed_field = str(inputs.pop("frame_field", "image")), str(inputs.pop("seed_field", "seed"))
    return Replicate(
        name=f"replicate/{name}",
        model=name,
        inputs=inputs,
        frame_field=frame_field,
        seed_field=seed_field,
        settle_s=30.0,
        client=Client(provider="replicate", base_url="https://api.replicate.com", key_variable="REPLICATE_API_TOKEN"),
        **limits,
    )
