"""Bytes in and out of files of outcomes: every refusal is a sentence, and a file appears whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from worldodds.errors import SourceError


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes; raises SourceError where it cannot be read, is empty, or is a pipe or a device."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise SourceError(f"{path}: not a file but a pipe or a device; write what it holds into a file first")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise SourceError(f"{path}: there is no such file") from None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}") from None
    if not data.strip():
        raise SourceError(f"{path}: the file is empty; it should hold one row a rollout")
    return data


def read_text(path: Path) -> str:
    """Return a file's text: UTF-8, with or without a byte order mark.

    Raises:
        SourceError: the file cannot be read, is empty, is not UTF-8, or has NUL bytes; the message names the row.
    """
    data = read_bytes(path)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError(f"{path}: row 1: this is UTF-16; save the file as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"{path}: row {row}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    if (at := text.find("\0")) >= 0:
        row = text.count("\n", 0, at) + 1
        raise SourceError(f"{path}: row {row}: there is a NUL byte; the file is damaged or not text")
    return text


def parse_json(text: str, at: str) -> Any:
    """Return the value of strict JSON (no NaN, no Infinity); raises SourceError, beginning with ``at``."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{at}: not valid JSON: {error}") from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file by way of a temporary one beside it and a rename, so that it is never seen half-written.

    Raises:
        SourceError: no name, a folder or a device, or a folder that is missing, not writable or full; what was there
            before stays as it was.
    """
    if not path.name or path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder; name a file to write")
    if path.exists() and not path.is_file():
        raise SourceError(f"{path}: not a regular file, so it is not replaced; name another file")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        told = f"there is no folder {path.parent}" if not path.parent.is_dir() else error.strerror
        raise SourceError(f"{path}: cannot be written: {told}; name a file in a folder you may write to") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except OSError as error:
        told = f"{error.strerror}; free some space and try again" if error.errno == errno.ENOSPC else error.strerror
        raise SourceError(f"{path}: cannot be written: {told}") from None
    finally:
        Path(name).unlink(missing_ok=True)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; write null")


def _umask() -> int:
    """Return the process's mask (there is no way to ask without setting it)."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
