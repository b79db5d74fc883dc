"""The scripts beside the package go with it: each can be imported as the package is today."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

pytest.importorskip("av")

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted(path for folder in ("benchmarks", "scripts") for path in (ROOT / folder).glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_finds_what_it_imports(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a benchmark or script imports has moved; being imported, it runs nothing."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(script.parent)])
    assert runpy.run_path(str(script))["__doc__"]
