"""Early stopping in the loop: bought in waves until the verdict stands, whatever happens on the way."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import worldodds
from worldodds.comparison import compare
from worldodds.engine import Plan, pending, plan, read_clips, run
from worldodds.errors import InputError, SourceError, StatisticsError, StoreError
from worldodds.interop.score_json import score_document
from worldodds.interop.tables import write_rows
from worldodds.progress import Progress
from worldodds.report import report_sources
from worldodds.rollout import Clip, Reading, Rollout, Settings
from worldodds.scene import Scene, Suite, load_suite
from worldodds.sources import load
from worldodds.standing import standing
from worldodds.statistics.monitor import StoppingRule
from worldodds.status import run_status
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator, CannedReader

N = 16
MODEL = "canned/even"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadsUp(CannedGenerator):
    """Throws the coin on heads always, and the die evenly; fails or refuses the coin's rollouts as told."""

    coin: dict[int, str] = field(default_factory=dict[int, str])

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        label = "heads" if scene.id == "coin" else scene.labels[index % 6]
        status: Any = {index: self.coin[index]} if scene.id == "coin" and index in self.coin else {}
        one = CannedGenerator(outcomes={index: label}, status=status)
        return one.generate(scene, seed=seed, index=index, into=into)


def early(suite: Suite, n: int = N, *, readers: tuple[Any, ...] = (CannedReader(),), **coin: Any) -> Plan:
    return plan(suite, HeadsUp(**coin), readers, n, stop="early")


def bought(folder: Path) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    with RunStore(folder, write=False) as store:
        for rollout in store.rollouts().values():
            if rollout.status == "done":
                found.setdefault(rollout.scene, []).append(rollout.index)
    return found


def content(folder: Path) -> list[Any]:
    with RunStore(folder, write=False) as store:
        clips = {key: (r.status, r.clip and r.clip.sha256) for key, r in store.rollouts().items()}
        read = {key: (r.reading.status, r.reading.label) for key, r in store.readings().items()}
    return [clips, read]


def verdicts(source: Path, **choice: str) -> dict[str, str]:
    (card,) = load(source, **choice).score(partial=True)
    return {cell.measurement.scene.id: cell.verdict for cell in card.cells}


STOPPED = {"coin": list(range(12)), "die": list(range(N))}


def test_a_collapsed_scene_stops_and_a_fair_one_runs_to_its_horizon(tiny: Suite, tmp_path: Path) -> None:
    """Nothing is open in the end, though not everything was bought; the same again does nothing."""
    with RunStore(tmp_path / "run") as store:
        summary = run(early(tiny), store)
        assert (summary.filmed, summary.read, summary.open) == (28, 28, ())
        again = run(early(tiny), store)
        assert (again.filmed, again.read, pending(early(tiny), store)) == (0, 0, [])
    assert bought(tmp_path / "run") == STOPPED
    status = run_status(tmp_path / "run")
    assert (status.open, status.close) == ((), ())
    assert {cell.scene: dict(cell.rollouts) for cell in status.cells} == {
        "coin": {"done": 12, "not_needed": 4},
        "die": {"done": N},
    }


