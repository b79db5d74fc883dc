"""Find one coloured ball: its colour is learned where the scene says it lies in the first frame, then looked for later.

The same noise, blur, light and compression lie on the first frame as on the last, so a ball's answer is measured in
units of its own first answer, and "is it there?" has one threshold for all clips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldodds.readers.tracker.align import HEIGHT, WIDTH, Picture, View, locate, reference
from worldodds.rollout import Reading
from worldodds.scene import Scene
from worldodds.video import Image

FRAMES = 9  # how many of a clip's last frames are looked at
GROUP = 3  # frames averaged at the end, and as many FRAMES earlier: a ball at rest lies at one place in both
STILL_PX = 0.9  # canonical pixels a resting ball may seem to move between the two
LEAST_ANSWER, SECOND_BALL = 0.5, 0.45  # of the ball's answer in the first frame
LEAST_START = 0.3  # of the ball's answer in the conditioning frame
LEAST_SHARPNESS = 0.3  # of the first frame's

Answer = NDArray[np.float32]  # (HEIGHT, WIDTH), 1 where the ball answers as in the first frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where the ball lies: fractions of the frame; ``answer`` is its likeness to the ball of the first frame."""

    x: float
    y: float
    answer: float


class Unreadable(Exception):  # noqa: N818 - it carries a finding, not a fault
    """The clip ends in the null rule of this name."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


def null(scene: Scene, rule: str) -> Reading:
    """Return the reading of a null rule, of the kind the scene says it is."""
    return Reading(status=scene.null_kind(rule), reason=rule)


def final_spot(frames: Sequence[Image], scene: Scene) -> Spot:
    """Return where the scene's one ball lies still at the end of a clip.

    Looks at the first frame, the last, and two shortly before it.

    Raises:
        Unreadable: no ball, several, hidden, blurred, or not at rest.
        OutOfRangeError: the scene cannot be found in the first frame.
    """
    view = locate(frames[0], scene)
    finder = Finder.learn(view, frames[0], scene)
    if len(frames) < FRAMES + 1:
        raise Unreadable("not_settled")
    late = view.rectify(*frames[-GROUP:])
    early = view.rectify(*frames[-FRAMES : GROUP - FRAMES])
    if _sharpness(late) < LEAST_SHARPNESS * _sharpness(finder.first):
        raise Unreadable("hidden" if _recoloured(late, finder.first) else "blurred")
    spots = finder.spots(late)
    if not spots:
        raise Unreadable(finder.why_lost(late, view.rectify(frames[-1])))
    if len(spots) > 1:
        raise Unreadable("several_balls")
    if not any(_apart_px(spots[0], spot) <= STILL_PX for spot in finder.spots(early)):
        raise Unreadable("not_settled")
    return spots[0]


@dataclass(frozen=True, kw_only=True)
class Finder:
    """What a ball of this clip looks like: a direction in colour and the strength of its first answer."""

    first: Picture
    colour: NDArray[np.float32]  # (3,), without brightness
    radius_px: float
    unit: float
    before: Answer  # what the empty scene answers by itself

    @classmethod
    def learn(cls, view: View, frame: Image, scene: Scene) -> Finder:
        """Learn the ball from the first frame; raises Unreadable("absent") if it is not where it starts."""
        assert scene.frame is not None
        x, y = scene.geometry["ball"]
        at = (x * WIDTH - 0.5, y * HEIGHT - 0.5)
        radius = float(scene.geometry["ball_radius"]) * HEIGHT
        first = view.rectify(frame)
        still = reference(scene.frame)
        seen, expected = _contrast(first, at, radius), _contrast(still, at, radius)
        colour = seen / (np.linalg.norm(seen) + 1e-6) + expected / (np.linalg.norm(expected) + 1e-6)
        colour = np.asarray(colour / (np.linalg.norm(colour) + 1e-6), np.float32)
        raw = _answer(first, colour, radius)
        unit, whole = _near(raw, at, radius), _near(_answer(still, colour, radius), at, radius)
        if unit < max(LEAST_START * whole, 1e-3):
            raise Unreadable("absent")
        before = raw / unit
        x, y = round(at[0]), round(at[1])
        reach = round(2.5 * radius)
        before[max(y - reach, 0) : y + reach, x - reach : x + reach] = 0
        return cls(first=first, colour=colour, radius_px=radius, unit=unit, before=np.clip(before, 0, None))

    def spots(self, picture: Picture) -> list[Spot]:
        """Return the places that look like the ball, the likeliest first."""
        import cv2

        answer = _answer(picture, self.colour, self.radius_px) / self.unit - self.before
        found: list[Spot] = []
        while len(found) < 3:
            _, peak, _, (x, y) = cv2.minMaxLoc(answer)
            if peak < (SECOND_BALL if found else LEAST_ANSWER):
                break
            dx, dy = _vertex(answer[y, :], x), _vertex(answer[:, x], y)
            found.append(Spot(x=(x + dx + 0.5) / WIDTH, y=(y + dy + 0.5) / HEIGHT, answer=peak))
            cv2.circle(answer, (x, y), round(2 * self.radius_px), -1.0, -1)
        return found

    def why_lost(self, late: Picture, last: Picture) -> str:
        """Say why no ball is found: its motion smears it over several frames, the scene is covered, or it is gone."""
        if self.spots(last):
            return "not_settled"
        changed = np.abs(late - self.first).mean(axis=2) > 40
        return "hidden" if changed.mean() > 0.06 else "absent"


def _answer(picture: Picture, colour: NDArray[np.float32], radius_px: float) -> Answer:
    """Return how much each place looks like the ball against its surroundings."""
    import cv2

    flat = cv2.transform(picture, colour[None])
    inner = cv2.GaussianBlur(flat, (0, 0), 0.6 * radius_px)
    outer = cv2.GaussianBlur(flat, (0, 0), 1.8 * radius_px)
    return np.asarray(inner - outer, np.float32)


def _contrast(picture: Picture, at: tuple[float, float], radius: float) -> NDArray[np.float32]:
    """Colour of the ball less that of its surroundings, without brightness: shadows and dark wood have that too."""
    reach = int(2.3 * radius) + 1
    left, top = max(round(at[0]) - reach, 0), max(round(at[1]) - reach, 0)
    near = picture[top : round(at[1]) + reach + 1, left : round(at[0]) + reach + 1]
    y, x = np.ogrid[: near.shape[0], : near.shape[1]]
    far = np.hypot(x + left - at[0], y + top - at[1]) / radius
    difference = near[far < 0.8].mean(axis=0) - near[(far > 1.5) & (far < 2.3)].mean(axis=0)
    return np.asarray(difference - difference.mean(), np.float32)


def _near(answer: Answer, at: tuple[float, float], radius: float) -> float:
    x, y, reach = round(at[0]), round(at[1]), max(2, round(radius))
    return float(answer[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1].max())


def _vertex(line: Answer, i: int) -> float:
    """Offset of the top of a parabola through three neighbours."""
    if not 0 < i < len(line) - 1:
        return 0.0
    a, b, c = (float(v) for v in line[i - 1 : i + 2])
    return 0.5 * (a - c) / bend if (bend := a - 2 * b + c) < 0 else 0.0


def _apart_px(a: Spot, b: Spot) -> float:
    return float(np.hypot((a.x - b.x) * WIDTH, (a.y - b.y) * HEIGHT))


def _recoloured(late: Picture, first: Picture) -> bool:
    """Blur keeps a picture's mean colour; a cover brings its own."""
    return bool(np.abs(late.mean(axis=(0, 1)) - first.mean(axis=(0, 1))).max() > 12)


def _sharpness(picture: Picture) -> float:
    """Strength of edges about four pixels wide: coarser than noise, finer than a blur that hides a ball."""
    import cv2

    small = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    return float((cv2.GaussianBlur(small, (0, 0), 1) - cv2.GaussianBlur(small, (0, 0), 2)).std())
