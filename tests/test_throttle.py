"""Jobs in flight shrink when a provider says "too many", grow back, and are asked after in good time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from worldodds.throttle import Pace, Throttle, backoff_s


def test_too_many_halves_and_success_grows_back() -> None:
    """One burst of refusals counts once; a full round of successes adds about one."""
    throttle = Throttle(16)
    assert throttle.room(0, now=0.0) == 16
    for _ in range(5):
        throttle.pushed_back(10.0, 3.0)
    assert throttle.room(0, now=12.0) == 0
    assert throttle.room(0, now=13.0) == 8
    for _ in range(9):
        throttle.accepted()
    assert throttle.room(0, now=13.0) == 9
    for _ in range(1000):
        throttle.accepted()
    assert throttle.room(0, now=13.0) == 16


@given(st.lists(st.one_of(st.none(), st.floats(0, 1000)), max_size=200), st.integers(1, 64))
def test_the_limit_stays_between_one_and_its_ceiling(events: list[float | None], ceiling: int) -> None:
    """Whatever the provider says, work goes on and never beyond what was asked for."""
    throttle, now = Throttle(ceiling), 0.0
    for wait_s in events:
        now += 2.0
        if wait_s is None:
            throttle.accepted()
        else:
            throttle.pushed_back(now, wait_s)
        assert 1 <= throttle.limit <= ceiling
        assert throttle.room(0, now=throttle.quiet_until) >= 1


def test_a_job_is_first_asked_after_when_others_were_done() -> None:
    """With five finished jobs known, a new one is left alone until shortly before the quickest took."""
    pace = Pace()
    assert pace.wait_s(0.0) == 0.1
    for took_s in (60.0, 62.0, 65.0, 61.0, 90.0):
        pace.finished(took_s)
    assert 59.0 < pace.wait_s(0.0) < 60.0
    assert pace.wait_s(80.0) == 4.0
    assert pace.wait_s(10_000.0) == 10.0


@given(st.integers(1, 10_000), st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)))
def test_waits_are_bounded(failures: int, retry_after_s: float | None) -> None:
    """Never negative, never for days, whatever a provider writes into Retry-After."""
    assert 0 <= backoff_s(failures, retry_after_s) <= 3600
