"""Killed at any step, a run at a hosted provider pays for nothing twice and ends as an undisturbed one."""

from __future__ import annotations

import random
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from worldodds.fake_provider import FakeProvider, LocalServer
from worldodds.scene import load_suite
from worldodds.sources import load

sys.path.insert(0, str(Path(__file__).parent / "faults"))
from hosted_books import HostedBooks
from lives import Lives, Trouble, state

N = 4
TABLES = ("rollout_now", "reading_now")
MATCHED = "select count(*) from attempt where message = 'matched at the provider'"
LOST = "select count(*) from attempt where state = 'failed' and error_class = 'perhaps bought'"
REPLICATE, RUNWAY = "replicate/google/veo-3.1", "runway/gen4.5"


@contextmanager
def selling(model: str, suite: Path, *, labels: int | None = None, **faults: Any) -> Iterator[HostedBooks]:
    outcomes = {scene.prompt: labels or len(scene.labels) for scene in load_suite(suite).scenes}
    books = HostedBooks(provider=model.partition("/")[0], outcomes=outcomes, **faults)
    with LocalServer(books) as local:
        books.url = local.url
        yield books


def keyed(folder: Path) -> list[Any]:
    """Return all that must not depend on kills, keys included."""
    db = sqlite3.connect(folder / "run.sqlite")
    keys = [db.execute(f"select key, status from {table} order by key").fetchall() for table in TABLES]  # noqa: S608
    db.close()
    return [*keys, *state(folder)]


def count(folder: Path, question: str) -> int:
    db = sqlite3.connect(folder / "run.sqlite")
    (number,) = db.execute(question).fetchone()
    db.close()
    return int(number)


def calm(model: str, suite: Path, folder: Path, n: int = N, *, stop: str = "never", **faults: Any) -> HostedBooks:
    with selling(model, suite, **faults) as books, Lives(suite, folder, books.url, n, model=model, stop=stop) as lives:
        assert lives.live(0) == 0
    return books


def kill(lives: Lives, kills: int, rng: random.Random, longest: int = 40, *, rebuy: bool = False) -> None:
    """Live so many short lives, all of them killed where there is enough left to do."""
    for _ in range(kills):
        assert lives.live(rng.randint(1, longest), rebuy=rebuy) in (-9, 0, 3)


@pytest.mark.parametrize("troubled", [False, True])
def test_a_list_of_jobs_tells_what_became_of_every_order(troubled: bool, tiny_folder: Path, tmp_path: Path) -> None:
    """Replicate lists its jobs: each clip is sold once, wherever the run was killed, and all equals a calm run's."""
    refuse = frozenset({3})
    calm(REPLICATE, tiny_folder, tmp_path / "calm", refuse=refuse)
    faults = {"fault": Trouble(5)} if troubled else {}
    with (
        selling(REPLICATE, tiny_folder, refuse=refuse, **faults) as books,
        Lives(tiny_folder, tmp_path / "killed", books.url, N, model=REPLICATE) as lives,
    ):
        kill(lives, 12, random.Random(troubled), 25)
        assert lives.live(0) == 0
    assert set(Counter(books.sold).values()) == {1}
    assert len(books.sold) == 2 * N
    assert keyed(tmp_path / "killed") == keyed(tmp_path / "calm")
    assert count(tmp_path / "killed", LOST) == 0 < count(tmp_path / "killed", MATCHED)


@pytest.mark.parametrize("troubled", [False, True])
def test_without_a_list_nothing_is_bought_again_unasked(troubled: bool, tiny_folder: Path, tmp_path: Path) -> None:
    """Runway lists nothing: what was perhaps bought stays so until --rebuy, which buys it once more and no other."""
    calm(RUNWAY, tiny_folder, tmp_path / "calm")
    faults = {"fault": Trouble(6)} if troubled else {}
    with (
        selling(RUNWAY, tiny_folder, **faults) as books,
        Lives(tiny_folder, tmp_path / "killed", books.url, N, model=RUNWAY) as lives,
    ):
        kill(lives, 12, random.Random(troubled), 25)
        end = lives.live(0)
        lost = count(tmp_path / "killed", LOST)
        assert lost > 0
        assert end == 3
        assert len(set(books.sold)) == len(books.sold), "what was lost may all have died before it was sold"
        before = list(books.sold)
        assert lives.live(0) == 3
        assert books.sold == before
        kill(lives, 2, random.Random(7), rebuy=True)
        books.fault = lambda *_: None
        assert lives.live(0, rebuy=True) == 0
    assert len(books.sold) <= 2 * N + count(tmp_path / "killed", LOST)
    assert keyed(tmp_path / "killed") == keyed(tmp_path / "calm")


@pytest.mark.parametrize("model", ["server", REPLICATE])
def test_a_killed_run_that_stops_early_decides_as_an_undisturbed_one(
    model: str, tiny_folder: Path, tmp_path: Path
) -> None:
    """The same decisions, the same rollouts, none sold twice."""
    ends: list[Any] = []
    for folder, kills in ((tmp_path / "calm", 0), (tmp_path / "killed", 5)):
        books = FakeProvider(outcomes={"coin": 1, "die": 1})
        place = LocalServer(books) if model == "server" else selling(model, tiny_folder, labels=1)
        with place as here, Lives(tiny_folder, folder, here.url, 16, model=model, stop="early") as lives:
            kill(lives, kills, random.Random(3), 60)
            assert lives.live(0) == 0
            sold = [(scene, seed) for scene, seed, *_ in (books.sold if model == "server" else here.sold)]
        (card,) = load(folder).score()
        cells = {scene: card.cell(scene).early for scene in ("coin", "die")}
        assert len(set(sold)) == len(sold) < 32
        ends.append((cells, sorted(sold), *state(folder)))
    assert ends[1] == ends[0]
