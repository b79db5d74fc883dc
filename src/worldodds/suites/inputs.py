"""What a paper's models were filmed from: an imported suite says so by hash, and its runs are known by it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from worldodds.scene import Scene, Suite, digest
from worldodds.suites import builtin_suites, find_suite
from worldodds.toml_file import read_toml

PROMPTS_FORMAT = "worldodds.published-prompts/1"
PAPER = "published"  # what a scene's film is called where it is the paper's own


def film_of(scene: Scene, suite: Suite) -> str:
    """Name what a scene is filmed from: ``published`` where the suite says it is the paper's, else its hash.

    A frame or prompt that was changed after the import has another hash than the suite says, and is no longer theirs.
    """
    film = digest(scene.film_identity)
    return PAPER if suite.films.get(scene.id) == film else film


def as_published(suite: Suite) -> Suite:
    """Return the suite saying that its frames and prompts are the paper's, but for the scenes that are `reworded`."""
    theirs = [scene for scene in suite.scenes if scene.frame and scene.id not in reworded(suite)]
    return replace(suite, films={scene.id: digest(scene.film_identity) for scene in theirs})


def reworded(suite: Suite) -> tuple[str, ...]:
    """Return the scenes whose prompts are not those that the paper's models were filmed from, as far as is known."""
    known = _prompts(suite.id)
    return tuple(s.id for s in suite.scenes if known.get(s.id) != hashlib.sha256(s.prompt.encode()).hexdigest())


def _prompts(suite_id: str) -> dict[str, str]:
    if suite_id not in builtin_suites():
        return {}
    path = find_suite(suite_id).folder / "published" / "prompts.toml"
    return read_toml(path, _PromptsFile, PROMPTS_FORMAT).prompts if path.is_file() else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class _PromptsFile:
    format: str
    paper: str
    source: str
    commit: str
    prompts: dict[str, str]
