"""A suite as one zip file: unpacked into the user's cache by its hash, and refused whole where anything is unsafe."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from worldodds.errors import SceneError

MOST_FILES = 5_000
MOST_BYTES = 500_000_000  # unpacked, all files together
_CHUNK = 1 << 20


def unpacked(archive: Path, *, cache: Path | None = None) -> Path:
    """Return the folder that holds the archive's ``suite.toml``; unpacked once, then found by the file's sha256.

    Raises:
        SceneError: not a zip file, damaged, encrypted, without a suite, or with a path that leads out, a link, too many
            files or too many bytes (counted as they are unpacked, whatever the archive declares).
    """
    with archive.open("rb") as file:
        name = hashlib.file_digest(file, "sha256").hexdigest()
    target = (cache or cache_folder()) / "suites" / name
    if not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=target.parent, prefix=".part-"))
        try:
            _unpack(archive, part)
            _appear(part, target)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return _root(archive, target)


def cache_folder() -> Path:
    """Return where unpacked suites are kept: ``WORLDODDS_CACHE``, else the user's cache folder."""
    if own := os.environ.get("WORLDODDS_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "worldodds"


def _appear(part: Path, target: Path) -> None:
    try:
        part.rename(target)
    except OSError:
        if not target.is_dir():  # else another process has unpacked the same file meanwhile
            raise


def _unpack(archive: Path, into: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as packed:
            members = [info for info in packed.infolist() if not info.is_dir()]
            if len(members) > MOST_FILES:
                raise SceneError(f"{archive}: {len(members)} files; a suite has at most {MOST_FILES}")
            left = MOST_BYTES
            for info in members:
                left -= _copy(packed, info, into / _safe(archive, info), archive, left)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, FileExistsError) as error:
        raise SceneError(f"{archive}: not a zip file that can be unpacked: {error}") from None


def _safe(archive: Path, info: zipfile.ZipInfo) -> PurePosixPath:
    path = PurePosixPath(info.filename)
    odd = "\\" in info.filename or ":" in info.filename or path.is_absolute()
    if odd or ".." in path.parts:
        raise SceneError(f"{archive}: {info.filename!r} leads out of the suite's folder; pack relative paths only")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise SceneError(f"{archive}: {info.filename!r} is a link or a device; pack plain files only")
    return path


def _copy(packed: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, archive: Path, left: int) -> int:
    """Unpack one file without trusting its declared size, and return its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with packed.open(info) as source, path.open("xb") as file:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > left:
                raise SceneError(f"{archive}: it unpacks to more than {MOST_BYTES // 10**6} MB; a suite is smaller")
            file.write(chunk)
    return size


def _root(archive: Path, folder: Path) -> Path:
    """Return the folder of the suite: the archive's own root, or the one folder in it."""
    roots = [path.parent for pattern in ("suite.toml", "*/suite.toml") for path in sorted(folder.glob(pattern))]
    if not roots:
        raise SceneError(f"{archive}: no suite.toml in it; pack the suite's folder, or what is in it")
    if len(roots) > 1 and roots[0] != folder:
        raise SceneError(f"{archive}: {len(roots)} suites in it; pack one")
    return roots[0]
