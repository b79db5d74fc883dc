"""``command/PROGRAM {frame} {prompt} {seed} {out}``: any program that writes a clip, run without a shell."""

from __future__ import annotations

import shlex
import string
import subprocess
from dataclasses import dataclass
from pathlib import Path

from worldodds.errors import GenerationError, InputError
from worldodds.rollout import Rollout, Settings
from worldodds.scene import Scene
from worldodds.typed_settings import typed, within

PLACES = ("frame", "prompt", "seed", "out", "scene", "index")
REFUSED = 75  # exit code by which a program says that it will not film this scene
_LAST_WORDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class _Knobs:
    timeout_s: float = 3600.0
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One program; make it with `command`, which checks the template."""

    words: tuple[str, ...]
    timeout_s: float = 3600.0
    version: str | None = None

    @property
    def name(self) -> str:
        """The program's own name, without its folder and its arguments."""
        return f"command/{Path(self.words[0]).name}"

    @property
    def settings(self) -> Settings:
        """The whole template, and the version that the user gave it."""
        said = {"version": self.version} if self.version else {}
        return {"command": shlex.join(self.words), **said}

    @property
    def cpu_bound(self) -> bool:
        """The program works in a process of its own; here it is only waited for."""
        return False

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        """Run the program once.

        Raises:
            GenerationError: it failed, took too long, or wrote no clip; with its last words.
        """
        values = {
            "frame": str(scene.frame),
            "prompt": scene.prompt,
            "seed": str(seed),
            "out": str(into.resolve()),
            "scene": scene.id,
            "index": str(index),
        }
        words = [_filled(word, values) for word in self.words]
        try:
            done = subprocess.run(  # noqa: S603 - the user's own program, without a shell
                words, capture_output=True, timeout=self.timeout_s, check=False, stdin=subprocess.DEVNULL
            )
        except OSError as error:
            raise GenerationError(f"{self.name} cannot be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise GenerationError(f"{self.name} took longer than {self.timeout_s:g} s and was stopped") from None
        told = (done.stderr or done.stdout).decode(errors="replace").strip()[-_LAST_WORDS:]
        if done.returncode == REFUSED:
            return Rollout(scene=scene.id, index=index, seed=seed, status="refused", message=told or None)
        if done.returncode:
            raise GenerationError(f"{self.name} ended with code {done.returncode}: {told or 'without a word'}")
        if not into.is_file():
            raise GenerationError(f"{self.name} ended well but wrote nothing to {{out}}: {told or 'without a word'}")
        return Rollout(scene=scene.id, index=index, seed=seed, status="done", served_version=self.version)


def command(template: str = "", **settings: object) -> Command:
    """Return the generator ``command/TEMPLATE``; the template is split into words as a shell would, and no more.

    Raises:
        InputError: no program, a place that does not exist, or no ``{out}`` or ``{seed}``.

    >>> command("film.py --seed {seed} {prompt} {out}").name
    'command/film.py'
    """
    knobs = typed(_Knobs, settings, part="command")
    within("command", "timeout_s", knobs.timeout_s, 1, 86_400)
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise InputError(f"command: {template!r}: {error}; close the quotes") from None
    if not words:
        raise InputError("command: no program; write command/PROGRAM {frame} {prompt} {seed} {out}")
    places = [place for word in words for _, place, _, _ in _parsed(word) if place is not None]
    for place in places:
        if place not in PLACES:
            raise InputError(f"command: there is no place {{{place}}}; there are {', '.join(PLACES)}")
    for needed, why in (("out", "where to write the clip"), ("seed", "what makes rollouts differ")):
        if needed not in places:
            raise InputError(f"command: the template has no {{{needed}}}, {why}")
    return Command(words=tuple(words), timeout_s=knobs.timeout_s, version=knobs.version)


def _parsed(word: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(string.Formatter().parse(word))
    except ValueError as error:
        raise InputError(f"command: {word!r}: {error}; write braces that are meant as such twice") from None


def _filled(word: str, values: dict[str, str]) -> str:
    parts = _parsed(word)
    return "".join(text + (values[place] if place is not None else "") for text, place, _, _ in parts)
