"""Running is resuming: what is done is never done again, and what is open is always said."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from worldodds.engine import Plan, pending, plan, read_clips, run
from worldodds.errors import InputError, StoreError, VideoError
from worldodds.rollout import Clip, Reading, Rollout
from worldodds.scene import Scene, Suite, load_suite
from worldodds.sources import load
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator, CannedReader


def make(suite: Suite, n: int = 4, **changes: object) -> Plan:
    return plan(suite, CannedGenerator(**changes), [CannedReader()], n)  # type: ignore[arg-type]


def states(store: RunStore) -> dict[str, tuple[str, str | None]]:
    return {key: (r.status, r.clip.sha256 if r.clip else None) for key, r in store.rollouts().items()}


def test_a_run_films_reads_and_counts(tiny: Suite, tmp_path: Path) -> None:
    """Every clip is real, every outcome is the one that was filmed."""
    with RunStore(tmp_path / "run") as store:
        summary = run(make(tiny, 6), store)
    assert (summary.filmed, summary.read, summary.open) == (12, 12, ())
    tallies = load(tmp_path / "run").tallies()["canned/even"]
    assert tallies["coin"].counts.counts == (3, 3)
    assert tallies["die"].counts.counts == (1, 1, 1, 1, 1, 1)
    assert sorted(p.name for p in (tmp_path / "run/rollouts/coin").iterdir()) == [f"r{i:03d}.mp4" for i in range(6)]


def test_the_same_command_again_does_nothing_and_a_larger_n_extends(tiny: Suite, tmp_path: Path) -> None:
    """Only what is missing is done; what was done stays as it was."""
    with RunStore(tmp_path / "run") as store:
        run(make(tiny, 2), store)
        before = states(store)
    with RunStore(tmp_path / "run") as store:
        again = run(make(tiny, 2), store)
        assert (again.filmed, again.read) == (0, 0)
        more = run(make(tiny, 4), store)
        assert (more.filmed, more.read) == (4, 4)
        assert before.items() <= states(store).items()
        assert all(store.attempts(key) == 1 for key in states(store))


def test_failed_is_tried_again_and_refused_is_not(tiny: Suite, tmp_path: Path) -> None:
    """A failure is open until it succeeds; a refusal is an answer; neither is a null."""
    with RunStore(tmp_path / "run") as store:
        first = run(make(tiny, 4, status={1: "failed", 2: "refused"}), store)
        assert len(first.open) == 2
        assert "r001: failed: GenerationError: a failure was asked for" in first.open[0]
        cell = load(tmp_path / "run").tallies()["canned/even"]["coin"]
        assert (cell.counts.n_total, cell.failed, cell.refused, cell.missing) == (2, 1, 1, 0)
        second = run(make(tiny, 4), store)
        assert (second.filmed, second.open) == (2, ())
        assert sum(status == "refused" for status, _ in states(store).values()) == 2


def test_an_unreadable_clip_is_a_null(tiny: Suite, tmp_path: Path) -> None:
    """What the reader cannot tell lowers scorability."""
    with RunStore(tmp_path / "run") as store:
        run(make(tiny, 4, outcomes={0: None}), store)
    assert load(tmp_path / "run").tallies()["canned/even"]["coin"].counts.unreadable == 1


def test_a_truncated_clip_is_filmed_anew_and_never_a_null(tiny: Suite, tmp_path: Path) -> None:
    """A file that is no longer what was filmed becomes a failure with its name, and the next run mends it."""
    with RunStore(tmp_path / "run") as store:
        run(replace(make(tiny, 4), readers=()), store)
        whole = states(store)
        clip = tmp_path / "run/rollouts/coin/r001.mp4"
        clip.write_bytes(clip.read_bytes()[:300])
        summary = read_clips(store, CannedReader())
        cell = load(tmp_path / "run").tallies()["canned/even"]["coin"]
        assert (cell.failed, cell.counts.unreadable) == (1, 0)
        assert summary.open[0].startswith("coin r001: failed: r001.mp4 is gone or no longer the file that was filmed")
        mended = run(make(tiny, 4), store)
        assert (mended.filmed, mended.open) == (1, ())
        assert states(store) == whole


def test_a_reworded_question_reads_again_and_films_nothing(tiny: Suite, tiny_folder: Path, tmp_path: Path) -> None:
    """The read-out keys readings, not rollouts; the reference keys neither."""
    with RunStore(tmp_path / "run") as store:
        run(make(tiny, 2), store)
    scene = tiny_folder / "coin.toml"
    scene.write_text(scene.read_text().replace("Which side is up?", "Which side of the coin is up?"))
    with RunStore(tmp_path / "run") as store:
        summary = run(make(load_suite(tiny_folder), 2), store)
    assert (summary.filmed, summary.read) == (0, 2)
    scene.write_text(scene.read_text().replace('kind = "uniform"', 'kind = "odds"\nodds = ["1/4", "3/4"]'))
    with RunStore(tmp_path / "run") as store:
        summary = run(make(load_suite(tiny_folder), 2), store)
    assert (summary.filmed, summary.read) == (0, 0)
    assert [str(o) for o in load(tmp_path / "run").suite.scene("coin").reference.odds] == ["1/4", "3/4"]  # type: ignore[union-attr]


@pytest.mark.parametrize(("old", "new", "part"), [("lands flat", "spins", "prompt"), ("coin.png", "die.png", "frame")])
def test_a_folder_made_for_another_scene_text_is_refused(
    tiny: Suite, tiny_folder: Path, tmp_path: Path, old: str, new: str, part: str
) -> None:
    """Clips of another prompt or frame are never mixed in; the run is left as it was."""
    with RunStore(tmp_path / "run") as store:
        run(make(tiny, 2), store)
        before = states(store)
    scene = tiny_folder / "coin.toml"
    scene.write_text(scene.read_text().replace(old, new))
    with RunStore(tmp_path / "run") as store:
        with pytest.raises(StoreError, match=f"scene 'coin' was filmed from another {part}; name another folder"):
            run(make(load_suite(tiny_folder), 2), store)
        assert states(store) == before


def test_another_generator_is_refused(tiny: Suite, tmp_path: Path) -> None:
    """One run folder, one generator."""
    with RunStore(tmp_path / "run") as store:
        run(make(tiny, 2), store)
        with pytest.raises(StoreError, match="made with canned/even; name another folder"):
            run(make(tiny, 2, name="canned/odd"), store)


def test_several_readers_share_one_run(tiny: Suite, tmp_path: Path) -> None:
    """Readings of different readers stand side by side, and one must be chosen to score."""
    with RunStore(tmp_path / "run") as store:
        run(make(tiny, 2), store)
        assert read_clips(store, CannedReader(name="second")).read == 4
        assert read_clips(store, CannedReader(name="second")).read == 0
    with pytest.raises(ValueError, match="read by canned and second; choose one with --reader"):
        load(tmp_path / "run")
    assert load(tmp_path / "run", reader="second").reader == "second"


class Failing(CannedReader):
    """A reader that cannot find the scene."""

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        from worldodds.errors import OutOfRangeError

        raise OutOfRangeError("no coin in the frame")


def test_a_reader_that_cannot_is_a_failure_of_the_reader(tiny: Suite, tmp_path: Path) -> None:
    """Outside the reader's range is failed, shown, asked again, and never the model's null."""
    with RunStore(tmp_path / "run") as store:
        summary = run(plan(tiny, CannedGenerator(), [Failing(name="blind")], 2), store)
        assert len(summary.open) == 4
        assert summary.open[0] == "coin r000: blind: no coin in the frame"
        again = run(plan(tiny, CannedGenerator(), [Failing(name="blind")], 2), store)
        assert (again.filmed, again.read) == (0, 4)
    cell = load(tmp_path / "run").tallies()["canned/even"]["coin"]
    assert (cell.counts.n_total, cell.failed) == (0, 2)


class Misnaming(CannedReader):
    """A reader that answers in its own words."""

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        return Reading.saw("Heads ")


def test_an_answer_outside_the_scene_is_the_readers_failure(tiny: Suite, tmp_path: Path) -> None:
    """It is open, named, and asked again; it never blocks the score."""
    with RunStore(tmp_path / "run") as store:
        summary = run(plan(tiny.only(["coin"]), CannedGenerator(), [Misnaming()], 2), store)
        assert "answered 'Heads ', which is not an outcome of scene 'coin'" in summary.open[0]
        assert run(plan(tiny.only(["coin"]), CannedGenerator(), [CannedReader()], 2), store).open == ()
    assert load(tmp_path / "run").tallies()["canned/even"]["coin"].counts.n == 2


class Miscounting(CannedGenerator):
    """A generator that calls every rollout the first."""

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        return replace(super().generate(scene, seed=seed, index=index, into=into), index=0, seed=0)


def test_a_generator_that_miscounts_merges_nothing(tiny: Suite, tmp_path: Path) -> None:
    """Which rollout it is, the job says."""
    with RunStore(tmp_path / "run") as store:
        run(plan(tiny.only(["coin"]), Miscounting(), [CannedReader()], 4), store)
    assert load(tmp_path / "run").tallies()["canned/even"]["coin"].counts.counts == (2, 2)


def test_a_part_of_the_run_does_not_let_another_text_in(tiny: Suite, tiny_folder: Path, tmp_path: Path) -> None:
    """Every planned scene is compared, not only those asked for now; a scene that is gone is named."""
    with RunStore(tmp_path / "run") as store:
        run(make(tiny, 2), store)
    text = (tiny_folder / "die.toml").read_text()
    (tiny_folder / "die.toml").write_text(text.replace("lands flat", "spins"))
    with RunStore(tmp_path / "run") as store, pytest.raises(StoreError, match="'die' was filmed from another prompt"):
        run(make(load_suite(tiny_folder).only(["coin"]), 2), store)
    (tiny_folder / "die.toml").write_text(text)
    suite = (tiny_folder / "suite.toml").read_text()
    (tiny_folder / "suite.toml").write_text(suite.replace('["coin", "die"]', '["coin"]'))
    with RunStore(tmp_path / "run") as store, pytest.raises(StoreError, match="'die' was planned here and is gone"):
        run(make(load_suite(tiny_folder), 2), store)


def test_a_run_may_lie_in_its_suites_folder(tiny: Suite, tiny_folder: Path) -> None:
    """Only the suite's own files are frozen, never the run itself."""
    with RunStore(tiny_folder / "runs" / "a") as store:
        assert run(make(tiny, 2), store).open == ()
    frozen = next((tiny_folder / "runs/a/suite").iterdir())
    assert sorted(p.name for p in frozen.rglob("*") if p.is_file()) == sorted(
        ["coin.png", "coin.toml", "die.png", "die.toml", "suite.toml"]
    )


