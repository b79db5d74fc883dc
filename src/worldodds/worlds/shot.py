"""One motion about to be filmed, with all that may come between it and a readable picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from worldodds.scene import Scene
from worldodds.worlds.world import Image, Motion, World

Frames = Iterator[Image]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A motion of a world, how it is drawn, and the frame ``early`` by which the outcome has not shown itself yet."""

    scene: Scene
    world: World
    motion: Motion
    draw: Callable[[Motion], Frames]
    early: int
    rng: np.random.Generator

    def film(self, states: NDArray[np.float64]) -> Frames:
        """Draw other states in place of the motion's own."""
        return self.draw(replace(self.motion, states=states))


Ending = Callable[[Shot], Frames]
"""Films a shot so that its outcome cannot be told."""
