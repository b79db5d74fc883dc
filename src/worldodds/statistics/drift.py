"""Has a judge changed? One old answer and two new ones to the same question, clip by clip."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from scipy.special import bdtrc

Triple = tuple[Hashable, Hashable, Hashable]


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftTest:
    """``splits`` clips were answered two against one; in ``odd`` of them the old answer was the one.

    ``p_value`` is one-sided; 1 where no clip was split, since then nothing differs.
    """

    clips: int
    splits: int
    odd: int
    p_value: float


def drift_test(triples: Iterable[Triple]) -> DriftTest:
    """Test whether old answers differ from new ones more than new ones differ among themselves; exact.

    A judge that has not changed gives three answers of one kind: where they are split two to one, the odd one is the
    old one with probability 1/3, whatever the judge's own noise is. So the number of such clips is Binomial(splits,
    1/3), and the p-value its upper tail. Clips with three different answers tell nothing.

    Limit: a judge that never wavers is found out by five changed answers at the level 0.01, 3^-5 = 0.004.

    >>> drift_test([("a", "b", "b")] * 5 + [("a", "a", "a")] * 25).p_value < 0.01
    True
    >>> drift_test([("a", "a", "b"), ("a", "b", "a"), ("b", "a", "a")]).splits
    3
    """
    all_clips = list(triples)
    split = [(old, one, two) for old, one, two in all_clips if len({old, one, two}) == 2]
    odd = sum(one == two for _, one, two in split)
    p_value = float(bdtrc(odd - 1, len(split), 1 / 3)) if odd else 1.0
    return DriftTest(clips=len(all_clips), splits=len(split), odd=odd, p_value=p_value)
