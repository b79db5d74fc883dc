"""Both papers' rules on one source: on the published outcomes of CaliBench."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from worldodds import plan, run
from worldodds.cli import call
from worldodds.crosscheck import crosscheck
from worldodds.errors import SourceError
from worldodds.scene import Suite
from worldodds.sources import load
from worldodds.stopping import When
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator, CannedReader

PUBLISHED = load("published")
FOUND = crosscheck(PUBLISHED)
BY_MODEL = {model.model: model for model in FOUND.models}


def test_mntv_is_the_published_one() -> None:
    """And falls into what nulls cost and what the odds cost."""
    assert FOUND.models[0].model == "seedance"
    assert BY_MODEL["seedance"].mntv == pytest.approx(0.3907, abs=5e-5)
    assert BY_MODEL["veo31"].mntv == pytest.approx(0.6515, abs=5e-5)
    for model in FOUND.models:
        assert model.by_nulls + model.by_odds == pytest.approx(model.mntv)
        assert model.mntv == pytest.approx(sum(cell.score for cell in model.cells) / 9)


def test_tvd_leaves_out_what_the_gate_does_not_pass() -> None:
    """Cosmos passes three of nine scenes, and is the best by TVD and second worst by mnTV."""
    cosmos = BY_MODEL["cosmos3_super"]
    assert [cell.scene for cell in cosmos.cells if cell.passes] == ["ball", "walking", "dice"]
    assert (cosmos.tvd_place, cosmos.mntv_place) == (1, 5)
    assert cosmos.scene_pass_rate == pytest.approx(100 / 3)
    assert cosmos.tvd == pytest.approx(100 * (1.5 / 27 + 0.5 / 27 + 9 / 32) / 3)


def test_disagreements_are_named_with_their_reason() -> None:
    """Six pairs of models change places; each says what one rule sees and the other does not."""
    pairs = {(swap.better_by_mntv, swap.better_by_tvd) for swap in FOUND.swaps}
    assert len(pairs) == 6
    assert ("wan", "veo31") in pairs
    assert all("nulls cost" in swap.why or "gate leaves" in swap.why for swap in FOUND.swaps)


def test_nothing_in_common() -> None:
    """Models without a scene of known odds in common cannot be held against each other."""
    with pytest.raises(SourceError, match="nothing to compare"):
        crosscheck(replace(PUBLISHED, rows=()))


def test_a_model_that_was_stopped_early_is_marked_and_holds_no_place(
    tiny: Suite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in scores: its numbers are there, last, with the reason, beside models that keep their places."""
    heads = CannedGenerator(name="canned/heads", outcomes=dict.fromkeys(range(16), "heads"))
    coin = tiny.only(["coin"])
    stops: tuple[tuple[CannedGenerator, When], ...] = ((heads, "early"), (CannedGenerator(), "never"))
    for maker, stop in stops:
        with RunStore(tmp_path / stop) as store:
            run(plan(coin, maker, [CannedReader()], 16, stop=stop), store)
    found = crosscheck(load(tmp_path / "early", tmp_path / "never"))
    assert [(m.model, m.mntv_place, m.tvd_place) for m in found.models] == [
        ("canned/even", 1, 1),
        ("canned/heads", None, None),
    ]
    assert found.models[0].why_not_comparable is None
    assert found.swaps == ()
    assert call(["crosscheck", str(tmp_path / "early")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "canned/heads was stopped early, and holds no place: rollouts were bought until" in out
    assert "same order" not in out
    assert call(["crosscheck", str(tmp_path / "early"), "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["models"]
    assert told["mntv_place"] is None
    assert told["why_not_comparable"].startswith("rollouts were bought until")
