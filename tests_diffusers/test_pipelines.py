"""The generator ``diffusers/`` on real pipelines with tiny random weights; run by ``make test-diffusers``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_pipelines import SAVE, save

from worldodds import video
from worldodds.errors import GenerationError, InputError
from worldodds.generators.diffusers import Diffusers
from worldodds.registry import make_generator
from worldodds.scene import ReadOut, Scene
from worldodds.testing import check_generator

FAMILIES = tuple(SAVE)
FRAMES = {"wan": 5, "cogvideox": 9, "ltx": 9, "ltx_from_text": 9, "svd": 4}
FPS = {"wan": 16, "cogvideox": 16, "ltx": 25, "ltx_from_text": 25, "svd": 7}
OWN_CLASS = {
    "wan": "WanImageToVideoPipeline",
    "cogvideox": "CogVideoXImageToVideoPipeline",
    "ltx": "LTXImageToVideoPipeline",
    "ltx_from_text": "LTXImageToVideoPipeline",
    "svd": "StableVideoDiffusionPipeline",
}


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a folder with a saved pipeline for each family."""
    root = tmp_path_factory.mktemp("pipelines")
    for family in FAMILIES:
        save(family, root / family)
    return {family: root / family for family in FAMILIES}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Return a coin on a frame of 70 by 60, which fits no pipeline's grid."""
    across = np.linspace(0, 255, 70, dtype=np.uint8)
    video.write_still(np.repeat(np.tile(across, (60, 1))[:, :, None], 3, axis=2), tmp_path / "coin.png")
    readout = ReadOut(evidence="last frame", question="Which side is up?", nulls=())
    return Scene(
        id="coin",
        title="A coin",
        prompt="a coin is flipped.",
        labels=("heads", "tails"),
        readout=readout,
        reference=None,
        reason="made for tests",
        frame=tmp_path / "coin.png",
    )


def maker(folder: Path, family: str, **settings: Any) -> Diffusers:
    """Return the generator as the command line would make it."""
    chosen = {"steps": 2, "frames": FRAMES[family], "device": "cpu", **settings}
    made = make_generator(f"diffusers/{folder}", chosen)
    assert isinstance(made, Diffusers)
    return made


@pytest.mark.parametrize("family", FAMILIES)
def test_same_seed_same_bytes_after_reload(family: str, stored: dict[str, Path], scene: Scene, tmp_path: Path) -> None:
    """A seed gives the same file, whatever was filmed before it and though the pipeline was loaded anew."""
    first, again = maker(stored[family], family), maker(stored[family], family)
    rollout = first.generate(scene, seed=7, index=0, into=tmp_path / "a.mp4")
    first.generate(scene, seed=8, index=1, into=tmp_path / "other.mp4")
    first.generate(scene, seed=7, index=2, into=tmp_path / "b.mp4")
    again.generate(scene, seed=7, index=0, into=tmp_path / "c.mp4")
    once, other, twice, reloaded = ((tmp_path / f"{name}.mp4").read_bytes() for name in ("a", "other", "b", "c"))
    assert once == twice
    assert once == reloaded
    assert once != other
    assert rollout.served_version is not None
    assert rollout.served_version.startswith(OWN_CLASS[family])
    assert rollout.served_version.endswith("float32")


@pytest.mark.parametrize("family", FAMILIES)
def test_clip_is_whole(family: str, stored: dict[str, Path], scene: Scene, tmp_path: Path) -> None:
    """The mp4 decodes to the frames asked for, at the family's own rate, of the scene frame's size on the grid."""
    generator = maker(stored[family], family)
    check_generator(generator, scene, tmp_path)
    clip = video.probe(tmp_path / "r000.mp4")
    assert clip.frames == FRAMES[family]
    assert clip.seconds == pytest.approx(FRAMES[family] / FPS[family], abs=0.01)
    assert video.decode(tmp_path / "r000.mp4", last=1).frames[0].shape == (64, 64, 3)


