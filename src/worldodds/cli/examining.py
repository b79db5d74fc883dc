"""The entrance exam for readers."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from worldodds.cli.whole import Count
from worldodds.errors import InputError

if TYPE_CHECKING:
    from worldodds.exam.sitting import Answer
    from worldodds.interop.exam_json import ExamDocument
    from worldodds.protocols import Generator, HostedGenerator, Reader
    from worldodds.scene import Scene

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
    certificate: Path | None = None,
) -> int:
    """Examine a reader on simulated clips whose truth is known: clean, degraded, and with nothing to tell.

    An exam under all conditions ends in a certificate, which score and report quote wherever this version of the
    reader, with these settings, has read the clips.

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
    certificate
        Write the certificate to this file instead of among the user's (WORLDODDS_CERTIFICATES names another folder).
    """
    from worldodds.cli.counting import counting
    from worldodds.exam.sitting import check_sitting, sit
    from worldodds.interop.exam_json import exam_document
    from worldodds.registry import make_generator, make_reader, parse_settings
    from worldodds.suites import find_suite
    from worldodds.worlds import WORLDS

    scenes = find_suite("calibench").only(scene or tuple(WORLDS)).scenes
    maker = make_generator(generator, parse_settings(generator_settings))
    part = make_reader(reader, parse_settings(reader_settings))
    if condition and certificate is not None:
        raise InputError("--certificate takes the whole exam: leave out --condition")
    check_sitting(maker, scenes, n, condition)
    _announce(part, scenes, n, condition)
    began = time.monotonic()
    with counting(f"{part.name}: clips shown under each condition") as watch:
        answers = sit(part, maker, scenes, n, conditions=condition, first_seed=first_seed, workers=workers, watch=watch)
    sitting = _Sitting(part, maker, scenes, n, first_seed, time.monotonic() - began)
    document = exam_document(
        answers,
        scenes,
        reader=(part.name, part.settings),
        generator=(maker.name, maker.settings),
        n=n,
        first_seed=first_seed,
    )
    if json:
        from worldodds.interop.json_text import as_json

        print(as_json(document))
    else:
        _print_exam(document)
    if not condition:
        _certify(answers, sitting, certificate, quiet=json)
    if output is not None:
        from worldodds.report.exam_page import write_exam_page

        write_exam_page(document, answers, scenes, output)
        if not json:
            print(f"\nThe page with every misread clip: {output}")
    return 0


class _Sitting(NamedTuple):
    """Who sat which exam, and how long it took."""

    reader: Reader
    generator: Generator | HostedGenerator
    scenes: Sequence[Scene]
    n: int
    first_seed: int
    seconds: float


def _announce(part: Reader, scenes: Sequence[Scene], n: int, conditions: Sequence[str]) -> None:
    """Say how much there is to read, before the first clip is filmed."""
    from worldodds.exam.staging import conditions_of
    from worldodds.protocols import WaitingReader

    clips = n * sum(not conditions or name in conditions for scene in scenes for name in conditions_of(scene))
    of = "1 scene" if len(scenes) == 1 else f"{len(scenes)} scenes"
    motions = n * len(scenes)
    told = f"{motions} motion{'s' * (motions != 1)} of {of}, {clips:,} clip{'s' * (clips != 1)}"
    if isinstance(part, WaitingReader):
        votes = int(part.settings.get("votes") or 1)
        least, most = clips * (votes // 2 + 1), clips * votes
        told += f", {least:,} questions" if least == most else f", {least:,} to {most:,} questions"
        told += f" with {part.in_flight} at once"
    print(f"exam: {told}", file=sys.stderr, flush=True)


def _certify(answers: Sequence[Answer], sitting: _Sitting, into: Path | None, *, quiet: bool) -> None:
    """Make the certificate, keep it, and say what it says."""
    from datetime import UTC, datetime

    from worldodds.certificates import keep
    from worldodds.interop.certificate_json import certificate_of, write_certificate
    from worldodds.judge_words import certificate_lines

    document = certificate_of(
        answers,
        sitting.scenes,
        reader=sitting.reader,
        generator=(sitting.generator.name, sitting.generator.settings),
        n=sitting.n,
        first_seed=sitting.first_seed,
        made_at=datetime.now(UTC),
        seconds=sitting.seconds,
    )
    path = into or keep(document)
    if into is not None:
        write_certificate(document, into)
    if not quiet:
        print("\n" + "\n".join(certificate_lines(document)))
    print(f"certificate: {path}", file=sys.stderr if quiet else sys.stdout)


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
