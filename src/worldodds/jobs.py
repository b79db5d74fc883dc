"""Buy clips from a provider: submit, poll, download; every step is in the ledger before the next one is taken.

One thread decides and writes; others only wait for the provider. In each turn the decisions of all that has happened
are committed together, and only then the next calls are made: an intent is in the ledger before its submit, a job's id
before any wait for it. So whenever the process is killed, the ledger knows of every job that may cost money.
"""

from __future__ import annotations

import heapq
import itertools
import queue
import secrets
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from worldodds import video
from worldodds.attempts import Attempt, AttemptState, next_step
from worldodds.clock import Clock, SteadyClock
from worldodds.decisions import AFTER, Action, Decision, Facts
from worldodds.errors import GenerationError, GoneError, ProviderError, VideoError
from worldodds.job import JobState, Order
from worldodds.looks import look
from worldodds.protocols import HostedGenerator
from worldodds.purchase import Answer, Fetched, Purchase, Wanted, rollout_of
from worldodds.purse import Purse
from worldodds.rollout import Rollout
from worldodds.store import RunStore
from worldodds.throttle import Pace, Throttle
from worldodds.working_folder import begin, move_in

MOST_THREADS = 32


def buy(
    generator: HostedGenerator,
    wanted: Iterable[Wanted],
    store: RunStore,
    *,
    tell: Callable[[Rollout], None],
    purse: Purse | None = None,
    workers: int | None = None,
    rebuy: bool = False,
    clock: Clock | None = None,
) -> str | None:
    """Buy clips, and take up again what earlier runs began; every rollout that has ended is written and told.

    ``workers`` is how many jobs the provider may have at once (its own default otherwise). ``rebuy`` buys again what
    was perhaps bought. Returns why buying stopped early, or None.

    Raises:
        sqlite3.Error: the ledger cannot be written; what was bought is found again by the next run.
    """
    history = store.attempt_history()
    purse = purse or Purse()
    purse.remember(history)
    shop = Shop(
        generator=generator,
        store=store,
        purse=purse,
        throttle=Throttle(workers or generator.in_flight),
        clock=clock or SteadyClock(),
        rebuy=rebuy,
        tell=tell,
        known={line.job for line in history if line.job},
    )
    shop.run(wanted, {line.key: line for line in history})
    return shop.stopped


