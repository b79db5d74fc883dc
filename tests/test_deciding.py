"""Comparing, following and planning, from sources as users have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldodds.comparison import compare
from worldodds.errors import SourceError, StatisticsError
from worldodds.plans import plan_suite
from worldodds.sources import load
from worldodds.standing import standing
from worldodds.statistics.monitor import StoppingRule
from worldodds.suites import find_suite


def table(path: Path, *cells: tuple[str, str, list[object]]) -> Path:
    lines = ["scene,model,seed,outcome"]
    lines += [f"{scene},{model},{i},{o}" for scene, model, outcomes in cells for i, o in enumerate(outcomes)]
    path.write_text("\n".join(lines) + "\n")
    return path


EVEN, LEFT = ["left", "right"] * 15 + ["left", "left"], ["left"] * 32


def test_models_are_compared_over_the_scenes_they_share(tmp_path: Path) -> None:
    """A scene that only one has is left out of both, and named."""
    source = load(
        table(
            tmp_path / "t.csv",
            ("ball", "a", EVEN),
            ("walking", "a", EVEN),
            ("ball", "b", ["left"] * 30 + ["right"] * 2),
        )
    )
    found = compare(source)
    assert found.scenes == ("ball",)
    assert "walking" in found.left_out
    assert found.pairs[0].difference.distinguishable
    assert found.ranks == {"a": (1, 1), "b": (2, 2)}
    assert found.pairs[0].scenes["ball"].q_value < 0.001  # type: ignore[operator]


def test_a_collapsed_model_has_no_interval_and_says_why(tmp_path: Path) -> None:
    """No zero-width interval, no false distinction."""
    found = compare(load(table(tmp_path / "t.csv", ("ball", "a", EVEN), ("ball", "b", LEFT))))
    difference = found.pairs[0].difference
    assert (difference.low, difference.distinguishable) == (None, False)
    assert difference.reason is not None
    assert difference.reason.startswith("b: leaving out any one rollout")


def test_shared_seeds_are_compared_in_pairs(tmp_path: Path) -> None:
    """Two prompts under which two rollouts of 32 end otherwise: only those two pairs speak."""
    other = [("right" if i in (0, 2) else side) for i, side in enumerate(EVEN)]
    source = load(table(tmp_path / "t.csv", ("ball", "a", EVEN), ("ball", "b", other)))
    paired = compare(source, paired=True).pairs[0].scenes["ball"].test
    assert (paired.method, paired.n, paired.p_value) == ("exact paired", 32, 0.5)
    assert compare(source).pairs[0].scenes["ball"].test.method == "exact conditional"


def test_pairs_are_made_by_seed_not_by_place(tmp_path: Path) -> None:
    """A clip that failed on one side takes its twin out, and shifts no other pair."""
    flipped = [("right" if i < 8 else side) for i, side in enumerate(LEFT)]
    path = table(tmp_path / "t.csv", ("ball", "a", LEFT), ("ball", "b", flipped))
    whole = compare(load(path), paired=True).pairs[0].scenes["ball"].test
    lines = path.read_text().splitlines()
    cut = [line for line in lines if not line.startswith(("ball,a,0,", "ball,b,31,"))]
    path.write_text("\n".join(cut) + "\n")
    part = compare(load(path), paired=True).pairs[0].scenes["ball"].test
    assert (whole.n, whole.p_value, part.n, part.p_value) == (32, 2 / 2**8, 30, 2 / 2**7)
    path.write_text(
        "\n".join([*lines[:1], "ball,a,0,left", "ball,a,1,right", "ball,b,7,left", "ball,b,8,right"]) + "\n"
    )
    with pytest.raises(SourceError, match="no seed was read on both sides"):
        compare(load(path), paired=True)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([("ball", "a", EVEN)], "1 model given"),
        ([("ball", "a", EVEN), ("walking", "b", EVEN)], "no scene was read for all"),
    ],
)
def test_what_cannot_be_compared_says_so(
    cells: list[tuple[str, str, list[object]]], message: str, tmp_path: Path
) -> None:
    """One sentence."""
    with pytest.raises(SourceError, match=message):
        compare(load(table(tmp_path / "t.csv", *cells)))


def test_a_collapsed_cell_stops_early_and_a_fair_one_does_not(tmp_path: Path) -> None:
    """Readings are taken in index order, nulls cost a rollout, and an early stop has no fixed-n p-value."""
    source = load(table(tmp_path / "t.csv", ("ball", "a", LEFT), ("walking", "a", EVEN), ("dice", "a", [""] * 32)))
    cells = standing(source, StoppingRule()).cells["a"]
    assert cells["ball"].stopped_by == "early e-value"
    assert cells["ball"].used < 15
    assert cells["ball"].p_value is None
    assert cells["ball"].anytime_p < 0.05
    assert (cells["walking"].used, cells["walking"].p_value) == (32, pytest.approx(0.8601, abs=1e-4))
    assert (cells["dice"].verdict, cells["dice"].used) == ("illegible", 16)


def test_an_unfinished_cell_says_how_many_more(tmp_path: Path) -> None:
    """Open is not undecided."""
    cell = standing(load(table(tmp_path / "t.csv", ("ball", "a", EVEN[:10]))), StoppingRule()).cells["a"]["ball"]
    assert (cell.verdict, cell.worth_buying) == (None, 22)


def test_nothing_read_is_nothing_to_follow(tmp_path: Path) -> None:
    """An error, not an empty table."""
    path = tmp_path / "t.csv"
    path.write_text("scene,model,seed,outcome,status\nball,a,0,,failed\n")
    with pytest.raises(SourceError, match="nothing to follow"):
        standing(load(path), StoppingRule())


def test_a_plan_counts_nulls_and_names_its_range() -> None:
    """At 80% scorability every number of rollouts grows by a quarter, rounded up."""
    suite = find_suite("calibench").only(["roulette"])
    whole, part = plan_suite(suite).scenes["roulette"], plan_suite(suite, scorability=0.8).scenes["roulette"]
    assert part.n_to_certify == -(-whole.n_to_certify * 5 // 4)
    with pytest.raises(StatisticsError, match="scorability: 0 is out of range"):
        plan_suite(suite, scorability=0)
