"""Commands that measure the readers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.table import Table

    from worldodds.audit import Agreement, Audit, SceneAudit
    from worldodds.disputes import Dispute
    from worldodds.statistics.judge import ErrorRate

Flag = Annotated[bool, Parameter(negative=())]
MOST_SHOWN = 40


def audit(
    source: Path,
    /,
    *,
    truth: str,
    suite: str | None = None,
    reader: str | None = None,
    json: Flag = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative=())] = False,
) -> int:
    """Hold a reader against a truth: how often it agrees, and which way it errs, scene by scene.

    Parameters
    ----------
    source
        What was read: a run folder, a table of outcomes, or the word published.
    truth
        What is taken as right: a table of labels, a run folder, the name of another reader of the same source, or
        the word human for the labels by people that the suite ships.
    suite
        A suite's name or its folder; a run's own by default, else calibench.
    reader
        Who is measured, where the source was read by several.
    json
        Print everything as JSON (format worldodds.audit/1).
    output
        Write a page with everything, and every disputed clip to look at, beside both answers.
    verbose
        Print the confusion matrix of every scene, and the intervals.
    """
    from worldodds.audit_sources import audit_read
    from worldodds.disputes import disputes_of

    found, read = audit_read(source, truth, suite=suite, reader=reader)
    disputes = disputes_of(found, read.rows, read.clips)
    if json:
        from worldodds.interop.audit_json import audit_json

        print(audit_json(found, disputes))
    else:
        _print(found, disputes, verbose=verbose)
    if output is not None:
        from worldodds.report.audit_page import write_audit_page

        write_audit_page(found, disputes, output)
        if not json:
            print(f"\nThe page: {output.resolve()}")
    return 3 if found.unread else 0


def _print(found: Audit, disputes: Sequence[Dispute], *, verbose: bool) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from worldodds.cli.screen import console

    screen = console()
    overall = found.overall
    sure = overall.interval()
    screen.print(Text.assemble((found.reader or "reader", "bold"), " against ", (found.truth or "truth", "bold")))
    share = f"{overall.agree} of {overall.n} clips read alike, {overall.agree / overall.n:.1%}"
    screen.print(f"{share} ({sure.level:.0%} interval {sure.low:.1%} to {sure.high:.1%})")
    screen.print(Padding(_scenes(found), (1, 0, 0, 2), expand=False))
    if verbose:
        screen.print(Padding(_intervals(found), (1, 0, 0, 2), expand=False))
    for scene in found.scenes if verbose else ():
        screen.print(Padding(_confusion(scene), (1, 0, 0, 2), expand=False))
    if disputes:
        screen.print("\nRead otherwise:")
        screen.print(Padding(_disputed(disputes[:MOST_SHOWN]), (0, 0, 0, 2), expand=False))
    if (more := len(found.disagreements) - MOST_SHOWN) > 0:
        screen.print(f"  and {more} more; --json lists all, --output shows them")
    if found.unmatched:
        screen.print(f"{found.unmatched} labels are of clips that are not in the source.")
    for name in found.unread[:MOST_SHOWN]:
        screen.print(Text(f"open: {name}: not read", style="yellow"))


def _disputed(disputes: Sequence[Dispute]) -> Table:
    from rich.text import Text

    from worldodds.cli.screen import table

    clips = any(dispute.clip for dispute in disputes)
    shown = table("scene", "model", ">seed", "read", "truth", *(["clip"] if clips else []))
    for dispute in disputes:
        pair = dispute.pair
        read = f"{pair.read or 'null'}{f' ({dispute.reason})' if dispute.reason else ''}"
        cells = (pair.scene, pair.model, str(pair.seed), read, pair.truth or "null")
        shown.add_row(*map(Text, cells), *([Text(str(dispute.clip or ""), overflow="fold")] if clips else []))
    return shown


def _intervals(found: Audit) -> Table:
    from worldodds.cli.screen import table

    shown = table("95% intervals", ">agree", ">false null", ">missed null", ">wrong label", ">kappa", ">alpha")
    for name, a in (*((scene.scene.id, scene.agreement) for scene in found.scenes), ("all", found.overall)):
        rates = (a.errors.false_null, a.errors.missed_null, a.errors.wrong_label)
        shares = [a.interval(), *(rate.interval() if rate.trials else None for rate in rates)]
        spans = [f"{100 * s.low:.0f} to {100 * s.high:.0f}%" if s else "–" for s in shares]
        spans += [f"{s.low:.2f} to {s.high:.2f}" if s else "–" for s in (a.kappa_interval, a.alpha_interval)]
        shown.add_row(name, *spans, style="bold" if name == "all" else "")
    return shown


def _scenes(found: Audit) -> Table:
    from worldodds.cli.screen import table

    shown = table("scene", ">agree", ">false null", ">missed null", ">wrong label", ">kappa", ">alpha")
    for scene in found.scenes:
        shown.add_row(scene.scene.id, *_row(scene.agreement))
    shown.add_row("all", *_row(found.overall), style="bold")
    return shown


def _row(agreement: Agreement) -> tuple[str, ...]:
    from worldodds.report.words import number

    errors = agreement.errors
    rates = (errors.false_null, errors.missed_null, errors.wrong_label)
    coefficients = number(agreement.kappa, 2), number(agreement.alpha, 2)
    return f"{agreement.agree}/{agreement.n}", *(_rate(rate) for rate in rates), *coefficients


def _rate(rate: ErrorRate) -> str:
    return f"{rate.errors}/{rate.trials}"


def _confusion(scene: SceneAudit) -> Table:
    from worldodds.cli.screen import table

    answers = [*scene.scene.labels, "null"]
    shown = table("truth \\ read", *(f">{answer}" for answer in answers), title=scene.scene.id)
    for answer, counts in zip(answers, scene.confusion, strict=True):
        shown.add_row(answer, *(str(count) if count else "·" for count in counts))
    return shown
