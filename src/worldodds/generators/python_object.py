"""``python/MODULE:NAME``: a generator object, or a function that makes one, from your own code."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, cast

from worldodds.errors import InputError, nearest
from worldodds.protocols import Generator, HostedGenerator


def python_object(place: str = "", **settings: Any) -> Generator | HostedGenerator:
    """Return the generator at ``MODULE:NAME``, looked for in the current folder too.

    A class or function is called with the settings; an object takes none.

    Raises:
        InputError: no such module or name, or what is there is no generator.
    """
    module, colon, name = place.partition(":")
    if not colon or not module or not name:
        raise InputError(f"python/{place}: write python/MODULE:NAME, such as python/my_model:generator")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(f"python/{place}: there is no module {error.name!r} here or installed") from None
    if not hasattr(found, name):
        raise InputError(f"python/{place}: module {module!r} has no {name!r}.{nearest(name, vars(found))}")
    made = getattr(found, name)
    if callable(made) and (isinstance(made, type) or not hasattr(made, "generate")):
        made = made(**settings)
    elif settings:
        raise InputError(f"python/{place}: an object takes no settings; name a function or class to give it {settings}")
    if not isinstance(made, HostedGenerator) and not callable(getattr(made, "generate", None)):
        raise InputError(f"python/{place}: {type(made).__name__} has no generate(scene, seed, index, into)")
    return cast("Generator | HostedGenerator", made)
