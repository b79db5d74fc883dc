"""Scenes written as TOML are read back as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.errors import SceneError
from worldodds.outcome import Reference
from worldodds.scene import NullRule, ReadOut, Scene, load_scene
from worldodds.scene_file import save_suite, scene_toml
from worldodds.suites import builtin_suites, find_suite

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=160).filter(str.strip)
words = st.lists(st.sampled_from(["a", "ball's", '"x"', "back\\slash", "well-known", "é"]), min_size=40).map(" ".join)


@given(
    prompt=texts | words,
    labels=st.lists(texts.map(str.strip), min_size=2, max_size=4, unique=True),
    geometry=st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False) | st.lists(st.integers(-9, 9))),
    nulls=st.booleans(),
)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, prompt: str, labels: list, geometry: dict, nulls: bool):
    """Whatever a scene's texts hold, the file gives the same scene."""
    rules = (NullRule(name="gone", kind="unreadable", rule=prompt),) if nulls else ()
    scene = Scene(
        id="s",
        title="S",
        prompt=prompt,
        labels=tuple(labels),
        readout=ReadOut(evidence="whole clip", question=prompt, nulls=rules),
        reference=Reference.of([1, *[0] * (len(labels) - 1)], labels),
        reason=prompt,
        ordered=True,
        geometry=geometry,
    )
    path = tmp_path_factory.mktemp("scene") / "s.toml"
    path.write_text(scene_toml(scene, frame=None), encoding="utf-8", newline="")
    assert load_scene(path) == scene


@pytest.mark.parametrize("name", builtin_suites())
def test_suites_of_ours_round_trip(name: str, tmp_path: Path) -> None:
    """Every suite of the package is written and read back with the same hash, frames and placements included."""
    suite = find_suite(name)
    saved = save_suite(suite, tmp_path / "copy")
    assert saved.content_hash == suite.content_hash
    assert [(s.title, s.reason) for s in saved.scenes] == [(s.title, s.reason) for s in suite.scenes]


def test_a_folder_is_never_written_over(tmp_path: Path) -> None:
    """A folder that exists is refused, and stays as it is."""
    with pytest.raises(SceneError, match="exists already"):
        save_suite(find_suite("calibench"), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_suite_that_cannot_be_read_back_leaves_nothing(tmp_path: Path) -> None:
    """A suite with a fault is refused as its file would be, and no folder stays."""
    suite = find_suite("calibench")
    broken = replace(suite, scenes=(replace(suite.scenes[0], prompt=" "),))
    with pytest.raises(SceneError, match="prompt: it is blank"):
        save_suite(broken, tmp_path / "copy")
    assert not list(tmp_path.iterdir())
