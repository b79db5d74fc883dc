"""What the numbers are called in plain words: the same sentences on the screen and on the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from worldodds.early import NOT_COMPARABLE, EarlyCell
from worldodds.headline import Robustness
from worldodds.judged import Judged
from worldodds.scorecard import Cell, Scorecard, Verdict
from worldodds.statistics.interval import Interval
from worldodds.statistics.inversion import Population
from worldodds.statistics.robustness import MOST_WRONG_LABELS
from worldodds.tally import Tally

VERDICTS: tuple[Verdict, ...] = ("miscalibrated", "undecided", "calibrated", "illegible")
NOTHING = "–"


def number(value: float | None, digits: int = 3) -> str:
    """Write a number with a fixed count of decimals and a true minus; a dash for None.

    >>> number(-0.0421), number(None), number(-0.0001)
    ('−0.042', '–', '0.000')
    """
    if value is None:
        return NOTHING
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def percent(share: float) -> str:
    """Write a share in percent, with a decimal only where it is small.

    >>> percent(0.5), percent(0.027), percent(0.0009765625)
    ('50%', '2.7%', '0.098%')
    """
    value = 100 * share
    return f"{value:.0f}%" if value >= 10 or value == 0 else f"{value:.2g}%"


def p_value(p: float | None) -> str:
    """Write a p-value: three decimals, below 0.001 in powers of ten; 0 only where the odds rule out what was seen.

    >>> p_value(0.0378), p_value(2e-25), p_value(0.0)
    ('0.038', '2e-25', '0')
    """
    if p is None:
        return NOTHING
    if p == 0:
        return "0"
    if p >= 0.001:
        return f"{p:.3f}"
    mantissa, exponent = f"{p:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def span(interval: Interval | tuple[float, float] | None, digits: int = 3) -> str:
    """Write an interval as ``low to high``."""
    if interval is None:
        return NOTHING
    low, high = interval if isinstance(interval, tuple) else (interval.low, interval.high)
    return f"{number(low, digits)} to {number(high, digits)}"


def verdict_words(cell: Cell) -> str:
    """Say the verdict without saying more than it means: of which clips it speaks, and within what.

    "Not rejected" is never called calibrated, and "calibrated" is only ever said of the readable clips.
    """
    if cell.verdict == "calibrated" and cell.equivalence:
        rho = cell.measurement.counts.scorability
        among = f" among readable, ρ = {number(rho, 2)}" if rho is not None and rho < 1 else ""
        return f"calibrated{among} (within {cell.equivalence.delta:g})"
    if cell.verdict == "illegible":
        return f"illegible ({cell.measurement.counts.n} valid)"
    return cell.verdict


def open_words(tally: Tally) -> str:
    """Say what never enters a denominator; empty where there is nothing to say.

    >>> from worldodds.outcome import Counts
    >>> open_words(Tally(counts=Counts.of([1, 2]), refused=1, failed=0, missing=4))
    'incomplete: 4 missing; 1 refused'
    """
    still_open = _listed({"failed": tally.failed, "missing": tally.missing})
    parts = [f"incomplete: {still_open}"] if still_open else []
    return "; ".join([*parts, *([f"{tally.refused} refused"] if tally.refused else [])])


def early_lines(card: Scorecard) -> list[str]:
    """Say of a model that stops early what was saved, and that its score is comparable with no other; else nothing."""
    early = card.early
    if early is None:
        return []
    money = _money(early.cost_usd, early.saved_usd)
    saved = f"{early.saved} saved ({percent(early.saved / early.planned)})" if early.saved else "none saved"
    alone = "mnTV is not comparable, with the published or any other"
    return [
        f"stopped early: {early.bought} of {early.planned} rollouts bought, {saved}{money}",
        f"verdicts are those of the sequential rule; {alone}: {NOT_COMPARABLE}",
    ]


def early_words(cell: EarlyCell) -> str:
    """Say how one cell stopped, and what that saved."""
    bought = f"{cell.bought} of {cell.planned} bought"
    if cell.open and cell.stopped_by is None:
        return f"{bought}, {cell.open} may yet be wanted{_money(cell.cost_usd, None)}"
    money = _money(cell.cost_usd, cell.saved_usd if cell.saved else None)
    if cell.stopped_by is None:
        return f"{bought}{money}; {cell.reason}"
    if not cell.declared or cell.stopped_by == "horizon":
        how = "given up as illegible" if cell.stopped_by == "illegible" else "run to the horizon"
        return f"{bought}, {how}{money}"
    evidence = "beyond every bound" if cell.e_value is None else f"{cell.e_value:.3g}"
    return f"{bought}, verdict stood after {cell.used} (e-value {evidence}){money}"


def _money(paid_usd: float | None, saved_usd: float | None) -> str:
    parts = [f"{paid_usd:.2f} USD paid"] if paid_usd is not None else []
    return "".join(f", {part}" for part in [*parts, *([f"about {saved_usd:.2f} USD saved"] if saved_usd else [])])


def verdict_counts(card: Scorecard) -> dict[Verdict, int]:
    """Count a model's verdicts, gravest first, those that occur only."""
    seen = Counter(cell.verdict for cell in card.cells)
    return {verdict: seen[verdict] for verdict in VERDICTS if seen[verdict]}


