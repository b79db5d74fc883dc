"""The shipped schemas are those of the types."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_schemas_are_fresh() -> None:
    """Changing a document without its schema fails here; run scripts/make_schemas.py."""
    made = runpy.run_path(str(ROOT / "scripts" / "make_schemas.py"))["schemas"]()
    shipped = {path.name: path.read_text() for path in (ROOT / "src" / "worldodds" / "schemas").glob("*.json")}
    assert shipped == made
