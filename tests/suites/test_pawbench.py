"""The suite pawbench: fifty scenes on two tracks, what is certain and what is not, and what was published."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from worldodds.placement import CERTAINTY_WORDS
from worldodds.statistics.coverage import track_mean
from worldodds.suites import find_suite
from worldodds.suites.track_results import interventions, judge_agreement, published_tracks, tracks_citation
from worldodds.tracks import placement_of

SUITE = find_suite("pawbench")
SIZES = {
    "calibration": {"toss": 8, "rotation": 4, "routing": 9, "draw": 4},
    "coverage": {"collision": 9, "stability": 4, "agent": 8, "material": 4},
}


def test_fifty_scenes_on_two_tracks() -> None:
    """Twenty-five each, in the groups whose sizes the published means imply."""
    seen = Counter((placement_of(scene).track, placement_of(scene).group) for scene in SUITE.scenes)
    assert seen == {(track, group): n for track, groups in SIZES.items() for group, n in groups.items()}
    assert (SUITE.protocol.rollouts, SUITE.protocol.gate, SUITE.protocol.aggregate) == (50, 20, "tracks")


def test_two_references_are_not_known() -> None:
    """A-04 and A-11 are explicit holes, marked as not found; coverage scenes have no odds by design."""
    holes = [s.id for s in SUITE.scenes if s.reference is None and placement_of(s).track == "calibration"]
    assert holes == ["A-04", "A-11"]
    assert all(placement_of(SUITE.scene(name)).certainty["reference"] == "U" for name in holes)
    assert all(s.reference is None for s in SUITE.scenes if placement_of(s).track == "coverage")


def test_marks_of_certainty() -> None:
    """Every scene says of its labels and group how they are known, by the three marks."""
    for scene in SUITE.scenes:
        marks = placement_of(scene).certainty
        assert {"labels", "group"} <= set(marks)
        assert set(marks.values()) <= set(CERTAINTY_WORDS)
    assert placement_of(SUITE.scene("A-09")).certainty["reference"] == "C"


def test_zero_odds_are_kept() -> None:
    """A25 falls left for sure, and the other label stays."""
    reference = SUITE.scene("A25").reference
    assert reference is not None
    assert reference.odds == (Fraction(1), Fraction(0))


def test_variants_share_labels_with_their_base() -> None:
    """Members of a family can be compared label by label, and say what they change."""
    kin = [(scene, placement_of(scene).variant) for scene in SUITE.scenes]
    pairs = [(scene, variant) for scene, variant in kin if variant]
    assert len(pairs) == 14
    for scene, variant in pairs:
        assert SUITE.scene(variant.of).labels == scene.labels
        assert variant.changes


def test_texts_are_whole() -> None:
    """Every scene has its own action, question and null rules of both kinds."""
    for scene in SUITE.scenes:
        assert {null.kind for null in scene.readout.nulls} == {"unreadable", "out_of_schema"}
        assert scene.readout.question.strip().endswith("?")
        assert scene.frame is None
    assert len({scene.prompt for scene in SUITE.scenes}) >= 45


def test_published_averages_recompute() -> None:
    """Where all scenes pass, the average is the size-weighted mean of the groups, to rounding."""
    checked = 0
    for model in published_tracks(SUITE):
        for track, figures in model.tracks.items():
            if figures.scene_pass_rate == 100:
                sizes = SIZES[track]
                mean = sum(n * figures.groups[group] for group, n in sizes.items()) / 25
                assert mean == pytest.approx(figures.average, abs=0.1), (model.name, track)
                checked += 1
    assert checked == 4


def test_published_mean_over_models() -> None:
    """The mean calibration TVD of the eleven models is 31.209."""
    models = published_tracks(SUITE)
    assert len(models) == 11
    assert track_mean([m.tracks["calibration"].average for m in models]) == pytest.approx(31.209, abs=5e-4)
    assert "arXiv 2608.27345" in (tracks_citation(SUITE) or "")


def test_interventions_and_judge() -> None:
    """Every figure has its source; the judge agrees with people on 722 of 888 clear clips."""
    figures = interventions(SUITE)
    assert len(figures) == 321
    assert all(figure.source for figure in figures)
    assert judge_agreement(SUITE, consensus="overall") == (722, 888)
    assert judge_agreement(SUITE) == (478, 521)
    assert published_tracks(find_suite("calibench")) == ()
    assert interventions(find_suite("calibench")) == ()