def test_an_error_in_one_clip_loses_no_other(tiny: Suite, tmp_path: Path) -> None:
    """A generator with a bug stops the run, and what the others made is kept."""

    class Broken(CannedGenerator):
        def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
            if index == 1:
                raise RuntimeError("a bug of the generator's")
            return super().generate(scene, seed=seed, index=index, into=into)

    with RunStore(tmp_path / "run") as store:
        with pytest.raises(RuntimeError, match="a bug of the generator's"):
            run(plan(tiny.only(["coin"]), Broken(), [], 4), store, workers=4)
        done = {r.index for r in store.rollouts().values() if r.status == "done"}
        assert done <= {0, 2, 3}
        assert len(done) >= 2


@pytest.mark.parametrize("workers", [0, -1])
def test_fewer_than_one_worker_is_refused(tiny: Suite, tmp_path: Path, workers: int) -> None:
    """One sentence, before anything is made."""
    with RunStore(tmp_path / "run") as store, pytest.raises(InputError, match="give 1 or more"):
        run(make(tiny, 2), store, workers=workers)


def test_two_readers_of_one_name_are_refused(tiny: Suite) -> None:
    """A run keeps one set of settings a reader."""
    with pytest.raises(StoreError, match="reader 'canned' is named twice"):
        plan(tiny, CannedGenerator(), [CannedReader(), CannedReader()], 2)