def headline(card: Scorecard) -> str:
    """Say in one sentence what was found out about a model.

    It counts scenes by verdict and names no winner: a scene that is undecided is neither a fault nor a merit.
    """
    scenes = len(card.cells)
    if not scenes:
        return "No scene was filmed."
    delta = next((c.equivalence.delta for c in card.cells if c.equivalence), None)
    called = {verdict: str(verdict) for verdict in VERDICTS}
    if delta is not None:
        called["calibrated"] = f"calibrated within {delta:g} among readable clips"
    counts = verdict_counts(card)
    if len(counts) == 1:
        verdict = next(iter(counts))
        more = ": the odds are neither rejected nor shown to hold" if verdict == "undecided" else ""
        return f"{_all(scenes)} {called[verdict]}{more}."
    told = [f"{n} {'is' if n == 1 else 'are'} {called[v]}" for v, n in counts.items()]
    return f"Of {scenes} scenes, {_joined(told)}."


def mean_words(card: Scorecard) -> str:
    """Write mnTV with its interval, or why there is none."""
    if card.mntv is None:
        return f"mnTV {NOTHING} ({card.mntv_reason})"
    interval = interval_of(card)
    if interval is None:
        return f"mnTV {number(card.mntv)} ({why_no_interval(card)})"
    return f"mnTV {number(card.mntv)} ({interval.level:.0%} interval {span(interval)})"


def population_words(population: Population) -> str:
    """Write the score at infinitely many rollouts, with its interval."""
    return f"at infinitely many rollouts {number(population.estimate)} ({span(population.interval)})"


def rank_words(places: tuple[int, int], of: int) -> str:
    """Write the places that a model may hold.

    >>> rank_words((1, 3), 6), rank_words((2, 2), 2)
    ('rank 1 to 3 of 6', 'rank 2 of 2')
    """
    low, high = places
    return f"rank {low} of {of}" if low == high else f"rank {low} to {high} of {of}"


def robust_words(survives: Robustness) -> str:
    """Say which errors of the reader, and which nulls, leave a rejection standing.

    >>> robust_words(Robustness(wrong_labels_survived=1, survives_any_nulls=True))
    '1 wrong label, any nulls'
    """
    wrong = survives.wrong_labels_survived
    many = f"{wrong}+" if wrong >= MOST_WRONG_LABELS else str(wrong)
    parts = [f"{many} wrong label{'s' if wrong > 1 else ''}"] if wrong else []
    return ", ".join([*parts, *(["any nulls"] if survives.survives_any_nulls else [])]) or "no wrong label"


def judge_lines(card: Scorecard, allowed: Judged) -> list[str]:
    """Say how the judge was measured, what the score is with its errors allowed for, and which verdicts stay."""
    m = allowed.measured
    truth = m.truth or "the truth"
    if card.early:
        return ["the judge's errors are not allowed for: their tests need an n that was fixed beforehand"]
    lines = [f"judge: {m.agree} of {m.n} clips read as {truth} did; up to {percent(m.error_bound)} of labels false"]
    if population := allowed.populations.get(card.model):
        lines.append(
            f"with its errors allowed for {number(population.mean.estimate)} ({span(population.mean.interval)})"
        )
    rejected = [cell.measurement.scene.id for cell in card.cells if cell.verdict == "miscalibrated"]
    if rejected:
        stay = [scene for scene in rejected if allowed.cells[card.model, scene].survives]
        named = f": {', '.join(stay)}" if stay else ""
        lines.append(f"{len(stay)} of {len(rejected)} rejections stand at that rate of error{named}")
    return lines


def interval_of(card: Scorecard) -> Interval | None:
    """Return the interval of a model's mnTV; None where there is no mnTV, or no interval for it."""
    return card.interval.interval if card.interval else None


def why_no_interval(card: Scorecard) -> str:
    """Say why a model has no mnTV, or none but no interval; empty where it has both."""
    if card.mntv is None:
        return f"no mnTV: {card.mntv_reason}"
    return f"no interval: {card.interval.reason}" if card.interval and not card.interval.interval else ""


def scenes_words(scene_ids: Sequence[str], of: Sequence[str]) -> str:
    """Say which scenes an average is over.

    >>> scenes_words(["dice"], ["dice", "ball"]), scenes_words(["dice", "ball"], ["dice", "ball"])
    ('1 of 2 scenes (dice)', 'all 2 scenes')
    """
    if list(scene_ids) == list(of):
        return f"all {len(of)} scenes" if len(of) > 1 else "its one scene"
    return f"{len(scene_ids)} of {len(of)} scenes ({', '.join(scene_ids)})"


def capitalize_first(text: str) -> str:
    """Begin a sentence with a capital, all else as it is.

    >>> capitalize_first("certified by NIST")
    'Certified by NIST'
    """
    return text[:1].upper() + text[1:]


def _all(scenes: int) -> str:
    return "The one scene is" if scenes == 1 else "Both scenes are" if scenes == 2 else f"All {scenes} scenes are"


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items() if n)
