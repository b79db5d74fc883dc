"""A scene whose odds were counted in an experiment, from its file to every verdict, page and refusal."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from worldodds import cli
from worldodds.cli.watch import _Board
from worldodds.errors import InputError, SceneError
from worldodds.headline import percentiles, populations, robustness
from worldodds.outcome import Counts, Reference
from worldodds.plans import plan_suite
from worldodds.report.scenes_page import write_scenes_page
from worldodds.scene import Suite, load_suite
from worldodds.scene_check import check_suite
from worldodds.scene_file import save_suite
from worldodds.scorecard import score
from worldodds.statistics.exact import multinomial_test
from worldodds.stopping import odds_of
from worldodds.tally import Tally

SCENE = """format = "worldodds.scene/1"
id = "bent"
title = "Bent coin"
prompt = "The coin is flipped."
labels = ["heads", "tails"]

[readout]
evidence = "last frame"
question = "Heads or tails?"
nulls = []

[reference]
kind = "counts"
counts = { tails = 51, heads = 81 }
source = "Our own bench, 132 flips."
"""
SUITE = """format = "worldodds.suite/1"
id = "coins"
title = "Coins"
version = "1"
source = "ours"
scenes = ["bent"]

[protocol]
rollouts = 32
aggregate = "mntv"
"""


def suite_in(folder: Path, scene: str = SCENE) -> Suite:
    """Write and load a suite of one scene."""
    folder.mkdir(exist_ok=True)
    (folder / "bent.toml").write_text(scene)
    (folder / "suite.toml").write_text(SUITE)
    return load_suite(folder)


def tally_of(heads: int, tails: int) -> Tally:
    """Return a whole cell."""
    return Tally(counts=Counts.of([heads, tails], labels=["heads", "tails"]), refused=0, failed=0, missing=0)


def test_file_is_read_and_written(tmp_path: Path) -> None:
    """Counts are given by label, in any order; a copy of the suite keeps them, and its hash."""
    suite = suite_in(tmp_path / "coins")
    scene = suite.scene("bent")
    assert scene.reference == Reference.observed([81, 51], ["heads", "tails"])
    assert scene.reason == "Our own bench, 132 flips."
    again = save_suite(suite, tmp_path / "copy")
    assert again.scene("bent").reference == scene.reference
    assert again.content_hash == suite.content_hash


def test_hash_covers_the_size_of_the_experiment(tmp_path: Path) -> None:
    """Ten times the trials with the same shares are another reference."""
    small, large = (
        suite_in(tmp_path / name, SCENE.replace("51", tails).replace("81", heads))
        for name, tails, heads in (("a", "51", "81"), ("b", "510", "810"))
    )
    assert small.content_hash != large.content_hash


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("tails = 51", "tail = 51", "'tail' is no label of the scene. Did you mean 'tails'?"),
        ("tails = 51, ", "", "counts: none for 'tails'; give 0 if the experiment never showed it"),
        ("tails = 51, heads = 81", "tails = 0, heads = 0", "no outcome at all"),
        ("tails = 51", "tails = -1", "-1 is not a count"),
        ('source = "Our own bench, 132 flips."', "", "needs the key 'source'"),
        ('source = "Our own bench, 132 flips."', 'source = " "', "whose experiment"),
        ('kind = "counts"', 'kind = "uniform"', "does not take the key 'counts'"),
    ],
)
def test_wrong_files(tmp_path: Path, old: str, new: str, told: str) -> None:
    """What is wrong with the counts is said in one sentence."""
    with pytest.raises(SceneError, match=told.replace(".", r"\.").replace("?", r"\?")):
        suite_in(tmp_path / "coins", SCENE.replace(old, new))


def test_verdicts_allow_for_the_experiment(tmp_path: Path) -> None:
    """A cell that known odds would reject is not rejected against few trials: all numbers are two-sample ones."""
    suite = suite_in(tmp_path / "coins", SCENE.replace("51", "11").replace("81", "19"))
    (card,) = score({"m": {"bent": tally_of(13, 19)}}, suite)
    (cell,) = card.cells
    known = multinomial_test([13, 19], ["19/30", "11/30"])
    assert known.p_value < 0.05
    assert cell.measurement.g is not None
    assert (cell.verdict, cell.measurement.g.method) == ("undecided", "two-sample exact")
    assert cell.measurement.g.p_value > 0.05
    assert cell.equivalence is not None
    assert cell.equivalence.method == "exact TOST of two samples"
    assert percentiles([card]) == {}
    assert populations([card])["m"].mean.interval.high > 0
    (rejected,) = score({"m": {"bent": tally_of(2, 30)}}, suite)
    assert rejected.cells[0].verdict == "miscalibrated"
    assert robustness([rejected])["m", "bent"].survives_any_nulls


def test_score_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Screen, JSON and page name the experiment and its size; what the paper cannot do has a reason."""
    suite_in(tmp_path / "coins")
    table = tmp_path / "table.csv"
    outcomes = ["heads"] * 13 + ["tails"] * 19
    rows = [f"m,bent,{index},{outcome}" for index, outcome in enumerate(outcomes)]
    table.write_text("\n".join(["model,scene,index,outcome", *rows]) + "\n")
    flags = [str(table), "--suite", str(tmp_path / "coins")]
    assert cli.call(["score", *flags]) == 0
    assert "bent: odds from n = 132 observed, uncertain" in capsys.readouterr().out
    assert cli.call(["score", *flags, "--json"]) == 0
    model = json.loads(capsys.readouterr().out)["models"]["m"]
    experiment = {"n": 132, "counts": {"heads": 81, "tails": 51}, "source": "Our own bench, 132 flips."}
    assert model["cells"]["bent"]["experiment"] == experiment
    assert model["cells"]["bent"]["g"]["method"] == "two-sample exact"
    assert model["intervals"]["percentile"]["low"] is None
    assert "counted in an experiment" in model["intervals"]["percentile"]["reason"]
    assert cli.call(["report", *flags, "-o", str(tmp_path / "page.html")]) == 0
    assert "n = 132 observed, uncertain" in (tmp_path / "page.html").read_text()