def test_leftovers_of_a_killed_run_are_removed(tiny: Suite, tmp_path: Path) -> None:
    """A half-made clip never counts and does not stay."""
    with RunStore(tmp_path / "run") as store:
        run(make(tiny, 2), store)
    part = tmp_path / "run/rollouts/coin/.part-007"
    part.mkdir()
    (part / "r007.mp4").write_bytes(b"half")
    with RunStore(tmp_path / "run") as store:
        assert not part.exists()
        assert pending(make(tiny, 2), store) == []


def test_a_vanished_clip_is_filmed_again_the_same(tiny: Suite, tmp_path: Path) -> None:
    """The ledger does not trust that a file is still there."""
    with RunStore(tmp_path / "run") as store:
        run(make(tiny, 2), store)
        before = states(store)
        shutil.rmtree(tmp_path / "run/rollouts/coin")
        assert run(make(tiny, 2), store).filmed == 2
        assert states(store) == before


def test_a_frame_that_is_no_picture_is_refused_before_anything_is_made(tiny: Suite, tmp_path: Path) -> None:
    """No clip, no plan in the ledger: the next command may bring the right frame."""
    assert tiny.scenes[1].frame is not None
    tiny.scenes[1].frame.write_text("no picture")
    with RunStore(tmp_path / "run") as store:
        with pytest.raises(VideoError, match="not a picture that can be read"):
            run(plan(tiny, CannedGenerator(), [], 2), store)
        assert (store.rollouts(), dict(store.planned())) == ({}, {})


def test_a_scene_without_a_frame_cannot_be_filmed(tiny: Suite) -> None:
    """It says so before anything is made."""
    frameless = replace(tiny, scenes=(replace(tiny.scenes[0], frame=None),))
    with pytest.raises(StoreError, match="'coin' has no conditioning frame yet: it can be scored, not filmed"):
        plan(frameless, CannedGenerator(), [])


@pytest.mark.parametrize("n", [0, -3])
def test_fewer_than_one_rollout_is_refused(tiny: Suite, n: int) -> None:
    """Zero rollouts are a mistake, not a run."""
    with pytest.raises(StoreError, match="give 1 to"):
        plan(tiny, CannedGenerator(), [], n)
