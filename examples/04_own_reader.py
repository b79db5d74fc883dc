"""Bring your own reader: any object with a name, settings and `read`. Here: which cup changed between start and end."""

import tempfile
from pathlib import Path

import numpy as np

from worldodds import Oracle, RunStore, find_suite, load, make_generator, plan, run, video
from worldodds.rollout import Clip, Reading
from worldodds.scene import Scene


class CupReader:
    """Reads the scene `ball`: unreadable is an answer, and a guess is not."""

    name = "cups"
    settings = {"least_change": 0.5}  # noqa: RUF012 - whatever changes an answer; part of every reading's key
    cpu_bound = False

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:  # noqa: ARG002 - a reader without votes
        """Say which cup has changed, if one has changed more than the other."""
        frames = video.decode(clip.path).frames
        change = np.abs(frames[-1].astype(float) - frames[0]).mean(axis=2)  # (height, width)
        cups = change[int(scene.geometry["cups_top"] * change.shape[0]) :]
        left, right = (half.mean() for half in np.array_split(cups, 2, axis=1))
        if abs(left - right) < self.settings["least_change"]:
            return Reading(status="unreadable", reason="hidden", raw=f"left {left:.1f}, right {right:.1f}")
        return Reading.saw("left" if left > right else "right", raw=f"left {left:.1f}, right {right:.1f}")


suite = find_suite("calibench").only(["ball"])
model = make_generator("simulator/fair", {"size": "320x240"})
with tempfile.TemporaryDirectory() as parent, RunStore(Path(parent) / "run") as store:
    run(plan(suite, model, [CupReader(), Oracle()], 8), store)
    mine, truth = (load(store.folder, reader=name).rows for name in ("cups", "oracle"))
    same = sum(a.reading.label == b.reading.label for a, b in zip(mine, truth, strict=True))
    print("read:", " ".join(row.reading.label or "-" for row in mine))
    print(f"agrees with the truth in {same} of {len(mine)} clips")
