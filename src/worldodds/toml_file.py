"""A TOML file into a dataclass: whatever is wrong is answered with the file, the key and the fix."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from worldodds.errors import SceneError, nearest

_Shape = TypeVar("_Shape")


def read_toml(path: Path, shape: type[_Shape], format_name: str) -> _Shape:
    """Read a file whose key ``format`` is ``format_name`` into the dataclass ``shape``.

    Raises:
        SceneError: the file cannot be read, a key is unknown or missing, or a value is of the wrong kind.
    """
    raw = _parse(path)
    if raw.get("format") != format_name:
        raise SceneError(f"{path}: format: {raw.get('format', 'missing')!r} is not known; write {format_name!r}")
    _refuse_unknown(path, raw, shape, "")
    try:
        return msgspec.convert(raw, shape)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        key = re.sub(r"\[[^]]*\]", "", where.rstrip("`"))
        raise SceneError(f"{path}: {f'{key}: ' if key else ''}{_plain(what, key, shape)}") from None


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Windows editors put a mark in front
    except FileNotFoundError:
        raise SceneError(f"{path}: there is no such file; check the list of scenes in suite.toml") from None
    except OSError as error:
        raise SceneError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SceneError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SceneError(f"{path}: not valid TOML: {error}") from None


def _refuse_unknown(path: Path, raw: object, shape: object, at: str) -> None:
    """Name a misspelt key and the nearest right one (msgspec ignores unknown keys of dataclasses)."""
    if isinstance(raw, list):
        for i, item in enumerate(raw):
            _refuse_unknown(path, item, shape, f"{at}[{i}]")
        return
    if not isinstance(raw, dict) or shape is None:
        return
    hints = _hints(shape)
    for key, value in raw.items():
        where = f"{at}.{key}" if at else key
        if key not in hints:
            raise SceneError(f"{path}: {where}: there is no such key.{nearest(key, hints)}")
        _refuse_unknown(path, value, _inner(hints[key]), where)


def _plain(what: str, key: str, shape: object) -> str:
    """Say a validation error in a sentence's words, with the choices where there are few."""
    if wrong := re.fullmatch(r"Invalid enum value '(.*)'", what, re.DOTALL):
        return f"{wrong[1]!r} is not a choice.{nearest(wrong[1], _choices(shape, key))}"
    return what[:1].lower() + what[1:]


def _choices(shape: object, key: str) -> tuple[str, ...]:
    *parents, last = key.split(".")
    for parent in parents:
        shape = _inner(_hints(shape)[parent])
    hint = _hints(shape)[last]
    return get_args(hint) if get_origin(hint) is Literal else ()


@cache
def _hints(shape: Any) -> Mapping[str, Any]:
    hints = get_type_hints(shape)
    return {item.name: hints[item.name] for item in fields(shape)}


def _inner(hint: Any) -> object:
    """Return the dataclass inside a type (``Shape``, ``Shape | None``, ``tuple[Shape, ...]``), None without one."""
    return next((kind for kind in (hint, *get_args(hint)) if is_dataclass(kind)), None)
