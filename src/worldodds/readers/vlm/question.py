"""What a judge is asked: blind, with the labels in an order of their own at every vote, and the shape of its reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from worldodds.errors import OutOfRangeError
from worldodds.evidence import Frame
from worldodds.scene import Scene

WORDING = 1  # part of every reading's key: raise it when the texts below change
NULLS = ("unreadable", "out_of_schema")
NO_RULE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A text, the choices of each field of the reply (None: free text), and the order in which labels were shown."""

    text: str
    fields: Mapping[str, tuple[str, ...] | None]
    order: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The reply's JSON schema; every field is required and no other is allowed."""
        shapes = {
            name: {"type": "string"} if choices is None else {"type": "string", "enum": list(choices)}
            for name, choices in self.fields.items()
        }
        return {"type": "object", "properties": shapes, "required": list(shapes), "additionalProperties": False}


def shuffled(labels: Sequence[str], *, seed: int, vote: int) -> tuple[str, ...]:
    """Return the labels in the order of one vote.

    >>> sorted(shuffled(["a", "b", "c"], seed=0, vote=1))
    ['a', 'b', 'c']
    """
    order: list[int] = np.random.default_rng([seed, vote]).permutation(len(labels)).tolist()
    return tuple(labels[i] for i in order)


def outcome_question(scene: Scene, frames: Sequence[Frame], *, seed: int, vote: int, video: bool = False) -> Question:
    """Ask how a clip ended. Nothing in it tells the model, the seed, the index, the odds or a file's name.

    Raises:
        OutOfRangeError: a label of the scene is one of the words for a null.
    """
    if clash := [label for label in scene.labels if label.casefold() in (*NULLS, "null", NO_RULE)]:
        raise OutOfRangeError(f"scene {scene.id!r}: its label {clash[0]!r} is a judge's word for a null; rename it")
    order = shuffled(scene.labels, seed=seed, vote=vote)
    cases = "\n".join(f"- {null.name} ({null.kind}): {null.rule}" for null in scene.readout.nulls)
    labels = "\n".join(f"- {label}" for label in order)
    text = f"""{shown(frames, video)}

Question: {scene.readout.question}

The possible answers:
{labels}
- unreadable: what happened cannot be told
- out_of_schema: what happened is plain, and it is none of the answers above

Cases that are one of the last two, by name:
{cases}

Look at what is there, not at what should be. Reply with one JSON object and nothing else. Its fields: "seen", one \
sentence on what you see; "answer", one of the possible answers, word for word; "null_rule", the name of the case \
where the answer is one of the last two, otherwise "{NO_RULE}"."""
    rules = tuple(null.name for null in scene.readout.nulls)
    return Question(
        text=text, fields={"seen": None, "answer": (*order, *NULLS), "null_rule": (*rules, NO_RULE)}, order=order
    )


def shown(frames: Sequence[Frame], video: bool) -> str:
    """Say what the judge is looking at."""
    if video:
        return "You are shown one video clip."
    if len(frames) == 1:
        return "You are shown one picture: the last of a video clip."
    times = ", ".join(f"{frame.seconds:.2f}" for frame in frames)
    return f"You are shown {len(frames)} pictures of one video clip in their order, at {times} seconds."
