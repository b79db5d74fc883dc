"""The shape of the parts that anyone may add: whatever has these members is a generator or a reader."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from worldodds.rollout import Clip, Reading, Rollout, Settings
from worldodds.scene import Scene


class Generator(Protocol):
    """A world model that can be filmed: makes one clip of a scene from one seed."""

    @property
    def name(self) -> str:
        """Return the part's name, ``kind/rest``."""
        ...

    @property
    def settings(self) -> Settings:
        """Return every knob that changes what is filmed; recorded, and part of each rollout's key."""
        ...

    @property
    def cpu_bound(self) -> bool:
        """Say whether clips are computed here (worker processes) or waited for (threads)."""
        ...

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        """Write the clip to ``into`` (an mp4 path in a folder that exists) and say what became of it."""
        ...


class Reader(Protocol):
    """Whoever reads an outcome from a clip: computer vision, a model, a person, or the simulator's own truth."""

    @property
    def name(self) -> str:
        """Return the part's name, ``kind`` or ``kind/rest``."""
        ...

    @property
    def settings(self) -> Settings:
        """Return every knob that changes an answer; recorded, and part of each reading's key."""
        ...

    @property
    def cpu_bound(self) -> bool:
        """Say whether readings are computed here (worker processes) or waited for (threads)."""
        ...

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        """Return what was seen; a clip that cannot be decoded raises VideoError, never a null."""
        ...
