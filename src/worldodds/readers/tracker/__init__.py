"""The tracker: reads outcomes from the pixels of a clip by classical computer vision, one file a kind of scene.

It knows a scene by its conditioning frame and the layout in its TOML (``geometry``), never by the simulator: nothing
here imports `worldodds.worlds`. Unreadable is an answer.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence

from worldodds import video
from worldodds.errors import OutOfRangeError, nearest
from worldodds.rollout import Clip, Reading, Settings
from worldodds.scene import Scene

__all__ = ["READERS", "Tracker"]

READERS: Mapping[str, str] = {
    "die": "worldodds.readers.tracker.die",
    "fork": "worldodds.readers.tracker.fork",
    "galton": "worldodds.readers.tracker.galton",
    "pendulum": "worldodds.readers.tracker.pendulum",
    "walker": "worldodds.readers.tracker.walker",
    "card": "worldodds.readers.tracker.card",
    "roulette": "worldodds.readers.tracker.roulette",
    "lottery": "worldodds.readers.tracker.lottery",
    "galton_real": "worldodds.readers.tracker.galton_real",
}
"""``geometry.reader`` of a scene -> the module whose ``read(frames, scene)`` reads it."""

VERSION = 3
WHOLE = ("pendulum", "walker")  # these follow the motion; the others look at the first frame and the end
END_FRAMES = 14  # enough to see that nothing moves for half a second at 24 frames a second


class Tracker:
    """A reader that needs no network, no key and no weights."""

    @property
    def name(self) -> str:
        """The reader's name."""
        return "tracker"

    @property
    def settings(self) -> Settings:
        """It has no knobs; a version that reads otherwise reads anew what an older one has read."""
        return {"version": VERSION, "by_geometry": True}

    @property
    def cpu_bound(self) -> bool:
        """Decoding and looking keep a core busy."""
        return True

    def check(self, scenes: Sequence[Scene]) -> None:
        """Refuse scenes that nothing here can read: the tracker knows those of calibench, by their geometry."""
        for scene in scenes:
            try:
                _reader_of(scene)
            except OutOfRangeError as error:
                raise OutOfRangeError(
                    f"{error} Ask a judge (--reader vlm/MODEL), or film with --reader none and label by hand"
                ) from None

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        """Return what is seen; a scene of an unknown kind, or one not found in the clip, is a failed reading.

        Raises:
            VideoError: the clip cannot be decoded.
            MissingDependencyError: OpenCV or PyAV is not installed.
        """
        del vote
        try:
            look = _reader_of(scene)
            last = None if scene.geometry["reader"] in WHOLE else END_FRAMES
            return look(video.decode(clip.path, last=last).frames, scene)
        except OutOfRangeError as error:
            return Reading(status="failed", reason=f"outside the reader's range: {error}")


def _reader_of(scene: Scene) -> Callable[[Sequence[video.Image], Scene], Reading]:
    kind = str(scene.geometry.get("reader"))
    if kind not in READERS:
        named = f"names reader {kind!r}" if "reader" in scene.geometry else "names no reader"
        known = nearest(kind, READERS)
        raise OutOfRangeError(f"the tracker cannot read scene {scene.id!r}: its geometry {named}.{known}")
    return importlib.import_module(READERS[kind]).read
