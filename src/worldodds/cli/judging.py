"""Commands that look after judges: their votes, their trust in clips, and whether they have changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from worldodds.scorecard import Scorecard

Flag = Annotated[bool, Parameter(negative=())]


def votes(source: Path, /, *, suite: str | None = None, reader: str | None = None) -> int:
    """Tell how the votes of a reader agree among themselves, scene by scene, and how many were not needed.

    Parameters
    ----------
    source
        As for score.
    suite
        A suite's name or its folder; a run's own by default, else calibench.
    reader
        Whose votes, where the source was read by several.
    """
    from worldodds.cli.screen import console, table
    from worldodds.report.words import number, percent
    from worldodds.sources import load
    from worldodds.votes import votes_of

    shown = table("model", "scene", ">clips", ">votes asked", ">saved", ">unanimous", ">alpha")
    for cell in votes_of(load(source, suite=suite, reader=reader)):
        saved = 1 - cell.asked / cell.planned if cell.planned else 0.0
        asked, unanimous = f"{cell.asked}/{cell.planned}", f"{cell.unanimous}/{cell.clips}"
        shown.add_row(cell.model, cell.scene, str(cell.clips), asked, percent(saved), unanimous, number(cell.alpha, 2))
    console().print(shown)
    return 0


def trust(folder: Path, /, *, reader: str | None = None, auditor: str | None = None) -> int:
    """Show the audits of trust beside the score: of all clips, and of the trusted ones alone.

    Parameters
    ----------
    folder
        The run's folder, read by a reader such as trust/vlm/MODEL beside the one that reads outcomes.
    reader
        Whose outcomes count, where the run was read by several.
    auditor
        Whose audits, where there are several.
    """
    from worldodds.cli.screen import console, table
    from worldodds.readers.vlm.trust import STATUSES
    from worldodds.report.words import number
    from worldodds.trusted import NOT_AUDITED, trust_beside

    found = trust_beside(folder, reader=reader, auditor=auditor)
    kinds = (*STATUSES, NOT_AUDITED)
    shown = table(
        "scene", *(f">{kind}" for kind in kinds), ">TV, all", ">TV, trusted", ">score, all", ">score, trusted"
    )
    for scene, counts in found.audits.items():
        (tv, score), (tv_kept, score_kept) = (_of(card, scene) for card in (found.all_clips, found.trusted_clips))
        seen = (str(counts.get(kind, 0)) for kind in kinds)
        shown.add_row(scene, *seen, number(tv), number(tv_kept), number(score), number(score_kept))
    screen = console()
    screen.print(f"audited by {found.auditor}; the score is that of all clips", markup=False)
    screen.print(shown)
    return 0


def _of(card: Scorecard | None, scene: str) -> tuple[float | None, float | None]:
    """Return TV and score of a scene, None where it has no clips left."""
    for cell in card.cells if card else ():
        if cell.measurement.scene.id == scene:
            deviation = cell.measurement.deviation
            return (deviation.tv if deviation else None), cell.measurement.score
    return None, None


def drift(
    folder: Path,
    /,
    *,
    reader: str,
    reader_settings: Annotated[tuple[str, ...], Parameter(name="-R", negative=())] = (),
    n: Annotated[int, Parameter(name="-n")] = 30,
    level: float = 0.01,
) -> int:
    """Ask a judge again about clips that it has read, and tell whether it answers otherwise than it did.

    Leaves with 3 where it does, or where another version is served under the same name.

    Parameters
    ----------
    folder
        The run's folder.
    reader
        The judge, with the settings that it was used with.
    reader_settings
        A setting of the judge, key=value; may be given more than once.
    n
        How many clips; each is asked about twice.
    level
        Raise the alarm where a judge that has not changed would look so with at most this probability.
    """
    from worldodds.cli.screen import console
    from worldodds.drift import rejudge
    from worldodds.errors import InputError
    from worldodds.registry import make_reader, parse_settings
    from worldodds.report.words import p_value
    from worldodds.store import RunStore, need_run

    if n < 1 or not 0 < level < 1:
        raise InputError(f"-n {n}, --level {level:g}: give 1 clip or more, and a level between 0 and 1")
    need_run(folder)
    with RunStore(folder) as store:
        found = rejudge(store, make_reader(reader, parse_settings(reader_settings)), clips=n)
    test, screen = found.test, console()
    alarm = test.p_value <= level
    word = "answers otherwise than it did" if alarm else "shows no change"
    split = f"of {test.splits} clips answered two to one, the old answer stands alone in {test.odd}"
    screen.print(f"{found.reader} {word}: {test.clips} clips, {split} (p = {p_value(test.p_value)})", markup=False)
    for line in found.changed:
        screen.print(f"  {line}", markup=False)
    other = bool(found.before and found.now and found.before != found.now)
    if other:
        screen.print(f"served as {', '.join(found.now)}; before as {', '.join(found.before)}", markup=False)
    if found.failed:
        screen.print(f"{found.failed} clips could not be read again")
    return 3 if alarm or other or found.failed else 0
