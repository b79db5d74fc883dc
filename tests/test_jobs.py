"""Buying clips: every fault of a provider ends in the right status, and nothing is bought twice."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from worldodds import video
from worldodds.attempts import Attempt
from worldodds.clock import HastyClock
from worldodds.engine import Summary, plan, run
from worldodds.errors import InputError, StoreError, UncertainError
from worldodds.fake_provider import FakeProvider, Fault, LocalServer, Response
from worldodds.filming import Terms
from worldodds.generators.server import Server, server
from worldodds.purse import Purse
from worldodds.scene import Suite
from worldodds.sources import load
from worldodds.store import RunStore
from worldodds.testing import CannedReader

OUTCOMES = {"coin": 2, "die": 6}


@contextmanager
def selling(**changes: object) -> Iterator[tuple[FakeProvider, Server]]:
    provider = FakeProvider(outcomes=OUTCOMES, **changes)  # type: ignore[arg-type]
    with LocalServer(provider) as local:
        yield provider, server(local.url, longest_s=600.0)


def film(
    suite: Suite, maker: Server, folder: Path, n: int = 3, *, rebuy: bool = False, purse: Purse | None = None
) -> Summary:
    with RunStore(folder) as store:
        terms = Terms(clock=HastyClock(), rebuy=rebuy, purse=purse or Purse())
        return run(plan(suite, maker, [CannedReader()], n), store, terms=terms, workers=4)


def ledger(folder: Path) -> list[Attempt]:
    with RunStore(folder, write=False) as store:
        return store.attempt_history()


def faults(**answers: Callable[[int], Response | None]) -> Fault:
    return lambda step, _, count: answers[step](count) if step in answers else None


def first(response: Response, times: int = 1) -> Callable[[int], Response | None]:
    return lambda count: response if count < times else None


def test_clips_are_bought_once_and_all_is_recorded(tiny: Suite, tmp_path: Path) -> None:
    """An intent, a job and an end for each clip; served version and cost as the provider says; outcomes are right."""
    with selling(cost_usd=0.25) as (provider, maker):
        summary = film(tiny, maker, tmp_path / "run", 6)
        assert (summary.filmed, summary.read, summary.open, summary.stopped) == (12, 12, (), None)
        again = film(tiny, maker, tmp_path / "run", 6)
        assert (again.filmed, again.read) == (0, 0)
        assert len(provider.sold) == 12
    states = [line.state for line in ledger(tmp_path / "run")]
    assert {state: states.count(state) for state in states} == {"intent": 12, "submitted": 12, "done": 12}
    with RunStore(tmp_path / "run", write=False) as store:
        clips = list(store.rollouts().values())
        assert {(r.served_version, r.cost_usd) for r in clips} == {("fake-1", 0.25)}
    assert load(tmp_path / "run").tallies()[maker.name]["die"].counts.counts == (1, 1, 1, 1, 1, 1)


BUSY = Response(status=429, body={"message": "slow down"}, headers={"Retry-After": "7"})
BROKEN = Response(status=500, body={"message": "oops"})
PASSING = {
    "too many jobs": {"submit": first(BUSY, 2)},
    "unavailable": {"submit": first(Response(status=503, body=None))},
    "server error on submit": {"submit": first(BROKEN)},
    "answer to the order lost": {"submit": first(Response(drop=True))},
    "answer to the order is no JSON": {"submit": first(Response(body=b"<html>"))},
    "server error on poll": {"poll": first(BROKEN, 3)},
    "poll hangs up": {"poll": first(Response(drop=True), 2)},
    "job unknown for a moment": {"poll": first(Response(status=404, body=None))},
    "web page instead of a clip": {"clip": first(Response(body=b"<!DOCTYPE html><html>no</html>"))},
    "web page called a clip": {"clip": first(Response(body=b"<html>", headers={"Content-Type": "video/mp4"}))},
    "clip cut off": {"clip": first(Response(body=b"\0\0\0\x20ftypisom" + bytes(500), cut=100))},
    "clip empty": {"clip": first(Response(body=b""))},
    "clip corrupt": {"clip": first(Response(body=b"\0\0\0\x20ftypisom" + bytes(500)))},
    "download fails": {"clip": first(BROKEN, 3)},
}


@pytest.mark.parametrize("case", PASSING)
def test_what_passes_is_waited_for_and_nothing_is_bought_twice(case: str, tiny: Suite, tmp_path: Path) -> None:
    """Every clip arrives whole in one run, each sold exactly once; no fault becomes an outcome or a null."""
    with selling(fault=faults(**PASSING[case])) as (provider, maker):
        summary = film(tiny, maker, tmp_path / "run")
    assert summary.open == ()
    assert summary.clips == 6
    assert len({(scene, seed) for scene, seed, _ in provider.sold}) == len(provider.sold) == 6
    cells = load(tmp_path / "run").tallies()[maker.name]
    assert cells["coin"].counts.counts == (2, 1)
    assert cells["coin"].counts.unreadable == 0


def test_a_submit_that_was_refused_for_haste_waits_as_told(tiny: Suite, tmp_path: Path) -> None:
    """Retry-After is kept, and each try is a line of the ledger."""
    with selling(fault=faults(submit=first(BUSY, 2))) as (_, maker), RunStore(tmp_path / "run") as store:
        clock = HastyClock()
        run(plan(tiny, maker, [], 1), store, terms=Terms(clock=clock), workers=1)
        assert 4 * 7 <= clock.now() < 4 * 7 + 5
    told = [line.message for line in ledger(tmp_path / "run") if line.error_class == "retryable"]
    assert len(told) == 4
    assert "HTTP 429: slow down" in str(told[0])


def test_moderation_is_refused_and_never_asked_again(tiny: Suite, tmp_path: Path) -> None:
    """A refusal is an answer: shown, never a null, never in N, never bought again."""
    with selling(refuse=frozenset({1})) as (provider, maker):
        film(tiny, maker, tmp_path / "run")
        summary = film(tiny, maker, tmp_path / "run")
        assert (summary.filmed, summary.open) == (0, ())
        assert len(provider.sold) == 6
    cell = load(tmp_path / "run").tallies()[maker.name]["coin"]
    assert (cell.refused, cell.counts.n_total, cell.counts.unreadable) == (1, 2, 0)


def test_a_job_that_hangs_is_cancelled_at_the_provider(tiny: Suite, tmp_path: Path) -> None:
    """After its longest time a job is cancelled, and bought anew by the next run only."""
    with selling(stuck=frozenset({1})) as (provider, maker):
        summary = film(tiny, maker, tmp_path / "run", 2)
        assert len(provider.cancelled) == 2
        assert "took longer than 600 s; cancelled" in summary.open[0]
        provider.stuck = frozenset()
        assert film(tiny, maker, tmp_path / "run", 2).open == ()
        assert len(provider.sold) == 6


def test_a_job_that_cannot_be_cancelled_is_taken_up_again(tiny: Suite, tmp_path: Path) -> None:
    """It may still cost money and end well, so the next run asks after it instead of buying another."""
    with selling(stuck=frozenset({0}), fault=faults(cancel=lambda _: BROKEN)) as (provider, maker):
        assert "could not be cancelled" in film(tiny, maker, tmp_path / "run", 1).open[0]
        provider.stuck = frozenset()
        assert film(tiny, maker, tmp_path / "run", 1).open == ()
        assert len(provider.sold) == 2


def test_a_lost_job_is_perhaps_bought_and_only_bought_again_when_told(tiny: Suite, tmp_path: Path) -> None:
    """It stays open, with its reason, through any number of runs; --rebuy buys it."""
    gone = Response(status=404, body={"message": "no such job"})
    with selling(fault=faults(poll=lambda _: gone)) as (provider, maker):
        for _ in range(3):
            summary = film(tiny, maker, tmp_path / "run", 1)
            assert "perhaps bought: the provider has lost the job" in summary.open[0]
        assert len(provider.sold) == 2
        provider.fault = lambda *_: None
        assert len(film(tiny, maker, tmp_path / "run", 1).open) == 2
        assert film(tiny, maker, tmp_path / "run", 1, rebuy=True).open == ()
        assert len(provider.sold) == 4


def test_a_clip_that_cannot_be_fetched_is_fetched_by_the_next_run(tiny: Suite, tmp_path: Path) -> None:
    """What was paid for is not paid for again because the download failed."""
    with selling(fault=faults(clip=lambda _: Response(body=b"<html>"))) as (provider, maker):
        summary = film(tiny, maker, tmp_path / "run", 1)
        assert "not a video instead of the clip" in summary.open[0]
        provider.fault = lambda *_: None
        assert film(tiny, maker, tmp_path / "run", 1).open == ()
        assert len(provider.sold) == 2


def test_a_vanished_clip_is_downloaded_again(tiny: Suite, tmp_path: Path) -> None:
    """A file that was deleted is asked for at the provider, not bought anew."""
    with selling() as (provider, maker):
        film(tiny, maker, tmp_path / "run", 2)
        (tmp_path / "run/rollouts/coin/r001.mp4").unlink()
        assert film(tiny, maker, tmp_path / "run", 2).open == ()
        assert len(provider.sold) == 4


def test_a_wrong_key_stops_at_once(tiny: Suite, tmp_path: Path) -> None:
    """No job is tried a second time; those not tried stay missing, and the summary says why."""
    denied = Response(status=401, body={"message": "invalid key"})
    with selling(fault=faults(submit=lambda _: denied)) as (provider, maker):
        summary = film(tiny, maker, tmp_path / "run", 10)
    assert "HTTP 401: invalid key" in str(summary.stopped)
    assert provider.sold == []
    assert sum(line.state == "intent" for line in ledger(tmp_path / "run")) <= 8


def test_money_ends_before_the_limit(tiny: Suite, tmp_path: Path) -> None:
    """--max-cost is never passed, what earlier runs spent counts, and a higher limit goes on."""
    with selling(cost_usd=0.25) as (provider, maker):
        summary = film(tiny, maker, tmp_path / "run", purse=Purse(limit_usd=1.1, per_clip_usd=0.3))
        assert "--max-cost 1.1 is reached" in str(summary.stopped)
        assert len(provider.sold) == 3
        assert film(tiny, maker, tmp_path / "run", purse=Purse(limit_usd=1.1, per_clip_usd=0.3)).clips == 4
        assert film(tiny, maker, tmp_path / "run", purse=Purse(limit_usd=1.1, per_clip_usd=0.3)).clips == 4
        assert film(tiny, maker, tmp_path / "run", purse=Purse(limit_usd=9, per_clip_usd=0.3)).open == ()
        assert len(provider.sold) == 6


def test_a_full_disk_stops_buying_and_loses_nothing(
    tiny: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clips that are bought wait at the provider until there is room."""

    def no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with selling() as (provider, maker):
        with monkeypatch.context() as patched:
            patched.setattr(video, "probe", no_space)
            summary = film(tiny, maker, tmp_path / "run")
            assert "No space left on device" in str(summary.stopped)
        assert film(tiny, maker, tmp_path / "run").open == ()
        assert len({(scene, seed) for scene, seed, _ in provider.sold}) == len(provider.sold) == 6


