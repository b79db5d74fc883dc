"""Readers as scorers of inspect_ai."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from worldodds.errors import InputError, MissingDependencyError
from worldodds.interop.inspect_ai import Scored, read_sample, reader_scorer
from worldodds.scene import Suite
from worldodds.testing import CannedGenerator, CannedReader

HERE = importlib.util.find_spec("inspect_ai") is not None


@pytest.fixture
def metadata(tiny: Suite, tmp_path: Path) -> dict[str, str]:
    """A clip whose coin shows tails."""
    CannedGenerator(outcomes={0: "tails"}).generate(tiny.scene("coin"), seed=0, index=0, into=tmp_path / "c.mp4")
    return {"clip": str(tmp_path / "c.mp4"), "scene": "coin"}


@pytest.mark.parametrize(("target", "value"), [("tails", "C"), ("heads", "I"), ("", "tails")])
def test_a_sample_is_read(tiny: Suite, metadata: dict[str, str], target: str, value: str) -> None:
    """With a target the score is right or wrong; without one it is what was seen."""
    assert read_sample(CannedReader(), tiny, metadata, target) == Scored(value=value, answer="tails", explanation=None)


def test_a_failure_is_no_wrong_answer(tiny: Suite, metadata: dict[str, str]) -> None:
    """A broken clip has no value, whatever the target."""
    Path(metadata["clip"]).write_bytes(b"")
    found = read_sample(CannedReader(), tiny, metadata, "tails")
    assert (found.value, found.answer) == (None, "failed")
    assert "0 bytes" in (found.explanation or "")


def test_a_sample_names_its_clip_and_scene(tiny: Suite, metadata: dict[str, str]) -> None:
    """A sample without either is refused, with what it should hold."""
    with pytest.raises(InputError, match="'scene' is missing"):
        read_sample(CannedReader(), tiny, {"clip": metadata["clip"]}, "")


@pytest.mark.skipif(HERE, reason="inspect_ai is installed")
def test_a_missing_package_is_told(tiny: Suite) -> None:
    """Without inspect_ai the message says how to get it."""
    with pytest.raises(MissingDependencyError, match="inspect_ai is not installed"):
        reader_scorer(CannedReader(), tiny)


@pytest.mark.skipif(not HERE, reason="inspect_ai is not installed")
def test_a_scorer_is_made(tiny: Suite) -> None:
    """With inspect_ai a reader becomes one of its scorers."""
    assert callable(reader_scorer(CannedReader(), tiny))
