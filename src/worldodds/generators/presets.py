"""The built-in world models: which outcome a rollout is to end in, as a table of presets and the knobs each has.

A preset is a row: its target odds given the scene, and the names of the knobs that it alone has. Natural physics has no
target.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldodds.errors import InputError, UnknownNameError, nearest
from worldodds.scene import Scene

Odds = NDArray[np.float64]  # (k,), sums to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """Every setting of the simulator. ``size`` is width x height in pixels, ``crf`` x264's quality from 0 to 51.

    ``favoured`` (labels with commas between; empty: the two commonest of the reference) come up in the collapsed world,
    the first with ``favoured_share``, the rest with what is left. ``murky_share`` of the murky clips end unreadable.
    ``gamma`` is the power to which the sharpened world raises the reference. ``odds`` are those of the mixture, such
    as ``left:1/4,right:3/4``. ``all_seeds_as`` is the seed that the stuck world uses for every seed. ``cue`` is the
    outcome (empty: the scene's first) under whose place the cued world shows a dot; with ``cue_pull`` it ends there,
    else as the reference says.
    """

    size: str = "640x480"
    crf: int = 18
    most_attempts: int = 20_000
    favoured: str = ""
    favoured_share: float = 0.9
    murky_share: float = 0.35
    gamma: float = 3.0
    odds: str = ""
    all_seeds_as: int = 0
    cue: str = ""
    cue_pull: float = 0.6

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height in pixels."""
        width, _, height = self.size.partition("x")
        return int(width), int(height)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A row of the table: target odds (None: physics as it falls) and the knobs it has beside those of all presets."""

    odds: Callable[[Scene, Knobs], Odds] | None
    knobs: tuple[str, ...] = ()


def reference(scene: Scene, _knobs: Knobs) -> Odds:
    """Target the scene's own odds."""
    if scene.reference is None:
        raise InputError(f"scene {scene.id!r} has no reference odds to target; use simulator/natural")
    return scene.reference.probabilities


def collapsed(scene: Scene, knobs: Knobs) -> Odds:
    """Target a few favoured outcomes: mode collapse."""
    if knobs.favoured:
        labels = [scene.label_of(label) for label in knobs.favoured.split(",")]
        places = [scene.labels.index(label) for label in labels]
    else:
        places = np.argsort(-reference(scene, knobs), kind="stable")[:2].tolist()
    if len(set(places)) != len(places):
        raise InputError(f"favoured: {knobs.favoured!r} names an outcome twice; name each once")
    odds = np.zeros(len(scene.labels))
    odds[places[0]] = knobs.favoured_share if len(places) > 1 else 1.0
    if len(places) > 1:
        odds[places[1:]] = (1 - knobs.favoured_share) / (len(places) - 1)
    return odds


def sharpened(scene: Scene, knobs: Knobs) -> Odds:
    """Target the reference raised to the power gamma: above 1 the likely gets likelier, as under strong guidance."""
    powered = np.where(reference(scene, knobs) > 0, reference(scene, knobs), 0.0) ** knobs.gamma
    return powered / powered.sum()


def cued(scene: Scene, knobs: Knobs) -> Odds:
    """Target the outcome of the visible cue, mixed with the reference."""
    return (1 - knobs.cue_pull) * reference(scene, knobs) + knobs.cue_pull * np.eye(len(scene.labels))[
        cue_place(scene, knobs)
    ]


def cue_place(scene: Scene, knobs: Knobs) -> int:
    """Return which of the scene's outcomes, from left to right, the cue lies under."""
    return scene.labels.index(scene.label_of(knobs.cue)) if knobs.cue else 0


def mixture(scene: Scene, knobs: Knobs) -> Odds:
    """Target exactly the odds given by the knob ``odds``."""
    odds = [Fraction(0)] * len(scene.labels)
    for part in knobs.odds.split(","):
        label, colon, share = part.rpartition(":")
        if not colon or not re.fullmatch(r"\d+(/[1-9]\d*)?|\d*\.\d+", share.strip()):
            raise InputError(f"odds: {part!r} is no share of an outcome; write them as {scene.labels[0]}:1/4,... ")
        odds[scene.labels.index(scene.label_of(label))] += Fraction(share.strip())
    if abs(sum(odds) - 1) > Fraction(1, 10**9):
        raise InputError(f"odds: {knobs.odds!r} sums to {float(sum(odds)):g}, not to 1")
    return np.array([float(share) for share in odds]) / float(sum(odds))


PRESETS: Mapping[str, Preset] = {
    "fair": Preset(odds=reference),
    "natural": Preset(odds=None),
    "collapsed": Preset(odds=collapsed, knobs=("favoured", "favoured_share")),
    "murky": Preset(odds=reference, knobs=("murky_share",)),
    "sharpened": Preset(odds=sharpened, knobs=("gamma",)),
    "cued": Preset(odds=cued, knobs=("cue", "cue_pull")),
    "stuck": Preset(odds=reference, knobs=("all_seeds_as",)),
    "mixture": Preset(odds=mixture, knobs=("odds",)),
}

_SHARED = ("size", "crf", "most_attempts")
_RANGES: Mapping[str, tuple[float, float]] = {
    "crf": (0, 51),
    "most_attempts": (1, 10_000_000),
    "favoured_share": (0, 1),
    "murky_share": (0, 1),
    "gamma": (0, 100),
    "cue_pull": (0, 1),
    "all_seeds_as": (0, 2**63 - 1),
}


def make_knobs(preset: str, settings: Mapping[str, Any]) -> Knobs:
    """Return the checked knobs of a preset.

    Raises:
        UnknownNameError: no such preset, or no such knob of it; the message offers the nearest.
        InputError: a value of the wrong kind or out of range.
    """
    if preset not in PRESETS:
        raise UnknownNameError(f"There is no simulator called {preset!r}.{nearest(preset, PRESETS)}")
    known = [*_SHARED, *PRESETS[preset].knobs]
    for name in settings:
        if name not in known:
            raise UnknownNameError(f"simulator/{preset} has no setting called {name!r}.{nearest(name, known)}")
    knobs = Knobs(**{name: _checked(name, value) for name, value in settings.items()})
    if preset == "mixture" and not knobs.odds:
        raise InputError("simulator/mixture needs the setting 'odds', such as odds=left:1/4,right:3/4")
    return knobs


def used(preset: str, knobs: Knobs) -> dict[str, str | int | float]:
    """Return the knobs that a preset has, with their values: what is recorded."""
    values = asdict(knobs)
    return {name: values[name] for name in (*_SHARED, *PRESETS[preset].knobs)}


def _checked(name: str, value: Any) -> Any:
    kind = type(next(field.default for field in fields(Knobs) if field.name == name))
    if kind is str:
        return _size(value) if name == "size" else str(value)
    if isinstance(value, (bool, str)) or not math.isfinite(value) or (kind is int and int(value) != value):
        raise InputError(f"{name}: {value!r} is not a {'whole ' if kind is int else ''}number")
    low, high = _RANGES[name]
    if not low <= value <= high:
        raise InputError(f"{name}: {value} is out of range; it must lie between {low:g} and {high:g}")
    return kind(value)


def _size(value: Any) -> str:
    match = re.fullmatch(r"(\d{2,4})x(\d{2,4})", str(value))
    width, height = (int(side) for side in match.groups()) if match else (0, 0)
    if not (96 <= width <= 1920 and 96 <= height <= 1080 and width % 2 == height % 2 == 0):
        raise InputError(f"size: {value!r} is no size; write width x height in pixels, both even, 96x96 to 1920x1080")
    return str(value)
