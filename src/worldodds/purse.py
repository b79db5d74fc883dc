"""What a run has spent and may still spend."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from worldodds.attempts import Attempt


@dataclass(slots=True)
class Purse:
    """Money set aside by purchase: the estimate from the submit on, the provider's own figure once it gives one.

    ``per_clip_usd`` is the upper estimate of one clip's price (0 where nothing is known or asked for).
    """

    limit_usd: float | None = None
    per_clip_usd: float = 0.0
    _by_token: dict[str, float] = field(default_factory=dict[str, float], init=False)

    @property
    def spent_usd(self) -> float:
        """Money spent or set aside."""
        return sum(self._by_token.values())

    def remember(self, history: Iterable[Attempt]) -> None:
        """Take over what the ledger says was spent by earlier runs."""
        for line in history:
            if line.state in ("intent", "submitted"):
                self.set_aside(line.token)
            if line.state in ("done", "refused", "failed"):
                self.settle(line)

    def affords_one(self) -> bool:
        """Say whether one more clip stays within the limit."""
        return self.limit_usd is None or self.spent_usd + self.per_clip_usd <= self.limit_usd + 1e-9

    def set_aside(self, token: str) -> None:
        """Count a purchase that is about to be made."""
        self._by_token.setdefault(token, self.per_clip_usd)

    def settle(self, line: Attempt) -> None:
        """Put the provider's figure in place of the estimate; a job that it did not make costs nothing unless it says.

        A cancelled job, and one that was perhaps bought, keep the estimate.
        """
        if line.cost_usd is not None:
            self._by_token[line.token] = line.cost_usd
        elif line.state == "refused" or (line.state == "failed" and line.error_class in _FREE):
            self._by_token.pop(line.token, None)


_FREE = ("retryable", "permanent", "account", "refused")
