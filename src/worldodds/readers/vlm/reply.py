"""From a judge's reply to a reading, strictly: what is not plainly one answer is malformed, never guessed."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from worldodds.errors import WorldOddsError
from worldodds.readers.vlm.question import NO_RULE, NULLS, Question
from worldodds.rollout import Reading
from worldodds.scene import Scene

_NULL_WORDS = {"unreadable": "unreadable", "null": "unreadable", "out_of_schema": "out_of_schema"}
# a label beside one of these may be denied, or one of several: "it never exits left", "left or right"
_DOUBTS = """
no not never neither nor none cannot without either or maybe perhaps possibly probably unclear unsure unknown almost
nearly instead rather except if but
""".split()  # noqa: SIM905 - a list of words reads best as words


class MalformedReplyError(WorldOddsError):
    """A judge's reply is not plainly one of the answers; it is asked again."""


def outcome_reading(text: str, question: Question, scene: Scene) -> Reading:
    """Read an outcome from a reply: a JSON object, alone or among prose, or else plain words.

    Raises:
        MalformedReplyError: no answer, several, one outside the scene, or an object that was cut off.
    """
    if "{" in text:
        return _of_object(the_object(text, question), scene)
    return _of_words(text, scene)


def the_object(text: str, question: Question) -> Mapping[str, str]:
    """Return the one object in a reply that has the fields asked for, each with one of its choices.

    Raises:
        MalformedReplyError: there is none, or there are several that differ.
    """
    found = [
        _fitted(item, question) for item in _objects(text) if "answer" in item or set(question.fields) <= set(item)
    ]
    valid = [item for item in found if isinstance(item, dict)]
    if not found:
        raise MalformedReplyError("no JSON object with an answer in it, or one that was cut off")
    if not valid:
        raise MalformedReplyError(str(found[0]))
    if any(item != valid[0] for item in valid):
        raise MalformedReplyError("several answers that differ")
    return valid[0]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield every JSON object of a text, outermost ones only."""
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        try:
            item, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            at += 1
            continue
        if isinstance(item, dict):
            yield item


def _fitted(item: Mapping[str, Any], question: Question) -> dict[str, str] | str:
    """Return an object's fields in the spelling of their choices, or what is wrong with them."""
    fitted: dict[str, str] = {}
    for name, choices in question.fields.items():
        value = item.get(name, NO_RULE if name == "null_rule" else "" if choices is None else None)
        word = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None
        if choices is None:
            fitted[name] = word or ""
            continue
        same = [choice for choice in choices if word is not None and _plain(choice) == _plain(word)]
        exact = [choice for choice in same if choice == word]
        if len(exact or same) != 1:
            return f"{name} is {json.dumps(value)[:60]}, which is none of {', '.join(choices)}"[:300]
        fitted[name] = (exact or same)[0]
    return fitted


def _of_object(item: Mapping[str, str], scene: Scene) -> Reading:
    answer, rule = item["answer"], item["null_rule"]
    if answer in scene.labels:
        if rule != NO_RULE:
            raise MalformedReplyError(f"the answer is {answer!r}, and yet the case {rule!r} is named")
        return Reading.saw(answer)
    return _null(answer, rule if rule != NO_RULE else None, scene)


def _null(answer: str, rule: str | None, scene: Scene) -> Reading:
    """Make a null; the case that was named says which of the two it is."""
    kind = scene.null_kind(rule) if rule is not None else answer
    return Reading(status="unreadable" if kind == "unreadable" else "out_of_schema", reason=rule)


def _of_words(text: str, scene: Scene) -> Reading:
    said = re.sub(r"out[ -]of[ -]schema", "out_of_schema", _plain(text).replace("’", "'"))
    labels, rest = _named(said, scene.labels)
    nulls, _ = _named(said, tuple(_NULL_WORDS))
    kinds = {_NULL_WORDS[word] for word in nulls}
    begins = re.match(r"\W*(unreadable|null|out_of_schema)(?![\w-])", said)
    if begins or (kinds and not labels):
        if len(kinds) > 1:
            raise MalformedReplyError("two kinds of null at once")
        rules, _ = _named(said, tuple(null.name for null in scene.readout.nulls))
        return _null(kinds.pop(), next(iter(rules)) if len(rules) == 1 else None, scene)
    if len(labels) != 1 or kinds:
        told = "no answer" if not labels else "several answers: " + ", ".join(sorted({*labels, *kinds}))
        raise MalformedReplyError(told)
    if doubt := re.search(rf"(?<!\w)(?:{'|'.join(_DOUBTS)})(?!\w)|n't(?!\w)|\?", rest):
        raise MalformedReplyError(f"an answer beside {doubt[0]!r}, which may deny it")
    return Reading.saw(labels.pop())


def _named(said: str, words: Sequence[str]) -> tuple[set[str], str]:
    """Return which words a text names, each as a word of its own, longest first; and the text without them."""
    found: set[str] = set()
    for word in sorted(words, key=len, reverse=True):
        pattern = rf"(?<![\w.-]){re.escape(_plain(word))}(?![\w-]|[.,:]\d)"
        said, times = re.subn(pattern, " ", said)
        if times:
            found.add(word)
    return found, said


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


assert set(_NULL_WORDS.values()) == set(NULLS)
