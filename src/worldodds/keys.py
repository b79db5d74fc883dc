"""The names of rollouts and readings: made of what was seen, and of nothing else."""

from __future__ import annotations

from worldodds.rollout import Settings
from worldodds.scene import Scene, digest
from worldodds.store import RunStore


def rollout_key(scene: Scene, generator: str, settings: Settings, *, seed: int, index: int) -> str:
    """Name a rollout by what the generator sees, and by nothing else."""
    made_by = {"generator": generator, "settings": dict(settings)}
    return digest({**scene.film_identity, **made_by, "seed": seed, "index": index})


def reading_keys(rollout: str, sha256: str, scene: Scene, reader: str, settings: Settings) -> list[str]:
    """Name a rollout's readings, one a vote, by what the reader sees and is asked; twins of a clip are kept apart.

    How many votes there are names none of them: more votes later add to those there are. The scene's geometry is part
    of the question only for a reader whose settings say ``by_geometry``: people and judges never see it.
    """
    asked = {name: value for name, value in settings.items() if name != "votes"}
    seen = {**scene.read_identity, "clip": sha256, "rollout": rollout, "reader": reader, "settings": asked}
    if settings.get("by_geometry"):
        seen["geometry"] = scene.geometry
    return [digest({**seen, "vote": vote}) for vote in range(int(settings.get("votes") or 1))]


def reader_settings(store: RunStore, reader: str, known: Settings) -> Settings:
    """Return the settings a reader was last asked with; ``known`` where that was not noted (imported labels)."""
    return store.about(f"reader {reader}") or known
