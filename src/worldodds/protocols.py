"""The shape of the parts that anyone may add: whatever has these members is a generator or a reader."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from worldodds.job import JobState, Order
from worldodds.rollout import Clip, Reading, Rollout, Settings
from worldodds.scene import Scene


class Generator(Protocol):
    """A world model that can be filmed: makes one clip of a scene from one seed."""

    @property
    def name(self) -> str:
        """Return the part's name, ``kind/rest``."""
        ...

    @property
    def settings(self) -> Settings:
        """Return every knob that changes what is filmed; recorded, and part of each rollout's key."""
        ...

    @property
    def cpu_bound(self) -> bool:
        """Say whether clips are computed here (worker processes) or waited for (threads)."""
        ...

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        """Write the clip to ``into`` (an mp4 path in a folder that exists) and say what became of it."""
        ...


@runtime_checkable
class HostedGenerator(Protocol):
    """A world model that is paid for: jobs are submitted, polled, downloaded and, where they hang, cancelled.

    The engine keeps the ledger and does all waiting and retrying; each of these methods asks the provider once. They
    raise the errors of `worldodds.errors.ProviderError`, by which the engine knows whether to try again, to give up or
    to stop.
    """

    @property
    def name(self) -> str:
        """Return the part's name, ``kind/rest``."""
        ...

    @property
    def settings(self) -> Settings:
        """Return every knob that changes what is filmed; recorded, and part of each rollout's key."""
        ...

    @property
    def in_flight(self) -> int:
        """Return how many jobs the provider may have at once; the engine stays below where it answers "too many"."""
        ...

    @property
    def longest_s(self) -> float:
        """Return after how many seconds a job is given up and cancelled."""
        ...

    @property
    def settle_s(self) -> float:
        """Return how long after a submit that got no answer `find` can be trusted."""
        ...

    def check(self, scenes: Sequence[Scene]) -> None:
        """Refuse, before anything is paid, a missing key, a wrong model, an unfit frame or an overlong prompt."""
        ...

    def submit(self, order: Order) -> str:
        """Order a clip and return the job's id; UncertainError where the provider may have accepted and not said so."""
        ...

    def find(self, order: Order, known: Collection[str]) -> str | None:
        """Return the job that an unanswered order became, None where surely none did; ``known`` jobs are others'.

        Raises:
            UncertainError: the provider has no way to tell.
        """
        ...

    def poll(self, job: str) -> JobState:
        """Say what has become of a job; GoneError where the provider does not know it."""
        ...

    def download(self, job: str, state: JobState, into: Path) -> None:
        """Write a finished job's clip to ``into``; a length, status or content that is not a clip's raises."""
        ...

    def cancel(self, job: str) -> None:
        """Tell the provider to stop a job, so that it costs no more."""
        ...


@runtime_checkable
class WaitingReader(Protocol):
    """What a reader has beside its other members if it waits for somebody else, and knows for how many at once."""

    @property
    def in_flight(self) -> int:
        """Return how many readings may be under way at once."""
        ...


@runtime_checkable
class ChoosyReader(Protocol):
    """What a reader has beside its other members if it knows beforehand which scenes it can read."""

    def check(self, scenes: Sequence[Scene]) -> None:
        """Raise OutOfRangeError, with a next step, if a scene is beyond it: before anything is filmed or paid."""
        ...


@runtime_checkable
class OtherAxis(Protocol):
    """What a reader has beside its other members if it does not read outcomes: the words that it answers with."""

    @property
    def labels(self) -> Sequence[str]:
        """Return all labels that it may give."""
        ...


class Reader(Protocol):
    """Whoever reads an outcome from a clip: computer vision, a model, a person, or the simulator's own truth."""

    @property
    def name(self) -> str:
        """Return the part's name, ``kind`` or ``kind/rest``."""
        ...

    @property
    def settings(self) -> Settings:
        """Return every knob that changes an answer; recorded, and part of each reading's key."""
        ...

    @property
    def cpu_bound(self) -> bool:
        """Say whether readings are computed here (worker processes) or waited for (threads)."""
        ...

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        """Return what was seen; a clip that cannot be decoded raises VideoError, never a null."""
        ...
