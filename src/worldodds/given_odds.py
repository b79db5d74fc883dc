"""Reference odds given by hand, for scenes whose own are not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from worldodds.errors import InputError, StatisticsError, nearest
from worldodds.outcome import Reference
from worldodds.scene import Suite


def with_references(suite: Suite, given: Mapping[str, Reference]) -> Suite:
    """Return the suite with some scenes' reference odds replaced.

    Raises:
        UnknownNameError: a scene that the suite does not have.
        InputError: a coverage scene, which has no odds by design.
    """
    for scene_id in given:
        if (placement := suite.scene(scene_id).placement) and placement.track == "coverage":
            raise InputError(f"scene {scene_id!r} is on the coverage track, which has no reference odds by design")
    told = "given on the command line, not by the suite"
    scenes = [replace(s, reference=given[s.id], reason=told) if s.id in given else s for s in suite.scenes]
    return replace(suite, scenes=tuple(scenes))


def parse_references(texts: Sequence[str], suite: Suite) -> dict[str, Reference]:
    """Read several of them, by scene id; raises InputError also where a scene is given twice."""
    told = [parse_reference(text, suite) for text in texts]
    if twice := [scene for scene, _ in told if [s for s, _ in told].count(scene) > 1]:
        raise InputError(f"--reference: odds for {twice[0]} are given twice; give them once")
    return dict(told)


def parse_reference(text: str, suite: Suite) -> tuple[str, Reference]:
    """Read ``A-04=red:1/4,blue:3/4`` as a scene's id and its odds, in the order of the scene's labels.

    Raises:
        InputError: it is written otherwise, a label is unknown, missing or given twice, or the odds do not sum to 1.
    """
    scene_id, equals, table = text.partition("=")
    pairs = [part.rpartition(":") for part in table.split(",")]
    if not equals or not all(label.strip() and odds.strip() for label, _, odds in pairs):
        raise InputError(f"--reference {text!r}: write it as A-04=red:1/4,blue:3/4")
    scene = suite.scene(scene_id.strip())
    odds: dict[str, str] = {}
    for label, _, value in ((a.strip(), b, c.strip()) for a, b, c in pairs):
        if label not in scene.labels:
            raise InputError(f"--reference {text!r}: {label!r} is no label of it.{nearest(label, scene.labels)}")
        if label in odds:
            raise InputError(f"--reference {text!r}: {label!r} is given twice")
        odds[label] = value
    if lacking := [label for label in scene.labels if label not in odds]:
        raise InputError(f"--reference {text!r}: no odds for {lacking[0]!r}; give all labels, 0 where it cannot come")
    try:
        return scene.id, Reference.of([odds[label] for label in scene.labels], scene.labels)
    except StatisticsError as error:
        raise InputError(f"--reference {text!r}: {error}") from None


def written(reference: Reference) -> str:
    """Return odds as `parse_reference` reads them.

    >>> written(Reference.of(["1/4", "3/4"], ["red", "blue"]))
    'red:1/4,blue:3/4'
    """
    return ",".join(f"{label}:{odds}" for label, odds in zip(reference.labels, reference.odds, strict=True))