@pytest.mark.parametrize("family", FAMILIES)
def test_settings_change_the_clip(family: str, stored: dict[str, Path], scene: Scene, tmp_path: Path) -> None:
    """Steps, size and rate reach the pipeline or the file."""
    maker(stored[family], family).generate(scene, seed=1, index=0, into=tmp_path / "a.mp4")
    changed = maker(stored[family], family, steps=3, width=96, height=64, fps=5, guidance_scale=2.5)
    changed.generate(scene, seed=1, index=0, into=tmp_path / "b.mp4")
    footage = video.decode(tmp_path / "b.mp4")
    assert footage.frames[0].shape == (64, 96, 3)
    assert np.diff(footage.times) == pytest.approx(0.2)
    assert (tmp_path / "a.mp4").read_bytes() != (tmp_path / "b.mp4").read_bytes()


@pytest.mark.parametrize("family", ["wan", "cogvideox", "ltx"])
def test_prompt_and_frame_matter(family: str, stored: dict[str, Path], scene: Scene, tmp_path: Path) -> None:
    """Another prompt or another frame gives another clip: both reach the pipeline."""
    generator = maker(stored[family], family)
    video.write_still(np.full((64, 64, 3), 200, dtype=np.uint8), tmp_path / "grey.png")
    said, shown = replace(scene, prompt="z, q."), replace(scene, frame=tmp_path / "grey.png")
    clips: set[bytes] = set()
    for number, one in enumerate((scene, said, shown)):
        generator.generate(one, seed=3, index=0, into=tmp_path / f"{number}.mp4")
        clips.add((tmp_path / f"{number}.mp4").read_bytes())
    assert len(clips) == 3


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_dtype_is_as_set(dtype: str, stored: dict[str, Path], scene: Scene, tmp_path: Path) -> None:
    """A dtype that is set is used and recorded, on the CPU too."""
    rollout = maker(stored["wan"], "wan", dtype=dtype).generate(scene, seed=0, index=0, into=tmp_path / "a.mp4")
    assert rollout.served_version is not None
    assert rollout.served_version.endswith(dtype)


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        ("svd", {"negative_prompt": "blur"}, "takes no negative_prompt; leave the setting out"),
        ("wan", {"width": 100}, "width: 100 is not a multiple of 16, which this pipeline needs; the nearest is 96"),
        ("ltx", {"height": 80}, "height: 80 is not a multiple of 32"),
        (
            "wan",
            {"frames": 16},
            "16 is not one more than a multiple of 4, which this pipeline needs; the nearest is 17",
        ),
        ("ltx", {"frames": 12}, "12 is not one more than a multiple of 8, which this pipeline needs; the nearest is 9"),
    ],
)
def test_refuses_what_a_pipeline_lacks(
    family: str, settings: dict[str, Any], message: str, stored: dict[str, Path], scene: Scene, tmp_path: Path
) -> None:
    """A setting, size or length that the pipeline cannot take is refused by name, and leaves no file."""
    with pytest.raises(InputError, match=message):
        maker(stored[family], family, **settings).generate(scene, seed=0, index=0, into=tmp_path / "a.mp4")
    assert not list(tmp_path.glob("a.mp4*"))


def test_refuses_pixels_that_are_no_numbers(stored: dict[str, Path], scene: Scene, tmp_path: Path) -> None:
    """A pipeline that overflows gives an error, never a black clip."""
    import torch

    generator = maker(stored["ltx"], "ltx")
    with torch.no_grad():
        for weight in generator._loaded().vae.decoder.parameters():
            weight.fill_(float("nan"))
    with pytest.raises(GenerationError, match="not numbers"):
        generator.generate(scene, seed=0, index=0, into=tmp_path / "a.mp4")
    assert not list(tmp_path.glob("a.mp4*"))


def test_a_broken_folder_is_named(stored: dict[str, Path], scene: Scene, tmp_path: Path) -> None:
    """A folder that holds no pipeline, one that lacks a part, and an absent device: each an error with the name."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "half").mkdir()
    index = json.loads((stored["ltx"] / "model_index.json").read_text())
    (tmp_path / "half" / "model_index.json").write_text(json.dumps(index))
    for folder, device in (("empty", "cpu"), ("half", "cpu"), (stored["ltx"], "cuda")):
        generator = maker(tmp_path / folder, "ltx", device=device)
        with pytest.raises(GenerationError, match=f"diffusers/{Path(folder).name} cannot be loaded"):
            generator.generate(scene, seed=0, index=0, into=tmp_path / "a.mp4")
