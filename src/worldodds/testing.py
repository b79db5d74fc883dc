"""Public fakes and checks for those who add parts: real clips, known answers, faults on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from worldodds import video
from worldodds.errors import GenerationError
from worldodds.protocols import Generator, Reader
from worldodds.rollout import Clip, Reading, Rollout, RolloutStatus, Settings
from worldodds.scene import Scene

_STEP = 10  # grey levels between two outcomes: H.264 moves a flat picture by far less
_DARKEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CannedGenerator:
    """A generator with known outcomes: a real mp4 of flat grey pictures, whose shade says the outcome.

    Rollout i ends in label i modulo the number of labels, or as ``outcomes`` says by index (None: a white clip, which
    `CannedReader` finds unreadable). ``status`` makes single rollouts refused, or failed with an error.
    """

    name: str = "canned/even"
    outcomes: Mapping[int, str | None] = field(default_factory=dict[int, str | None])
    status: Mapping[int, RolloutStatus] = field(default_factory=dict[int, RolloutStatus])
    cpu_bound: bool = False

    @property
    def settings(self) -> Settings:
        """Return nothing: what it films is in its fields."""
        return {}

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        """Write the clip, or refuse or fail as told."""
        status = self.status.get(index, "done")
        if status == "failed":
            raise GenerationError("a failure was asked for")
        if status == "done":
            label = self.outcomes.get(index, scene.labels[index % len(scene.labels)])
            shade = 255 if label is None else _DARKEST + _STEP * scene.labels.index(label)
            # the seed shades one corner a little, so that no two clips are the same file
            picture = np.full((64, 64, 3), shade, dtype=np.uint8)
            picture[:8, :8] = seed % 256
            video.encode([picture] * 6, into, frame_rate=24)
        return Rollout(scene=scene.id, index=index, seed=seed, status=status)


@dataclass(frozen=True, slots=True, kw_only=True)
class CannedReader:
    """Reads the clips of `CannedGenerator` from their pixels."""

    name: str = "canned"
    cpu_bound: bool = False

    @property
    def settings(self) -> Settings:
        """Return nothing: it has no knobs."""
        return {}

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        """Return the label whose shade the last frame has; a white clip is unreadable."""
        del vote
        shade = float(video.decode(clip.path, last=1).frames[-1][16:, 16:].mean())
        label = shade_to_label(shade, scene.labels)
        return Reading(status="unreadable", reason="blank") if label is None else Reading.saw(label)


def shade_to_label(shade: float, labels: Sequence[str]) -> str | None:
    """Return which label a shade of `CannedGenerator` stands for; None for white."""
    place = round((shade - _DARKEST) / _STEP)
    return labels[place] if place < len(labels) else None


def check_generator(generator: Generator, scene: Scene, folder: Path) -> Rollout:
    """Film one clip and check all that a generator owes; raises AssertionError with the broken promise."""
    into = folder / "r000.mp4"
    rollout = generator.generate(scene, seed=0, index=0, into=into)
    assert (rollout.scene, rollout.index, rollout.seed) == (scene.id, 0, 0), "a rollout names its scene, index and seed"
    assert rollout.status in ("done", "refused"), f"a rollout is done or refused, or an error is raised: {rollout}"
    if rollout.status == "done":
        video.probe(into)
    assert "/" in generator.name, f"a generator's name is kind/rest: {generator.name!r}"
    return rollout


def check_reader(reader: Reader, clip: Clip, scene: Scene) -> Reading:
    """Read one clip and check all that a reader owes; raises AssertionError with the broken promise."""
    reading = reader.read(clip, scene, vote=0)
    assert reading.status in ("outcome", "unreadable", "out_of_schema"), f"a reader answers or raises: {reading}"
    if reading.status == "outcome":
        assert reading.label in scene.labels, f"a label is one of the scene's: {reading.label!r}"
    else:
        assert reading.label is None, f"only an outcome has a label: {reading}"
    return reading
