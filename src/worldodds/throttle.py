"""How many jobs a provider gets at once, when to ask after them, and how long to wait before trying again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 120.0


@dataclass(slots=True)
class Throttle:
    """Jobs in flight: halved when the provider says "too many", grown back by one for every full round of successes.

    Times are seconds of one clock; nothing here reads it.
    """

    ceiling: int
    limit: float = field(init=False)
    quiet_until: float = field(default=0.0, init=False)
    _cut_at: float = field(default=float("-inf"), init=False)

    def __post_init__(self) -> None:
        self.limit = float(self.ceiling)

    def room(self, in_flight: int, now: float) -> int:
        """Return how many more jobs may be submitted now."""
        return 0 if now < self.quiet_until else max(0, int(self.limit) - in_flight)

    def pushed_back(self, now: float, wait_s: float) -> None:
        """Note a "too many": submit nothing for a while, then half as much; one burst of them counts once."""
        if now >= self._cut_at + 1.0:
            self.limit = max(1.0, self.limit / 2)
            self._cut_at = now
        self.quiet_until = max(self.quiet_until, now + wait_s)

    def accepted(self) -> None:
        """Note that the provider took a job."""
        self.limit = min(float(self.ceiling), self.limit + 1.0 / self.limit)


@dataclass(slots=True)
class Pace:
    """When to ask after a job: rarely, but soon after it is likely done, as learnt from the jobs that are."""

    _seen_s: deque[float] = field(default_factory=lambda: deque[float](maxlen=50), init=False)

    def finished(self, took_s: float) -> None:
        """Learn from a finished job."""
        self._seen_s.append(took_s)

    def wait_s(self, age_s: float) -> float:
        """Return the seconds until the next question about a job that was submitted ``age_s`` ago."""
        step = min(max(0.1, 0.05 * age_s), 10.0)
        soonest = min(self._seen_s) * 0.99 if len(self._seen_s) >= 5 else 0.0
        return max(soonest - age_s, step)


def backoff_s(failures: int, retry_after_s: float | None = None) -> float:
    """Return how long to wait after the n-th failure in a row: the provider's word, else 1, 2, 4 ... 120 seconds.

    >>> [backoff_s(n) for n in (1, 2, 3, 20)], backoff_s(1, 7.5)
    ([1.0, 2.0, 4.0, 120.0], 7.5)
    """
    if retry_after_s is not None:
        return min(max(retry_after_s, 0.0), 3600.0)
    return min(_FIRST_WAIT_S * 2.0 ** (min(failures, 30) - 1), _LONGEST_WAIT_S)
