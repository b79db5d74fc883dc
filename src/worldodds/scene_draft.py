"""A new scene from a few answers: its file, its place in a suite, the suite itself where there is none yet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from worldodds.errors import SceneError, StatisticsError
from worldodds.outcome import Reference
from worldodds.scene import Evidence, NullRule, ReadOut, Scene, Suite, load_scene, load_suite
from worldodds.scene_file import save_scene, suite_toml
from worldodds.suite_protocol import Protocol

NULLS = (
    NullRule(name="other", kind="out_of_schema", rule="It is clear how it ends, and it is none of the outcomes."),
    NullRule(name="not_settled", kind="unreadable", rule="The clip ends before the outcome is decided."),
    NullRule(name="hidden", kind="unreadable", rule="Something covers what decides, or the camera turns away from it."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The answers: ``odds`` one an outcome (none where they are all equal), and the reason why they hold.

    ``counts``, one an outcome, are what an experiment showed where the odds are not known otherwise; the reason is
    then whose experiment it was. A scene without a reason has no known odds. ``frame`` is copied into the suite; None
    for a scene to be scored only.
    """

    id: str
    title: str
    prompt: str
    outcomes: Sequence[str]
    question: str
    odds: Sequence[str] = ()
    counts: Sequence[int] = ()
    reason: str = ""
    frame: Path | None = None
    evidence: Evidence = "last frame"
    nulls: Sequence[NullRule] = NULLS


def add_scene(draft: Draft, folder: Path, *, rollouts: int = 32) -> Suite:
    """Write the scene into the suite in ``folder`` and return it; a suite is begun where there is none.

    Whatever is wrong is told before the suite changes: the new files go again.

    Raises:
        SceneError: the id is taken or no file's name, the odds do not fit, the frame is missing, the suite is wrong.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", draft.id) or draft.id == "suite":
        raise SceneError(f"id: {draft.id!r} cannot name a scene; use letters, digits, _ and -, such as bent_coin")
    if draft.frame is not None and not draft.frame.is_file():
        raise SceneError(f"frame: there is no file {str(draft.frame)!r}; leave it out to score only")
    scene = _scene(draft)
    index = folder / "suite.toml"
    old = load_suite(folder) if index.is_file() else None
    if (folder / f"{scene.id}.toml").exists():
        raise SceneError(f"{folder}: there is a scene {scene.id!r} already; choose another id")
    text = index.read_text(encoding="utf-8") if old else ""
    folder.mkdir(parents=True, exist_ok=True)
    path = save_scene(scene, folder)
    try:
        load_scene(path)
        index.write_text(_with_scene(text, scene.id) if old else _begun(scene, folder, rollouts), encoding="utf-8")
        return load_suite(folder)
    except SceneError:
        path.unlink()
        index.write_text(text, encoding="utf-8") if old else index.unlink(missing_ok=True)
        raise


def _scene(draft: Draft) -> Scene:
    labels = tuple(draft.outcomes)
    try:
        known = _reference(draft)
    except StatisticsError as error:
        raise SceneError(f"scene {draft.id!r}: {error}") from None
    if draft.counts and not draft.reason:
        raise SceneError(f"scene {draft.id!r}: reason: say whose experiment the counts are from")
    if draft.odds and not draft.reason:
        raise SceneError(f"scene {draft.id!r}: reason: say why the odds hold; odds without a reason are a guess")
    return Scene(
        id=draft.id,
        title=draft.title,
        prompt=draft.prompt,
        labels=labels,
        readout=ReadOut(evidence=draft.evidence, question=draft.question, nulls=tuple(draft.nulls)),
        reference=known if draft.reason else None,
        reason=draft.reason,
        frame=draft.frame,
    )


def _reference(draft: Draft) -> Reference:
    labels = tuple(draft.outcomes)
    if draft.odds and draft.counts:
        raise StatisticsError("odds, counts: give one of them, what is known or what an experiment showed")
    if draft.counts:
        return Reference.observed(draft.counts, labels)
    return Reference.of(draft.odds, labels) if draft.odds else Reference.uniform(labels)


def _begun(scene: Scene, folder: Path, rollouts: int) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", folder.resolve().name).strip("-") or "suite"
    suite = Suite(
        id=name,
        title=name.replace("_", " ").replace("-", " ").capitalize(),
        version="1",
        source="our own",
        protocol=Protocol(rollouts=rollouts, aggregate="mntv"),
        scenes=(scene,),
        folder=folder,
    )
    return suite_toml(suite)


def _with_scene(text: str, scene_id: str) -> str:
    """Put one more id at the end of the list of scenes, and leave all else as it was written."""
    listed = re.search(r"^scenes\s*=\s*\[(.*?),?\s*\]", text, flags=re.MULTILINE | re.DOTALL)
    if listed is None:
        raise SceneError('suite.toml: scenes: the list was not found; write it as scenes = ["one", "two"]')
    inner = listed[1]
    comma = ",\n  " if "\n" in inner else ", "
    end = ",\n]" if "\n" in inner else "]"
    return f'{text[: listed.start()]}scenes = [{inner}{comma}"{scene_id}"{end}{text[listed.end() :]}'
