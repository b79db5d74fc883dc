"""What may go wrong with a scene's design, told before anything is filmed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from worldodds import video
from worldodds.errors import VideoError
from worldodds.plans import SuitePlan, experiment_words, plan_suite
from worldodds.scene import Scene, Suite
from worldodds.statistics.experiment_plan import ExperimentPlan
from worldodds.statistics.planner import ScenePlan

SMALLEST_SIDE = 256  # pixels; video models scale smaller frames up
ALIKE = 0.85  # difflib's ratio from which two labels are near-equal strings
_PNG_MODES = {0: "grey", 3: "palette", 4: "grey with transparency", 6: "transparency"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """One doubt about a scene: of which part (odds, experiment, labels, prompt, frame, nulls, question), what to do."""

    part: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedScene:
    """A scene with its risks, and what rollouts show of it (None where its odds are not known)."""

    scene: Scene
    risks: tuple[Risk, ...]
    plan: ScenePlan | ExperimentPlan | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSuite:
    """A suite's scenes, checked in its order, and the plan that their rollouts come from."""

    suite: Suite
    scenes: tuple[CheckedScene, ...]
    plan: SuitePlan

    @property
    def risks(self) -> int:
        """Risks of all scenes."""
        return sum(len(one.risks) for one in self.scenes)


def check_suite(suite: Suite, *, tv: float = 0.2, delta: float = 0.2) -> CheckedSuite:
    """Look for risks in every scene of a suite, and plan its rollouts to see ``tv`` and to certify ``delta``."""
    planned = plan_suite(suite, tv=tv, delta=delta)
    checked = (
        CheckedScene(
            scene=s,
            risks=(*_experiment(planned.uncertain.get(s.id), planned), *risks_of(s, suite.protocol.rollouts)),
            plan=planned.scenes.get(s.id) or planned.uncertain.get(s.id),
        )
        for s in suite.scenes
    )
    return CheckedSuite(suite=suite, scenes=tuple(checked), plan=planned)


def _experiment(one: ExperimentPlan | None, plan: SuitePlan) -> tuple[Risk, ...]:
    """Doubt an experiment that is too small for any number of rollouts to show what is asked."""
    if one is None or (one.n_to_detect is not None and one.n_to_certify is not None):
        return ()
    own = f"its own shares lie {one.experiment_floor:.2f} (TV) from the true odds on average"
    return (Risk(part="experiment", told=f"{experiment_words(one, plan)}; {own}"),)


def risks_of(scene: Scene, rollouts: int) -> tuple[Risk, ...]:
    """Return the risks of one scene filmed that many times."""
    found = {
        "odds": _odds(scene, rollouts),
        "labels": _labels(scene.labels),
        "prompt": _prompt(scene),
        "frame": _frame(scene.frame),
        "nulls": _nulls(scene),
        "question": _question(scene),
    }
    return tuple(Risk(part=part, told=told) for part, risks in found.items() for told in risks)


def _odds(scene: Scene, rollouts: int) -> Iterator[str]:
    if scene.reference is None:
        return
    expected = {label: float(odds) * rollouts for label, odds in zip(scene.labels, scene.reference.odds, strict=True)}
    if len(rare := [label for label, count in expected.items() if count < 1]) * 2 > len(expected):
        yield (
            f"too skewed for {rollouts} rollouts: {len(rare)} of {len(expected)} outcomes are expected less than once "
            f"({_some(rare)}); merge rare outcomes or ask for more rollouts"
        )
    for label, odds in zip(scene.labels, scene.reference.odds, strict=True):
        if 0.9 <= odds < 1:
            yield f"{label!r} has odds {float(odds):.3g}: a model that shows nothing else looks almost fair"


def _labels(labels: Sequence[str]) -> Iterator[str]:
    for one, other in combinations(labels, 2):
        a, b = (re.sub(r"[\W_]+", "", label).casefold() for label in (one, other))
        numbered = re.sub(r"\d", "", a) == re.sub(r"\d", "", b)  # sum_2 and sum_12 are meant to be near
        near = min(len(a), len(b)) >= 4 and difflib.SequenceMatcher(None, a, b).ratio() >= ALIKE
        if a == b or (near and not numbered):
            yield f"{one!r} and {other!r} are hard to tell apart; a reader will confuse them"


def _prompt(scene: Scene) -> Iterator[str]:
    named = [label for label in scene.labels if not label.isdigit() and _names(scene.prompt, label)]
    if len(named) == len(scene.labels):
        yield "it names every outcome; a model may show several of them or the one named last; describe the action only"
    elif named:
        yield f"it names the outcome {_some(named)} and not the others, which leads the model to it"


def _question(scene: Scene) -> Iterator[str]:
    worded = [label for label in scene.labels if not label.isdigit()]
    words = {word for label in worded for word in re.findall(r"[^\W\d_]{3,}", label)}
    if words and not any(_names(scene.readout.question, word) for word in words):
        yield f"it names no outcome ({_some(worded)}); say in it what each of them looks like"


def _nulls(scene: Scene) -> Iterator[str]:
    kinds = {null.kind for null in scene.readout.nulls}
    if not kinds:
        yield "there are no null rules; a reader must then force every broken clip into an outcome"
    elif "unreadable" not in kinds:
        yield "no rule is of the kind unreadable; say when the end cannot be told"
    elif "out_of_schema" not in kinds:
        yield "no rule is of the kind out_of_schema; say which clear ends are none of the outcomes"


def _frame(path: Path | None) -> Iterator[str]:
    if path is None:
        yield "there is none; the scene can be scored, not filmed"
        return
    try:
        height, width, _ = video.read_still(path).shape
    except VideoError as error:
        yield f"it cannot be used: {error}"
        return
    if min(height, width) < SMALLEST_SIDE:
        yield f"{width} x {height} pixels is tiny; give it at least {SMALLEST_SIDE} on the shorter side"
    if height % 2 or width % 2:
        yield f"{width} x {height} pixels is odd; video needs an even width and height, and will cut or scale it"
    if mode := _mode(path):
        yield f"it is stored with {mode}; save it as plain 8-bit RGB, so that every model sees the same"


def _mode(path: Path) -> str | None:
    """Name what is unusual about how a PNG keeps its pixels; None for plain RGB and for other kinds of file."""
    head = path.read_bytes()[:26]
    if not head.startswith(b"\x89PNG\r\n\x1a\n") or len(head) < 26:
        return None
    depth, colour = head[24], head[25]
    return f"{depth} bits a channel" if depth > 8 else _PNG_MODES.get(colour)


def _names(text: str, label: str) -> bool:
    words = re.sub(r"[\W_]+", " ", label).strip().casefold()
    return bool(words) and re.search(rf"\b{re.escape(words)}\b", re.sub(r"[\W_]+", " ", text).casefold()) is not None


def _some(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
    return ", ".join(map(repr, labels[:3])) + more
