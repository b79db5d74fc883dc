"""Start seeds known to end in a rare outcome: a hint that spares thousands of tries, never a truth.

The physics is rerun from such a seed and judged as any other; on a machine where it ends elsewhere, the seed is passed
over. `scripts/make_bank.py` finds the seeds.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from worldodds.worlds.world import World

BANK_PATH = Path(__file__).with_name("bank.json")


def starts(world: World, outcome: str) -> tuple[int, ...]:
    """Return start seeds that ended in ``outcome`` when the bank was made; empty for a world with other settings."""
    entry = _bank().get(world.scene)
    if entry is None or entry["settings"] != world.settings():
        return ()
    return tuple(entry["starts"].get(outcome, ()))


@cache
def _bank() -> dict[str, Any]:
    return json.loads(BANK_PATH.read_text(encoding="utf-8")) if BANK_PATH.is_file() else {}
