"""Is an mp4 as long as its own boxes say (ISO/IEC 14496-12)? Decoders play a shorter one without a word."""

from __future__ import annotations

from pathlib import Path

from worldodds.errors import VideoError


def check_boxes(path: Path) -> None:
    """Walk the outer boxes of an mp4: a file shorter than its own boxes is cut off, yet plays in silence.

    A file of another kind is only looked at for being there.

    Raises:
        VideoError: missing, a folder, empty, or cut off; the message says at which byte.
    """
    if not path.is_file():
        raise VideoError(f"{path}: {'a folder, not a clip' if path.is_dir() else 'there is no such file'}")
    size, at = path.stat().st_size, 0
    if size == 0:
        raise VideoError(f"{path}: the file is empty (0 bytes); fetch it again")
    with path.open("rb") as file:
        if file.read(8)[4:] not in (b"ftyp", b"styp", b"moov", b"moof"):
            return
        while at < size:
            file.seek(at)
            head = file.read(16)
            length = int.from_bytes(head[:4], "big")
            length = int.from_bytes(head[8:16], "big") if length == 1 else length or size - at
            if len(head) < 8 or length < 8 or at + length > size:
                raise VideoError(f"{path}: the file is cut off or corrupt at byte {at} of {size}; fetch it again")
            at += length
