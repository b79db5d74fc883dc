"""A scene's conditioning frame as providers take it, with their limits checked before anything is paid."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from worldodds.errors import InputError
from worldodds.scene import Scene

_KINDS = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"RIFF": "image/webp"}


def frame_bytes(scene: Scene) -> tuple[bytes, str]:
    """Return a frame's bytes, untouched, and its media type.

    Raises:
        InputError: the scene has no frame, or it is no PNG, JPEG or WebP.
    """
    if scene.frame is None:
        raise InputError(f"scene {scene.id!r} has no conditioning frame: it can be scored, not filmed")
    data = scene.frame.read_bytes()
    kind = next((kind for head, kind in _KINDS.items() if data.startswith(head)), None)
    if kind is None:
        raise InputError(f"{scene.frame}: not a PNG, JPEG or WebP picture; save the frame as one of them")
    return data, kind


def base64_frame(scene: Scene) -> tuple[str, str]:
    """Return a frame in base64 and its media type."""
    data, kind = frame_bytes(scene)
    return base64.b64encode(data).decode(), kind


def data_uri(scene: Scene) -> str:
    """Return a frame as a ``data:`` address."""
    text, kind = base64_frame(scene)
    return f"data:{kind};base64,{text}"


def check_limits(part: str, scenes: Sequence[Scene], *, frame_bytes_most: int, prompt_most: int | None) -> None:
    """Refuse a frame or a prompt that the provider would not take.

    Raises:
        InputError: which scene, how large it is, and what is allowed.
    """
    for scene in scenes:
        size = len(frame_bytes(scene)[0])
        if size > frame_bytes_most:
            raise InputError(
                f"{part}: the frame of scene {scene.id!r} has {size / 1e6:.1f} MB; it takes {frame_bytes_most / 1e6:g} "
                "MB at most, so save the frame smaller"
            )
        if prompt_most is not None and len(scene.prompt) > prompt_most:
            raise InputError(
                f"{part}: the prompt of scene {scene.id!r} has {len(scene.prompt)} characters; "
                f"it takes {prompt_most} at most"
            )
