"""Commands for people who label clips: the page, and labels in and out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from worldodds.labelling.session import Session

Scenes = Annotated[tuple[str, ...], Parameter(negative=())]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
Browser = Annotated[bool, Parameter(name="--browser", negative="--no-browser")]


def label(
    folder: Path,
    /,
    *,
    annotator: str | None = None,
    sample: int | None = None,
    per: Literal["scene", "run"] = "scene",
    scene: Scenes = (),
    seed: int | None = None,
    port: int = 0,
    browser: Browser = True,
) -> int:
    """Label clips of a run by hand, on a page in your browser; every answer is saved at once, as a reading.

    The same command again goes on where it stopped. Score the labels with --reader people/NAME.

    Parameters
    ----------
    folder
        The run's folder.
    annotator
        Who labels; your login name by default. Labels are readings by people/NAME.
    sample
        Label only this many clips, drawn by the seed; all by default.
    per
        Draw the sample from each scene, or from the whole run.
    scene
        Label only this scene; may be given more than once.
    seed
        Of the draw and the shuffle; recorded in the run, where the last one is the default (0 at first).
    port
        Of the page, on this machine only; a free one by default.
    browser
        Open the page in the browser, or only print its address.
    """
    from worldodds.labelling.server import LabelServer
    from worldodds.labelling.session import open_session

    session = open_session(folder, annotator or _login(), sample=sample, per=per, scene_ids=scene, seed=seed)
    with LabelServer(session, folder, port) as server:
        _greet(session, server.url, browser=browser)
        try:
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            print()
    return _part(session, folder)


def label_export(
    folder: Path,
    /,
    *,
    output: Output,
    annotator: Scenes = (),
    sample: int | None = None,
    per: Literal["scene", "run"] = "scene",
    scene: Scenes = (),
    seed: int | None = None,
    clips: Path | None = None,
    url: str = "clips/",
) -> int:
    """Write clips and labels of a run as Label Studio tasks, blind: no model, no seed, no index. For CSV use export.

    Parameters
    ----------
    folder
        The run's folder.
    output
        The tasks' file, ending in .json; the project's labelling interface is written beside it, ending in .xml.
    annotator
        Whose labels to write, may be given more than once; everyone's by default.
    sample
        As for label.
    per
        As for label.
    scene
        As for label.
    seed
        As for label.
    clips
        Copy the clips into this folder, under names that say nothing.
    url
        What stands before a clip's name in the tasks: where Label Studio finds the copies.
    """
    from worldodds.labelling.exchange import export_tasks

    tasks, labels = export_tasks(
        folder, output, annotators=annotator, sample=sample, per=per, scene_ids=scene, seed=seed, clips=clips, url=url
    )
    print(f"{tasks} clips with {labels} labels in {output}; the labelling interface: {output.with_suffix('.xml')}")
    return 0


def label_import(folder: Path, file: Path, /, *, annotator: str | None = None) -> int:
    """Take labels into a run, from Label Studio's JSON or a table (.csv, .jsonl, .parquet), as readings.

    Parameters
    ----------
    folder
        The run's folder.
    file
        Label Studio's export (JSON), or a table as export writes it.
    annotator
        Whose labels they are, where the file does not say or says otherwise.
    """
    from worldodds.labelling.exchange import import_labels

    taken = import_labels(folder, file, annotator)
    for reader, (new, same) in sorted(taken.items()):
        print(
            f"{reader}: {new} labels taken in, {same} known already; score: worldodds score {folder} --reader {reader}"
        )
    return 0


def _login() -> str:
    import getpass
    import re

    return re.sub(r"[^A-Za-z0-9._-]", "-", getpass.getuser()).lstrip("._-")[:40] or "me"


def _greet(session: Session, url: str, *, browser: bool) -> None:
    open_clips = len(session.sheet.tasks) - session.done
    print(f"{len(session.sheet.tasks)} clips for {session.sheet.reader}, {open_clips} without an answer.")
    print(f"The page: {url}", flush=True)
    print("It works on this machine only; Ctrl-C ends it, and nothing is lost.", flush=True)
    if browser:
        import webbrowser

        webbrowser.open(url)


def _part(session: Session, folder: Path) -> int:
    """Say what is done and what comes next; the exit code says whether clips are left."""
    total, reader = len(session.sheet.tasks), session.sheet.reader
    print(f"{session.done} of {total} clips labelled by {reader}.")
    if session.done:
        print(f"Score them: worldodds score {folder} --reader {reader}")
    return 0 if session.done == total else 3
