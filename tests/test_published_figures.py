"""The figures of the paper and of the design notes, through the command line as a user would get them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from worldodds.cli import call
from worldodds.interop.tables import write_rows
from worldodds.suites import find_suite
from worldodds.suites.published import published_readings

REFERENCE = Path(__file__).parent / "reference"

MNTV = {
    "seedance": 0.3907,
    "runway45": 0.4826,
    "happyhorse": 0.5402,
    "wan": 0.5780,
    "cosmos3_super": 0.6315,
    "veo31": 0.6515,
}
# the percentile intervals of a plain loop as in the paper, rng seed 0 (benchmarks/statistics.py has that loop)
PERCENTILE = {
    "seedance": (0.3794, 0.4795),
    "runway45": (0.4815, 0.5714),
    "happyhorse": (0.5135, 0.5897),
    "wan": (0.5415, 0.6263),
    "cosmos3_super": (0.6236, 0.7002),
    "veo31": (0.6257, 0.6943),
}
RANKS = {
    "seedance": (1, 2),
    "runway45": (1, 4),
    "happyhorse": (2, 5),
    "wan": (2, 6),
    "cosmos3_super": (3, 6),
    "veo31": (4, 6),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("published") / "outcomes.csv"
    suite = find_suite("calibench")
    write_rows(published_readings(suite), path, suite)
    return path


@pytest.fixture(scope="module")
def scored(table: Path) -> dict[str, Any]:
    return said(["score", str(table), "--json"])["models"]


def said(words: list[str]) -> dict[str, Any]:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert call(words) == 0
    return json.loads(out.getvalue())


def test_mntv_of_the_six_models(scored: dict[str, Any]) -> None:
    """To four digits."""
    assert {model: round(entry["mntv"], 4) for model, entry in scored.items()} == MNTV


def test_every_cell_of_the_published_table(scored: dict[str, Any]) -> None:
    """N, n, rho, TV, E0, excess and score to three digits, for all 54 cells."""
    with (REFERENCE / "calibench_cells.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 54
    for row in rows:
        cell = scored[row["model"]]["cells"][row["scene"]]
        assert (cell["n_total"], cell["n"]) == (int(row["N"]), int(row["n"]))
        for ours, theirs in (
            ("scorability", "rho"), ("tv", "TV"), ("floor", "E0"), ("excess", "excess"), ("score", "score")
        ):  # fmt: skip
            if row[theirs]:
                assert cell[ours] == pytest.approx(float(row[theirs]), abs=5.1e-4), (row["scene"], row["model"], ours)
            else:
                assert cell[ours] is None


def test_significant_cells_by_both_tests(scored: dict[str, Any]) -> None:
    """28 of 44 by exact chi-squared, 30 by exact G, after Benjamini-Hochberg over the tested cells."""
    cells = [cell for entry in scored.values() for cell in entry["cells"].values()]
    tested = [cell for cell in cells if cell["g"]]
    assert len(tested) == 44
    assert {entry["family_size"] for entry in scored.values()} == {44}
    assert sum(cell["chi2"]["q_value"] <= 0.05 for cell in tested) == 28
    assert sum(cell["g"]["q_value"] <= 0.05 for cell in tested) == 30
    assert sum(cell["verdict"] == "miscalibrated" for cell in cells) == 30
    assert sum(cell["verdict"] == "illegible" for cell in cells) == 10


def test_the_exact_p_value_of_one_cell(scored: dict[str, Any]) -> None:
    """SeeDance's lottery."""
    assert scored["seedance"]["cells"]["lottery"]["chi2"]["p_value"] == pytest.approx(0.0476385, abs=5e-8)


def test_three_cells_are_certified_within_a_fifth(scored: dict[str, Any]) -> None:
    """Not rejected is not calibrated: only three of fourteen are."""
    certified = {
        (scene, model): round(cell["certified_delta"], 3)
        for model, entry in scored.items()
        for scene, cell in entry["cells"].items()
        if cell["verdict"] == "calibrated"
    }
    assert certified == {
        ("ball", "happyhorse"): 0.161,
        ("walking", "runway45"): 0.185,
        ("walking", "cosmos3_super"): 0.187,
    }


def test_the_papers_intervals_come_out(scored: dict[str, Any]) -> None:
    """The percentile bootstrap, reproduced."""
    for model, (low, high) in PERCENTILE.items():
        interval = scored[model]["intervals"]["percentile"]
        assert (round(interval["low"], 4), round(interval["high"], 4)) == (low, high)


def test_ranks_that_hold_together(scored: dict[str, Any]) -> None:
    """Rank ranges by simultaneous differences."""
    assert {model: (e["rank"]["low"], e["rank"]["high"]) for model, e in scored.items()} == RANKS


def test_what_verdicts_survive(scored: dict[str, Any]) -> None:
    """21 of 30 survive any wrong label, 18 any two, 20 any mechanism of nulls."""
    robust = [cell["robust"] for entry in scored.values() for cell in entry["cells"].values() if cell["robust"]]
    assert len(robust) == 30
    assert [sum(r["wrong_labels_survived"] >= m for r in robust) for m in (1, 2)] == [21, 18]
    assert sum(r["survives_any_nulls"] for r in robust) == 20


def test_compare_finds_seven_pairs(table: Path) -> None:
    """Seven of fifteen pairs are distinguishable at once."""
    pairs = said(["compare", str(table), "--json"])["pairs"]
    assert len(pairs) == 15
    assert sum(pair["distinguishable"] for pair in pairs) == 7
    assert all(len(pair["scenes"]) == 9 for pair in pairs)


def test_replay_saves_a_third_and_changes_nothing(table: Path) -> None:
    """1,197 of 1,728 rollouts, all verdicts as with all of them."""
    replayed = said(["monitor", str(table), "--replay", "--json"])
    assert (replayed["used"], replayed["rollouts"], replayed["verdicts_changed"]) == (1197, 1728, 0)
    assert replayed["saved_share"] >= 0.30


def test_plan_gives_what_each_scene_needs() -> None:
    """The planner's table for delta 0.2 (forks by exact TOST)."""
    scenes = said(["plan", "--json"])["scenes"]
    needed = {name: scene["n_to_certify"] for name, scene in scenes.items()}
    assert (needed["ball"], needed["roulette"], needed["cards"]) == (57, 66, 74)
    assert (needed["dice"], needed["galton_board"], needed["lottery"]) == (86, 108, 135)


def test_a_missing_scene_leaves_no_mean_unless_asked(table: Path, tmp_path: Path) -> None:
    """Then mnTV is null with a reason; --partial names what it averaged."""
    kept = [line for line in table.read_text().splitlines() if not line.startswith("pendulum")]
    cut = tmp_path / "cut.csv"
    cut.write_text("\n".join(kept) + "\n")
    entry = said(["score", str(cut), "--json"])["models"]["wan"]
    assert entry["mntv"] is None
    assert "1 of 9 scenes missing (pendulum)" in entry["mntv_reason"]
    assert entry["missing_scenes"] == ["pendulum"]
    partial = said(["score", str(cut), "--json", "--partial"])["models"]["wan"]
    assert partial["mntv"] is not None
    assert "pendulum" not in partial["averaged_scenes"]
    assert len(partial["averaged_scenes"]) == 8
