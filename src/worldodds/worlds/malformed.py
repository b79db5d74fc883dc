"""Endings with a thing that is not what it should be: a card of two suits, without one, bent, or joined by a second.

The motion stays that of physics; what is painted on the thing, its shape, or how many there are is not. None of it
shows in the first frame, where the card lies face down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from worldodds.worlds import card_faces, card_table
from worldodds.worlds.shot import Ending, Frames, Shot
from worldodds.worlds.staged import times, turned
from worldodds.worlds.world import Image

States = NDArray[np.float64]
Face = Callable[[str, str, np.random.Generator], Image]  # from rank and suit


def _faced(make: Face) -> Ending:
    """Turn the same card over, with another face on it."""

    def film(shot: Shot) -> Frames:
        card = int(shot.motion.states[0, 7])
        face = make(card_faces.RANKS[card % 13], card_faces.SUITS[card // 13], shot.rng)
        size: tuple[int, int] | None = None
        for frame, state in zip(shot.draw(shot.motion), shot.motion.states, strict=True):
            first, size = size is None, (frame.shape[1], frame.shape[0])
            yield frame if first else card_table.picture(_place(state), face, size)

    return film


def _two_suits(rank: str, suit: str, rng: np.random.Generator) -> Image:
    """Join the halves of two cards; an ace, whose one symbol would be cut in two, is a two."""
    rank = "2" if rank == "A" else rank
    others = [name for name in card_faces.SUITS if name != suit]
    other = card_faces.face(rank, others[int(rng.integers(len(others)))])
    half = other.shape[0] // 2
    return np.concatenate([card_faces.face(rank, suit)[:half], other[half:]])


def _blank(rank: str, suit: str, rng: np.random.Generator) -> Image:
    del rng
    face = card_faces.face(rank, suit)
    return np.full_like(face, face[2, face.shape[1] // 2])


def _two_cards(shot: Shot) -> Frames:
    """A second card, of another suit, comes off the deck with the first and lies half over it, or beside it."""
    states = shot.motion.states
    card = int((states[0, 7] + 13 * (1 + shot.rng.integers(3))) % 52)
    face = card_faces.face(card_faces.RANKS[card % 13], card_faces.SUITS[card // 13])
    second, gone = _aside(states, shot.rng), states[0] + np.array([10.0, *[0.0] * 7])
    for i, frame in enumerate(shot.draw(shot.motion)):
        size = (frame.shape[1], frame.shape[0])
        if i == 0:
            yield frame
            continue
        alone, empty = (card_table.picture(_place(state), face, size) for state in (second[i], gone))
        yield np.where((alone != empty).any(axis=2, keepdims=True), alone, frame)


def _aside(states: States, rng: np.random.Generator) -> States:
    """Return the way of a card that leaves with another one and is carried further off, and turned, while it flies."""
    apart = np.linalg.norm(states[:, :2] - states[0, :2], axis=1)
    share = (apart / apart[-1]).clip(0, 1)
    made = states.copy()
    made[:, 0] += rng.uniform(0.03, 0.05) * share
    made[:, 1] += rng.choice([-1, 1]) * rng.uniform(0.01, 0.03) * share
    made[:, 2] += 0.001
    half = rng.uniform(0.1, 0.3) / 2 * share
    made[:, 3:7] = times(np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1), states[:, 3:7])
    return made


def _bent(shot: Shot) -> Frames:
    """The card melts as it comes to rest: its outline and all that is printed on it run in waves."""
    import cv2

    start, rng = max(1, shot.motion.settled_frame - 4), shot.rng
    phase, waves = rng.uniform(0, 2 * np.pi, 2), rng.uniform(14, 18, 2)
    for i, (frame, state) in enumerate(zip(shot.draw(shot.motion), shot.motion.states, strict=True)):
        height, width = frame.shape[:2]
        y, x = (np.mgrid[:height, :width] / height).astype(np.float32)
        seen = card_table.project(_place(state).corners(), (width, height)) / height
        away = np.hypot(*(np.stack([x, y]) - seen.mean(axis=0)[:, None, None]))
        depth = 0.055 * float(np.clip((i - start) / 5, 0, 1)) * np.clip((0.28 - away) / 0.08, 0, 1)
        at_x = height * (x + depth * np.sin(waves[0] * 2 * y + phase[0]))
        at_y = height * (y + depth * np.sin(waves[1] * 2 * x + phase[1]))
        warped = cv2.remap(
            frame, at_x.astype(np.float32), at_y.astype(np.float32), cv2.INTER_LINEAR, None, cv2.BORDER_REFLECT
        )
        yield np.asarray(warped, dtype=np.uint8) if i > start else frame


def _place(state: States) -> card_table.Place:
    return card_table.Place(middle=state[:3], axes=turned(state[3:7]))


MALFORMED: Mapping[str, Mapping[str, Ending]] = {
    "cards": {
        "mixed_suits": _faced(_two_suits),
        "no_suit": _faced(_blank),
        "several_cards": _two_cards,
        "deformed": _bent,
    },
}
