"""The shape of a simulated scene: physics decides the motion and its outcome, then the motion is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]  # (height, width, 3), RGB


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """One run of a world's physics: the state at every frame, and the truth of how it ended.

    ``outcome`` is one of the scene's labels, or None where physics gave no valid one (an escaped ball, a die on its
    edge, not at rest in time); ``invalid`` then names the scene's null rule, or says why where none fits. ``states``
    has one entry a frame; its meaning is the world's. ``settled_frame`` is the first frame from which nothing moves.
    """

    outcome: str | None
    invalid: str | None
    states: NDArray[np.float64]  # (frames, ...)
    settled_frame: int


class World(Protocol):
    """A simulated scene: all that the first frame shows is fixed, ``start_seed`` draws what one frame cannot show.

    ``noise_seed`` draws the process noise along the way in worlds that have any (``has_process_noise``).
    """

    scene: str
    labels: tuple[str, ...]
    frames: int
    frame_rate: int
    has_process_noise: bool

    def simulate(self, *, start_seed: int, noise_seed: int = 0) -> Motion:
        """Run the physics once; the same seeds give the same motion."""
        ...

    def draw(self, motion: Motion, size: tuple[int, int]) -> Iterator[Image]:
        """Yield one picture a frame, ``size`` = (width, height) in pixels; the first is the conditioning frame."""
        ...

    def settings(self) -> dict[str, Any]:
        """Return the world's knobs with units in their names."""
        ...
