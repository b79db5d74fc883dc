"""What is said of a judge, in the same sentences on the screen and on the page."""

from __future__ import annotations

from collections.abc import Sequence

from worldodds.certificates import Quote, Quoted
from worldodds.exam.grades import Grade
from worldodds.interop.certificate_json import CertificateDocument
from worldodds.judged import JUDGES
from worldodds.judges import Judge

UNEXAMINED = "no certificate: nobody has examined it here (worldodds exam --reader {name})"


def quote_words(judge: Judge, quoted: Quote | None) -> str:
    """Say what a certificate says of the reader of these clips, or why none speaks for it."""
    if quoted is None:
        return UNEXAMINED.format(name=judge.name) if may_sit(judge.name) else "no certificate"
    if quoted.standing != "certified" or quoted.grade is None:
        return f"no certificate speaks for it: {quoted.why}"
    on = f"certified on {quoted.grade.n:,} simulated clips: {grade_words(quoted.grade)}"
    left = f"; not examined in {', '.join(quoted.left_out)}" if quoted.left_out else ""
    return f"{on}; {quoted.document.validated}{left}"


def may_sit(name: str) -> bool:
    """Say whether a reader is one of those that an exam can be held with here: no person, no judge of a paper's.

    >>> may_sit("tracker"), may_sit("vlm/some-model"), may_sit("people/ada")
    (True, True, False)
    """
    return name.partition("/")[0] in ("tracker", *JUDGES)


def screen_lines(model: str, judges: Sequence[Quoted]) -> list[str]:
    """Say who read a model and what is certified of it: of models always, of others where there is a certificate."""
    lines: list[str] = []
    for judge, found in judges:
        asked = judge.name.partition("/")[0] in JUDGES
        if model in judge.models and (found or asked):
            served = f" (served as {' and '.join(judge.spent.served)})" if judge.spent.served else ""
            lines.append(f"read by {judge.name}{served}, {quote_words(judge, found)}")
    return lines


def grade_words(graded: Grade) -> str:
    """Say how much is right, and how many of the labels given are not true.

    >>> counts = {"false_null": (2, 150), "missed_null": (0, 50), "wrong_label": 1, "failed": 0}
    >>> grade_words(Grade(n=200, right=197, false_labels=(1, 149), weight=200.0, **counts))
    '98.5% right (95.7 to 99.7), false readings 0.7%'
    """
    spread = graded.interval
    right = f"{100 * graded.right / graded.n:.1f}% right ({100 * spread.low:.1f} to {100 * spread.high:.1f})"
    wrong, given = graded.false_labels
    return f"{right}, false readings {100 * wrong / given:.1f}%" if given else f"{right}, no label given"


def asked_words(calls: int, tokens: tuple[int | None, int | None], cost_usd: float | None, untold: int = 0) -> str:
    """Say what reading took.

    >>> asked_words(1200, (90_000, None), 0.6)
    '1,200 calls, 90,000 tokens in, 0.60 USD'
    >>> asked_words(0, (None, None), None)
    'no calls: it reads on this machine'
    """
    if not calls:
        return "no calls: it reads on this machine"
    told = [f"{calls:,} calls"]
    told += [f"{n:,} tokens {way}" for n, way in zip(tokens, ("in", "out"), strict=True) if n is not None]
    cost = "cost not told" if cost_usd is None else f"{cost_usd:.2f} USD" if cost_usd >= 0.01 else f"{cost_usd:.4f} USD"
    return ", ".join([*told, cost + (f" ({untold} calls told none)" if untold and cost_usd is not None else "")])


def certificate_lines(document: CertificateDocument) -> list[str]:
    """Say what a certificate says, in a few lines."""
    graded = document.total.grade()
    served = f" as {' and '.join(document.served)}" if document.served else ""
    spent = asked_words(document.calls, (document.input_tokens, document.output_tokens), document.cost_usd)
    votes = document.votes
    advice = f"votes: {votes.recommended} recommended" if votes.recommended else "votes: no number recommended"
    return [
        f"{document.reader}{served}, certified on {graded.n:,} simulated clips: {grade_words(graded)}",
        f"at most {100 * graded.error_bound:.1f}% of its labels are false, at 95% confidence",
        f"{spent}, {document.seconds:.0f} s",
        f"{advice}: {votes.reason}",
    ]
