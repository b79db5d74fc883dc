"""Two readings of the same clips held against each other: a judge against people, the oracle or another judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from worldodds.errors import InputError
from worldodds.rollout import Reading
from worldodds.row import Row
from worldodds.scene import Scene, Suite
from worldodds.statistics.agreement import alpha_within, kappa_within, share_interval
from worldodds.statistics.delete_one import delete_one
from worldodds.statistics.interval import Interval
from worldodds.statistics.judge import JudgeError
from worldodds.tally import settle

_OPEN = ("failed", "missing")
_Key = tuple[str, str, int]
_Answers = Counter[tuple[str | None, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One clip and what both readers saw in it; the two kinds of null count as one answer, None."""

    scene: str
    model: str
    seed: int
    read: str | None
    truth: str | None

    @property
    def agree(self) -> bool:
        """Whether both gave the same answer."""
        return self.read == self.truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How often two readers agree, over one scene or several, and how one errs if the other is right.

    ``kappa`` (Cohen) and ``alpha`` (Krippendorff) take chance as it is within the scenes; None where both readers
    always say the same one thing. Their 95% intervals leave out one clip at a time (`delete_one`); None where that
    changes nothing, as where all clips agree.
    """

    n: int
    agree: int
    errors: JudgeError
    kappa: float | None
    alpha: float | None
    kappa_interval: Interval | None
    alpha_interval: Interval | None

    def interval(self, *, level: float = 0.95) -> Interval:
        """Return the exact interval of the share that agrees."""
        return share_interval(self.agree, self.n, level=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneAudit:
    """One scene's agreement. ``confusion`` counts clips: rows the truth, columns what was read, nulls last."""

    scene: Scene
    agreement: Agreement
    confusion: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A reader measured against a truth, scene by scene.

    ``unread`` names the clips that the truth has an answer for and the reader failed to read or has not read yet;
    ``unmatched`` counts answers of the truth to clips that the reader was never given.
    """

    suite: Suite
    reader: str | None
    truth: str | None
    overall: Agreement
    scenes: tuple[SceneAudit, ...]
    disagreements: tuple[Pair, ...]
    unread: tuple[str, ...]
    unmatched: int


def audit(
    read: Iterable[Row], truth: Iterable[Row], suite: Suite, *, reader: str | None = None, truth_name: str | None = None
) -> Audit:
    """Compare two readings of the same clips, which are matched by scene, model and seed; votes are settled first.

    Raises:
        InputError: the two have no clip in common, or a reading has a label that its scene does not have.

    >>> from worldodds.suites import find_suite
    >>> from worldodds.suites.published import human_readings, published_readings
    >>> suite = find_suite("calibench")
    >>> found = audit(published_readings(suite), human_readings(suite), suite)
    >>> found.overall.agree, found.overall.n
    (152, 162)
    """
    seen, right = _settled(read, suite), {key: a for key, a in _settled(truth, suite).items() if _answered(a)}
    pairs = [_pair(key, seen[key], right[key]) for key in right if key in seen and _answered(seen[key])]
    if not pairs:
        raise InputError(_nothing_shared(seen, right))
    by_scene = {scene.id: [pair for pair in pairs if pair.scene == scene.id] for scene in suite.scenes}
    met = {scene: both for scene, both in by_scene.items() if both}
    return Audit(
        suite=suite,
        reader=reader,
        truth=truth_name,
        overall=_agreement(list(met.values())),
        scenes=tuple(_scene_audit(suite.scene(scene), both) for scene, both in met.items()),
        disagreements=tuple(pair for both in met.values() for pair in both if not pair.agree),
        unread=tuple(_named(key) for key in right if key in seen and not _answered(seen[key])),
        unmatched=sum(key not in seen for key in right),
    )


def _settled(rows: Iterable[Row], suite: Suite) -> dict[_Key, Reading]:
    """One answer a clip, in order of scene, model and seed; a rollout that is not there has none."""
    votes: dict[_Key, list[Row]] = defaultdict(list)
    for row in rows:
        if row.rollout_status == "done":
            votes[row.scene, row.model, row.seed].append(row)
    settled: dict[_Key, Reading] = {}
    for key in sorted(votes):
        answer = settle([row.reading for row in sorted(votes[key], key=lambda row: row.vote)])
        if answer.label is not None and answer.label not in suite.scene(key[0]).labels:
            raise InputError(f"{_named(key)}: {answer.label!r} is not an outcome of scene {key[0]!r}")
        settled[key] = answer
    return settled


def _answered(reading: Reading) -> bool:
    return reading.status not in _OPEN


def _pair(key: _Key, read: Reading, truth: Reading) -> Pair:
    scene, model, seed = key
    return Pair(scene=scene, model=model, seed=seed, read=read.label, truth=truth.label)


def _agreement(scenes: Sequence[Sequence[Pair]]) -> Agreement:
    pairs = [pair for scene in scenes for pair in scene]
    answers = [Counter((pair.truth, pair.read) for pair in scene) for scene in scenes]
    return Agreement(
        n=len(pairs),
        agree=sum(pair.agree for pair in pairs),
        errors=JudgeError.counted([pair.truth for pair in pairs], [pair.read for pair in pairs]),
        kappa=_kappa(answers),
        alpha=_alpha(answers),
        kappa_interval=delete_one(answers, _kappa),
        alpha_interval=delete_one(answers, _alpha),
    )


def _kappa(scenes: Sequence[_Answers]) -> float | None:
    both = [list(answers.elements()) for answers in scenes]
    return kappa_within([([truth for truth, _ in scene], [read for _, read in scene]) for scene in both])


def _alpha(scenes: Sequence[_Answers]) -> float | None:
    return alpha_within([list(answers.elements()) for answers in scenes])


def _scene_audit(scene: Scene, pairs: Sequence[Pair]) -> SceneAudit:
    answers = (*scene.labels, None)
    seen = [[sum(p.truth == row and p.read == column for p in pairs) for column in answers] for row in answers]
    return SceneAudit(scene=scene, agreement=_agreement([pairs]), confusion=tuple(map(tuple, seen)))


def _named(key: _Key) -> str:
    scene, model, seed = key
    return f"{scene} {model} {seed}"


def _nothing_shared(seen: Mapping[_Key, Reading], right: Mapping[_Key, Reading]) -> str:
    if not right:
        return "the truth holds no answer: every clip in it is failed or missing"
    if seen.keys() & right.keys():
        return "the reader has answered none of the clips that the truth has an answer for; let it read them first"
    a, b = (", ".join(sorted({model for _, model, _ in side})) or "nothing" for side in (seen, right))
    return f"the two have no clip in common (scene, model and seed must be the same): one is of {a}, the other of {b}"