@dataclass(slots=True, kw_only=True)
class Shop:
    """One run's purchases at one provider; see `buy`."""

    generator: HostedGenerator
    store: RunStore
    purse: Purse
    throttle: Throttle
    clock: Clock
    rebuy: bool
    tell: Callable[[Rollout], None]
    known: set[str] = field(default_factory=set[str])
    stopped: str | None = None
    _pace: Pace = field(default_factory=Pace)
    _to_buy: deque[Purchase] = field(default_factory=deque[Purchase])
    _timers: list[tuple[float, int, Purchase, Action]] = field(default_factory=list[Any])
    _inbox: queue.SimpleQueue[Answer] = field(default_factory=queue.SimpleQueue[Answer])
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _rows: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    _finished: list[Rollout] = field(default_factory=list[Rollout])
    _calls: list[tuple[Purchase, Action]] = field(default_factory=list[Any])
    _under_way: int = 0
    _at_provider: set[str] = field(default_factory=set[str])

    # -- the loop --------------------------------------------------------------------------------------------------

    def run(self, wanted: Iterable[Wanted], last: Mapping[str, Attempt]) -> None:
        """Take up what was begun, buy what is missing, and return when nothing is left to wait for."""
        self._take_up(wanted, last)
        with ThreadPoolExecutor(min(self.throttle.ceiling, MOST_THREADS), thread_name_prefix="jobs") as threads:
            try:
                while self._turn(threads):
                    pass
            except BaseException:
                threads.shutdown(wait=True, cancel_futures=True)
                self._save_what_was_bought()
                raise

    def _turn(self, threads: ThreadPoolExecutor) -> bool:
        self._start_what_is_due()
        self._commit()
        for purchase, action in self._calls:
            threads.submit(self._call, purchase, action)
        self._under_way += len(self._calls)
        self._calls.clear()
        if not (self._under_way or self._timers or self._to_buy):
            return False
        answer = self.clock.wait(self._inbox, self._seconds_left(), busy=self._under_way > 0)
        while answer:
            self._under_way -= 1
            self._handle(answer)
            answer = None if self._inbox.empty() else self._inbox.get()
        return True

    def _take_up(self, wanted: Iterable[Wanted], last: Mapping[str, Attempt]) -> None:
        for one in wanted:
            before = last.get(one.key)
            step = next_step(before, rebuy=self.rebuy)
            token = before.token if before and step in ("find", "attach") else secrets.token_hex(16)
            order = Order(scene=one.scene, seed=one.seed, index=one.index, token=token)
            purchase = Purchase(wanted=one, order=order, job=before.job if before else None)
            if step == "buy":
                self._to_buy.append(purchase)
            elif step == "find":
                purchase.may_rebuy = self.rebuy
                self._at_provider.add(token)
                self._later(self.generator.settle_s, purchase, "find")
            elif step == "attach":
                self._at_provider.add(token)
                purchase.since = self.clock.now()
                self._later(0.0, purchase, "poll")

    def _start_what_is_due(self) -> None:
        now = self.clock.now()
        while self._timers and self._timers[0][0] <= now:
            _, _, purchase, action = heapq.heappop(self._timers)
            self._calls.append((purchase, action))
        room = self.throttle.room(len(self._at_provider), now)
        while room and self._to_buy and not self.stopped:
            if not self.purse.affords_one():
                self.stopped = (
                    f"--max-cost {self.purse.limit_usd:g} is reached: {self.purse.spent_usd:.2f} USD spent or set aside"
                )
                break
            self._submit(self._to_buy.popleft())
            room -= 1
        if self.stopped:
            self._to_buy.clear()

    def _submit(self, purchase: Purchase) -> None:
        self._write(purchase, "intent")
        self.purse.set_aside(purchase.order.token)
        self._at_provider.add(purchase.order.token)
        self._calls.append((purchase, "submit"))

    def _seconds_left(self) -> float | None:
        moments = [self._timers[0][0]] if self._timers else []
        if self._to_buy and self.throttle.quiet_until > self.clock.now():
            moments.append(self.throttle.quiet_until)
        return max(0.0, min(moments) - self.clock.now()) if moments else None

    def _commit(self) -> None:
        if self._rows:
            with self.store.together():
                for row in self._rows:
                    row()
            self._rows.clear()
        for rollout in self._finished:
            self.tell(rollout)
        self._finished.clear()

    def _save_what_was_bought(self) -> None:
        """Stopped in the middle: what the last calls brought is still written, where the ledger can be."""
        while not self._inbox.empty():
            answer = self._inbox.get()
            if answer.action == "submit" and isinstance(answer.result, str):
                answer.purchase.job = answer.result
                self._write(answer.purchase, "submitted")
        with suppress(sqlite3.Error):
            self._commit()

    # -- calls, made in other threads ------------------------------------------------------------------------------

    def _call(self, purchase: Purchase, action: Action) -> None:
        try:
            result = self._ask(purchase, action)
        except BaseException as error:  # noqa: BLE001 - the deciding thread sorts them, and raises what is a bug
            result = error
        self._inbox.put(Answer(purchase, action, result))

    def _ask(self, purchase: Purchase, action: Action) -> Any:
        job = purchase.job or ""
        match action:
            case "submit":
                return self.generator.submit(purchase.order)
            case "find":
                return self.generator.find(purchase.order, frozenset(self.known))
            case "poll":
                return self.generator.poll(job)
            case "cancel":
                return self.generator.cancel(job)
            case "download":
                assert purchase.state is not None
                into = begin(purchase.wanted.part)
                self.generator.download(job, purchase.state, into)
                clip = video.probe(into)
                return Fetched(clip, look(clip))

    # -- answers ---------------------------------------------------------------------------------------------------

    def _handle(self, answer: Answer) -> None:
        purchase, result = answer.purchase, answer.result
        if isinstance(result, BaseException) and not isinstance(result, (GenerationError, VideoError, OSError)):
            raise result
        failed = isinstance(result, BaseException)
        purchase.failures = purchase.failures + 1 if failed else 0
        purchase.gone = purchase.gone + 1 if isinstance(result, GoneError) and answer.action == "poll" else 0
        purchase.downloads += answer.action == "download"
        purchase.submits += answer.action == "submit"
        if isinstance(result, str):
            self._has_job(purchase, result, took_now=answer.action == "submit")
        if isinstance(result, JobState):
            purchase.state = result
        self._apply(purchase, AFTER[answer.action](result, self._facts(purchase)), result)

    def _facts(self, purchase: Purchase) -> Facts:
        return Facts(
            failures=purchase.failures,
            downloads=purchase.downloads,
            gone=purchase.gone,
            age_s=self.clock.now() - purchase.since,
            longest_s=self.generator.longest_s,
            settle_s=self.generator.settle_s,
            rebuy=purchase.may_rebuy,
            submits=purchase.submits,
        )

    def _has_job(self, purchase: Purchase, job: str, *, took_now: bool) -> None:
        purchase.job, purchase.since = job, self.clock.now()
        self.known.add(job)
        purchase.timed = took_now
        if took_now:
            self.throttle.accepted()

    def _apply(self, purchase: Purchase, decision: Decision, result: Any) -> None:
        if decision.line:
            self._write(purchase, decision.line, decision, result)
        if decision.push_back_s is not None:
            self.throttle.pushed_back(self.clock.now(), decision.push_back_s)
        if decision.stop:
            self.stopped = self.stopped or decision.message
        if decision.then in ("buy", "end", "download"):
            self._at_provider.discard(purchase.order.token)
        if decision.then == "buy":
            self._buy_again(purchase, decision)
        elif decision.then == "end":
            self._end(purchase, decision, result)
        else:
            if decision.then == "download" and purchase.timed:
                self._pace.finished(self.clock.now() - purchase.since)
            pace_s = self._pace.wait_s(self.clock.now() - purchase.since)
            self._later(pace_s if decision.wait_s is None else decision.wait_s, purchase, decision.then)

    def _buy_again(self, purchase: Purchase, decision: Decision) -> None:
        """Back to the head of the queue; the throttle keeps it there until the provider may be asked again."""
        if decision.new_purchase:
            purchase.may_rebuy = False
            purchase.order = replace(purchase.order, token=secrets.token_hex(16))
        self._to_buy.appendleft(purchase)

    def _end(self, purchase: Purchase, decision: Decision, result: Any) -> None:
        wanted = purchase.wanted
        rollout = move_in(wanted.part, rollout_of(purchase, decision, result))
        if isinstance(result, Fetched):
            self._rows.append(lambda: self.store.add_look(result.clip.sha256, result.picture))
        self._rows.append(lambda: self.store.add_rollout(wanted.key, rollout))
        self._finished.append(rollout)

    # -- what is written and planned -------------------------------------------------------------------------------

    def _write(
        self, purchase: Purchase, line: AttemptState, decision: Decision | None = None, result: Any = None
    ) -> None:
        state = purchase.state
        error = result if isinstance(result, ProviderError) else None
        attempt = Attempt(
            key=purchase.wanted.key,
            state=line,
            token=purchase.order.token,
            job=purchase.job,
            error_class=decision.error_class if decision else None,
            message=decision.message if decision else None,
            request_id=error.request_id if error else state.request_id if state else None,
            cost_usd=state.cost_usd if state else None,
        )
        self.purse.settle(attempt)
        self._rows.append(lambda: self.store.add_attempt(attempt))

    def _later(self, seconds: float, purchase: Purchase, action: Action) -> None:
        heapq.heappush(self._timers, (self.clock.now() + seconds, next(self._numbers), purchase, action))
