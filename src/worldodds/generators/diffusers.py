"""``diffusers/ID-or-FOLDER``: image-to-video pipelines on this machine, one random stream a rollout."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from worldodds import video
from worldodds.errors import GenerationError, InputError
from worldodds.extras import need
from worldodds.generators.typed import one_of, recorded, typed, within
from worldodds.rollout import Rollout, Settings
from worldodds.scene import Scene

DTYPES = ("float32", "float16", "bfloat16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """What a pipeline is given beside frame, prompt and seed; None leaves it to the pipeline."""

    guidance_scale: float | None = None
    steps: int | None = None
    frames: int | None = None
    fps: int = 16
    width: int | None = None
    height: int | None = None
    negative_prompt: str | None = None
    dtype: str = "bfloat16"
    device: str = "auto"
    revision: str | None = None
    offload: bool = False


@dataclass(frozen=True, kw_only=True)
class Diffusers:
    """One pipeline, loaded at its first clip and kept.

    Each rollout has a generator of its own, made from its seed on the CPU, so a clip does not depend on what was filmed
    before it, nor on the device's own random numbers.
    """

    model: str
    knobs: Knobs
    _pipeline: list[Any] = field(default_factory=list[Any], repr=False, compare=False)
    _lock: Any = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The model's id, or the folder's name."""
        return f"diffusers/{Path(self.model).name if Path(self.model).is_dir() else self.model}"

    @property
    def settings(self) -> Settings:
        """All knobs that change a clip; the device does not count as one, though it may move the last bits."""
        return {name: value for name, value in recorded(self.knobs).items() if name not in ("device", "offload")}

    @property
    def cpu_bound(self) -> bool:
        """One pipeline serves all rollouts, one after the other."""
        return False

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        """Film one clip.

        Raises:
            MissingDependencyError: torch or diffusers is not installed.
            GenerationError: the pipeline cannot be loaded, or failed.
        """
        torch = need("torch", "diffusers")
        image_of = need("PIL.Image", "run")
        assert scene.frame is not None
        with self._lock:
            pipeline = self._loaded()
            image = image_of.open(scene.frame).convert("RGB")
            rng = torch.Generator("cpu").manual_seed(seed)
            try:
                made = pipeline(generator=rng, output_type="np", **self._inputs(pipeline, image, scene.prompt))
            except (RuntimeError, ValueError, TypeError) as error:
                raise GenerationError(f"{self.name}: {type(error).__name__}: {str(error)[:300]}") from None
        video.encode(_pictures(made.frames[0]), into, frame_rate=self.knobs.fps)
        return Rollout(
            scene=scene.id, index=index, seed=seed, status="done", served_version=_version(pipeline, self.knobs)
        )

    def _loaded(self) -> Any:
        if not self._pipeline:
            torch, library = need("torch", "diffusers"), need("diffusers", "diffusers")
            dtype = getattr(torch, self.knobs.dtype)
            try:
                made = library.DiffusionPipeline.from_pretrained(
                    self.model, torch_dtype=dtype, revision=self.knobs.revision
                )
            except (OSError, ValueError) as error:
                raise GenerationError(f"{self.name} cannot be loaded: {str(error)[:300]}") from None
            device = self.knobs.device
            device = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
            if self.knobs.offload:
                made.enable_model_cpu_offload(device=device)
            else:
                made.to(device)
            made.set_progress_bar_config(disable=True)
            self._pipeline.append(made)
        return self._pipeline[0]

    def _inputs(self, pipeline: Any, image: Any, prompt: str) -> dict[str, Any]:
        """Choose from our knobs those that the pipeline takes; one that is set and not taken is an error."""
        knobs = self.knobs
        width, height = knobs.width or image.width, knobs.height or image.height
        wanted = {
            "image": image.resize((width, height)),
            "prompt": prompt,
            "negative_prompt": knobs.negative_prompt,
            "guidance_scale": knobs.guidance_scale,
            "num_inference_steps": knobs.steps,
            "num_frames": knobs.frames,
            "width": width,
            "height": height,
        }
        known = inspect.signature(pipeline.__call__).parameters
        if "guidance_scale" not in known and "max_guidance_scale" in known:  # Stable Video Diffusion
            wanted["max_guidance_scale"] = wanted.pop("guidance_scale")
        free = ("prompt", "width", "height")  # Stable Video Diffusion takes no prompt
        if alien := [n for n, v in wanted.items() if v is not None and n not in known and n not in free]:
            raise InputError(f"{self.name}: this pipeline takes no {alien[0]}; leave the setting out")
        return {name: value for name, value in wanted.items() if value is not None and name in known}


def diffusers(model: str = "", **settings: Any) -> Diffusers:
    """Return the generator ``diffusers/ID-or-FOLDER``.

    Raises:
        InputError: no model, an unknown setting, a value of the wrong kind or out of range.
    """
    if not model:
        raise InputError("diffusers: no model; write diffusers/ID-or-FOLDER, such as diffusers/Wan-AI/Wan2.2-I2V")
    part = f"diffusers/{model}"
    knobs = typed(Knobs, settings, part=part)
    one_of(part, "dtype", knobs.dtype, DTYPES)
    within(part, "steps", knobs.steps, 1, 1000)
    within(part, "frames", knobs.frames, 2, 1000)
    within(part, "fps", knobs.fps, 1, 120)
    return Diffusers(model=model, knobs=knobs)


def _pictures(frames: Any) -> Iterable[video.Image]:
    """Turn a pipeline's frames, floats from 0 to 1 of shape (time, height, width, 3), into bytes."""
    for frame in frames:
        yield np.round(np.clip(np.asarray(frame, dtype=np.float64), 0, 1) * 255).astype(np.uint8)


def _version(pipeline: Any, knobs: Knobs) -> str:
    made_with = pipeline.config.get("_diffusers_version", "unknown")
    return f"{type(pipeline).__name__} {made_with}{f' @{knobs.revision}' if knobs.revision else ''}"
