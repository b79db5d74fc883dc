"""The experiment that a scene's odds were counted in, as the JSON of a score shows it."""

from __future__ import annotations

from dataclasses import dataclass

from worldodds.scene import Scene

COUNTED = "the paper takes odds as known, and some were counted in an experiment"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentEntry:
    """The experiment that a scene's odds were counted in: test, certificate, floor and band allow for its sampling."""

    n: int
    counts: dict[str, int]
    source: str


def experiment_entry(scene: Scene) -> ExperimentEntry | None:
    """Put a scene's experiment into the JSON's shape; None where its odds are known, or not known at all."""
    reference = scene.reference
    if reference is None or reference.counts is None or reference.n_observed is None:
        return None
    counts = dict(zip(reference.labels, reference.counts, strict=True))
    return ExperimentEntry(n=reference.n_observed, counts=counts, source=scene.reason)
