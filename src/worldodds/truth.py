"""What really happened in a simulated clip: a small JSON file beside it, for the oracle and for tests of readers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from worldodds.errors import OutOfRangeError

FORMAT = "worldodds.truth/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """How a simulated clip came about and how it ends.

    ``outcome`` is what a perfect reader sees: None where physics gave none (``invalid`` says why) or where the clip
    was spoiled on purpose. ``null_rule`` then names the scene's rule. ``physics_outcome`` is what the motion ended in,
    seen or not; ``target`` is what it was to end in (None: physics as it falls).
    """

    scene: str
    seed: int
    target: str | None
    outcome: str | None
    invalid: str | None
    null_rule: str | None
    physics_outcome: str | None
    start_seed: int
    attempts: int
    generator: str
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    world: dict[str, Any] = field(default_factory=dict[str, Any])
    format: str = FORMAT


def truth_path(clip: Path) -> Path:
    """Return where the truth of a clip lies."""
    return clip.with_name(f"{clip.stem}.truth.json")


def write(truth: Truth, clip: Path) -> None:
    """Write the truth beside a clip; the file appears by rename."""
    path = truth_path(clip)
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(msgspec.json.format(msgspec.json.encode(truth, order="sorted"), indent=1) + b"\n")
    part.replace(path)


def read(clip: Path) -> Truth:
    """Read the truth of a clip; raises OutOfRangeError where there is none, or none that can be read."""
    path = truth_path(clip)
    try:
        raw: Any = msgspec.json.decode(path.read_bytes())
        made = raw.get("format", "missing") if isinstance(raw, dict) else "missing"
        if made != FORMAT:
            told = "it was made by another version of worldodds, or is none; film the clip anew"
            raise OutOfRangeError(f"{path}: format: {made!r} is not {FORMAT!r}: {told}")
        return msgspec.convert(raw, Truth)
    except FileNotFoundError:
        raise OutOfRangeError(f"{clip}: no truth lies beside it; the oracle reads simulated clips only") from None
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise OutOfRangeError(f"{path}: not a truth file ({error})") from None
