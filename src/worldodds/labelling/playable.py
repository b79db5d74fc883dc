"""What a browser is given: the clip itself where browsers can play it, else an H.264 copy in a cache folder."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from worldodds import video
from worldodds.errors import MissingDependencyError
from worldodds.rollout import Clip

CACHE = Path("cache") / "browser"
_TYPES = {".webm": "video/webm", ".mov": "video/mp4"}


class Projector:
    """Gives every clip in a form that browsers play; copies are named by the clip's hash and made once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / CACHE
        self._turn = threading.Lock()
        self._known: dict[str, Path] = {}

    def file(self, clip: Clip, *, copy: bool = False) -> Path:
        """Return the file to play. With ``copy`` it is never the clip itself: the browser has tried that in vain.

        Raises:
            VideoError: the clip cannot be decoded.
        """
        with self._turn:
            if not copy and clip.sha256 not in self._known:
                self._known[clip.sha256] = clip.path if _plays(clip.path) else self._copy(clip)
            return self._copy(clip) if copy else self._known[clip.sha256]

    def _copy(self, clip: Clip) -> Path:
        target = self._folder / f"{clip.sha256}.mp4"
        if not target.is_file():
            self._folder.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{os.getpid()}-{target.name}")
            try:
                video.browser_copy(clip.path, part)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
        return target


def content_type(path: Path) -> str:
    """Return the media type of a clip's file."""
    return _TYPES.get(path.suffix.lower(), "video/mp4")


def _plays(path: Path) -> bool:
    try:
        return video.plays_in_browsers(path)
    except MissingDependencyError:  # without PyAV no copy could be made either
        return True