def test_plan_and_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan names the experiment; the check warns of one that no number of rollouts makes up for."""
    suite = suite_in(tmp_path / "coins")
    assert cli.call(["plan", "--suite", str(tmp_path / "coins")]) == 0
    told = capsys.readouterr().out
    assert "bent: odds from n = 132 observed, uncertain; at n = 32" in told
    assert "early stop" not in told  # nothing that is counted can be stopped early, and no table stands empty
    assert cli.call(["plan", "--suite", str(tmp_path / "coins"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["uncertain"]["bent"]["n_to_detect"] == 64
    assert not [risk for one in check_suite(suite).scenes for risk in one.risks if risk.part == "experiment"]
    small = suite_in(tmp_path / "few", SCENE.replace("51", "5").replace("81", "8"))
    checked = check_suite(small)
    (risk,) = [risk for one in checked.scenes for risk in one.risks if risk.part == "experiment"]
    assert "no number of rollouts is enough, the experiment needs more than" in risk.told
    write_scenes_page(checked, tmp_path / "preview.html")
    assert "Odds from n = 13 observed, uncertain" in (tmp_path / "preview.html").read_text()
    assert plan_suite(small).rollouts == 32


def test_early_stopping_refuses(tmp_path: Path) -> None:
    """Evidence in sequence needs known odds: such a suite is not stopped early, and the refusal says what to do."""
    from worldodds.registry import make_reader
    from worldodds.stopping import choose_stop

    suite = suite_in(tmp_path / "coins")
    assert odds_of(suite.scene("bent")) is None
    with pytest.raises(InputError, match="odds of bent were counted in an experiment"):
        choose_stop("early", None, suite=suite, readers=[make_reader("oracle", {})], n=32)


def test_new_scene_with_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A scene is begun with counts in place of odds, which need a source."""
    flags = ["--id", "bent", "--title", "Bent", "--prompt", "It is flipped.", "--question", "Heads or tails?"]
    sides = ["--outcome", "heads", "--outcome", "tails", "--counts", "81", "--counts", "51", "--frame", ""]
    assert cli.call(["scene", "new", str(tmp_path / "none"), *flags, *sides, "--reason", ""]) == 2
    assert "say whose experiment the counts are from" in capsys.readouterr().err
    assert cli.call(["scene", "new", str(tmp_path / "coins"), *flags, *sides, "--reason", "Our bench."]) == 0
    bent = load_suite(tmp_path / "coins").scene("bent")
    assert (bent.reference, bent.reason) == (Reference.observed([81, 51], ["heads", "tails"]), "Our bench.")


def test_monitor_and_the_board_say_why_there_is_no_e_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside a scene that is followed it is named with the reason; alone there is nothing to follow."""
    folder = tmp_path / "coins"
    suite_in(folder)
    known = '[reference]\nkind = "uniform"\nreason = "Two sides."\n'
    counted = SCENE.split("\n[reference]", maxsplit=1)[0]
    (folder / "even.toml").write_text(counted.replace('id = "bent"', 'id = "even"') + "\n\n" + known)
    (folder / "free.toml").write_text(counted.replace('id = "bent"', 'id = "free"') + "\n")
    (folder / "suite.toml").write_text(SUITE.replace('["bent"]', '["bent", "even", "free"]'))
    head = "scene,model,seed,outcome\n"
    alone = "".join(f"bent,m,{i},heads\n" for i in range(6))
    (tmp_path / "alone.csv").write_text(head + alone)
    both = alone + alone.replace("bent", "even") + alone.replace("bent", "free")
    (tmp_path / "both.csv").write_text(head + both)
    monitor = ["monitor", "--suite", str(folder)]
    assert cli.call([*monitor, str(tmp_path / "alone.csv")]) == 2
    assert (
        "(bent: odds counted in an experiment have no e-value); there is nothing to follow" in capsys.readouterr().err
    )
    for words in ([], ["--replay"]):
        assert cli.call([*monitor, str(tmp_path / "both.csv"), *words]) == 0
        out = capsys.readouterr().out
        assert "bent: not followed, odds counted in an experiment have no e-value." in out
        assert "free: not followed, its odds are not known." in out
    assert cli.call([*monitor, str(tmp_path / "both.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["cells"]["m"]) == {"even"}
    assert set(found["left_out"]) == {"bent", "free"}
    board, seen = _Board("m", load_suite(folder)), Counter({"heads": 6})
    assert board._stands("bent", seen) == "odds counted in an experiment have no e-value"
    assert board._stands("free", seen) == "its odds are not known"
    assert board._stands("even", seen).startswith("e-value")
