"""Verdicts know their family; a mean is never over fewer scenes than it says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from worldodds.errors import InputError, StatisticsError, UnknownNameError
from worldodds.measurement import measure
from worldodds.outcome import Counts
from worldodds.scorecard import Scorecard, best_first, score
from worldodds.suites import find_suite
from worldodds.tally import Tally

SUITE = find_suite("calibench")
FEW = SUITE.only(["ball", "dice"])


def cell(scene: str, *counts: int, nulls: int = 0, failed: int = 0) -> Tally:
    labels = SUITE.scene(scene).labels
    seen = Counts(labels=labels, counts=counts, unreadable=nulls)
    return Tally(counts=seen, refused=0, failed=failed, missing=0)


def one(ball: Tally | None = None, dice: Tally | None = None, **how: object) -> Scorecard:
    given = {name: tally for name, tally in (("ball", ball), ("dice", dice)) if tally}
    return score({"m": given}, FEW, **how)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ball", "verdict"),
    [
        (cell("ball", 32, 0), "miscalibrated"),
        (cell("ball", 12, 20), "undecided"),
        (cell("ball", 16, 16), "calibrated"),
        (cell("ball", 100, 100), "calibrated"),
        (cell("ball", 2, 1, nulls=29), "illegible"),
        (cell("ball", 0, 0, nulls=32), "illegible"),
        (cell("ball", 0, 0, failed=32), "illegible"),
    ],
)
def test_the_four_verdicts(ball: Tally, verdict: str) -> None:
    """Not rejected is not calibrated; fewer than four valid outcomes are illegible."""
    assert one(ball).cell("ball").verdict == verdict


def test_the_family_is_all_models_given() -> None:
    """A borderline cell is declared alone and not among many."""
    borderline = cell("ball", 23, 9)
    assert one(borderline).cell("ball").verdict == "miscalibrated"
    many = score({f"m{i}": {"ball": cell("ball", 16, 16)} for i in range(9)} | {"m": {"ball": borderline}}, FEW)
    assert many[-1].family_size == 10
    assert many[-1].cell("ball").verdict == "undecided"


def test_cells_too_small_to_test_do_not_enter_the_family() -> None:
    """They would cost the others power for nothing."""
    assert one(cell("ball", 32, 0), cell("dice", 1, 1, 1, 0, 0, 0)).family_size == 1


def test_a_missing_scene_leaves_no_mean() -> None:
    """Unless a partial mean is asked for, which names its scenes."""
    card = one(cell("ball", 16, 16))
    assert (card.mntv, card.interval, card.averaged, card.missing_scenes) == (None, None, (), ("dice",))
    assert card.mntv_reason is not None
    assert "1 of 2 scenes missing (dice)" in card.mntv_reason
    part = one(cell("ball", 16, 16), partial=True)
    assert part.averaged == ("ball",)
    assert part.mntv == pytest.approx(part.cell("ball").measurement.score)


def test_a_scene_where_nothing_was_read_is_missing_not_zero() -> None:
    """No silent zero."""
    card = one(cell("ball", 16, 16), cell("dice", 0, 0, 0, 0, 0, 0, failed=4))
    assert card.missing_scenes == ("dice",)
    assert card.open == 4
    assert one(None, cell("dice", 0, 0, 0, 0, 0, 0, failed=4), partial=True).mntv_reason == (
        "no scene with known odds has a clip that was read"
    )


def test_best_first_puts_those_without_a_mean_last() -> None:
    """A hole is not a good score."""
    cards = score(
        {"none": {}, "bad": {"ball": cell("ball", 32, 0)}, "good": {"ball": cell("ball", 16, 16)}}, FEW, partial=True
    )
    assert [card.model for card in best_first(cards)] == ["good", "bad", "none"]
    assert [card.model for card in cards] == ["none", "bad", "good"]


def test_unknown_scenes_and_wrong_settings_are_named() -> None:
    """One sentence each."""
    with pytest.raises(UnknownNameError, match="No scene is called 'disc'"):
        score({"m": {"disc": cell("ball", 1, 1)}}, FEW)
    with pytest.raises(StatisticsError, match="delta"):
        one(cell("ball", 16, 16), delta=1.5)
    with pytest.raises(InputError, match="was not filmed in scene 'dice'"):
        one(cell("ball", 16, 16)).cell("dice")


def test_to_pandas_has_one_row_a_cell() -> None:
    """With the same numbers as the card."""
    frame = one(cell("ball", 20, 12), cell("dice", 5, 5, 5, 5, 6, 6)).to_pandas()
    assert list(frame["scene"]) == ["ball", "dice"]
    assert frame.loc[0, "tv"] == pytest.approx(4 / 32)


def test_a_certain_reference_is_no_collapse() -> None:
    """A pencil that leans must always fall the same way."""
    from dataclasses import replace

    from worldodds.outcome import Reference

    scene = SUITE.scene("ball")
    leaning = replace(scene, reference=Reference(labels=scene.labels, odds=(Fraction(1), Fraction(0))))
    assert measure(cell("ball", 32, 0), scene).collapsed
    assert not measure(cell("ball", 32, 0), leaning).collapsed
    assert measure(cell("ball", 31, 1), leaning).g is not None
    assert measure(cell("ball", 31, 1), leaning).g.p_value == 0  # type: ignore[union-attr]


def test_near_misses_are_measured_where_outcomes_have_an_order() -> None:
    """A neighbour costs one step, the far end ten."""
    scene = SUITE.scene("galton_board")
    centre, beside = [0] * 11, [0] * 11
    centre[5], beside[6] = 32, 32
    near, far = (measure(cell("galton_board", *c), scene).deviation for c in (centre, beside))
    assert near is not None
    assert far is not None
    assert near.near_miss is not None
    assert far.near_miss is not None
    assert far.near_miss.steps > near.near_miss.steps > near.near_miss.floor
    assert measure(cell("ball", 1, 1), SUITE.scene("ball")).deviation.near_miss is None  # type: ignore[union-attr]
