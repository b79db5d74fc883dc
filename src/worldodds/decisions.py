"""What to do about a provider's answer: pure rules, from what was asked and what came back to the next step."""

from __future__ import annotations

import errno
from dataclasses import dataclass, replace
from typing import Any, Literal

from worldodds.attempts import AttemptState
from worldodds.errors import AccountError, GoneError, ProviderError, RefusedError, TransientError, UncertainError
from worldodds.job import JobState
from worldodds.throttle import backoff_s

Action = Literal["submit", "find", "poll", "cancel", "download"]
MOST_TRIES = 8  # of one call, with growing waits between: about four minutes
MOST_DOWNLOADS = 4
MOST_GONE = 3  # a provider's "no such job" counts once it was said so often: a young job may not be listed yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a purchase when an answer comes.

    ``failures`` are those in a row of this call, ``submits`` all of this run. ``rebuy``: an earlier run lost sight of
    it, and the user says to buy it again.
    """

    submits: int = 0
    failures: int = 0
    downloads: int = 0
    gone: int = 0
    age_s: float = 0.0
    longest_s: float = float("inf")
    settle_s: float = 0.0
    rebuy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The next step, and the line that the ledger gets before it is taken.

    ``then`` is the next call, after ``wait_s`` (None: when the pace says); ``buy`` puts the purchase back in the queue;
    ``end`` finishes it. ``stop`` ends all buying. ``push_back_s`` tells the throttle that there are too many jobs.
    """

    then: Action | Literal["buy", "end"]
    wait_s: float | None = None
    line: AttemptState | None = None
    error_class: str | None = None
    message: str | None = None
    stop: bool = False
    push_back_s: float | None = None
    new_purchase: bool = False


def after_submit(result: Any, facts: Facts) -> Decision:
    """A job's id, or an error: only an UncertainError leaves open whether money was spent."""
    if isinstance(result, str):
        return Decision(then="poll", line="submitted")
    told = str(result)
    if isinstance(result, UncertainError):
        return Decision(then="find", wait_s=facts.settle_s, line="intent", error_class=result.kind, message=told)
    if isinstance(result, TransientError):
        wait_s = backoff_s(facts.submits, result.retry_after_s)
        again = facts.submits < MOST_TRIES
        failed = Decision(then="end", line="failed", error_class=result.kind, message=told, push_back_s=wait_s)
        return replace(failed, then="buy", wait_s=wait_s) if again else failed
    return _ended(result)


def after_find(result: Any, facts: Facts) -> Decision:
    """The job that an unanswered order became, or None: surely none."""
    if isinstance(result, str):
        return Decision(then="poll", wait_s=0.0, line="submitted", message="matched at the provider")
    if result is None:
        told = "the provider never got the order"
        again: Literal["buy", "end"] = "buy" if facts.submits < MOST_TRIES else "end"
        return Decision(then=again, line="failed", error_class="retryable", message=told)
    if isinstance(result, TransientError) and facts.failures < MOST_TRIES:
        return Decision(then="find", wait_s=backoff_s(facts.failures, result.retry_after_s))
    told = "perhaps bought: stopped before the provider's answer was kept, and it cannot be asked"
    if isinstance(result, TransientError):
        return Decision(then="end", message=f"{told} now ({result}); run again to ask", line="intent")
    line = Decision(then="end", line="failed", error_class="perhaps bought", message=told)
    return replace(line, then="buy", new_purchase=True) if facts.rebuy else line


def after_poll(result: Any, facts: Facts) -> Decision:
    """The state of a job, or an error; a job is given up only by the word of the provider or after its longest time."""
    if isinstance(result, JobState):
        return _after_state(result, facts)
    if isinstance(result, GoneError):
        if facts.gone < MOST_GONE:
            return Decision(then="poll", wait_s=backoff_s(facts.gone + 1))
        told = f"perhaps bought: the provider has lost the job ({result})"
        return Decision(then="end", line="failed", error_class="gone", message=told)
    if isinstance(result, RefusedError):
        return _ended(result)
    stop = isinstance(result, AccountError)
    if isinstance(result, TransientError) and facts.age_s < facts.longest_s:
        return Decision(then="poll", wait_s=backoff_s(facts.failures, result.retry_after_s))
    told = f"the job is at the provider, which cannot be asked now ({result}); run again to fetch it"
    return Decision(then="end", line="failed", error_class="out of reach", message=told, stop=stop)


def _after_state(state: JobState, facts: Facts) -> Decision:
    if state.status == "done":
        return Decision(then="download", wait_s=0.0)
    if state.status == "waiting":
        return Decision(then="cancel", wait_s=0.0) if facts.age_s >= facts.longest_s else Decision(then="poll")
    if state.status == "refused":
        return Decision(then="end", line="refused", error_class="refused", message=state.message)
    return Decision(then="end", line="failed", error_class="permanent", message=state.message or "the job failed")


def after_cancel(result: Any, facts: Facts) -> Decision:
    """Cancelled, or not: then the job is taken up again by the next run."""
    took = f"took longer than {facts.longest_s:g} s"
    if not isinstance(result, BaseException):
        return Decision(then="end", line="failed", error_class="timeout", message=f"{took}; cancelled")
    told = f"{took} and could not be cancelled ({result}); run again to look after it"
    return Decision(then="end", line="failed", error_class="out of reach", message=told)


def after_download(result: Any, facts: Facts) -> Decision:
    """A whole clip, or an error: then the job is asked after again, since a fresh link may work."""
    if not isinstance(result, BaseException):
        return Decision(then="end", line="done")
    full = isinstance(result, OSError) and result.errno in (errno.ENOSPC, errno.EDQUOT)
    told = f"{type(result).__name__}: {result}"
    if isinstance(result, AccountError) or full:
        return Decision(then="end", line="failed", error_class="download", message=told, stop=True)
    if facts.downloads < MOST_DOWNLOADS:
        wait_s = result.retry_after_s if isinstance(result, ProviderError) else None
        return Decision(then="poll", wait_s=backoff_s(facts.downloads, wait_s))
    if isinstance(result, GoneError):
        told = f"bought, but the provider no longer keeps the clip ({result})"
        return Decision(then="end", line="failed", error_class="gone", message=told)
    return Decision(then="end", line="failed", error_class="download", message=f"{told}; run again to fetch it")


AFTER = {
    "submit": after_submit,
    "find": after_find,
    "poll": after_poll,
    "cancel": after_cancel,
    "download": after_download,
}


def _ended(error: BaseException) -> Decision:
    """Refused, or failed for good: the provider made no job of it."""
    kind = error.kind if isinstance(error, ProviderError) else "permanent"
    line: AttemptState = "refused" if isinstance(error, RefusedError) else "failed"
    stop = isinstance(error, AccountError)
    return Decision(then="end", line=line, error_class=kind, message=str(error), stop=stop)
