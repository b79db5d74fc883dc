"""Every error worldodds raises, as one tree: each message says what is wrong and what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class WorldOddsError(Exception):
    """Base of every error raised on purpose; anything else that escapes is a bug of ours."""


class InputError(WorldOddsError, ValueError):
    """The caller gave something that cannot be used (exit code 2 on the command line)."""


class StatisticsError(InputError):
    """An argument of a statistic is outside its range; the message names the argument and the range."""


class UnknownNameError(InputError):
    """A name is not one of the known ones; the message offers the nearest."""


class SceneError(InputError):
    """A scene or suite file is wrong; the message names the file, the key and the fix."""


class SourceError(InputError):
    """A file of outcomes is wrong; the message names the file and the row."""


class VideoError(WorldOddsError):
    """A clip is missing, truncated, corrupt or not a video: the clip's fault, never the model's null."""


class OutOfRangeError(WorldOddsError):
    """A reader does not know this kind of scene, or cannot find it in the frame."""


class GenerationError(WorldOddsError):
    """A generator could not make a clip."""


class ProviderError(GenerationError):
    """A provider said no, or nothing; ``kind`` names the error in the ledger, ``request_id`` is the provider's own.

    Raised as it is: the provider will say the same again (a wrong argument, a failed job).
    """

    kind = "permanent"

    def __init__(self, message: str, *, request_id: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id
        self.retry_after_s = retry_after_s


class TransientError(ProviderError):
    """The provider is busy or out of reach and has surely not accepted the job: the same again may work."""

    kind = "retryable"


class UncertainError(ProviderError):
    """Nobody can tell whether the provider accepted the job: perhaps it was bought."""

    kind = "perhaps bought"


class RefusedError(ProviderError):
    """The provider's moderation said no."""

    kind = "refused"


class AccountError(ProviderError):
    """The provider refuses every job: a wrong key, no credit left, no access to the model."""

    kind = "account"


class GoneError(ProviderError):
    """The provider no longer knows a job, or no longer keeps its clip."""

    kind = "gone"


class StoreError(WorldOddsError):
    """A run folder is damaged, locked, or made for something else."""


class MissingDependencyError(WorldOddsError):
    """A package or a system library that this part needs is not installed; the message names it."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the closest known name, else a list of what there is.

    A name that differs only in capital letters is closest of all.

    >>> nearest("coin_tos", ["coin_toss", "dice"])
    " Did you mean 'coin_toss'?"
    >>> nearest("qqq", ["coin_toss", "dice"])
    ' Known: coin_toss, dice.'
    >>> nearest("DICE", ["coin_toss", "dice"])
    " Did you mean 'dice'?"
    """
    names = list(known)
    folded = name.strip().casefold()
    close = [one for one in names if one.casefold() == folded]
    close = close or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f" Did you mean {close[0]!r}?"
    return f" Known: {', '.join(names)}." if names else " There are none."
