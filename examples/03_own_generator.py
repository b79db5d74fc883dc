"""Bring your own world model: any object with a name, settings and `generate` is a generator."""

import tempfile
from pathlib import Path

import numpy as np

from worldodds import RunStore, find_suite, plan, run, video
from worldodds.rollout import Rollout
from worldodds.scene import Scene
from worldodds.testing import check_generator


class FadingModel:
    """Stands for your model: takes the conditioning frame, the prompt and a seed, and writes an mp4."""

    name = "mine/fading"
    settings = {"guidance": 5.0}  # noqa: RUF012 - whatever changes the clip; part of every rollout's key
    cpu_bound = False  # True: worker processes instead of threads

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        """Film one clip: here the light goes down."""
        first = video.read_still(scene.frame)  # (height, width, 3), RGB
        light = np.random.default_rng(seed).uniform(0.2, 0.9)
        frames = [(first * (1 - (1 - light) * i / 23)).astype(np.uint8) for i in range(24)]
        video.encode(frames, into, frame_rate=24)
        return Rollout(scene=scene.id, index=index, seed=seed, status="done")


suite = find_suite("calibench").only(["dice"])
with tempfile.TemporaryDirectory() as parent:
    here = Path(parent)
    print("one clip:", check_generator(FadingModel(), suite.scene("dice"), here).status)
    with RunStore(here / "run") as store:
        print("filmed", run(plan(suite, FadingModel(), [], 3), store).filmed, "clips")
        print("asked for 5, filmed only the", run(plan(suite, FadingModel(), [], 5), store).filmed, "that were missing")
        for rollout in store.rollouts().values():
            print(rollout.scene, rollout.index, rollout.status, rollout.clip and rollout.clip.sha256[:12])