def test_a_ledger_that_cannot_be_written_buys_nothing_more(
    tiny: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends with the database's error; the next one finds every order by its token."""
    add, count = RunStore.add_attempt, 0

    def failing(self: RunStore, line: Attempt) -> None:
        nonlocal count
        count += 1
        if count > 7:
            raise sqlite3.OperationalError("database or disk is full")
        add(self, line)

    with selling() as (provider, maker):
        with monkeypatch.context() as patched:
            patched.setattr(RunStore, "add_attempt", failing)
            with pytest.raises(sqlite3.OperationalError, match="full"):
                film(tiny, maker, tmp_path / "run")
        assert film(tiny, maker, tmp_path / "run").open == ()
        assert len({(scene, seed) for scene, seed, _ in provider.sold}) == len(provider.sold) == 6


class Silent(Server):
    """A provider without idempotency keys or lists: nobody can tell what became of an order."""

    def find(self, order: object, known: object) -> str | None:
        raise UncertainError("no way to tell")


def test_an_order_that_nobody_can_trace_is_never_bought_again_unasked(tiny: Suite, tmp_path: Path) -> None:
    """Perhaps bought: it stays failed, and --rebuy is the only way on."""
    with selling(fault=faults(submit=first(Response(drop=True)))) as (provider, maker):
        silent = Silent(url=maker.url)
        for _ in range(2):
            summary = film(tiny, silent, tmp_path / "run", 1)
            assert "perhaps bought" in summary.open[0]
        assert len(provider.sold) == 2
        assert film(tiny, silent, tmp_path / "run", 1, rebuy=True).open != ()  # the new order's answer is lost as well
        provider.fault = lambda *_: None
        assert film(tiny, silent, tmp_path / "run", 1, rebuy=True).open == ()


@pytest.mark.parametrize("jump", ["2001-01-01T00:00:00", "2101-01-01T00:00:00"])
def test_a_wall_clock_that_jumps_changes_nothing(
    jump: str, tiny: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger's order is the order of its rows, and no wait reads the wall clock."""
    with selling() as (provider, maker):
        film(tiny, maker, tmp_path / "run", 1)
        monkeypatch.setattr("worldodds.store._now", lambda: jump)
        summary = film(tiny, maker, tmp_path / "run", 2)
        assert (summary.filmed, summary.open) == (2, ())
        assert len(provider.sold) == 4


def test_one_clip_for_all_seeds_is_reported(tiny: Suite, tmp_path: Path) -> None:
    """The same file under two seeds: the model ignores the seed; a model that heeds it is not accused."""
    with selling(all_seeds_as=5) as (_, maker):
        summary = film(tiny, maker, tmp_path / "same")
        assert len(summary.twins) == 2
        assert summary.twins[0].startswith(
            "coin: this model ignores the seed: r000 and r001 are the same file (seeds 0 and 1; 3 of 3 clips"
        )
    with selling() as (_, maker):
        assert film(tiny, maker, tmp_path / "other").twins == ()


def test_what_the_server_does_not_know_is_refused_before_anything_is_paid(tiny: Suite, tmp_path: Path) -> None:
    """A misspelt setting, another protocol, a prompt or frame that does not fit."""
    with selling() as (provider, maker):
        with pytest.raises(InputError, match=r"no setting called 'stesp'\. Did you mean 'steps'"):
            film(tiny, replace(maker, options={"stesp": 4}), tmp_path / "run")
        assert provider.sold == []
    hello = Response(body={"hello": "world"})
    message = r"does not speak worldodds\.server/1"
    with LocalServer(lambda _: hello) as other, pytest.raises(InputError, match=message):
        film(tiny, server(other.url), tmp_path / "other")


def test_a_settings_change_is_another_generator(tiny: Suite, tmp_path: Path) -> None:
    """Settings are recorded, handed to the server, and part of every key."""
    with selling() as (provider, maker):
        film(tiny, replace(maker, options={"steps": 4}), tmp_path / "run", 1)
        assert provider.bodies[0]["settings"] == {"steps": 4}
        with pytest.raises(StoreError, match="made with steps = 4"):
            film(tiny, maker, tmp_path / "run", 1)
