"""Degradations change the picture by what their words say, and never its outcome."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cv2")

from worldodds.exam.optics import DEGRADATIONS, LOW_SIZE

FRAME = np.full((120, 160, 3), (200, 60, 40), np.uint8)
FRAME[40:80, 60:100] = (30, 90, 200)


def _one(name: str) -> np.ndarray:
    return next(DEGRADATIONS[name].change([FRAME], np.random.default_rng(0)))


@pytest.mark.parametrize("name", DEGRADATIONS)
def test_pictures_stay_pictures(name: str) -> None:
    """Every degradation gives 8-bit RGB, as many frames as it got, and the same for the same random numbers."""
    change = DEGRADATIONS[name].change
    once, again = (list(change([FRAME] * 3, np.random.default_rng(1))) for _ in range(2))
    assert len(once) == 3
    assert all(picture.dtype == np.uint8 and picture.shape[2] == 3 for picture in once)
    assert all(np.array_equal(a, b) for a, b in zip(once, again, strict=True))


@pytest.mark.parametrize(("name", "light"), [("dark", 90), ("bright", 255)])
def test_light_changes_as_said(name: str, light: int) -> None:
    """Dark is 0.45 of the light; bright is 1.5 times it and 15 more, cut at white."""
    assert abs(int(_one(name)[5, 5, 0]) - light) <= 1


def test_noise_has_its_strength() -> None:
    """The noise has a standard deviation of 20 grey levels where nothing is cut off."""
    grey = np.full((100, 100, 3), 128, np.uint8)
    noisy = next(DEGRADATIONS["noise"].change([grey], np.random.default_rng(0)))
    assert noisy.std() == pytest.approx(20, rel=0.05)


def test_low_resolution_is_256_by_192() -> None:
    """The clip itself is small."""
    assert _one("low_resolution").shape[1::-1] == LOW_SIZE


def test_hues_turn_by_ten_degrees() -> None:
    """Red turns towards yellow by 10 degrees; light and grey stay."""
    import cv2

    before, after = (
        cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_RGB2HSV)[5, 5]
        for picture in (FRAME, _one("hue_shift"))
    )
    assert (after[0] - before[0]) % 360 == pytest.approx(10, abs=1)
    assert after[2] == pytest.approx(before[2], abs=0.01)


def test_the_camera_stays_where_it_moved() -> None:
    """All frames of a clip are seen from the same place, which is another than before."""
    a, b = DEGRADATIONS["camera_moved"].change([FRAME, FRAME], np.random.default_rng(0))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, FRAME)
