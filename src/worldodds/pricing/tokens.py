"""About how many tokens a judge takes for a reading: what prices by the token need before anything was asked.

Providers count pictures each in their own way; at the size that judges are shown by default one is 258 or 1,120 tokens
(Gemini), up to 790 (Claude: width times height by 750) or 425 to 765 (GPT-4o: 85, and 170 a tile of 512 pixels). Of a
clip that is handed over whole a frame is 66 to 258 (Gemini). Ranges are a little wider than that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from worldodds.evidence import Sampling
from worldodds.protocols import OtherAxis, Reader
from worldodds.scene import Scene

PICTURE = (250, 1300)
VIDEO_FRAME = (60, 300)
TEXT = (200, 900)  # the question, its answers and cases
SHORTEST_REPLY = 40

Span = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The fewest and the most tokens that one reading takes: of the question, of the reply with its thoughts."""

    asked: Span
    replied: Span


def tokens_of(reader: Reader, scene: Scene, seconds: float | None) -> Tokens | None:
    """Return what one reading of a scene takes, by the reader's own settings; a reply goes to its ``max_tokens``.

    None for a reader that shows no frames to a model, and where the number of frames hangs on a length of the clip
    that is not known. Replies that have to be asked for again are not foreseen.
    """
    frames, longest, fps = (reader.settings.get(name) for name in ("frames", "max_tokens", "video_fps"))
    if not isinstance(frames, str) or not isinstance(longest, int):
        return None
    if isinstance(fps, (int, float)):  # the provider gets the whole clip
        one, count = VIDEO_FRAME, None if seconds is None else seconds * fps
    else:
        one, count = PICTURE, _pictures(reader, frames, scene, seconds)
    if count is None:
        return None
    asked = (TEXT[0] + count * one[0], TEXT[1] + count * one[1])
    return Tokens(asked=asked, replied=(min(SHORTEST_REPLY, longest), longest))


def _pictures(reader: Reader, frames: str, scene: Scene, seconds: float | None) -> float | None:
    trust = isinstance(reader, OtherAxis)
    source = 1 if trust and scene.frame else 0
    sampling = "2fps" if trust and frames == "scene" else Sampling(frames=frames).of(scene).frames
    rate = re.fullmatch(r"(.+)fps", sampling)
    if rate is None:
        return source + (1 if sampling == "last" else int(sampling))
    return None if seconds is None else source + seconds * float(rate[1]) + 2  # the middle and the last beside
