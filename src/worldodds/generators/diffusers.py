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
from worldodds.rollout import Rollout, Settings
from worldodds.scene import Scene
from worldodds.typed_settings import one_of, recorded, typed, within

DTYPES = ("float32", "float16", "bfloat16")
DEFAULT_FPS = 16  # Wan's rate; for pipelines that name none


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """What a pipeline is given beside frame, prompt and seed; None leaves it to the pipeline.

    Without a size the frame's own is taken, rounded to what the pipeline can film. Without a dtype it is float32 on the
    CPU and bfloat16 elsewhere; the version recorded with each clip names it.
    """

    guidance_scale: float | None = None
    steps: int | None = None
    frames: int | None = None
    fps: int | None = None
    width: int | None = None
    height: int | None = None
    negative_prompt: str | None = None
    dtype: str | None = None
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
            InputError: a setting that this pipeline does not take, or a size or length that it cannot film.
            GenerationError: the pipeline cannot be loaded, or failed.
        """
        torch = need("torch", "diffusers")
        image_of = need("PIL.Image", "run")
        assert scene.frame is not None
        with self._lock:
            pipeline = self._loaded()
            inputs = self._inputs(pipeline, image_of.open(scene.frame).convert("RGB"), scene.prompt)
            rng = torch.Generator("cpu").manual_seed(seed)
            try:
                frames = pipeline(generator=rng, output_type="np", **inputs).frames[0]
            except Exception as error:  # a stranger's code: whatever it raises, this clip has failed
                raise GenerationError(f"{self.name}: {type(error).__name__}: {str(error)[:300]}") from error
        if not np.isfinite(frames).all():
            raise GenerationError(f"{self.name}: pixels that are not numbers; try dtype=bfloat16 or dtype=float32")
        video.encode(_pictures(frames), into, frame_rate=_frame_rate(pipeline, self.knobs))
        return Rollout(
            scene=scene.id, index=index, seed=seed, status="done", served_version=_version(pipeline, self.knobs)
        )

    def _loaded(self) -> Any:
        if not self._pipeline:
            need("transformers", "diffusers")
            try:
                self._pipeline.append(_load(self.model, self.knobs))
            except Exception as error:  # as above: weights, libraries and drivers each raise their own
                raise GenerationError(f"{self.name} cannot be loaded: {str(error)[:300]}") from error
        return self._pipeline[0]

    def _inputs(self, pipeline: Any, image: Any, prompt: str) -> dict[str, Any]:
        """Choose from our knobs those that the pipeline takes; one that is set and not taken is an error."""
        knobs = self.knobs
        width, height = self._size(pipeline, image)
        self._check_frames(pipeline)
        wanted = {
            "image": image.resize((width, height)),
            "prompt": prompt,
            "negative_prompt": knobs.negative_prompt,
            "guidance_scale": knobs.guidance_scale,
            "num_inference_steps": knobs.steps,
            "num_frames": knobs.frames,
            "width": width,
            "height": height,
            "frame_rate": knobs.fps,  # LTX
            "fps": knobs.fps,  # Stable Video Diffusion
        }
        known = inspect.signature(pipeline.__call__).parameters
        if "guidance_scale" not in known and "max_guidance_scale" in known:  # Stable Video Diffusion
            wanted["max_guidance_scale"] = wanted.pop("guidance_scale")
        free = ("prompt", "width", "height", "frame_rate", "fps")  # the encoder has the rate; some take no prompt
        if alien := [n for n, v in wanted.items() if v is not None and n not in known and n not in free]:
            if alien[0] == "image":
                raise InputError(
                    f"{self.name}: {type(pipeline).__name__} starts from no image; take an image-to-video one"
                )
            raise InputError(f"{self.name}: this pipeline takes no {alien[0]}; leave the setting out")
        return {name: value for name, value in wanted.items() if value is not None and name in known}

    def _size(self, pipeline: Any, image: Any) -> tuple[int, int]:
        """Return width and height: as set, which must fit the pipeline's grid, or the frame's, rounded to it."""
        grid = _grid(pipeline)
        sides: list[int] = []
        for side, chosen, own in (
            ("width", self.knobs.width, image.width),
            ("height", self.knobs.height, image.height),
        ):
            fitting = max(grid, round((chosen or own) / grid) * grid)
            if chosen is not None and chosen != fitting:
                raise InputError(
                    f"{self.name}: {side}: {chosen} is not a multiple of {grid}, which this pipeline needs; the nearest"
                    f" is {fitting}"
                )
            sides.append(fitting)
        return sides[0], sides[1]

    def _check_frames(self, pipeline: Any) -> None:
        """Refuse a number of frames that the pipeline would change without a word."""
        stride, frames = (
            _first(pipeline, ("vae_scale_factor_temporal", "vae_temporal_compression_ratio"), 1),
            self.knobs.frames,
        )
        if frames is not None and (frames - 1) % stride:
            nearest = max(1, round((frames - 1) / stride)) * stride + 1
            raise InputError(
                f"{self.name}: frames: {frames} is not one more than a multiple of {stride}, which this pipeline needs;"
                f" the nearest is {nearest}"
            )


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
    within(part, "width", knobs.width, 16, 8192)
    within(part, "height", knobs.height, 16, 8192)
    return Diffusers(model=model, knobs=knobs)


def _load(model: str, knobs: Knobs) -> Any:
    """Load a pipeline onto its device, as image-to-video where the stored class films from text alone."""
    torch, library = need("torch", "diffusers"), need("diffusers", "diffusers")
    device = ("cuda" if torch.cuda.is_available() else "cpu") if knobs.device == "auto" else knobs.device
    dtype = getattr(torch, knobs.dtype or ("float32" if device == "cpu" else "bfloat16"))
    made = library.DiffusionPipeline.from_pretrained(model, torch_dtype=dtype, revision=knobs.revision)
    name = type(made).__name__.removesuffix("Pipeline") + "ImageToVideoPipeline"
    if "image" not in inspect.signature(made.__call__).parameters and hasattr(library, name):
        made = getattr(library, name).from_pipe(made, torch_dtype=dtype)  # LTX-Video and Wan2.2-TI2V are stored so
    if knobs.offload:
        made.enable_model_cpu_offload(device=device)
    else:
        made.to(device)
    made.set_progress_bar_config(disable=True)
    return made


def _first(thing: Any, names: tuple[str, ...], otherwise: int) -> int:
    """Return the first of these numbers that the pipeline has; each family has a name of its own for it."""
    return next((int(getattr(thing, name)) for name in names if hasattr(thing, name)), otherwise)


def _grid(pipeline: Any) -> int:
    """Return what both sides must be multiples of: pixels a latent, times latents a patch or the U-Net's halvings."""
    names = ("vae_scale_factor_spatial", "vae_spatial_compression_ratio", "vae_scale_factor")
    latent = _first(pipeline, names, 8)
    if (unet := getattr(pipeline, "unet", None)) is not None:
        return int(latent * 2 ** (len(unet.config.block_out_channels) - 1))
    transformer = getattr(pipeline, "transformer", None)
    patch = getattr(transformer.config, "patch_size", 1) if transformer is not None else 1
    return latent * int(patch if isinstance(patch, int) else max(patch[-2:]))


def _frame_rate(pipeline: Any, knobs: Knobs) -> int:
    """Return the rate set, else the one that the pipeline conditions on, else `DEFAULT_FPS`."""
    known = inspect.signature(pipeline.__call__).parameters
    own = next((known[name].default for name in ("frame_rate", "fps") if name in known), DEFAULT_FPS)
    return knobs.fps or round(own)


def _pictures(frames: Any) -> Iterable[video.Image]:
    """Turn a pipeline's frames, floats from 0 to 1 of shape (time, height, width, 3), into bytes."""
    for frame in frames:
        yield np.round(np.clip(np.asarray(frame, dtype=np.float64), 0, 1) * 255).astype(np.uint8)


def _version(pipeline: Any, knobs: Knobs) -> str:
    made_with = pipeline.config.get("_diffusers_version", "unknown")
    dtype = str(pipeline.dtype).removeprefix("torch.")
    return f"{type(pipeline).__name__} {made_with} {dtype}{f' @{knobs.revision}' if knobs.revision else ''}"
