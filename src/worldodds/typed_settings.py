"""Settings from the command line into a dataclass; an unknown one, or a wrong kind of value, is answered plainly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar

import msgspec

from worldodds.errors import InputError, UnknownNameError, nearest

Shape = TypeVar("Shape")


def typed(shape: type[Shape], settings: Mapping[str, Any], *, part: str) -> Shape:
    """Return the settings as the dataclass ``shape``.

    Raises:
        UnknownNameError: no such setting; the message offers the nearest.
        InputError: a value of the wrong kind.
    """
    known = [field.name for field in fields(shape)]  # type: ignore[arg-type]
    for name in settings:
        if name not in known:
            raise UnknownNameError(f"{part} has no setting called {name!r}.{nearest(name, known)}")
    try:
        return msgspec.convert(dict(settings), shape)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        raise InputError(f"{part}: {where.rstrip('`') or 'settings'}: {what[:1].lower()}{what[1:]}") from None


def recorded(settings: Any) -> dict[str, Any]:
    """Return the settings that are set, as they are recorded and keyed."""
    return {name: value for name, value in asdict(settings).items() if value is not None}


def within(part: str, name: str, value: float | None, low: float, high: float) -> None:
    """Refuse a number out of its range."""
    if value is not None and not low <= value <= high:
        raise InputError(f"{part}: {name}: {value:g} is out of range; it must lie between {low:g} and {high:g}")


def one_of(part: str, name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a value that is not one of the choices; None is always one."""
    if value is not None and value not in choices:
        raise InputError(f"{part}: {name}: {value!r} is not one of {', '.join(map(str, choices))}")
