"""Each judge's client, and the fake judge that tests it, are held to one file of documented facts."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import worldodds.readers.vlm
from worldodds.errors import InputError
from worldodds.fake_judge import Step, wrapped
from worldodds.fake_provider import LocalServer, Request, Response
from worldodds.readers.vlm.judge import Judge
from worldodds.readers.vlm.openai import ChatCompletions
from worldodds.registry import make_reader
from worldodds.rollout import Clip, Reading
from worldodds.scene import Scene

FACTS = {
    path.stem: tomllib.loads(path.read_text())
    for path in sorted((Path(worldodds.readers.vlm.__file__).parent / "facts").glob("*.toml"))
}
KEY = "sk-very-secret-1234567890"
GOOD = {"seen": "two dots", "answer": "2", "null_rule": "none"}
OVER = '{"seen": "two dots", "answ'


def every(part: str, kind: str) -> list[Any]:
    """Name every documented answer of a kind: which file, which place in its list."""
    return [(name, number) for name, facts in FACTS.items() for number in range(len(facts[part].get(kind, [])))]


def said(text: str) -> Any:
    filled = text.replace("{text}", json.dumps(json.dumps(GOOD))).replace("{object}", json.dumps(GOOD))
    return json.loads(filled.replace("{cut}", json.dumps(OVER)))


def at(body: Any, path: str) -> Any:
    for step in path.split("."):
        body = body[int(step) if step.isdigit() else step]
    return body


class Documented:
    """Gives the answers in their order, the last of them for good, and remembers what it was asked."""

    def __init__(self, facts: dict[str, Any], *answers: Response) -> None:
        self.facts, self.answers, self.asked = facts, list(answers), list[Request]()

    def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        wanted = self.facts["request"]
        if (request.method, request.path) != (wanted["method"], wanted["path"]):
            return Response(status=404, body={"error": {"message": "undocumented"}})
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_JUDGE_KEY", KEY)


def read(name: str, clip: Clip, scene: Scene, *answers: Response) -> tuple[Reading, Documented]:
    server = Documented(FACTS[name], *answers)
    with LocalServer(server) as local:
        settings = {"base_url": local.url, "api_key_env": "TEST_JUDGE_KEY", "patience": 0.0}
        reader = make_reader(f"{FACTS[name]['reader']}/some-model", settings)
        return reader.read(clip, scene, vote=0), server


def good(name: str) -> Response:
    return Response(body=said(FACTS[name]["answers"]["good"][0]))


def test_three_protocols_are_documented() -> None:
    """Each dialect has a file that names its pages, their date, and whether it was tried live."""
    assert set(FACTS) == {"anthropic", "gemini", "openai"}
    for name, facts in FACTS.items():
        assert facts["dialect"] == name
        assert all(page.startswith("https://") for page in facts["pages"])
        assert facts["tried_live"] is False


@pytest.mark.parametrize("name", FACTS)
def test_a_question_goes_as_documented(name: str, clip: Clip, die: Scene) -> None:
    """Method, path, headers and every field; the picture stands where and as the documentation says."""
    _, server = read(name, clip, die, good(name))
    facts, asked = FACTS[name], server.asked[0]
    headers = {header.lower(): value for header, value in asked.headers.items()}
    assert headers["content-type"] == "application/json"
    assert headers[facts["auth"]["name"].lower()] == facts["auth"]["value"].replace("{key}", KEY)
    if "header" in facts:
        assert headers[facts["header"]["name"].lower()] == facts["header"]["value"]
    for field in facts["request"]["fields"]:
        assert at(asked.body, field) not in (None, "", [], {}), field
    for field, value in facts["request"]["values"].items():
        assert at(asked.body, field) == value, field
    picture = facts["request"]["picture"]
    assert at(asked.body, picture["at"]).startswith(picture["before"] + "/9j/")  # how a JPEG begins in base64


@pytest.mark.parametrize(("name", "number"), every("answers", "good"))
def test_documented_answers_are_read(name: str, number: int, clip: Clip, die: Scene) -> None:
    """The outcome, the served model and all tokens of every good answer."""
    reading, server = read(name, clip, die, Response(body=said(FACTS[name]["answers"]["good"][number])))
    (reply,) = json.loads(reading.raw or "")["replies"]
    assert (reading.label, len(server.asked)) == ("2", 1)
    assert (reply["model"], reply["input_tokens"], reply["output_tokens"]) == ("served-1", 812, 31)


@pytest.mark.parametrize(("name", "number"), every("answers", "cut"))
def test_an_answer_without_room_is_no_answer(name: str, number: int, clip: Clip, die: Scene) -> None:
    """A reply that ran out of tokens is asked again, then failed as cut off; never a null."""
    reading, server = read(name, clip, die, Response(body=said(FACTS[name]["answers"]["cut"][number])))
    assert (reading.status, reading.label, len(server.asked)) == ("failed", None, 2)
    assert "cut off" in (reading.reason or "")


@pytest.mark.parametrize(("name", "number"), every("answers", "refused"))
def test_documented_refusals_are_the_judges(name: str, number: int, clip: Clip, die: Scene) -> None:
    """Each way to refuse is failed at once, and called a refusal."""
    reading, server = read(name, clip, die, Response(body=said(FACTS[name]["answers"]["refused"][number])))
    assert (reading.status, len(server.asked)) == ("failed", 1)
    assert "the judge refused" in (reading.reason or "")


@pytest.mark.parametrize(("name", "number"), every("answers", "busy"))
def test_an_error_inside_a_good_status_is_asked_again(name: str, number: int, clip: Clip, die: Scene) -> None:
    """What a router passes on of a provider's fault, with status 200, is a fault."""
    reading, server = read(name, clip, die, Response(body=said(FACTS[name]["answers"]["busy"][number])), good(name))
    assert (reading.label, len(server.asked)) == ("2", 2)


