"""Commands for scenes of one's own: begin one, check it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from worldodds.errors import InputError

if TYPE_CHECKING:
    from worldodds.scene import NullRule, Suite
    from worldodds.scene_check import CheckedSuite

app = App(name="scene", help="Scenes of your own: begin one, check it before you film.")
Words = Annotated[tuple[str, ...], Parameter(negative=())]


@app.command
def check(
    scene: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("preview.html"),
    reader: str | None = None,
    reader_settings: Annotated[tuple[str, ...], Parameter(name="-R", negative=())] = (),
    tv: float = 0.2,
    delta: float = 0.2,
) -> int:
    """Validate a suite of your own, warn of risky designs, tell the rollouts needed, and draw a page to look at.

    Parameters
    ----------
    scene
        The suite: a folder, a zip file, a name; or the file of one of its scenes.
    output
        The page to look at.
    reader
        Let this reader look at a clip of each frame alone, and warn where it sees an outcome before anything moved.
    reader_settings
        A setting of the reader, key=value; may be given more than once.
    tv
        The total variation that you want to see.
    delta
        The total variation within which you want to certify calibration.
    """
    from worldodds.report.scenes_page import write_scenes_page
    from worldodds.scene_check import check_suite

    checked = check_suite(_suite(scene), tv=tv, delta=delta)
    if reader is not None:
        from worldodds.registry import make_reader, parse_settings
        from worldodds.scene_stills import look_at_stills

        checked = look_at_stills(checked, make_reader(reader, parse_settings(reader_settings)))
    _print(checked)
    write_scenes_page(checked, output)
    print(f"\nThe page: {output.resolve()}")
    return 0


def _suite(path: Path) -> Suite:
    from worldodds.scene import load_suite
    from worldodds.suites import find_suite

    if path.suffix != ".toml":
        return find_suite(str(path))
    suite = load_suite(path.parent)
    return suite if path.name == "suite.toml" else suite.only([path.stem])


def _print(checked: CheckedSuite) -> None:
    from worldodds.cli.screen import console, table
    from worldodds.report.words import number

    screen, plan = console(), checked.plan
    headings = (f">TV seen at {plan.n}", f">n to see TV {plan.tv}", f">n to certify {plan.delta}")
    rows = table("scene", ">outcomes", ">risks", *headings, title=f"{checked.suite.title}: valid")
    for one in checked.scenes:
        told = ("odds not known", "", "")
        if one.plan:
            far = str(one.plan.n_to_detect or "out of reach")
            told = (number(one.plan.detectable_tv), far, str(one.plan.n_to_certify or "out of reach"))
        rows.add_row(one.scene.id, str(len(one.scene.labels)), str(len(one.risks) or "none"), *told)
    screen.print(rows)
    for one in checked.scenes:
        for risk in one.risks:
            screen.print(f"{one.scene.id}: {risk.part}: {risk.told}", style="yellow", markup=False, soft_wrap=True)


@app.command
def new(
    folder: Path,
    /,
    *,
    id_: Annotated[str | None, Parameter(name="--id")] = None,
    title: str | None = None,
    prompt: str | None = None,
    outcome: Words = (),
    odds: Words = (),
    counts: Annotated[tuple[int, ...], Parameter(negative=())] = (),
    reason: str | None = None,
    frame: str | None = None,
    question: str | None = None,
    evidence: Literal["last frame", "whole clip"] | None = None,
    null: Words = (),
    rollouts: int = 32,
) -> int:
    """Begin a scene: asks for outcomes, odds, their reason and the frame, and writes it into the suite of a folder.

    What a flag gives is not asked. Without a terminal all answers come from flags.

    Parameters
    ----------
    folder
        The suite's folder; a suite is begun where there is none.
    id_
        The scene's id, which is also its file's name.
    title
        What a report calls it.
    prompt
        The action prompt that a model is given.
    outcome
        An outcome; give it once for each.
    odds
        The odds of an outcome such as 1/3, in the order of the outcomes; none at all for equal odds.
    counts
        How often an experiment showed an outcome, in the order of the outcomes, in place of odds: they are then
        uncertain, and every test allows for that.
    reason
        Why the odds hold, given what the frame shows; an empty one says that the odds are not known. With counts: whose
        experiment it was.
    frame
        A picture that is copied into the suite; an empty one for a scene that is scored only.
    question
        What a reader is asked of a clip.
    evidence
        Whether the last frame or the whole clip is read.
    null
        A null rule as name:kind:rule, the kind unreadable or out_of_schema; three common ones are written without it.
    rollouts
        Rollouts a scene, for a suite that is begun.
    """
    from worldodds.scene_draft import NULLS, Draft, add_scene

    outcomes = outcome or _ask_words("outcome", "Outcomes, with commas between")
    picture = _ask("frame", "First frame, a picture (empty: none)", frame, empty=True)
    name, called = _ask("id", "Short name of the scene (its file)", id_), _ask("title", "Title", title)
    action = _ask("prompt", "Prompt: one action that ends in one of the outcomes", prompt)
    odds, counts, why = _ask_odds(odds, counts, reason)
    draft = Draft(
        id=name,
        title=called,
        prompt=action,
        outcomes=outcomes,
        odds=odds,
        counts=counts,
        reason=why,
        question=_ask("question", "Question to a reader, naming the outcomes", question),
        evidence=evidence or "last frame",
        frame=Path(picture) if picture else None,
        nulls=tuple(map(_null, null)) or NULLS,
    )
    suite = add_scene(draft, folder, rollouts=rollouts)
    scenes_now = "1 scene" if len(suite.scenes) == 1 else f"{len(suite.scenes)} scenes"
    print(f"Written: {folder / draft.id}.toml; suite {suite.id!r} now holds {scenes_now}.")
    print(f"Check it: worldodds scene check {folder}")
    return 0


def _ask(flag: str, what: str, given: str | None, *, empty: bool = False) -> str:
    """Return what a flag gave, else ask for it until there is an answer; without a terminal, what may be empty is."""
    while given is None:
        if not sys.stdin.isatty():
            if empty:
                return ""
            raise InputError(f"--{flag} is missing, and there is no terminal to ask at")
        answer = input(f"{what}: ").strip()
        given = answer if answer or empty else None
    return given


def _ask_words(flag: str, what: str, *, empty: bool = False) -> tuple[str, ...]:
    answer = _ask(flag, what, None, empty=empty)
    return tuple(word for part in answer.split(",") if (word := part.strip()))


def _ask_odds(
    odds: tuple[str, ...], counts: tuple[int, ...], reason: str | None
) -> tuple[tuple[str, ...], tuple[int, ...], str]:
    """Ask for what the flags left open: odds, else what an experiment showed, and the reason or the source."""
    if not odds and not counts:
        odds = _ask_words("odds", "Odds in that order, such as 2/3, 1/3; or counted 81, 51 (empty: equal)", empty=True)
    if odds and odds[0].startswith("counted"):
        words = [odds[0].removeprefix("counted").strip(), *odds[1:]]
        if wrong := [word for word in words if not word.isdecimal()]:
            raise InputError(f"counted: {wrong[0]!r} is not a whole number; write it as counted 81, 51")
        odds, counts = (), tuple(map(int, words))
    why = "Whose experiment was it" if counts else "Why the odds hold (empty: they are not known)"
    return odds, counts, _ask("reason", why, reason, empty=True)


def _null(text: str) -> NullRule:
    from worldodds.scene import NullRule

    match text.split(":", 2):
        case [str(name), ("unreadable" | "out_of_schema") as kind, str(rule)] if name.strip() and rule.strip():
            return NullRule(name=name.strip(), kind=kind, rule=rule.strip())
        case _:
            raise InputError(f"--null {text!r}: write name:kind:rule, the kind unreadable or out_of_schema")
