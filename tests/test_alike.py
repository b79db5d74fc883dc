"""Pictures that are alike are found without comparing all with all, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from worldodds.alike import Bytes, first_alike

NEAR = 3
SHAPE = (2, 6, 8)  # moments, height, width


def one_by_one(pictures: Bytes) -> list[int]:
    grey = pictures.reshape(len(pictures), -1).astype(int)
    firsts: list[int] = []
    for place, picture in enumerate(grey):
        near = np.flatnonzero(np.abs(grey[:place] - picture).max(axis=1, initial=0) <= NEAR)
        firsts.append(int(near[0]) if len(near) else -1)
    return firsts


def drawn(kind: str, rng: np.random.Generator, n: int = 400) -> Bytes:
    grey = np.full((n, *SHAPE), 100) + rng.integers(-2, 3, (n, *SHAPE))
    if kind == "balls":
        for picture in grey:
            picture[rng.integers(2), rng.integers(6), rng.integers(8)] += rng.choice([4, 40, 150])
    elif kind == "few kinds":
        grey = grey[rng.integers(0, 9, n)] + rng.integers(-1, 3, (n, *SHAPE))
    elif kind == "lights":
        grey = 100 + rng.integers(-90, 90, (n, 1, 1, 1)) + rng.integers(-1, 2, (n, *SHAPE))
    elif kind == "noise":
        grey = rng.integers(0, 256, (n, *SHAPE))
    elif kind == "one cell":
        grey = np.full((n, *SHAPE), 100)
        grey[:, 1, 2, 3] = rng.integers(0, 256, n)
    else:
        grey = grey + rng.integers(-2, 3, (n, *SHAPE))
    return np.clip(grey, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("kind", ["balls", "few kinds", "lights", "noise", "one cell", "grain"])
@pytest.mark.parametrize("seed", range(3))
def test_the_first_of_all_that_are_alike(kind: str, seed: int) -> None:
    """Whatever the pictures show: what comparing each with all earlier ones finds."""
    pictures = drawn(kind, np.random.default_rng(seed))
    found = first_alike(pictures, NEAR)
    assert found == one_by_one(pictures)


def test_pictures_of_one_kind_are_all_of_the_first() -> None:
    """A model that ignores the seed thousands of times is told at once."""
    pictures = np.repeat(drawn("noise", np.random.default_rng(0), 1), 5_000, axis=0)
    assert first_alike(pictures, NEAR) == [-1, *[0] * 4_999]


def test_a_single_picture_is_alone() -> None:
    """Nothing is alike where there is nothing else."""
    assert first_alike(drawn("noise", np.random.default_rng(0), 1), NEAR) == [-1]
