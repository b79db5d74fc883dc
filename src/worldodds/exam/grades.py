"""Marks of an exam: shares right and wrong with intervals that know which clips show the same motion, and votes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from scipy.special import bdtrc, betaincinv, stdtrit

from worldodds.exam.sitting import Answer, compared
from worldodds.rollout import Reading
from worldodds.statistics.interval import Interval
from worldodds.tally import settle, votes_wanted

LEVEL = 0.95
_UPPER = (1 + LEVEL) / 2
_BETTER = 0.05
_NOT_ASKED = Reading(status="missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """Answers counted: ``n`` is ``right`` and the four kinds of wrong together.

    ``false_null`` is (errors, clips with an outcome), ``missed_null`` (errors, clips with nothing to tell),
    ``false_labels`` (labels given that are not true, labels given). ``weight`` is how many independent clips these are
    worth: the clips of one motion under several conditions tend to be right or wrong together.
    """

    n: int
    right: int
    false_null: tuple[int, int]
    missed_null: tuple[int, int]
    wrong_label: int
    failed: int
    false_labels: tuple[int, int]
    weight: float

    @property
    def interval(self) -> Interval:
        """Interval of the share that is right."""
        return weighted_interval(self.right, self.n, self.weight)

    @property
    def error_bound(self) -> float:
        """The share of false labels that the errors seen allow, one-sided at 95%; 1 where no label was given."""
        wrong, given = self.false_labels
        if not given:
            return 1.0
        weight = self.weight * given / self.n
        sure = betaincinv(weight * wrong / given + 1, weight * (1 - wrong / given), LEVEL) if wrong < given else 1.0
        return float(sure)


def grade(answers: Sequence[Answer]) -> Grade:
    """Count answers, whatever scenes and conditions they are of; at least one."""
    results = Counter(answer.result for answer in answers)
    told = [answer for answer in answers if answer.truth is not None]
    given = [answer for answer in answers if answer.reading.status == "outcome"]
    return Grade(
        n=len(answers),
        right=results["agree"],
        false_null=(results["false_null"], len(told)),
        missed_null=(results["missed_null"], len(answers) - len(told)),
        wrong_label=results["wrong_label"],
        failed=results["failed"],
        false_labels=(sum(answer.result != "agree" for answer in given), len(given)),
        weight=_weight(answers),
    )


def together(grades: Sequence[Grade]) -> Grade:
    """Add up the grades of different scenes."""
    return Grade(
        n=sum(g.n for g in grades),
        right=sum(g.right for g in grades),
        false_null=_added([g.false_null for g in grades]),
        missed_null=_added([g.missed_null for g in grades]),
        wrong_label=sum(g.wrong_label for g in grades),
        failed=sum(g.failed for g in grades),
        false_labels=_added([g.false_labels for g in grades]),
        weight=sum(g.weight for g in grades),
    )


def weighted_interval(hits: int, n: int, weight: float) -> Interval:
    """Return the interval of a share of which ``hits`` of ``n`` were seen, worth ``weight`` independent ones.

    Source: Korn and Graubard (1998), Survey Methodology 24: Clopper and Pearson's at the effective number.

    >>> shown = weighted_interval(9, 10, 10.0)
    >>> round(shown.low, 3), round(shown.high, 3)
    (0.555, 0.997)
    """
    x, tail = hits / n * weight, (1 - LEVEL) / 2
    low = float(betaincinv(x, weight - x + 1, tail)) if hits else 0.0
    high = float(betaincinv(x + 1, weight - x, 1 - tail)) if hits < n else 1.0
    return Interval(low=low, high=high, level=LEVEL, method="Korn-Graubard")


def _weight(answers: Sequence[Answer]) -> float:
    """Effective number of clips; that of the motions where all are right or all wrong, since then nobody can tell."""
    motions: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for answer in answers:
        motions[answer.scene, answer.seed].append(answer.result == "agree")
    n, groups = len(answers), len(motions)
    share = sum(map(sum, motions.values())) / n
    if share in (0, 1) or groups == 1:
        return float(groups)
    spread = sum((sum(hits) - share * len(hits)) ** 2 for hits in motions.values())
    variance = groups / (groups - 1) * spread / n**2
    if not variance:
        return float(groups)
    # the variance itself is known from so many motions only; never worth more than the clips there are
    unsure = float(stdtrit(n - 1, _UPPER) / stdtrit(groups - 1, _UPPER)) ** 2
    return max(1.0, min(float(n), unsure * share * (1 - share) / variance))


class VoteCount(NamedTuple):
    """What so many votes a clip would have given: clips right, and questions asked for it."""

    votes: int
    right: int
    asked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteAdvice:
    """How many votes to ask, or None where the exam cannot tell, with the reason; and what each number gave."""

    recommended: int | None
    reason: str
    tried: tuple[VoteCount, ...]


def advise_votes(answers: Sequence[Answer], *, repeats: bool) -> VoteAdvice:
    """Recommend the fewest votes that no larger number betters: by exact sign tests over the clips they read otherwise.

    ``repeats`` says whether the reader may answer otherwise when asked again. Odd numbers up to those asked are
    compared; a vote that was not asked could not have changed any of them.
    """
    most = max((len(answer.votes) for answer in answers), default=1)
    if not repeats:
        return VoteAdvice(recommended=1, reason="it always answers the same, so that one vote says all", tried=())
    right = {k: [compared(settle(a.votes[:k]), a.truth) == "agree" for a in answers] for k in range(1, most + 1, 2)}
    tried = tuple(VoteCount(votes=k, right=sum(hits), asked=_asked(answers, k)) for k, hits in right.items())
    if most < 3:
        once = "each clip was asked about once; examine it with votes=3"
        return VoteAdvice(recommended=None, reason=once, tried=tried)
    chances = {(few, many): _sign_test(right[few], right[many]) for few, many in combinations(right, 2)}
    best = next(k for k in right if all(p > _BETTER for (few, _), (p, *_) in chances.items() if few == k))
    return VoteAdvice(recommended=best, reason=_reason(best, chances), tried=tried)


def _reason(best: int, chances: dict[tuple[int, int], tuple[float, int, int]]) -> str:
    """Tell the nearest comparisons on both sides of the number chosen."""
    below = [(few, found) for (few, many), found in chances.items() if many == best]
    above = [(many, found) for (few, many), found in chances.items() if few == best]
    told: list[str] = []
    if below:
        few, (p, gained, lost) = below[-1]
        told.append(
            f"{best} votes read {gained} clips right that {few} misread, and {lost} the other way (p = {p:.2g})"
        )
    if above:
        many, (p, gained, lost) = above[0]
        told.append(f"{many} votes are not shown to be better: {gained} clips gained, {lost} lost (p = {p:.2g})")
    return "; ".join(told)


def _sign_test(few: Sequence[bool], many: Sequence[bool]) -> tuple[float, int, int]:
    """Return how likely ``many`` gains so much by chance alone (exact, one-sided), and the clips gained and lost."""
    gained = sum(b and not a for a, b in zip(few, many, strict=True))
    lost = sum(a and not b for a, b in zip(few, many, strict=True))
    p = float(bdtrc(gained - 1, gained + lost, 0.5)) if gained else 1.0
    return p, gained, lost


def _asked(answers: Sequence[Answer], votes: int) -> int:
    """Count the questions that asking only while they matter takes for so many votes a clip."""
    total = 0
    for answer in answers:
        cast, asked = [_NOT_ASKED] * min(votes, len(answer.votes)), set[int]()
        while wanted := [vote for vote in votes_wanted(cast) if vote not in asked]:
            for vote in wanted:
                cast[vote] = answer.votes[vote]
                asked.add(vote)
        total += len(asked)
    return total


def _added(pairs: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(a for a, _ in pairs), sum(b for _, b in pairs)
