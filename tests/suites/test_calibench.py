"""The suite calibench: nine scenes, their odds, and the paper's published outcomes."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from worldodds.errors import SceneError, UnknownNameError
from worldodds.scene import Suite
from worldodds.suites import builtin_suites, find_suite
from worldodds.suites.published import human_readings, published_models, published_readings, published_source

REFERENCE = Path(__file__).parents[1] / "reference"
SUITE = find_suite("calibench")
GENERIC = {"not_settled", "hidden", "blurred", "absent"}

# The column n of the paper's cells (arXiv 2608.16829), scene by scene, in the order of MODELS.
MODELS = ("wan", "seedance", "happyhorse", "veo31", "runway45", "cosmos3_super")
VALID = {
    "galton_board_real": (22, 19, 28, 1, 18, 6),
    "galton_board": (29, 28, 29, 31, 28, 1),
    "ball": (32, 32, 30, 31, 29, 27),
    "walking": (31, 32, 32, 32, 32, 27),
    "pendulum": (0, 2, 0, 1, 0, 3),
    "dice": (32, 32, 31, 32, 30, 32),
    "cards": (18, 29, 12, 11, 1, 1),
    "lottery": (28, 24, 25, 19, 20, 7),
    "roulette": (22, 27, 31, 21, 7, 12),
}


def test_names() -> None:
    """The suite is found by its name and by its folder, and both are the same."""
    assert "calibench" in builtin_suites()
    assert find_suite(SUITE.folder).content_hash == SUITE.content_hash
    assert find_suite(str(SUITE.folder)).content_hash == SUITE.content_hash


def test_unknown_suite() -> None:
    """An unknown suite is answered with the nearest."""
    with pytest.raises(UnknownNameError, match=r"'calibensh', nor .* Did you mean 'calibench'\?"):
        find_suite("calibensh")


def test_folder_without_suite(tmp_path: Path) -> None:
    """A folder that holds no suite is told so."""
    with pytest.raises(SceneError, match="no suite here"):
        find_suite(tmp_path)


def test_scenes_in_display_order() -> None:
    """The nine scenes stand in the paper's order, with the protocol of 32 rollouts and mnTV."""
    assert SUITE.scene_ids == tuple(VALID)
    assert (SUITE.protocol.rollouts, SUITE.protocol.aggregate) == (32, "mntv")


@pytest.mark.parametrize("scene", SUITE.scenes, ids=SUITE.scene_ids)
def test_scene_is_whole(scene) -> None:
    """Every scene has odds that sum to 1 with a reason, one question, and the null rules all scenes share."""
    assert sum(scene.reference.odds) == 1
    assert len(scene.reason) > 100
    assert scene.readout.question.strip().endswith("?")
    assert {rule.name for rule in scene.readout.nulls} >= GENERIC
    assert {rule.name for rule in scene.readout.nulls if rule.kind == "out_of_schema"}
    assert all(scene.null_kind(name) == "unreadable" for name in GENERIC)
    assert "ixed camera" in scene.prompt


def test_references() -> None:
    """Odds are exact: binomial, uniform, and fractions of 37."""
    odds = {scene.id: scene.reference.odds for scene in SUITE.scenes}
    assert odds["galton_board"] == odds["galton_board_real"]
    assert odds["galton_board"][:3] == (Fraction(1, 1024), Fraction(10, 1024), Fraction(45, 1024))
    assert odds["roulette"] == (Fraction(18, 37), Fraction(18, 37), Fraction(1, 37))
    uniform = {"ball": 2, "walking": 2, "pendulum": 2, "dice": 6, "cards": 4, "lottery": 20}
    assert {scene: len(odds[scene]) for scene in uniform if len(set(odds[scene])) == 1} == uniform


def test_hash_is_stable() -> None:
    """Reading the suite twice gives one hash; a suite cut to some scenes has another."""
    assert len(SUITE.content_hash) == 64
    assert SUITE.only(["dice"]).content_hash != SUITE.content_hash
    assert SUITE.only(["dice", "ball"]).content_hash == SUITE.only(["ball", "dice"]).content_hash


