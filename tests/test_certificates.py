"""Certificates: made by an exam, kept, and quoted only where the same reader and version has read the clips."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldodds.certificates import folder, keep, kept, quote, quoted
from worldodds.cli import call
from worldodds.engine import plan, run
from worldodds.errors import SourceError
from worldodds.exam.staging import conditions_of
from worldodds.fake_judge import FakeJudge, Step
from worldodds.generators.simulator import simulator
from worldodds.interop.certificate_json import CertificateDocument, read_certificate, write_certificate
from worldodds.judge_words import quote_words
from worldodds.judges import Judge, judges_of
from worldodds.registry import make_reader
from worldodds.sources import load
from worldodds.spending import Spending
from worldodds.store import RunStore
from worldodds.suites import find_suite

BALL = find_suite("calibench").only(["ball"])
SAYS_LEFT = Step(text=json.dumps({"seen": "a ball", "answer": "left", "null_rule": "none"}))


@pytest.fixture
def fake() -> Iterator[FakeJudge]:
    """A judge that sees a ball on the left, whatever it is shown."""
    with FakeJudge(labels=("left", "right"), answer=lambda _: SAYS_LEFT) as judge:
        yield judge


def _exam(fake: FakeJudge, *more: str) -> int:
    words = ["exam", "--reader", "vlm/m", "-R", f"base_url={fake.url}", "-R", "patience=0.01", "-R", "votes=3"]
    return call([*words, "--scene", "ball", "-n", "2", "-G", "size=160x120", "--workers", "1", *more])


@pytest.fixture
def certified(fake: FakeJudge, tmp_path: Path) -> CertificateDocument:
    """What an exam of that judge ends in."""
    assert _exam(fake, "--certificate", str(tmp_path / "judge.json")) == 0
    return read_certificate(tmp_path / "judge.json")


@pytest.fixture
def folder_of_run(fake: FakeJudge, tmp_path: Path) -> Path:
    """Four clips of the fork, read by that judge."""
    reader = make_reader("vlm/m", {"base_url": fake.url, "patience": 0.01, "votes": 3})
    with RunStore(tmp_path / "run") as store:
        run(plan(BALL, simulator("fair", size="160x120"), [reader], 4), store, workers=1)
    return tmp_path / "run"


def _judge(document: CertificateDocument, **changes: Any) -> Judge:
    """Return a judge that is just the one examined, but for some changes."""
    settings = {**document.reader_settings, **changes.pop("settings", {})}
    spent = Spending(served=changes.pop("served", document.served), calls=9)
    known: dict[str, Any] = {"name": document.reader, "models": ("m",), "settings": (settings,), "readings": 9}
    return Judge(**{**known, "failed": 0, "spent": spent, **changes})


def test_a_judge_is_examined_over_http(certified: CertificateDocument, fake: FakeJudge) -> None:
    """Every clip is asked about twice (two of three votes agree), with its cost, its version and what it got wrong."""
    clips = 2 * len(certified.conditions)
    assert certified.total.n == clips
    assert (certified.calls, fake.served) == (2 * clips, 2 * clips)
    assert certified.cost_usd == pytest.approx(0.0005 * certified.calls)
    assert certified.served == ("fake-judge-2026-01",)
    nulls = certified.scenes["ball"].nulls
    assert {"hidden", "absent", "not_settled"} <= set(nulls)
    assert all(entry.missed_null == (2, 2) for entry in nulls.values())
    assert certified.total.failed == 0
    assert 0 < certified.total.error_bound <= 1


def test_the_exam_says_how_long_it_takes(fake: FakeJudge, capsys: pytest.CaptureFixture[str]) -> None:
    """Before the first clip it says how much there is to ask, then its rate; at the end where it is kept."""
    assert _exam(fake) == 0
    seen = capsys.readouterr()
    clips = 2 * len(conditions_of(BALL.scene("ball")))
    assert f"{clips} clips, {2 * clips} to {3 * clips} questions with 16 at once" in seen.err
    assert "2 of 2; took" in seen.err
    assert "votes: " in seen.out
    assert str(folder()) in seen.out
    assert len(kept()) == 1


def test_a_part_of_an_exam_certifies_nothing(fake: FakeJudge, capsys: pytest.CaptureFixture[str]) -> None:
    """With --condition there is no certificate, and asking for one is refused."""
    assert _exam(fake, "--condition", "clean") == 0
    assert kept() == ()
    assert _exam(fake, "--condition", "clean", "--certificate", "c.json") == 2
    assert "leave out --condition" in capsys.readouterr().err


def test_score_quotes_what_fits(
    certified: CertificateDocument, folder_of_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Screen, JSON and page name the certificate of the version that read the clips."""
    keep(certified)
    assert call(["score", str(folder_of_run), "--partial"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"certified on {certified.total.n} simulated clips: " in told
    assert "validated on simulated clips only" in told
    assert call(["score", str(folder_of_run), "--partial", "--json"]) == 0
    (reader,) = json.loads(capsys.readouterr().out)["readers"]
    assert reader["certificate"]["standing"] == "certified"
    assert reader["certificate"]["grade"]["n"] == certified.total.n
    assert (reader["calls"], reader["served"]) == (8, ["fake-judge-2026-01"])
    assert call(["report", str(folder_of_run), "-o", str(folder_of_run / "page.html")]) == 0
    page = (folder_of_run / "page.html").read_text()
    assert "Who read the clips" in page
    assert "Certified on" in page
    assert page.count("vlm/m is an unaudited judge") == 2


def test_another_version_is_said_plainly(certified: CertificateDocument, folder_of_run: Path, fake: FakeJudge) -> None:
    """What was certified as one version does not speak for clips that another has read under the same name."""
    keep(certified)
    fake.model = "fake-judge-2026-02"
    with RunStore(folder_of_run) as store:
        reader = make_reader("vlm/m", {"base_url": fake.url, "patience": 0.01, "votes": 5})
        run(plan(BALL, simulator("fair", size="160x120"), [reader], 6), store, workers=1)
    ((judge, found),) = quoted(load(folder_of_run), [folder_of_run])
    assert judge.spent.served == ("fake-judge-2026-01", "fake-judge-2026-02")
    assert found
    assert found.standing == "other version"
    words = quote_words(judge, found)
    assert "certified as fake-judge-2026-01, these clips were read by fake-judge-2026-02" in words
    assert "right" not in words


@pytest.mark.parametrize(
    ("changes", "standing", "why"),
    [
        ({}, "certified", ""),
        ({"settings": {"votes": 5}}, "certified", ""),
        ({"settings": {"votes": 1}}, "other settings", "3 votes a clip, these clips were read with 1"),
        ({"settings": {"temperature": 1.0}}, "other settings", "temperature = 0.0"),
        ({"settings": {"wording": 99}}, "other version", "wording = 99"),
        ({"served": ("x",)}, "other version", "read by x"),
        ({"settings": (), "served": ()}, "version unknown", "does not say"),
    ],
)
def test_only_the_same_reader_is_certified(
    certified: CertificateDocument, changes: dict[str, Any], standing: str, why: str
) -> None:
    """More votes are as certified; fewer, other settings, another wording or another version are not."""
    judge = _judge(certified, **{k: v for k, v in changes.items() if v != ()})
    if changes.get("settings") == ():
        judge = _judge(certified, settings={}, served=())
        judge = Judge(name=judge.name, models=("m",), settings=(), readings=9, failed=0, spent=Spending())
    found = quote(judge, BALL.scenes, [certified])
    assert found
    assert found.standing == standing
    assert why in found.why


def test_scenes_that_were_not_examined_are_named(certified: CertificateDocument) -> None:
    """A certificate speaks for its own scenes as they were asked, and for no others."""
    suite = find_suite("calibench")
    found = quote(_judge(certified), suite.only(["ball", "dice"]).scenes, [certified])
    assert found
    assert (found.standing, found.left_out) == ("certified", ("dice",))
    assert "not examined in dice" in quote_words(_judge(certified), found)
    other = quote(_judge(certified), suite.only(["dice"]).scenes, [certified])
    assert other
    assert other.standing == "other questions"


def test_certificates_are_found_where_they_lie(
    certified: CertificateDocument, folder_of_run: Path, tmp_path: Path
) -> None:
    """Those of the user, those in a run's folder, and files given; what is none is passed over unless it was given."""
    assert kept([folder_of_run]) == ()
    write_certificate(certified, folder_of_run / "certificates" / "judge.json")
    (folder_of_run / "certificates" / "notes.json").write_text("{}")
    assert kept([folder_of_run]) == (certified,)
    keep(certified)
    assert len(kept([folder_of_run], [tmp_path / "judge.json"])) == 3
    with pytest.raises(SourceError, match="not a certificate"):
        kept([], [folder_of_run / "certificates" / "notes.json"])


def test_settings_and_spending_come_from_the_run(folder_of_run: Path) -> None:
    """The ledger tells how a judge was set up, how often it was asked, and what that cost."""
    (judge,) = judges_of(load(folder_of_run), [folder_of_run])
    assert judge.settings[0]["votes"] == 3
    assert (judge.readings, judge.spent.calls, judge.spent.input_tokens) == (8, 8, 800)
    assert judge.spent.cost_usd == pytest.approx(0.004)
