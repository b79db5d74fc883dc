"""The few words of SVG that the plots need: elements that escape what they are given, scales, and ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape


def element(tag: str, *children: str, **attributes: str | float | None) -> Markup:
    """Make one element; text is escaped, ``class_`` is class, ``text_anchor`` is text-anchor, None is no attribute.

    >>> str(element("text", "a < b", x=1.50, class_="label"))
    '<text x="1.5" class="label">a &lt; b</text>'
    """
    told = Markup().join(
        Markup(' {}="{}"').format(name.rstrip("_").replace("_", "-"), _short(value))
        for name, value in attributes.items()
        if value is not None
    )
    inside = Markup().join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(tag, told, inside)


def picture(
    *marks: Markup, title: str, desc: str, width: float | None = None, height: float, class_: str = "plot"
) -> Markup:
    """Make a whole picture with its text alternative.

    Without a width it fills its place in the page: x coordinates are then shares in percent, and lettering keeps its
    size.
    """
    frame: dict[str, str | float | None] = (
        {"viewBox": f"0 0 {width:g} {height:g}"} if width else {"width": "100%", "height": height}
    )
    return element("svg", element("title", title), element("desc", desc), *marks, class_=class_, role="img", **frame)


def at(share: float) -> str:
    """Write a share as a coordinate in percent, kept inside the picture."""
    return f"{100 * min(max(share, 0.0), 1.0):.2f}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A straight (or square-root) map of values from ``low`` to ``high`` to positions from ``start`` to ``end``."""

    low: float
    high: float
    start: float = 0.0
    end: float = 1.0
    root: bool = False

    def __call__(self, value: float) -> float:
        """Return the position of a value; one beyond the ends is put at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * (math.sqrt(share) if self.root else share)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round values between ``low`` and ``high``, some ``about`` of them.

    >>> ticks(-0.07, 0.7)
    [0.0, 0.2, 0.4, 0.6]
    """
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) + 0.0 for i in range(first, math.floor(high / step + 1e-9) + 1)]


def shorten(text: str, room: float, *, letter: float = 6.0) -> str:
    """Cut a text that would not fit into ``room`` units at ``letter`` units a letter."""
    most = max(1, int(room / letter))
    return text if len(text) <= most else text[: max(1, most - 1)] + "…"


def place_labels(
    points: Sequence[tuple[float, float]], texts: Sequence[str], *, width: float, height: float, letter: float = 7.0
) -> list[tuple[float, float, str]]:
    """Find a place beside each point for its name, so that names cover neither points nor one another where possible.

    Returns x, y of the baseline and the text-anchor of each.
    """
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in points]
    placed: list[tuple[float, float, str]] = []
    for (x, y), text in zip(points, texts, strict=True):
        wide = len(text) * letter
        steps = (4, -3, 11, -10, 18, -17, 25)
        spots = [(x + side * 10, y + step, anchor) for step in steps for side, anchor in ((1, "start"), (-1, "end"))]
        spots += [(x, y - 11, "middle"), (x, y + 19, "middle")]
        boxes = [_box(spot, wide) for spot in spots]
        # a name far from its point is worse than a near one, and better than one that covers another
        cost = [
            _overlap(box, taken) + 4 * _outside(box, width, height) + 1.5 * abs(spot[1] - 4 - y)
            for box, spot in zip(boxes, spots, strict=True)
        ]
        best = min(range(len(spots)), key=lambda i: (cost[i], i))
        taken.append(boxes[best])
        placed.append(spots[best])
    return placed


_Box = tuple[float, float, float, float]


def _box(spot: tuple[float, float, str], wide: float) -> _Box:
    x, y, anchor = spot
    left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * wide
    return left, y - 11, left + wide, y + 3


def _overlap(box: _Box, others: Sequence[_Box]) -> float:
    shared = ((min(box[2], o[2]) - max(box[0], o[0]), min(box[3], o[3]) - max(box[1], o[1])) for o in others)
    return sum(max(0.0, wide) * max(0.0, high) for wide, high in shared)


def _outside(box: _Box, width: float, height: float) -> float:
    over = max(0.0, -box[0]) + max(0.0, box[2] - width) + max(0.0, -box[1]) + max(0.0, box[3] - height)
    return 13 * over


def _short(value: str | float) -> str:
    return value if isinstance(value, str) else f"{round(value, 2):g}"
