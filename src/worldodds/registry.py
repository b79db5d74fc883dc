"""From a name on the command line to an object: our own parts, and those of installed packages by entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from inspect import signature
from typing import Any

from worldodds.errors import InputError, UnknownNameError, nearest
from worldodds.protocols import Generator, HostedGenerator, Reader

# kind -> "module:function"; the function takes what stands after the slash and the settings as keywords
_GENERATORS = {
    "simulator": "worldodds.generators.simulator:simulator",
    "command": "worldodds.generators.command:command",
    "server": "worldodds.generators.server:server",
    "folder": "worldodds.generators.folder:folder",
    "python": "worldodds.generators.python_object:python_object",
    "diffusers": "worldodds.generators.diffusers:diffusers",
    "replicate": "worldodds.generators.hosted.replicate:replicate",
    "openrouter": "worldodds.generators.hosted.openrouter:openrouter",
    "fal": "worldodds.generators.hosted.fal:fal",
    "google": "worldodds.generators.hosted.google:google",
    "runway": "worldodds.generators.hosted.runway:runway",
}
_READERS = {
    "oracle": "worldodds.readers.oracle:Oracle",
    "tracker": "worldodds.readers.tracker:Tracker",
    "vlm": "worldodds.readers.vlm:vlm",
    "gemini": "worldodds.readers.vlm:gemini",
    "anthropic": "worldodds.readers.vlm:anthropic",
    "trust": "worldodds.readers.vlm:trust",
}


def make_generator(name: str, settings: Mapping[str, Any] | None = None) -> Generator | HostedGenerator:
    """Return the generator of that name, such as ``simulator/fair``.

    Raises:
        UnknownNameError: no such kind, or the kind has no such part; the message offers the nearest.
        InputError: a setting that it does not have, or a value out of range.
    """
    return _make(name, settings or {}, _GENERATORS, "worldodds.generators", "generator")


def make_reader(name: str, settings: Mapping[str, Any] | None = None) -> Reader:
    """Return the reader of that name, such as ``tracker``; raises as `make_generator`."""
    return _make(name, settings or {}, _READERS, "worldodds.readers", "reader")


def parse_settings(pairs: Sequence[str]) -> dict[str, str | int | float | bool]:
    """Turn ``key=value`` words into settings: numbers and true/false become values, all else stays text.

    Raises:
        InputError: a word without ``=``, or a key given twice.

    >>> parse_settings(["murky_share=0.5", "size=640x480"])
    {'murky_share': 0.5, 'size': '640x480'}
    """
    settings: dict[str, str | int | float | bool] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise InputError(f"{pair!r} is no setting; write key=value")
        if key in settings:
            raise InputError(f"setting {key!r} is given twice; give it once")
        settings[key] = _value(text)
    return settings


def _value(text: str) -> str | int | float | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _make(name: str, settings: Mapping[str, Any], ours: Mapping[str, str], group: str, what: str) -> Any:
    kind, _, rest = name.partition("/")
    found = {point.name: point.value for point in entry_points(group=group)}
    places = {**found, **ours}
    if kind not in places:
        raise UnknownNameError(f"There is no {what} called {name!r}.{nearest(kind, places)}")
    module, _, attribute = places[kind].partition(":")
    maker: Callable[..., Any] = getattr(import_module(module), attribute)
    words = [rest] if rest else []
    try:
        signature(maker).bind(*words, **settings)
    except TypeError as error:
        raise InputError(f"{name}: {error}; docs/extend.md and docs/generators.md name the settings") from None
    return maker(*words, **settings)
