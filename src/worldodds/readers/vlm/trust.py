"""PAWEval's second axis: whether a clip is to be trusted. It stands beside outcomes and never changes a score."""

from __future__ import annotations

from collections.abc import Sequence

from worldodds.evidence import Frame
from worldodds.readers.vlm.question import Question, shown
from worldodds.readers.vlm.reply import the_object
from worldodds.rollout import Reading
from worldodds.scene import Scene

STATUSES = ("trusted", "questionable", "untrusted", "uncertain")
CHECKS = ("scene_grounding", "action_execution", "object_continuity", "physical_process")
GRADES = ("pass", "fail", "unclear", "not_applicable")


def trust_question(scene: Scene, frames: Sequence[Frame], *, sourced: bool, video: bool = False) -> Question:
    """Ask whether scene, action, objects and physics hold up; ``sourced``: the first picture is the scene's own."""
    first = "\nBefore them stands the picture that the clip was to begin with." if sourced else ""
    text = f"""{shown(frames, video)}{first}

The clip was to show this: {scene.prompt}

Judge the clip, not its ending. Four checks, each "pass", "fail", "unclear" or "not_applicable":
- scene_grounding: the place, the things in it and the camera are those of the first picture, throughout
- action_execution: what was to be done is done, once, and by what was to do it
- object_continuity: nothing appears, vanishes, splits, merges, or turns into something else
- physical_process: the motion up to the end follows from forces and contacts that can be seen

Then "status": "trusted" where all of them pass; "untrusted" where one that decides the ending fails; "questionable" \
where a failure leaves the ending in doubt; "uncertain" where it cannot be told. Reply with one JSON object and \
nothing else. Its fields: "seen", one sentence on what you see; the four checks; "status"."""
    return Question(text=text, fields={"seen": None, **dict.fromkeys(CHECKS, GRADES), "status": STATUSES})


def trust_reading(text: str, question: Question) -> Reading:
    """Read an audit from a reply: its label is the status, its reason names the checks that failed.

    Raises:
        MalformedReplyError: no such object, or a word in it that was not offered.
    """
    item = the_object(text, question)
    failed = [check for check in CHECKS if item[check] == "fail"]
    return Reading(status="outcome", label=item["status"], reason=", ".join(failed) or None)
