"""The tracker's entrance exam on all scenes, kept as one JSON document a scene and a table of them all.

    python benchmarks/readers.py [-n 200] [--scenes dice ball] [--workers 2] [--conditions clean hidden]
    python benchmarks/readers.py -n 8 --certificate src/worldodds/certified/tracker.json

Writes benchmarks/results/exam/<scene>-v<version>.json as soon as a scene is done, and benchmarks/results/readers.md
from all that lie there, of any version. With --conditions only these are sat, into a file with the first one's name
added; the table takes the larger n of a condition. `-n 0` only writes the table again. The certificate is of all scenes
sat so far: what the package ships.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worldodds.exam.optics import DEGRADATIONS
from worldodds.exam.sitting import CLEAN, FIRST_SEED, Answer, sit
from worldodds.generators.simulator import simulator
from worldodds.interop.certificate_json import CertificateDocument, certificate_of, write_certificate
from worldodds.interop.exam_json import exam_document
from worldodds.interop.json_text import as_json
from worldodds.readers.tracker import VERSION, Tracker
from worldodds.report.exam_page import write_exam_page
from worldodds.statistics.agreement import share_interval
from worldodds.suites import find_suite
from worldodds.worlds import WORLDS

RESULTS = Path(__file__).parent / "results"
HEAD = """# The tracker's entrance exam

Clips of `simulator/fair` on fresh seeds, 640x480; the tracker sees decoded pixels only. **Validated on simulated clips
only.** *Degraded* is the sum over nine conditions, *nothing to tell* over the null rules that the scene's world can
stage. Cells are clips, with Clopper-Pearson intervals at 95%. Either null is right where nothing can be told. All
conditions apart: `results/exam/*.json`, and `worldodds exam --reader tracker`.

*Version* is the tracker's, several where conditions were sat by several. Version 2 also sees a card whose halves show
two suits; version 3 also a roulette pocket painted over, and a mark on a lottery ball that is none of its numbers.

| scene | version | clips | clean, right | degraded, right | degraded, wrong | nothing to tell, right | false readings |
|---|---|---|---|---|---|---|---|"""


def main() -> None:
    """Sit the exam scene by scene, and write what there is after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("--scenes", nargs="*", default=list(WORLDS))
    parser.add_argument("--workers", type=int)
    parser.add_argument("--conditions", nargs="*", default=())
    parser.add_argument("--certificate", type=Path, help="where to write the tracker's certificate")
    parser.add_argument("--pages", type=Path, help="a folder for the pages with misread clips")
    options = parser.parse_args()
    began, answers = time.monotonic(), list[Answer]()
    for sat, scene in enumerate(options.scenes if options.n else [], 1):
        answers += examine(scene, options.n, options.workers, options.pages, options.conditions)
        write_table()
        if options.certificate:
            document = certified(answers, options.scenes[:sat], options.n, time.monotonic() - began)
            write_certificate(document, options.certificate)
    write_table()


def examine(
    name: str, n: int, workers: int | None, pages: Path | None, conditions: Sequence[str]
) -> tuple[Answer, ...]:
    """Examine the tracker on one scene and keep the document."""
    scenes, maker, reader = [find_suite("calibench").scene(name)], simulator("fair"), Tracker()
    answers = sit(reader, maker, scenes, n, workers=workers, conditions=conditions)
    document = exam_document(
        answers,
        scenes,
        reader=(reader.name, reader.settings),
        generator=(maker.name, maker.settings),
        n=n,
        first_seed=FIRST_SEED,
    )
    (RESULTS / "exam").mkdir(exist_ok=True)
    file = "-".join([name, f"v{VERSION}", *conditions[:1]]) + ".json"
    (RESULTS / "exam" / file).write_text(as_json(document) + "\n", encoding="utf-8")
    if pages:
        write_exam_page(document, answers, scenes, pages / f"{name}.html")
    print(name, {condition: entry.agree for condition, entry in document.scenes[name].items()}, flush=True)
    return answers


def certified(answers: Sequence[Answer], scenes: Sequence[str], n: int, seconds: float) -> CertificateDocument:
    """Return the tracker's certificate."""
    maker = simulator("fair")
    return certificate_of(
        answers,
        find_suite("calibench").only(scenes).scenes,
        reader=Tracker(),
        generator=(maker.name, maker.settings),
        n=n,
        first_seed=FIRST_SEED,
        made_at=datetime.now(UTC),
        seconds=seconds,
    )


def write_table() -> None:
    """Write the table of all documents there are, and the conditions that some clip was misread under."""
    rows: list[str] = []
    remarks: list[str] = []
    now: list[dict[str, Any]] = []
    for scene in find_suite("calibench").scene_ids:
        conditions: dict[str, Any] = {}
        for path in sorted((RESULTS / "exam").glob(f"{scene}-v*.json")):
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["reader_settings"]["version"] == VERSION:
                now += document["scenes"][scene].values()
            for name, entry in document["scenes"][scene].items():
                if name not in conditions or entry["n"] > conditions[name]["n"]:
                    conditions[name] = {**entry, "version": document["reader_settings"]["version"]}
        if conditions:
            rows.append(_row(scene, conditions))
            remarks += _remarks(scene, conditions)
    if now:
        kinds = ("agree", "false_null", "missed_null", "wrong_label")
        clips, right, false_null, missed, wrong = (sum(entry[kind] for entry in now) for kind in ("n", *kinds))
        found = (
            f"{right:,} of {clips:,} clips right; false nulls: {false_null}, false readings: {missed}, wrong: {wrong}"
        )
        rows += ["", f"By version {VERSION} alone, the present one: {found}."]
    told = "\n".join(["", "Conditions under which a clip was not read right:", "", *remarks]) if remarks else ""
    (RESULTS / "readers.md").write_text("\n".join([HEAD, *rows, told]).rstrip() + "\n", encoding="utf-8")


def _row(scene: str, conditions: dict[str, Any]) -> str:
    clean = [conditions[CLEAN]]
    degraded = [entry for name, entry in conditions.items() if name in DEGRADATIONS]
    nothing = [entry for name, entry in conditions.items() if name != CLEAN and name not in DEGRADATIONS]
    cells = (
        ", ".join(sorted({str(entry["version"]) for entry in conditions.values()})),
        str(sum(entry["n"] for entry in conditions.values())),
        _share(clean, "agree"),
        _share(degraded, "agree"),
        _share(degraded, "wrong_label"),
        _share(nothing, "agree"),
        _share(nothing, "missed_null"),
    )
    return f"| `{scene}` | {' | '.join(cells)} |"


def _share(entries: Iterable[dict[str, Any]], what: str) -> str:
    entries = list(entries)
    hits, n = sum(entry[what] for entry in entries), sum(entry["n"] for entry in entries)
    if n == 0:
        return "–"
    spread = share_interval(hits, n)
    return f"{hits} of {n} ({100 * spread.low:.1f} to {100 * spread.high:.1f}%)"


def _remarks(scene: str, conditions: dict[str, Any]) -> Iterator[str]:
    for name, entry in conditions.items():
        kinds = ("false_null", "missed_null", "wrong_label", "failed")
        wrong = [f"{entry[kind]} {kind.replace('_', ' ')}" for kind in kinds if entry[kind]]
        if wrong:
            yield f"- `{scene}`, {name.replace('_', ' ')}: {', '.join(wrong)} of {entry['n']}"


if __name__ == "__main__":
    main()