def error(name: str, kind: str, number: int) -> Response:
    found = FACTS[name]["errors"][kind][number]
    return Response(status=found["status"], body=json.loads(found["answer"]))


@pytest.mark.parametrize(("name", "number"), every("errors", "busy"))
def test_documented_faults_are_asked_again(name: str, number: int, clip: Clip, die: Scene) -> None:
    """Too many, overloaded, out of order: the same question again."""
    reading, server = read(name, clip, die, error(name, "busy", number), good(name))
    assert (reading.label, len(server.asked)) == ("2", 2)


@pytest.mark.parametrize(("name", "number"), every("errors", "account"))
def test_what_every_question_would_hear_stops(name: str, number: int, clip: Clip, die: Scene) -> None:
    """A wrong key, no credit, no such model: told once, in the provider's words."""
    answer = error(name, "account", number)
    with pytest.raises(InputError, match="answers no question") as caught:
        read(name, clip, die, answer)
    assert at(answer.body, "error.message")[:40] in str(caught.value)


@pytest.mark.parametrize(("name", "number"), every("errors", "refused"))
def test_a_filter_at_the_door_refuses_one_clip(name: str, number: int, clip: Clip, die: Scene) -> None:
    """A moderation's 403 fails this reading, and does not stop the others."""
    reading, server = read(name, clip, die, error(name, "refused", number))
    assert (reading.status, len(server.asked)) == ("failed", 1)
    assert "the judge refused" in (reading.reason or "")


@pytest.mark.parametrize(("name", "number"), every("errors", "wrong"))
def test_what_cannot_be_asked_fails_with_the_words(name: str, number: int, clip: Clip, die: Scene) -> None:
    """A picture that is not taken fails the reading in the provider's words, after one try without a schema."""
    answer = error(name, "wrong", number)
    reading, server = read(name, clip, die, answer)
    assert (reading.status, reading.label, len(server.asked)) == ("failed", None, 2)
    assert at(answer.body, "error.message") in (reading.reason or "")


PLACES = [(name, place) for name, facts in FACTS.items() for place in facts["served_by"]]


@pytest.mark.parametrize(("name", "place"), PLACES)
def test_endpoints_are_where_they_say(name: str, place: str) -> None:
    """Address, key's variable and the name of the limit, of everyone who serves a protocol."""
    served = FACTS[name]["served_by"][place]
    judge = make_reader(f"{FACTS[name]['reader']}/some-model", {"base_url": served["base_url"]})
    assert isinstance(judge, Judge)
    client: Any = judge.dialect.client  # type: ignore[attr-defined]
    assert (client.base_url, client.key_variable) == (served["base_url"], served.get("key_variable"))
    if isinstance(judge.dialect, ChatCompletions):
        assert judge.dialect.limit == served.get("limit", "max_tokens")


def paths(value: Any, before: str = "") -> set[str]:
    """Return the place of every value, with all items of a list at one place."""
    if isinstance(value, dict):
        return {path for name, item in value.items() for path in paths(item, f"{before}.{name}")}
    if isinstance(value, list):
        return {path for item in value for path in paths(item, f"{before}.*")}
    return {before}


ENDS = {"good": Step(), "cut": Step(ran_out=True), "refused": Step(refused=True)}


@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize("kind", ENDS)
def test_the_fake_judge_says_what_is_documented(name: str, kind: str) -> None:
    """It ends as a documented answer ends, has what the client reads where it belongs, and nothing of its own."""
    facts = FACTS[name]
    body = {"tools": []} if name == "anthropic" else {}
    text = json.dumps(GOOD) if kind == "good" else OVER if kind == "cut" else ""
    fake = wrapped(facts["request"]["path"], body, text, "served-1", ENDS[kind])
    examples = [said(answer) for answers in facts["answers"].values() for answer in answers]
    assert paths(fake) <= {path for example in examples for path in paths(example)}
    ends = [example for example in map(said, facts["answers"][kind]) if "promptFeedback" not in example]
    assert at(fake, facts["places"]["ended"]) in [at(example, facts["places"]["ended"]) for example in ends]
    if kind == "good":
        example = said(facts["answers"]["good"][0])
        for place in facts["places"].values():
            assert type(at(fake, place)) is type(at(example, place)), place
        assert at(fake, facts["places"]["text"]) == at(example, facts["places"]["text"])
