"""What the papers say of the natural worlds is what was measured, and what was measured is within what was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worldodds.statistics import certify, total_variation
from worldodds.suites import find_suite

ROOT = Path(__file__).parents[2]
SUITE = find_suite("calibench")


@pytest.mark.parametrize("scene", SUITE.scene_ids)
def test_the_page_holds_what_was_measured(scene: str) -> None:
    """Kept counts give the page's TV and certified delta; targets were truths; the delta is small enough."""
    told = json.loads((ROOT / "benchmarks/results/natural" / f"{scene}.json").read_text())
    natural, reference = told["natural"], SUITE.scene(scene).reference
    counts = list(natural["counts"].values())
    assert sum(counts) + natural["invalid"] == natural["n"] >= 1000
    assert told["fair"]["target_equals_truth"]
    row = next(
        line
        for line in (ROOT / "docs/what-reality-scores.md").read_text().splitlines()
        if line.startswith(f"| `{scene}`")
    )
    certified = certify(counts, reference).certified_delta
    assert f" {total_variation(counts, reference):.4f} |" in row
    assert f" {certified:.3f} | {natural['invalid']} |" in row
    assert certified <= (0.05 if reference.k <= 6 else 0.10)
