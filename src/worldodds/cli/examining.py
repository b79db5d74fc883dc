"""The entrance exam for readers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from worldodds.cli.whole import Count

if TYPE_CHECKING:
    from worldodds.interop.exam_json import ExamDocument

Settings = tuple[str, ...]
Names = Annotated[tuple[str, ...], Parameter(negative=())]


def exam(
    *,
    reader: str,
    generator: str = "simulator/fair",
    n: Count = 200,
    scene: Names = (),
    condition: Names = (),
    first_seed: int = 50_000,
    generator_settings: Annotated[Settings, Parameter(name="-G", negative=())] = (),
    reader_settings: Annotated[Settings, Parameter(name="-R", negative=())] = (),
    workers: int | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> int:
    """Examine a reader on simulated clips whose truth is known: clean, degraded, and with nothing to tell.

    Parameters
    ----------
    reader
        Who is examined, such as tracker.
    generator
        The simulated world model whose clips are read.
    n
        Clips of each scene under each condition.
    scene
        Only this scene; may be given more than once.
    condition
        Only this condition, such as clean, dark or hidden; may be given more than once.
    first_seed
        Seeds are this and the following ones.
    generator_settings
        A setting of the generator, key=value; may be given more than once.
    reader_settings
        A setting of the reader, key=value; may be given more than once.
    workers
        How many clips at once; one a core by default.
    json
        Print a JSON document (format worldodds.exam/1).
    output
        Write a page with confusion matrices and every misread clip.
    """
    from worldodds.cli.counting import counting
    from worldodds.exam.sitting import sit
    from worldodds.interop.exam_json import exam_document
    from worldodds.registry import make_generator, make_reader, parse_settings
    from worldodds.suites import find_suite
    from worldodds.worlds import WORLDS

    scenes = find_suite("calibench").only(scene or tuple(WORLDS)).scenes
    maker = make_generator(generator, parse_settings(generator_settings))
    part = make_reader(reader, parse_settings(reader_settings))
    with counting(f"{part.name}: clips shown under each condition") as watch:
        answers = sit(part, maker, scenes, n, conditions=condition, first_seed=first_seed, workers=workers, watch=watch)
    document = exam_document(
        answers,
        scenes,
        reader=(part.name, part.settings),
        generator=(maker.name, maker.settings),
        n=n,
        first_seed=first_seed,
    )
    if json:
        from worldodds.interop.worlds_json import as_json

        print(as_json(document))
    else:
        _print_exam(document)
    if output is not None:
        from worldodds.report.exam_page import write_exam_page

        write_exam_page(document, answers, scenes, output)
        if not json:
            print(f"\nThe page with every misread clip: {output}")
    return 0


def _print_exam(document: ExamDocument) -> None:
    from worldodds.cli.screen import console, table

    rows = table("scene", "condition", ">n", ">agree", ">95%", ">false null", ">missed null", ">wrong label", ">failed")
    for scene, conditions in document.scenes.items():
        for name, entry in conditions.items():
            low, high = entry.agree_interval
            counts = (entry.false_null, entry.missed_null, entry.wrong_label, entry.failed)
            span = f"{100 * low:.1f} to {100 * high:.1f}%"
            rows.add_row(scene, name, str(entry.n), str(entry.agree), span, *(str(count or "·") for count in counts))
    screen = console()
    screen.print(rows)
    screen.print(f"\n{document.validated.capitalize()}. Where a null is right, either null agrees.")
