"""Two readings of the same clips, held against each other."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds.audit import Audit, audit
from worldodds.audit_sources import audit_source
from worldodds.cli import call
from worldodds.engine import plan, read_clips, run
from worldodds.errors import InputError, SourceError
from worldodds.fake_judge import FakeJudge, Step
from worldodds.interop.audit_json import judge_error, read_audit
from worldodds.interop.tables import write_rows
from worldodds.registry import make_reader
from worldodds.rollout import Reading
from worldodds.row import Row
from worldodds.scene import Suite
from worldodds.store import RunStore
from worldodds.suites import find_suite
from worldodds.suites.published import human_readings, published_readings
from worldodds.testing import CannedGenerator, CannedReader

# labels, agree, false null, missed null, wrong label: recomputed from the published files (arXiv 2608.16829)
PUBLISHED = {
    "galton_board_real": (18, 18, (0, 13), (0, 5), 0),
    "galton_board": (18, 17, (0, 13), (1, 5), 0),
    "ball": (18, 17, (0, 17), (0, 1), 1),
    "walking": (18, 17, (0, 17), (0, 1), 1),
    "pendulum": (18, 16, (2, 2), (0, 16), 0),
    "dice": (18, 18, (0, 18), (0, 0), 0),
    "cards": (18, 15, (1, 6), (2, 12), 0),
    "lottery": (18, 17, (1, 14), (0, 4), 0),
    "roulette": (18, 17, (0, 7), (1, 11), 0),
}


def _row(seed: int, answer: str | None, *, vote: int = 0, status: str = "unreadable", scene: str = "dice") -> Row:
    reading = Reading.saw(answer) if answer else Reading(status=status)  # type: ignore[arg-type]
    return Row(scene=scene, model="m", index=seed, seed=seed, reading=reading, vote=vote)


def _audit(read: list[Row], truth: list[Row]) -> Audit:
    return audit(read, truth, find_suite("calibench"))


def test_the_published_judge_errs_as_published() -> None:
    """152 of 162 alike, 4 of 107 outcomes lost, 4 of 55 nulls missed, two wrong labels; and so scene by scene."""
    suite = find_suite("calibench")
    found = audit(published_readings(suite), human_readings(suite), suite)
    assert (found.overall.n, found.overall.agree) == (162, 152)
    for scene in found.scenes:
        a, e = scene.agreement, scene.agreement.errors
        lost, missed = (e.false_null.errors, e.false_null.trials), (e.missed_null.errors, e.missed_null.trials)
        assert (a.n, a.agree, lost, missed, e.wrong_label.errors) == PUBLISHED[scene.scene.id]
        assert sum(map(sum, scene.confusion)) == a.n
        assert sum(scene.confusion[i][i] for i in range(len(scene.confusion))) == a.agree


def test_the_published_disagreements_are_listed() -> None:
    """All ten clips that the judge read otherwise than people are named, with both answers."""
    suite = find_suite("calibench")
    found = audit(published_readings(suite), human_readings(suite), suite)
    listed = {(p.scene, p.model, p.seed, p.read, p.truth) for p in found.disagreements}
    assert len(listed) == 10
    assert ("cards", "wan", 17, None, "spades") in listed
    assert ("ball", "veo31", 19, "left", "right") in listed
    assert ("galton_board", "runway45", 26, "5", None) in listed


def test_tables_give_the_published_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two CSV files in any order are matched by scene, model and seed, and the JSON has the counts as pairs."""
    suite = find_suite("calibench")
    outcomes, labels = tmp_path / "outcomes.csv", tmp_path / "labels.csv"
    write_rows(published_readings(suite), outcomes, suite)
    with labels.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["scene", "model", "seed", "human_label"])
        for row in reversed(human_readings(suite)):
            label = row.reading.label
            named = suite.scene(row.scene).name_of(label) if label else ""
            writer.writerow([row.scene, row.model, row.seed, named])
    assert call(["audit", str(outcomes), "--truth", str(labels), "--suite", "calibench", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["format"] == "worldodds.audit/1"
    keys = ("n", "agree", "false_null", "missed_null", "wrong_label")
    assert [shown[key] for key in keys] == [162, 152, [4, 107], [4, 55], 2]
    told = {scene: tuple(entry[key] for key in keys) for scene, entry in shown["scenes"].items()}
    assert told == {s: (n, a, list(fn), list(mn), w) for s, (n, a, fn, mn, w) in PUBLISHED.items()}
    assert shown["intervals"]["false_null"]["low"] == pytest.approx(0.0103, abs=5e-5)  # R: binom.test(4, 107)
    assert shown["intervals"]["false_null"]["high"] == pytest.approx(0.0930, abs=5e-5)


def test_the_screen_tells_scenes_and_disagreements(capsys: pytest.CaptureFixture[str]) -> None:
    """A table a scene, the clips read otherwise, and the confusion matrices on request."""
    assert call(["audit", "published", "--truth", "human", "-v"]) == 0
    out = capsys.readouterr().out
    assert "152 of 162 clips read alike, 93.8%" in out
    assert ["pendulum", "wan", "8", "null", "right"] in [line.split() for line in out.splitlines()]
    assert "0.82 to 0.95" in out
    assert "truth \\ read" in out


def test_the_json_reads_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was printed gives the same error rates when it is read."""
    call(["audit", "published", "--truth", "human", "--json"])
    path = tmp_path / "audit.json"
    path.write_text(capsys.readouterr().out)
    suite = find_suite("calibench")
    overall = audit(published_readings(suite), human_readings(suite), suite).overall
    assert judge_error(read_audit(path)) == overall.errors
    path.write_text("{}")
    with pytest.raises(SourceError, match="not an audit"):
        read_audit(path)


def test_votes_are_settled_before_they_are_compared() -> None:
    """A reader of three votes is measured by its majority, not vote by vote."""
    read = [_row(0, "6", vote=0), _row(0, "1", vote=1), _row(0, "6", vote=2)]
    found = _audit(read, [_row(0, "6")])
    assert (found.overall.n, found.overall.agree) == (1, 1)


def test_failures_are_open_and_never_errors() -> None:
    """A failed reading is no false null: it is left out of every count and named; a failed truth is no truth."""
    read = [_row(0, "6"), _row(1, None, status="failed"), _row(2, "1")]
    found = _audit(read, [_row(0, "6"), _row(1, "5"), _row(2, None, status="failed"), _row(9, "1")])
    assert (found.overall.n, found.overall.errors.false_null.errors) == (1, 0)
    assert found.unread == ("dice m 1",)
    assert found.unmatched == 1


def test_both_kinds_of_null_are_one_answer() -> None:
    """People's labels know one null only, so unreadable and out of schema agree."""
    found = _audit([_row(0, None, status="out_of_schema"), _row(1, "1")], [_row(0, None), _row(1, "1")])
    assert found.overall.agree == 2


def test_nothing_in_common_is_told() -> None:
    """Two sources without a clip in common are refused, with the models of both."""
    with pytest.raises(InputError, match="no clip in common"):
        _audit([_row(0, "1")], [_row(1, "1")])
    with pytest.raises(InputError, match="answered none"):
        _audit([_row(0, None, status="failed")], [_row(0, "1")])


ANSWERS = st.lists(st.tuples(st.sampled_from(["1", "2", None]), st.sampled_from(["1", "2", None])), min_size=1)


@given(ANSWERS)
def test_every_clip_is_counted_once(pairs: list[tuple[str | None, str | None]]) -> None:
    """Agreements, lost outcomes, missed nulls and wrong labels make up all clips; swapping keeps kappa and alpha."""
    read = [_row(i, a) for i, (a, _) in enumerate(pairs)]
    truth = [_row(i, b) for i, (_, b) in enumerate(pairs)]
    there, back = _audit(read, truth).overall, _audit(truth, read).overall
    e = there.errors
    assert there.agree + e.false_null.errors + e.missed_null.errors + e.wrong_label.errors == len(pairs)
    assert (there.kappa, there.alpha) == (back.kappa, back.alpha)
    assert e.false_null.errors == back.errors.missed_null.errors


class Stubborn:
    """Reads every clip as heads, or as 1."""

    name, settings, cpu_bound = "stubborn", {}, False

    def read(self, clip, scene, *, vote) -> Reading:
        return Reading.saw(scene.labels[0])


def test_two_readers_of_a_run_are_compared_by_name(tiny: Suite, tmp_path: Path) -> None:
    """The truth may be another reader of the same run; with two readers the other one is measured."""
    with RunStore(tmp_path / "run") as store:
        run(plan(tiny, CannedGenerator(), [CannedReader()], 6), store, workers=1)
        read_clips(store, Stubborn(), workers=1)  # type: ignore[arg-type]
    found = audit_source(tmp_path / "run", "canned")
    assert (found.reader, found.truth) == ("stubborn", "canned")
    assert (found.overall.n, found.overall.agree) == (12, 4)
    with pytest.raises(SourceError, match="Did you mean 'canned'"):
        audit_source(tmp_path / "run", "caned", reader="canned")


def test_coefficients_have_intervals() -> None:
    """Overall kappa and alpha lie inside their intervals; where all clips agree nobody can see a spread."""
    suite = find_suite("calibench")
    found = audit(published_readings(suite), human_readings(suite), suite)
    for value, interval in (
        (found.overall.kappa, found.overall.kappa_interval),
        (found.overall.alpha, found.overall.alpha_interval),
    ):
        assert value is not None
        assert interval is not None
        assert interval.low < value < interval.high <= 1
        assert 0.05 < interval.high - interval.low < 0.25
    dice = next(scene.agreement for scene in found.scenes if scene.scene.id == "dice")
    assert (dice.kappa, dice.kappa_interval, dice.alpha_interval) == (1.0, None, None)


@pytest.fixture
def disputed_run(tiny: Suite, tmp_path: Path) -> Path:
    """Four coins that all show heads, and that a judge calls tails; people do not err."""
    says = Step(text=json.dumps({"seen": "a coin", "answer": "tails", "null_rule": "none"}))
    with FakeJudge(labels=("heads", "tails"), answer=lambda _: says) as fake, RunStore(tmp_path / "run") as store:
        judge = make_reader("vlm/m", {"base_url": fake.url, "patience": 0.01})
        maker = CannedGenerator(outcomes=dict.fromkeys(range(4), "heads"))
        run(plan(tiny.only(["coin"]), maker, [judge], 4), store, workers=1)
        read_clips(store, CannedReader())
    return tmp_path / "run"


def test_disputed_clips_are_found_with_their_frames(disputed_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Screen and JSON name the file of each disputed clip, and the JSON the very frames that the judge was shown."""
    words = ["audit", str(disputed_run), "--truth", CannedReader().name, "--reader", "vlm/m"]
    assert call([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["disagreements"]
    assert [(d["index"], d["read"], d["truth"]) for d in told] == [(i, "tails", "heads") for i in range(4)]
    for one in told:
        assert hashlib.sha256(Path(one["clip"]).read_bytes()).hexdigest() == one["clip_sha256"]
        (frame,) = one["frames"]
        assert hashlib.sha256(Path(frame).read_bytes()).hexdigest() == Path(frame).stem
    assert call(words) == 0
    assert "r003.mp4" in capsys.readouterr().out


def test_the_page_shows_every_disputed_clip(disputed_run: Path, tmp_path: Path) -> None:
    """A strip for each, with both answers; where the judge's frames are gone those of the clip, or a sentence."""
    words = ["audit", str(disputed_run), "--truth", CannedReader().name, "--reader", "vlm/m", "-o"]
    assert call([*words, str(tmp_path / "a.html")]) == 0
    page = (tmp_path / "a.html").read_text()
    assert page.count("<figure>") == page.count("data:image/jpeg") == 4
    assert page.count("vlm/m: <b>tails</b>") == 4
    assert page.count("frames that the judge was shown") == 4
    shutil.rmtree(disputed_run / "rollouts" / "coin" / "evidence")
    (disputed_run / "rollouts" / "coin" / "r000.mp4").unlink()
    assert call([*words, str(tmp_path / "b.html")]) == 0
    page = (tmp_path / "b.html").read_text()
    assert page.count("frames of the clip, first to last") == 3
    assert "the source has no clip of it" in page


def test_a_table_has_a_page_too(tmp_path: Path) -> None:
    """Where there are no clips the page still has the numbers, the matrices and both answers."""
    assert call(["audit", "published", "--truth", "human", "-o", str(tmp_path / "a.html")]) == 0
    page = (tmp_path / "a.html").read_text()
    assert page.count("<figure>") == 10
    assert "152 of 162 clips read alike" in page
    assert "4 of 107 (" in page
