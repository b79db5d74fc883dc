"""Find, among ten thousand small pictures, those that are alike in every cell, without comparing all with all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

_FEW = 64  # so many pictures are compared with each other at once
_SAMPLE = 256  # so many show where to cut a group
_AT_ONCE = 256  # marked at once: what fits a processor's cache
_COLUMNS, _ROWS = 4, 3  # cells a band
_EVERY = 101  # of so many cells one is a mark


def first_alike(pictures: Bytes, near: int) -> list[int]:
    """Return for each picture the place of the first earlier one that differs by at most ``near`` grey levels anywhere.

    ``pictures`` has the shape (n, moments, height, width), width and height whole numbers of bands; -1 stands for none.
    """
    if not len(pictures):
        return []
    some = np.sort(pictures[:: 1 + len(pictures) // 32], axis=0)
    usual = some[len(some) // 2]
    parts = range(0, len(pictures), _AT_ONCE)
    marks = np.concatenate([_marks(pictures[start : start + _AT_ONCE], usual) for start in parts])
    flat = pictures.reshape(len(pictures), -1)
    first = np.full(len(pictures), len(pictures))
    for group in _groups(marks, np.arange(len(pictures)), near):
        alone = np.ones(len(group), dtype=bool)  # whose first has not been found in this group
        for start in range(0, len(group), _FEW):
            rows, later = group[start : start + _FEW], group[alone & (group > group[start])]
            maybe = (_apart(marks[rows][:, None], marks[later]) <= near).all(axis=2) & (later > rows[:, None])
            for at in np.flatnonzero(maybe.any(axis=1)):
                open_now = later[maybe[at]]
                open_now = open_now[alone[np.searchsorted(group, open_now)]]
                found = open_now[(_apart(flat[open_now], flat[rows[at]]) <= near).all(axis=1)]
                first[found] = np.minimum(first[found], rows[at])
                alone[np.searchsorted(group, found)] = False
    return np.where(first < len(pictures), first, -1).tolist()


def _apart(a: Bytes, b: Bytes) -> Bytes:
    return np.maximum(a, b) - np.minimum(a, b)


def _marks(pictures: Bytes, usual: Bytes) -> Bytes:
    """Return a few marks of each picture (n, marks) which differ by no more than the pictures do in any cell.

    They are the largest change, against what is usual, in each band of columns and of rows, which tell where something
    moves, and the changes of some cells, which tell grain apart.
    """
    changed = _apart(pictures, usual)
    columns = changed.max(axis=2)
    columns = np.maximum.reduce([columns[..., start::_COLUMNS] for start in range(_COLUMNS)])
    band = _ROWS * pictures.shape[3]
    flat = changed.reshape(len(pictures), -1)
    rows = np.maximum.reduceat(flat, np.arange(0, flat.shape[1], band), axis=1)
    return np.concatenate([columns.reshape(len(pictures), -1), rows, flat[:, ::_EVERY]], axis=1)


def _groups(marks: Bytes, members: Places, near: int) -> Iterator[Places]:
    """Yield groups of pictures, in order, so that any two whose marks are near share at least one group.

    A group is cut in two at a value of a mark, chosen by a sample; what lies within ``near`` above is in both parts.
    """
    if len(members) > _FEW:
        mark, cut = _cut(marks[members[:: 1 + len(members) // _SAMPLE]], near)
        values = marks[members, mark]
        low, high = members[values <= cut + near], members[values > cut]
        if len(low) ** 2 + len(high) ** 2 <= 0.8 * len(members) ** 2:
            yield from _groups(marks, low, near)
            yield from _groups(marks, high, near)
            return
    yield members


def _cut(marks: Bytes, near: int) -> tuple[int, int]:
    """Return the mark and the value that leave least to compare in both parts."""
    n, k = marks.shape
    up_to = np.bincount((marks + 256 * np.arange(k)).ravel(), minlength=256 * k).reshape(k, 256).cumsum(axis=1)
    work = up_to[:, near:] ** 2 + (n - up_to[:, :-near]) ** 2
    mark, cut = divmod(int(work.argmin()), 256 - near)
    return mark, cut
