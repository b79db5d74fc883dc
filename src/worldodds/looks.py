"""Find clips that are twins under different seeds: a model that makes them ignores the seed."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np

from worldodds.alike import first_alike
from worldodds.extras import need
from worldodds.rollout import Clip, State
from worldodds.sampled import sample

_SIZE = (18, 32)  # height, width in cells
_AT = (0.5, 0.75, 1.0)  # which moments of a clip are kept
_CELLS = len(_AT) * _SIZE[0] * _SIZE[1]
_NEAR = 3  # grey levels between the same picture encoded twice; a moving ball changes a cell by tens


def look(clip: Clip) -> bytes:
    """Return a clip's small grey picture: three moments of its second half (perceptual hash by pixels).

    Raises:
        VideoError: the clip is no longer the file that was probed.
    """
    cv2 = need("cv2", "run")
    at = [round(share * (clip.frames - 1)) for share in _AT]
    frames = sample(clip, lambda index, _: index in at).frames
    grey = [cv2.cvtColor(frames[index], cv2.COLOR_RGB2GRAY) for index in at]
    small = [cv2.resize(picture, _SIZE[::-1], interpolation=cv2.INTER_AREA) for picture in grey]
    return np.array(small, dtype=np.uint8).tobytes()


def twins(rollouts: Mapping[str, State], looks: Mapping[str, bytes]) -> tuple[str, ...]:
    """Name, one line a scene, the clips of different seeds that are the same file or look the same."""
    by_scene: dict[str, list[State]] = {}
    for rollout in rollouts.values():
        if rollout.status == "done" and rollout.sha256:
            by_scene.setdefault(rollout.scene, []).append(rollout)
    lines = [_line(scene, sorted(clips, key=lambda r: r.index), looks) for scene, clips in by_scene.items()]
    return tuple(line for line in lines if line)


def _line(scene: str, clips: list[State], looks: Mapping[str, bytes]) -> str | None:
    pairs = [pair for pair in _pairs(clips, looks) if pair[0].seed != pair[1].seed]
    if not pairs:
        return None
    first, second, same = pairs[0]
    count = len({rollout.index for pair in pairs for rollout in pair[:2]})
    what = "are the same file" if same else "look the same"
    return (
        f"{scene}: this model ignores the seed: r{first.index:03d} and r{second.index:03d} {what} "
        f"(seeds {first.seed} and {second.seed}; {count} of {len(clips)} clips have a twin)"
    )


def _pairs(clips: list[State], looks: Mapping[str, bytes]) -> list[tuple[State, State, bool]]:
    """Pair each clip with the first earlier one that is its twin."""
    files: dict[str, State] = {}
    pairs: list[tuple[State, State, bool]] = []
    for clip in clips:
        assert clip.sha256 is not None
        if (first := files.setdefault(clip.sha256, clip)) is not clip:
            pairs.append((first, clip, True))
    seen = [clip for sha256, clip in files.items() if sha256 in looks]
    pictures = b"".join(_plain(looks[clip.sha256 or ""]) for clip in seen)
    firsts = first_alike(np.frombuffer(pictures, dtype=np.uint8).reshape(-1, len(_AT), *_SIZE), _NEAR)
    pairs += [(seen[first], clip, False) for clip, first in zip(seen, firsts, strict=True) if first >= 0]
    return sorted(pairs, key=lambda pair: pair[1].index)


def _plain(kept: bytes) -> bytes:
    """Return a kept picture, shape (moments, height, width); in old ledgers it is compressed."""
    return kept if len(kept) == _CELLS else zlib.decompress(kept)
