"""What a rollout or a reading is called hangs on its canonical JSON, and on nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from worldodds.keys import reading_keys, reading_namer, rollout_key, rollout_namer
from worldodds.scene import NullRule, ReadOut, Scene

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["%s", "%", "%%d", '"', "\\", "é€𝄞"]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))
# names that sort before, between and behind what is filled in
NAMES = TEXTS | st.sampled_from(["clip", "index", "j", "rollout", "s", "seed", "seedling", "vote", "a", "zz", "%s"])
SETTINGS = st.dictionaries(NAMES, VALUES, max_size=5)
NUMBERS = st.integers(0, 10**12)


def plain(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def scene_of(name: str, prompt: str, question: str, geometry: dict[str, Any]) -> Scene:
    nulls = (NullRule(name="none", kind="unreadable", rule=prompt),)
    return Scene(
        id=name,
        title="A scene",
        prompt=prompt,
        labels=("heads", question + "!"),
        readout=ReadOut(evidence="last frame", question=question, nulls=nulls),
        reference=None,
        reason="",
        geometry=geometry,
    )


SCENES = st.builds(scene_of, TEXTS, TEXTS, TEXTS, SETTINGS)


@given(SCENES, TEXTS, SETTINGS, NUMBERS, NUMBERS)
def test_a_rollout_is_named_by_its_canonical_json(
    scene: Scene, generator: str, settings: dict[str, Any], seed: int, index: int
) -> None:
    """Whatever the texts and settings: the hash of one table with sorted names, as every ledger has it."""
    seen = {"scene": scene.id, "frame": None, "prompt": scene.prompt, "generator": generator, "settings": settings}
    name = rollout_namer(scene, generator, settings)
    for at in (seed, seed + 1):
        expected = plain({**seen, "seed": at, "index": index})
        assert name(at, index) == expected == rollout_key(scene, generator, settings, seed=at, index=index)


@given(SCENES, TEXTS, SETTINGS, TEXTS, TEXTS, st.sampled_from([None, 1, 3]), st.booleans())
def test_a_reading_is_named_by_its_canonical_json(
    scene: Scene,
    reader: str,
    settings: dict[str, Any],
    rollout: str,
    sha256: str,
    votes: int | None,
    by_geometry: bool,
) -> None:
    """One name a vote; how many votes there are names none, and geometry only those that are read by it."""
    settings = {**settings, "votes": votes, "by_geometry": by_geometry}
    asked = {name: value for name, value in settings.items() if name != "votes"}
    nulls = [{"name": null.name, "kind": null.kind, "rule": null.rule} for null in scene.readout.nulls]
    question = {"evidence": "last frame", "question": scene.readout.question, "nulls": nulls}
    seen = {"labels": list(scene.labels), "readout": question, "clip": sha256, "rollout": rollout, "reader": reader}
    seen |= {"settings": asked, **({"geometry": scene.geometry} if by_geometry else {})}
    expected = [plain({**seen, "vote": vote}) for vote in range(votes or 1)]
    assert reading_namer(scene, reader, settings)(rollout, sha256) == expected
    assert reading_keys(rollout, sha256, scene, reader, settings) == expected