def test_it_buys_what_monitor_would_have_bought_of_the_whole(tiny: Suite, tmp_path: Path) -> None:
    """The same seeds, all filmed, replayed: the same readings used, and waves of four rounded up."""
    with RunStore(tmp_path / "early") as store:
        run(early(tiny), store)
    with RunStore(tmp_path / "whole") as store:
        run(replace(early(tiny), stop=None), store)
    replayed = standing(load(tmp_path / "whole"), StoppingRule(horizon=N), family=True).cells[MODEL]
    (card,) = load(tmp_path / "early").score()
    for scene, cell in replayed.items():
        here = card.cell(scene).early
        assert here is not None
        assert (here.used, here.stopped_by, here.anytime_p) == (cell.used, cell.stopped_by, cell.anytime_p)
        assert here.bought == min(-(-cell.used // 4) * 4, N)
    own = standing(load(tmp_path / "early"), StoppingRule(horizon=N)).cells[MODEL]
    assert {scene: (c.used, c.verdict) for scene, c in own.items()} == {
        scene: (c.used, c.verdict) for scene, c in replayed.items()
    }


class CutOffError(Exception):
    """The run was cut off."""


@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_is_cut_off_again_and_again_ends_the_same(tiny: Suite, tmp_path: Path, seed: int) -> None:
    """The same rollouts, files and readings as of an undisturbed run, and none made twice."""
    rng = random.Random(seed)
    with RunStore(tmp_path / "calm") as store:
        run(early(tiny), store)

    def cut_off_after(steps: int) -> Any:
        left = iter(range(steps))

        def watch(_: Progress) -> None:
            if next(left, None) is None:
                raise CutOffError

        return watch

    for _ in range(30):
        try:
            with RunStore(tmp_path / "cut") as store:
                summary = run(early(tiny), store, workers=2, watch=cut_off_after(rng.randint(0, 12)))
            break
        except CutOffError:
            continue
    assert summary.open == ()  # pyright: ignore[reportPossiblyUnboundVariable]
    assert content(tmp_path / "cut") == content(tmp_path / "calm")
    with RunStore(tmp_path / "cut") as store:
        assert {store.attempts(key) for key in store.rollouts()} == {1}


KILLED = """
import os, signal, sys
from pathlib import Path
from worldodds.engine import plan, run
from worldodds.scene import load_suite
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator, CannedReader

left = int(sys.argv[3])

def watch(step):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

all_heads = CannedGenerator(outcomes=dict.fromkeys(range(16), "heads"))
coin = load_suite(Path(sys.argv[1])).only(["coin"])
with RunStore(sys.argv[2]) as store:
    run(plan(coin, all_heads, [CannedReader()], 16, stop="early"), store, watch=watch)
"""


def test_kill_9_in_the_middle_of_a_wave_changes_nothing(tiny: Suite, tiny_folder: Path, tmp_path: Path) -> None:
    """Killed while filming, while reading, and between waves."""
    all_heads = CannedGenerator(outcomes=dict.fromkeys(range(N), "heads"))
    whole = plan(tiny.only(["coin"]), all_heads, [CannedReader()], N, stop="early")
    with RunStore(tmp_path / "calm") as store:
        run(whole, store)
    for steps in (3, 5, 9):
        words = [sys.executable, "-c", KILLED, str(tiny_folder), str(tmp_path / "killed"), str(steps)]
        assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    with RunStore(tmp_path / "killed") as store:
        run(whole, store)
    assert content(tmp_path / "killed") == content(tmp_path / "calm")


def test_a_failed_rollout_holds_its_scene_and_is_no_null(tiny: Suite, tmp_path: Path) -> None:
    """The scene waits open where it failed, the other goes on; mended, it ends as if nothing had happened."""
    with RunStore(tmp_path / "run") as store:
        summary = run(early(tiny, coin={5: "failed"}), store)
        assert any(line.startswith("coin r005: failed") for line in summary.open)
    assert bought(tmp_path / "run") == {"coin": [0, 1, 2, 3, 4, 6, 7], "die": list(range(N))}
    (card,) = load(tmp_path / "run").score()
    cell = card.cell("coin")
    assert (cell.verdict, cell.measurement.tally.failed, cell.measurement.counts.unreadable) == ("undecided", 1, 0)
    assert run_status(tmp_path / "run").open
    with RunStore(tmp_path / "run") as store:
        assert run(early(tiny), store).open == ()
    assert bought(tmp_path / "run") == STOPPED
    assert verdicts(tmp_path / "run") == {"coin": "miscalibrated", "die": "undecided"}


def test_what_fails_behind_the_stop_is_not_needed(tiny: Suite, tmp_path: Path) -> None:
    """The verdict stands without it: nothing is open, and nothing is bought again."""
    with RunStore(tmp_path / "run") as store:
        summary = run(early(tiny, coin={2: "refused", 15: "failed"}), store)
        assert summary.open == ()
        assert run(early(tiny), store).filmed == 0  # not even what failed
    assert load(tmp_path / "run").open == 0
    assert verdicts(tmp_path / "run")["coin"] == "miscalibrated"


def test_refused_is_passed_over_and_counts_nowhere(tiny: Suite, tmp_path: Path) -> None:
    """The evidence needs as many outcomes as ever, and a scene that is refused wholly is illegible."""
    with RunStore(tmp_path / "run") as store:
        assert run(early(tiny, coin={2: "refused"}), store).open == ()
    (card,) = load(tmp_path / "run").score()
    cell = card.cell("coin").early
    assert cell is not None
    assert (cell.used, cell.bought, cell.declared) == (12, 16, True)
    with RunStore(tmp_path / "refused") as store:
        assert run(early(tiny, coin=dict.fromkeys(range(N), "refused")), store).open == ()
    assert verdicts(tmp_path / "refused")["coin"] == "illegible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blind(CannedReader):
    """Fails in some clips of the coin, by shade of the corner that marks the seed."""

    name: str = "blind"
    fails: frozenset[str] = frozenset()

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        if scene.id == "coin" and clip.path.stem in self.fails:
            return Reading(status="failed", reason="no reply")
        return CannedReader(name=self.name).read(clip, scene, vote=vote)


def test_a_failed_reading_holds_its_scene(tiny: Suite, tmp_path: Path) -> None:
    """It is asked once a run, never a null, and the next run goes on from there."""
    with RunStore(tmp_path / "run") as store:
        summary = run(early(tiny, readers=(Blind(fails=frozenset({"r003"})),)), store)
        assert "coin r003: blind: no reply" in summary.open
        failed = [one for one in store.readings().values() if one.reading.status == "failed"]
        assert len(failed) == 1
    assert bought(tmp_path / "run")["coin"] == [0, 1, 2, 3]
    with RunStore(tmp_path / "run") as store:
        assert run(early(tiny, readers=(Blind(),)), store).open == ()
    assert bought(tmp_path / "run") == STOPPED


@dataclass(frozen=True, slots=True, kw_only=True)
class Wavering(CannedReader):
    """Votes three times; the second vote always says tails."""

    name: str = "wavering"

    @property
    def settings(self) -> Settings:
        return {"votes": 3}

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        saw = CannedReader().read(clip, scene, vote=vote)
        return Reading.saw("tails") if vote == 1 and scene.id == "coin" else saw


def test_votes_are_settled_before_they_count(tiny: Suite, tmp_path: Path) -> None:
    """Two votes of three say heads."""
    with RunStore(tmp_path / "run") as store:
        assert run(early(tiny, readers=(Wavering(),)), store).open == ()
    assert bought(tmp_path / "run") == STOPPED


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrary(CannedReader):
    """Sees the coin's sides in turn, whatever there is."""

    name: str = "contrary"

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        return Reading.saw(scene.labels[int(clip.path.stem[1:]) % len(scene.labels)])


def test_the_first_reader_named_decides_once_and_for_all(tiny: Suite, tmp_path: Path) -> None:
    """In another order, too; without it the run is refused; the other's own readings leave the scene open."""
    both = (CannedReader(), Contrary())
    with RunStore(tmp_path / "run") as store:
        run(early(tiny, readers=both), store)
        assert run(early(tiny, readers=both[::-1]), store).filmed == 0
        with pytest.raises(StoreError, match="stops early by what 'canned' reads, and 'contrary' is named"):
            run(early(tiny, readers=(Contrary(),)), store)
    assert bought(tmp_path / "run") == STOPPED
    assert verdicts(tmp_path / "run", reader="canned")["coin"] == "miscalibrated"
    (card,) = load(tmp_path / "run", reader="contrary").score()
    assert card.open == 0
    assert (card.cell("coin").verdict, card.cell("coin").measurement.g) == ("undecided", None)
    assert card.cell("coin").measurement.reason is not None
    assert card.cell("coin").measurement.reason.startswith("another reader's readings decided")
    with RunStore(tmp_path / "other") as store:
        run(early(tiny, readers=both[::-1]), store)
    assert bought(tmp_path / "other")["coin"] == list(range(N))


def test_a_later_run_without_a_word_keeps_to_the_rule(tiny: Suite, tmp_path: Path) -> None:
    """Another n is refused; told never, it buys the rest and is as any other run."""
    plain = replace(early(tiny), stop=None)
    with RunStore(tmp_path / "run") as store:
        run(early(tiny), store)
        assert run(plain, store).filmed == 0
        with pytest.raises(StoreError, match=f"at {N} rollouts at the latest, and n = 20 is asked for"):
            run(replace(plain, n=20), store)
        assert len(pending(replace(plain, stop="never"), store)) == 4
        assert run(plain, store, stop="never").filmed == 4
        assert run(plain, store).filmed == 0
    (card,) = load(tmp_path / "run").score()
    assert (card.early, card.cell("coin").measurement.g is None) == (None, False)
    assert bought(tmp_path / "run")["coin"] == list(range(N))


def test_scenes_may_come_one_by_one(tiny: Suite, tmp_path: Path) -> None:
    """What another scene lacks holds none up; the family is all that was planned."""
    with RunStore(tmp_path / "run") as store:
        run(early(tiny.only(["coin"])), store)
        first = bought(tmp_path / "run")
        run(early(tiny), store)
    assert first == {"coin": list(range(12))}
    assert bought(tmp_path / "run") == STOPPED


def test_a_run_begun_whole_may_go_on_early(tiny: Suite, tmp_path: Path) -> None:
    """What is there already counts; another number of rollouts planned does not fit the rule."""
    with RunStore(tmp_path / "run") as store:
        run(replace(early(tiny, n=8), stop=None), store)
        with pytest.raises(StoreError, match="8 rollouts of scene 'coin' are planned here, not 16"):
            run(early(tiny), store)
    with RunStore(tmp_path / "read") as store:
        run(replace(early(tiny), stop=None, readers=()), store)
        summary = run(early(tiny), store)
        assert (summary.filmed, summary.open) == (0, ())
    assert verdicts(tmp_path / "read")["coin"] == "miscalibrated"


def test_a_clip_that_is_here_is_done_though_no_verdict_needs_it(tiny: Suite, tmp_path: Path) -> None:
    """One that could not be read, behind the stop: nothing is open, and status counts it among those there are."""
    with RunStore(tmp_path / "run") as store:
        run(replace(early(tiny), stop=None, readers=()), store)
        assert run(early(tiny, readers=(Blind(fails=frozenset({"r015"})),)), store).open == ()
    status = run_status(tmp_path / "run")
    assert status.open == ()
    assert {cell.scene: dict(cell.rollouts) for cell in status.cells} == {"coin": {"done": N}, "die": {"done": N}}


def test_scores_say_that_they_are_comparable_with_none(tiny: Suite, tmp_path: Path) -> None:
    """The verdict is the rule's: no fixed-n test, interval, rank or comparison on rollouts bought until they showed."""
    with RunStore(tmp_path / "run") as store:
        run(early(tiny), store)
    with RunStore(tmp_path / "whole") as store:
        run(replace(early(tiny), stop=None), store)
    source = load(tmp_path / "run", tmp_path / "whole")
    stopped, whole = source.score()
    coin, die = stopped.cell("coin"), stopped.cell("die")
    assert (coin.verdict, coin.measurement.g, coin.measurement.chi2) == ("miscalibrated", None, None)
    assert coin.g_q is not None
    assert coin.g_q <= 0.05
    assert die.measurement.g is not None
    assert (stopped.family_size, whole.family_size) == (2, 2)
    assert stopped.interval is not None
    assert stopped.interval.interval is None
    document = score_document([stopped, whole], source.suite, source.reader)
    told = document.models[stopped.model]
    assert told.early is not None
    assert (told.early.planned, told.early.bought, told.early.saved, told.early.comparable) == (32, 28, 4, False)
    assert (told.rank, told.population, told.interval.low) == (None, None, None)
    assert told.cells["coin"].early is not None
    assert told.cells["coin"].early.used == 12
    assert document.models[whole.model].early is None
    with pytest.raises(SourceError, match="was stopped early: its rollouts were bought until"):
        compare(source)
    report_sources([tmp_path / "run"], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "28 of 32 rollouts bought, 4 saved (12%)" in page
    assert "mnTV is not comparable" in page


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_an_export_carries_the_rule(tiny: Suite, tmp_path: Path, ending: str) -> None:
    """Scoring the table gives the run's verdicts and numbers, not a fresh test."""
    with RunStore(tmp_path / "run") as store:
        run(early(tiny, coin={2: "refused"}), store)
    source = load(tmp_path / "run")
    table = tmp_path / f"rows.{ending}"
    write_rows(source.rows, table, source.suite)
    again = load(table, suite=tiny.folder)
    ours, theirs = (score_document(s.score(), s.suite, s.reader).models[MODEL] for s in (source, again))
    assert ours == theirs


def test_a_wrong_rule_in_a_table_names_its_row(tiny: Suite, tmp_path: Path) -> None:
    """One sentence."""
    table = tmp_path / "rows.csv"
    table.write_text("scene,model,seed,outcome,stop\ncoin,a,0,heads,soon\n")
    with pytest.raises(SourceError, match=r"rows.csv: row 2: stop: 'soon' is no rule of early stopping"):
        load(table, suite=tiny.folder)


def test_what_cannot_stop_early_is_refused_before_anything_is_made(
    tiny: Suite, tiny_folder: Path, tmp_path: Path
) -> None:
    """No reader, too few rollouts, no odds, a suite of tracks."""
    with pytest.raises(InputError, match="early stopping needs a reader"):
        early(tiny, readers=())
    with pytest.raises(StatisticsError, match="3 rollouts are too few to stop early"):
        early(tiny, n=3)
    bare = tiny.only(["coin"])
    bare = replace(bare, scenes=tuple(replace(scene, reference=None) for scene in bare.scenes))
    with pytest.raises(InputError, match="no scene of suite 'tiny' has known odds"):
        early(bare)
    file = tiny_folder / "suite.toml"
    file.write_text(file.read_text().replace('aggregate = "mntv"', 'aggregate = "tracks"\ngate = 2'))
    with pytest.raises(InputError, match="suite 'tiny' counts coverage and readable scenes over all rollouts"):
        early(replace(tiny, protocol=replace(tiny.protocol, aggregate="tracks", gate=2)))


def test_a_scene_without_odds_is_bought_whole(tiny: Suite, tiny_folder: Path, tmp_path: Path) -> None:
    """There is no verdict to wait for."""
    coin = tiny_folder / "coin.toml"
    coin.write_text(coin.read_text().split("[reference]")[0])
    suite = load_suite(tiny_folder)
    with RunStore(tmp_path / "run") as store:
        assert run(early(suite), store).open == ()
    assert bought(tmp_path / "run")["coin"] == list(range(N))


def test_another_reader_may_read_a_stopped_run_later(tiny: Suite, tmp_path: Path) -> None:
    """It reads what there is, and nothing is open for it."""
    with RunStore(tmp_path / "run") as store:
        run(early(tiny), store)
        assert read_clips(store, Contrary()).open == ()
    assert load(tmp_path / "run", reader="contrary").open == 0


def test_simulated_models_end_to_end(tmp_path: Path) -> None:
    """Collapsed onto two bins: stopped. Fair: all rollouts, no false alarm."""
    suite = worldodds.find_suite("calibench").only(["galton_board", "ball"])
    for preset in ("collapsed", "fair"):
        maker = worldodds.make_generator(f"simulator/{preset}", {"size": "160x120"})
        with RunStore(tmp_path / preset) as store:
            planned = worldodds.plan(suite.only(["galton_board"]), maker, [worldodds.Oracle()], 12, stop="early")
            assert worldodds.run(planned, store, workers=1).open == ()
    assert bought(tmp_path / "collapsed")["galton_board"] == list(range(8))
    assert bought(tmp_path / "fair")["galton_board"] == list(range(12))
    assert verdicts(tmp_path / "collapsed") == {"galton_board": "miscalibrated"}
    assert verdicts(tmp_path / "fair") == {"galton_board": "undecided"}


def test_json_of_a_run_that_stops_early_is_valid_by_its_schema(tiny: Suite, tmp_path: Path) -> None:
    """The schema that ships knows what was added."""
    schema = json.loads((Path(worldodds.__file__).parent / "schemas" / "score-1.json").read_text())
    with RunStore(tmp_path / "run") as store:
        run(early(tiny), store)
    source = load(tmp_path / "run")
    told = score_document(source.score(), source.suite, source.reader).models[MODEL]
    assert told.early is not None
    assert set(told.early.__slots__) == schema["$defs"]["EarlyEntry"]["properties"].keys()  # type: ignore[attr-defined]
