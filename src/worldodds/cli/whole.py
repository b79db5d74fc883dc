"""Whole numbers on the command line: 2.5 rollouts are a slip, not two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter, Token


def whole(_: object, tokens: Sequence[Token]) -> Any:
    """Return the number; raises ValueError for anything but digits."""
    text = tokens[0].value
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


Count = Annotated[int, Parameter(name="-n", converter=whole)]
Rollouts = Annotated[int | None, Parameter(name="-n", converter=whole)]
