"""The oracle: reads the simulator's own truth beside the clip, never the pictures."""

from __future__ import annotations

from worldodds import truth
from worldodds.errors import OutOfRangeError
from worldodds.rollout import Clip, Reading, Settings
from worldodds.scene import Scene


class Oracle:
    """A reader that is always right, for simulated clips only: the measure of all other readers."""

    @property
    def name(self) -> str:
        """The reader's name."""
        return "oracle"

    @property
    def settings(self) -> Settings:
        """It has no knobs."""
        return {}

    @property
    def cpu_bound(self) -> bool:
        """It only reads a small file."""
        return False

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        """Return what really happened; without a truth beside the clip the reading has failed."""
        del vote
        try:
            known = truth.read(clip.path)
        except OutOfRangeError as error:
            return Reading(status="failed", reason=str(error))
        if known.scene != scene.id:
            return Reading(status="failed", reason=f"{clip.path}: the truth beside it is of scene {known.scene!r}")
        if known.outcome is not None:
            return Reading.saw(known.outcome)
        rule = known.null_rule or "unreadable"
        named = [null for null in scene.readout.nulls if null.name == rule]
        return Reading(status=named[0].kind if named else "unreadable", reason=rule)