def test_published_counts() -> None:
    """Every published cell has 32 rollouts and as many valid outcomes as the paper's table."""
    rows = published_readings(SUITE)
    total = Counter((row.scene, row.model) for row in rows)
    valid = Counter((row.scene, row.model) for row in rows if row.reading.status == "outcome")
    assert set(total.values()) == {32}
    assert {scene: tuple(valid[scene, model] for model in MODELS) for scene in VALID} == VALID
    assert all(row.rollout_status == "done" and row.index == row.seed for row in rows)


def test_published_outcomes() -> None:
    """Every published outcome equals the one in the paper's repository, seed by seed."""
    ours = {(row.scene, row.model, row.seed): row.reading.label for row in published_readings(SUITE)}
    with (REFERENCE / "calibench_outcomes.csv").open(newline="", encoding="utf-8") as file:
        for cell in csv.DictReader(file):
            labels = SUITE.scene(cell["scene"]).labels
            for seed, outcome in enumerate(cell["outcomes"].split()):
                expected = None if outcome == "-" else labels[int(outcome) - 1]
                assert ours[cell["scene"], cell["model"], seed] == expected


def test_published_models() -> None:
    """The six models stand in the paper's order with the settings they were filmed with."""
    models = published_models(SUITE)
    assert tuple(model.key for model in models) == MODELS
    assert {model.key: (model.name, model.length, model.resolution) for model in models}["veo31"] == (
        "Veo 3.1",
        "4 s",
        "720p",
    )
    source = published_source(SUITE)
    assert source is not None
    assert source.citation == "arXiv 2608.16829, odysseyml/CaliBench @4533e87"


def test_human_labels() -> None:
    """People labelled 18 clips a scene; the judge agrees with them on 152 of 162."""
    people = human_readings(SUITE)
    assert Counter(row.scene for row in people) == dict.fromkeys(SUITE.scene_ids, 18)
    judge = {(row.scene, row.model, row.seed): row.reading.label for row in published_readings(SUITE)}
    assert sum(judge[row.scene, row.model, row.seed] == row.reading.label for row in people) == 152


def test_published_follows_the_cut() -> None:
    """A suite cut to some scenes has the published outcomes of these only; a suite of one's own has none."""
    cut = SUITE.only(["dice", "cards"])
    assert {row.scene for row in published_readings(cut)} == {"dice", "cards"}
    assert {row.scene for row in human_readings(cut)} == {"dice", "cards"}


def test_published_for_a_copy(tmp_path: Path) -> None:
    """A run's copy of the suite has the published outcomes too, except where its outcomes were changed."""
    copy = shutil.copytree(SUITE.folder, tmp_path / "suite", ignore=shutil.ignore_patterns("published"))
    assert published_readings(find_suite(copy)) == published_readings(SUITE)
    ball = copy / "ball.toml"
    ball.write_text(ball.read_text().replace('["left", "right"]', '["right", "left"]'))
    scenes = {row.scene for row in published_readings(find_suite(copy))}
    assert scenes == set(SUITE.scene_ids) - {"ball"}


def test_suite_without_published(tmp_path: Path) -> None:
    """A suite that ships no figures has no published models, and that is no error."""
    bare = Suite(
        id="own", title="Own", version="1", source="", protocol=SUITE.protocol, scenes=SUITE.scenes, folder=tmp_path
    )
    assert (published_readings(bare), published_models(bare), human_readings(bare)) == ((), (), ())
    assert published_source(bare) is None


def test_broken_published(tmp_path: Path) -> None:
    """A file of published figures in another format is refused by name."""
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "outcomes.toml").write_text('format = "worldodds.published/9"\n')
    bare = Suite(
        id="own", title="Own", version="1", source="", protocol=SUITE.protocol, scenes=SUITE.scenes, folder=tmp_path
    )
    with pytest.raises(SceneError, match=r"outcomes\.toml: format: 'worldodds\.published/9' is not known"):
        published_readings(bare)
