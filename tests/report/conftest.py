from __future__ import annotations

import cv2
import numpy as np
import pytest

from worldodds.outcome import Counts
from worldodds.report.page import Page, build_page
from worldodds.report.strips import Strip
from worldodds.scene import Scene, Suite
from worldodds.scorecard import Scorecard, score
from worldodds.sources import published
from worldodds.suites import find_suite
from worldodds.tally import Tally

SHOWN = ("galton_board", "ball", "dice")


def tally_of(scene: Scene, counts: list[int], *, nulls: int = 0, refused: int = 0, failed: int = 0) -> Tally:
    padded = [*counts, *[0] * (len(scene.labels) - len(counts))]
    seen = Counts.of(padded, labels=scene.labels, unreadable=nulls)
    return Tally(counts=seen, refused=refused, failed=failed, missing=0)


def strip(model: str, scene: str, label: str | None) -> Strip:
    frame = cv2.imencode(".jpg", np.full((12, 16, 3), 90, np.uint8))[1].tobytes()
    status = "outcome" if label else "unreadable"
    return Strip(
        model=model, scene=scene, status=status, label=label, index=4, clips=7, frames=(frame,) * 5, caption=""
    )


@pytest.fixture(scope="session")
def suite() -> Suite:
    return find_suite("calibench").only(SHOWN)


@pytest.fixture(scope="session")
def cards(suite: Suite) -> tuple[Scorecard, ...]:
    """Three models: one near the odds, one collapsed, one with nulls, refusals and open clips and a scene unfilmed."""
    galton, ball, dice = (suite.scene(scene) for scene in SHOWN)
    near = {
        "galton_board": tally_of(galton, [0, 0, 2, 4, 6, 8, 6, 4, 2]),
        "ball": tally_of(ball, [15, 17]),
        "dice": tally_of(dice, [5, 6, 5, 5, 6, 5]),
    }
    collapsed = {
        "galton_board": tally_of(galton, [30, 0, 2]),
        "ball": tally_of(ball, [32, 0]),
        "dice": tally_of(dice, [0, 32]),
    }
    patchy = {"ball": tally_of(ball, [9, 12], nulls=8, refused=2, failed=3), "dice": tally_of(dice, [], nulls=32)}
    return score({"near": near, "collapsed": collapsed, "patchy": patchy}, suite, reader="tracker")


@pytest.fixture(scope="session")
def page(cards: tuple[Scorecard, ...], suite: Suite) -> Page:
    return build_page(
        cards,
        published=published(suite, suite.scene_ids),
        citation="arXiv 2608.16829",
        published_reader="Gemini",
        filmed_from={"near": "frames A", "collapsed": "frames A"},
        strips=[strip("near", "dice", "3"), strip("near", "dice", None), strip("collapsed", "ball", "left")],
    )
