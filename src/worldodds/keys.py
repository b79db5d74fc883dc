"""The names of rollouts and readings: made of what was seen, and of nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from worldodds.errors import SourceError
from worldodds.rollout import Settings
from worldodds.scene import Scene, canonical
from worldodds.store import RunStore


def rollout_key(scene: Scene, generator: str, settings: Settings, *, seed: int, index: int) -> str:
    """Name a rollout by what the generator sees, and by nothing else."""
    return rollout_namer(scene, generator, settings)(seed, index)


def rollout_namer(scene: Scene, generator: str, settings: Settings) -> Callable[[int, int], str]:
    """Return what names a scene's rollouts by seed and index; what they share is written once for all of them."""
    form = _form({**scene.film_identity, "generator": generator, "settings": dict(settings)}, "index", "seed")
    return lambda seed, index: _sha256(form % (index, seed))


def named(store: RunStore, asked: Mapping[str, int]) -> Iterator[tuple[str, int, str]]:
    """Yield scene, index and key of the first so many rollouts of each scene of a run."""
    suite, made_by = store.suite, store.about("generator")
    for scene_id, n in asked.items():
        name = rollout_namer(suite.scene(scene_id), made_by["name"], made_by["settings"])
        yield from ((scene_id, index, name(index, index)) for index in range(n))


def reading_keys(rollout: str, sha256: str, scene: Scene, reader: str, settings: Settings) -> list[str]:
    """Name a rollout's readings, one a vote, by what the reader sees and is asked; twins of a clip are kept apart.

    How many votes there are names none of them: more votes later add to those there are. The scene's geometry is part
    of the question only for a reader whose settings say ``by_geometry``: people and judges never see it.
    """
    return reading_namer(scene, reader, settings)(rollout, sha256)


def reading_namer(scene: Scene, reader: str, settings: Settings) -> Callable[[str, str], list[str]]:
    """Return what names the readings of a scene's rollouts by a rollout's key and its clip's sha256."""
    asked = {name: value for name, value in settings.items() if name != "votes"}
    shared = {**scene.read_identity, "reader": reader, "settings": asked}
    if settings.get("by_geometry"):
        shared["geometry"] = scene.geometry
    form = _form(shared, "clip", "rollout", "vote")
    votes = range(int(settings.get("votes") or 1))
    return lambda rollout, sha256: [_sha256(form % (canonical(sha256), canonical(rollout), vote)) for vote in votes]


def choose_reader(store: RunStore, wanted: str | None) -> tuple[str, Settings]:
    """Return the reader asked for, or the only one of a run, with the settings that it was last asked with.

    Raises:
        SourceError: several readers and none asked for, or one asked for that has not read.
    """
    # an audit of trust is no reading of outcomes, and never takes part in a score
    used = {reader: known for reader, known in store.readers().items() if not reader.startswith("trust/")}
    where = store.folder
    if wanted is None and len(used) > 1:
        raise SourceError(f"{where}: read by {' and '.join(used)}; choose one with --reader")
    if wanted is not None and wanted not in used:
        raise SourceError(f"{where}: not read by {wanted!r} yet; read it: worldodds read {where} --reader {wanted}")
    name = next(iter(used), "") if wanted is None else wanted
    return name, reader_settings(store, name, used.get(name, {}))


def reader_settings(store: RunStore, reader: str, known: Settings) -> Settings:
    """Return the settings a reader was last asked with; ``known`` where that was not noted (imported labels)."""
    return store.about(f"reader {reader}") or known


def _form(shared: Mapping[str, Any], *gaps: str) -> str:
    """Return the canonical JSON of a table as a form for ``%``, with gaps (in order of the alphabet) left to fill."""
    written = {name: canonical(value).replace("%", "%%") for name, value in shared.items()}
    written |= dict.fromkeys(gaps, "%s")
    return "{" + ",".join(f"{canonical(name)}:{written[name]}" for name in sorted(written)) + "}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
