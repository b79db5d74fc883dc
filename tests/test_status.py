"""Where a run stands is told from a few columns of its ledger, and by little of the package."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from worldodds.attempts import Attempt
from worldodds.engine import plan, run
from worldodds.keys import reading_keys
from worldodds.purse import Purse
from worldodds.rollout import Clip, Reading, Rollout, State
from worldodds.scene import Suite
from worldodds.sources import load
from worldodds.status import run_status
from worldodds.store import RunStore, StoredReading
from worldodds.tally import Tally
from worldodds.testing import CannedGenerator, CannedReader

READINGS = (Reading.saw("heads"), Reading(status="unreadable", reason="blank"), Reading(status="failed", reason="lost"))


def reading(key: str, reader: str, vote: int, said: Reading) -> StoredReading:
    return StoredReading(
        key=key, rollout_key="k", sha256="s", reader=reader, settings={"votes": 2}, vote=vote, reading=said
    )


def test_states_are_those_of_the_rollouts() -> None:
    """In the same order, and no more of each than is asked for."""
    clip = Clip(path=Path(":memory:") / "a.mp4", sha256="s", seconds=1.0, frames=24)
    with RunStore(":memory:") as store:
        store.add_rollout("b", Rollout(scene="die", index=1, seed=1, status="failed", message="it broke"))
        store.add_rollout("a", Rollout(scene="die", index=0, seed=0, status="failed"))
        store.add_rollout("a", Rollout(scene="die", index=0, seed=0, status="done", clip=clip))
        assert list(store.states()) == list(store.rollouts()) == ["a", "b"]
        assert store.states()["a"] == State("die", 0, 0, "done", "s", None)
        assert store.states()["b"] == State("die", 1, 1, "failed", None, "it broke")


def test_answers_are_those_of_one_reader() -> None:
    """The newest of each key, without raw words; who has read is told with the settings of the newest reading."""
    with RunStore(":memory:") as store:
        store.add_reading(reading("1", "x", 0, READINGS[2]))
        store.add_reading(reading("1", "x", 0, Reading.saw("heads", raw="I see heads")))
        store.add_reading(reading("2", "y", 0, READINGS[1]))
        assert store.answers("x") == {"1": Reading.saw("heads")}
        assert store.readers() == {"x": {"votes": 2}, "y": {"votes": 2}}
        assert store.readings_in_doubt() == []
        store.add_reading(reading("3", "x", 1, READINGS[2]))
        assert [stored.key for stored in store.readings_in_doubt()] == ["1", "3"]


LINES = st.builds(
    lambda token, end, cost: Attempt(key="k", token=token, state=end[0], error_class=end[1], cost_usd=cost),  # type: ignore[arg-type]
    st.sampled_from(["t", "u"]),
    st.sampled_from(
        [
            *product(["intent", "submitted", "done", "refused"], [None]),
            *product(["failed"], ["retryable", "permanent", "perhaps bought", "gone", "download"]),
        ]
    ),
    st.sampled_from([None, 0.25, 1.0]),
)


@given(st.lists(LINES, max_size=8))
def test_lines_that_end_a_purchase_tell_what_was_spent(lines: list[Attempt]) -> None:
    """The others add nothing to it."""
    whole, ended = Purse(), Purse()
    with RunStore(":memory:") as store:
        for line in lines:
            store.add_attempt(line)
        whole.remember(store.attempt_history())
        ended.remember(store.attempt_history(ended=True))
        now = {key: line for key, line in store.attempts_now().items() if line.state == "failed"}
        assert store.attempts_now(failed=True) == now
    assert ended.spent_usd == whole.spent_usd


def test_its_counts_are_those_of_the_score(tiny: Suite, tmp_path: Path) -> None:
    """What status bounds is what `score` would count, votes settled and what is open left out."""
    with RunStore(tmp_path / "run") as store:
        run(plan(tiny, CannedGenerator(), [CannedReader()], 4), store)
        for index, (key, rollout) in enumerate(store.rollouts().items()):
            assert rollout.clip is not None
            scene = tiny.scene(rollout.scene)
            for name in reading_keys(key, rollout.clip.sha256, scene, CannedReader().name, {})[: index % 2]:
                lost = reading(name, CannedReader().name, 0, READINGS[2])
                store.add_reading(replace(lost, rollout_key=key, settings={}))
        store.plan("coin", 6)
    found = run_status(tmp_path / "run")
    ((_, tallies),) = load(tmp_path / "run").tallies().items()
    assert {cell.scene: _open(cell.rollouts) for cell in found.cells} == {"coin": 2, "die": 0}
    assert len(found.open) == sum(map(_left, tallies.values())) == 2 + 4
    assert all(cell.bounds is not None and cell.bounds[0] < cell.bounds[1] for cell in found.cells)


def _open(rollouts: Mapping[str, int]) -> int:
    return rollouts.get("failed", 0) + rollouts.get("missing", 0)


def _left(tally: Tally) -> int:
    return tally.failed + tally.missing


def test_it_loads_no_statistics(tiny: Suite, tmp_path: Path) -> None:
    """Loading scipy alone takes longer than telling where ten thousand rollouts stand."""
    with RunStore(tmp_path / "run") as store:
        run(plan(tiny, CannedGenerator(), [CannedReader()], 2), store)
        store.plan("coin", 3)
    code = "import sys; from worldodds.cli import call; call(sys.argv[1:]); print([*sys.modules], file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, "status", str(tmp_path / "run"), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["scenes"]["coin"]["score_bounds"] is not None
    heavy = {"scipy", "av", "cv2", "matplotlib", "pandas"}
    assert not heavy & set(done.stderr.translate(str.maketrans("[]',", "    ")).split())
