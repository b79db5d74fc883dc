"""Does a scene's frame give its outcome away? A reader is shown a clip in which nothing moves."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from worldodds import video
from worldodds.errors import OutOfRangeError, VideoError
from worldodds.protocols import Reader
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.scene_check import CheckedScene, CheckedSuite, Risk

_FRAMES = 24  # one second


def look_at_stills(checked: CheckedSuite, reader: Reader) -> CheckedSuite:
    """Return the checked suite with a risk more for each scene whose frame alone the reader takes for an outcome.

    A model that stands still would then be read as if it had filmed that outcome. Scenes without a usable frame, and
    those that the reader does not know, stay as they are.
    """
    return replace(checked, scenes=tuple(_looked_at(one, reader) for one in checked.scenes))


def _looked_at(one: CheckedScene, reader: Reader) -> CheckedScene:
    seen = read_still(one.scene, reader)
    if seen is None or seen.label is None:
        return one
    told = (
        f"{reader.name} reads the outcome {seen.label!r} in it before anything moves; hide what decides until the end"
    )
    return replace(one, risks=(*one.risks, Risk(part="frame", told=told)))


def read_still(scene: Scene, reader: Reader) -> Reading | None:
    """Return what the reader sees in a clip of the frame alone; None where there is none to see or no way to."""
    if scene.frame is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "still.mp4"
        try:
            frame = video.read_still(scene.frame)
            height, width, _ = frame.shape
            frame = frame[: height // 2 * 2, : width // 2 * 2]
            video.encode([frame] * _FRAMES, path, frame_rate=_FRAMES)
            return reader.read(video.probe(path), scene, vote=0)
        except (OutOfRangeError, VideoError):
            return None
