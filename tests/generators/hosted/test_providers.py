"""Each provider's client, and the server it is tested against, are held to one file of documented facts."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import worldodds.generators
from worldodds import video
from worldodds.clock import HastyClock
from worldodds.engine import plan, run
from worldodds.errors import (
    AccountError,
    GoneError,
    InputError,
    ProviderError,
    RefusedError,
    TransientError,
    UncertainError,
)
from worldodds.fake_provider import LocalServer, Request, Response, canned_clip
from worldodds.filming import Terms
from worldodds.generators.hosted.base import Hosted
from worldodds.job import JobState, Order
from worldodds.registry import make_generator
from worldodds.scene import Suite
from worldodds.store import RunStore

FACTS = Path(worldodds.generators.__file__).parent / "facts"
KEY = "sk-very-secret-1234567890"
MODELS = {
    "replicate": ("replicate/google/veo-3.1", {}),
    "openrouter": ("openrouter/google/veo-3.1", {"duration": 4, "resolution": "720p"}),
    "fal": ("fal/fal-ai/some-model/image-to-video", {"duration": 5, "resolution": "720p"}),
    "google": ("google/veo-3.1-generate-preview", {}),
    "runway": ("runway/gen4.5", {}),
}


@dataclass
class Documented:
    """A server that says what the facts file says, and remembers what it was asked."""

    facts: dict[str, Any]
    say: str = "done"
    url: str = ""
    asked: list[Request] = field(default_factory=list)
    wrong: dict[str, Response] = field(default_factory=dict)
    listed: list[dict[str, Any]] = field(default_factory=list)
    clip: bytes = field(default_factory=lambda: canned_clip(20, 1))

    def __call__(self, request: Request) -> Response:  # noqa: PLR0911 - one a documented path
        self.asked.append(request)
        facts = self.facts
        if request.method == facts["submit"]["method"] and request.path == facts["submit"]["path"]:
            return self.wrong.get("submit") or self.json(facts["submit"]["answer"], facts["submit"]["status"])
        if request.path in ("/clip.mp4", facts.get("clip", {}).get("path")):
            return Response(body=self.clip, headers={"Content-Type": "video/mp4"})
        if "cancel" in facts and (request.method, request.path) == (facts["cancel"]["method"], facts["cancel"]["path"]):
            return Response(status=200, body={})
        if request.path == facts.get("model", {}).get("path"):
            return self.json(facts["model"]["answer"])
        if request.path == facts.get("list", {}).get("path"):
            return Response(body={"results": self.listed, "next": None})
        if request.path == facts["poll"]["path"]:
            kind, _, number = self.say.partition(" ")
            return self.wrong.get("poll") or self.json(facts["answers"][kind][int(number or 0)])
        if request.path == facts.get("result", {}).get("path"):
            kind = self.say.partition(" ")[0]
            return self.json(facts["result"][kind], 200 if kind == "done" else facts["result"]["error_status"])
        return Response(status=404, body={"detail": f"undocumented: {request.method} {request.path}"})

    def json(self, text: str, status: int = 200) -> Response:
        return Response(status=status, body=json.loads(text.replace("{base}", self.url)))


@contextmanager
def documented(provider: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Documented, Hosted]]:
    facts = tomllib.loads((FACTS / f"{provider}.toml").read_text())
    name, settings = MODELS[provider]
    maker = make_generator(name, settings)
    assert isinstance(maker, Hosted)
    assert maker.client.base_url == facts["base_url"]
    assert maker.client.key_variable == facts["key_variable"]
    monkeypatch.setenv(facts["key_variable"], KEY)
    server = Documented(facts)
    with LocalServer(server) as local:
        server.url = local.url
        yield server, replace(maker, client=replace(maker.client, base_url=local.url))


@pytest.fixture(params=sorted(MODELS))
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def order(suite: Suite) -> Order:
    return Order(scene=suite.scenes[0], seed=7, index=0, token="token-1")  # noqa: S106 - an order's name


def at(body: Any, path: str) -> Any:
    for step in path.split("."):
        body = body[int(step) if step.isdigit() else step]
    return body


def test_a_job_goes_as_documented(provider: str, tiny: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Method, path, header and every field of the order; the job's id; the clip."""
    with documented(provider, monkeypatch) as (server, maker):
        job = maker.submit(order(tiny))
        asked = server.asked[-1]
        facts = server.facts
        assert (asked.method, asked.path) == (facts["submit"]["method"], facts["submit"]["path"])
        headers = {name.lower(): value for name, value in asked.headers.items()}
        assert headers[facts["auth"]["name"].lower()] == facts["auth"]["value"].replace("{key}", KEY)
        if "header" in facts:
            assert headers[facts["header"]["name"].lower()] == facts["header"]["value"]
        for name in facts["submit"]["fields"]:
            assert at(asked.body, name) not in (None, ""), name
        assert job == facts["submit"]["job"].replace("{base}", server.url)
        state = maker.poll(job)
        maker.download(job, state, tmp_path / "clip.mp4")
        assert video.probe(tmp_path / "clip.mp4").frames == 6


def test_every_documented_state_is_understood(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting, done, failed and refused are what the documentation says they are."""
    with documented(provider, monkeypatch) as (server, maker):
        job = server.facts["submit"]["job"].replace("{base}", server.url)
        for kind, answers in server.facts["answers"].items():
            for number in range(len(answers)):
                server.say = f"{kind} {number}"
                state = maker.poll(job)
                assert state.status == kind, server.say
                assert (state.clip is not None) == (kind == "done")
                assert kind in ("waiting", "done") or state.message


def test_fal_tells_a_result_that_was_refused_from_one_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue says COMPLETED of all three; the result's own error tells."""
    with documented("fal", monkeypatch) as (server, maker):
        job = server.facts["submit"]["job"].replace("{base}", server.url)
        server.facts["answers"]["refused"] = server.facts["answers"]["failed"] = server.facts["answers"]["done"]
        for kind in ("refused", "failed", "done"):
            server.say = kind
            assert maker.poll(job).status == kind


def test_every_documented_error_is_sorted(provider: str, tiny: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Busy is tried again, an empty account stops all, a moderation's no is a refusal."""
    kinds: dict[str, type[ProviderError]] = {"busy": TransientError, "account": AccountError, "refused": RefusedError}
    with documented(provider, monkeypatch) as (server, maker):
        for kind, error in server.facts["errors"].items():
            server.wrong["submit"] = Response(status=error["status"], body=json.loads(error["answer"]))
            with pytest.raises(kinds[kind]) as raised:
                maker.submit(order(tiny))
            assert type(raised.value) is kinds[kind]
            assert KEY not in str(raised.value)


def test_a_model_that_is_not_there_stops_the_run(
    provider: str, tiny: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One or a few orders are tried, not all; the rest stays missing and the summary says why."""
    with documented(provider, monkeypatch) as (server, maker):
        server.wrong["submit"] = Response(status=404, body={"detail": "no such model"})
        with RunStore(tmp_path / "run") as store:
            summary = run(plan(tiny, maker, [], 20), store, terms=Terms(clock=HastyClock()))
        submits = [one for one in server.asked if one.method == "POST"]
        assert "no such model" in str(summary.stopped)
        assert len(submits) <= maker.in_flight * 2


AMBIGUOUS = {
    "hung up": Response(drop=True),
    "server error": Response(status=502, body="bad gateway"),
    "no JSON": Response(body=b"<html>"),
    "no id": Response(body={"hello": "world"}),
}


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_a_lost_answer_to_an_order_is_uncertain(
    case: str, provider: str, tiny: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clip may have been bought, so nobody says that it was not."""
    with documented(provider, monkeypatch) as (server, maker):
        server.wrong["submit"] = AMBIGUOUS[case]
        with pytest.raises(UncertainError):
            maker.submit(order(tiny))


def test_a_lost_job_is_gone_and_a_failing_poll_is_not(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """404 is the provider's word on the job; a server error says nothing of it."""
    with documented(provider, monkeypatch) as (server, maker):
        job = server.facts["submit"]["job"].replace("{base}", server.url)
        server.wrong["poll"] = Response(status=404, body={"detail": "not found"})
        with pytest.raises(GoneError):
            maker.poll(job)
        server.wrong["poll"] = Response(status=500, body=None)
        with pytest.raises(TransientError):
            maker.poll(job)


def test_cancelling_is_as_documented_or_said_to_be_impossible(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is a way, it is taken."""
    with documented(provider, monkeypatch) as (server, maker):
        job = server.facts["submit"]["job"].replace("{base}", server.url)
        if "cancel" not in server.facts:
            with pytest.raises(ProviderError, match="no way to cancel"):
                maker.cancel(job)
            return
        maker.cancel(job)
        asked = server.asked[-1]
        assert (asked.method, asked.path) == (server.facts["cancel"]["method"], server.facts["cancel"]["path"])


def test_only_replicate_can_be_asked_what_became_of_an_order(
    provider: str, tiny: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its list names inputs; elsewhere an unanswered order stays perhaps bought."""
    with documented(provider, monkeypatch) as (server, maker):
        if provider != "replicate":
            with pytest.raises(UncertainError):
                maker.find(order(tiny), frozenset())
            return
        assert maker.find(order(tiny), frozenset()) is None
        ours = {"id": "b", "model": "google/veo-3.1", "input": {"prompt": tiny.scenes[0].prompt, "seed": 7}}
        server.listed = [{**ours, "id": "a", "model": "other/model"}, ours, {**ours, "id": "c", "input": {"seed": 7}}]
        assert maker.find(order(tiny), frozenset()) == "b"
        assert maker.find(order(tiny), frozenset({"b"})) is None


def test_a_job_of_another_run_is_never_taken_for_ours(tiny: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same prompt and seed at another resolution, or from another frame, were bought for something else."""
    with documented("replicate", monkeypatch) as (server, maker):
        maker.submit(order(tiny))
        sent = server.asked[-1].body["input"]
        for other in ({"resolution": "480p"}, {"image": "data:image/png;base64,AAAA"}):
            server.listed = [{"id": "b", "model": "google/veo-3.1", "input": {**sent, **other}}]
            assert maker.find(order(tiny), frozenset()) is None
        for hidden in ({}, {"image": "https://replicate.delivery/frame.png"}):
            server.listed = [{"id": "b", "model": "google/veo-3.1", "input": {**sent, **hidden}}]
            assert maker.find(order(tiny), frozenset()) == "b"


def test_the_key_is_nowhere(provider: str, tiny: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose provider echoes the key in its errors leaves no trace of it in any file."""
    with documented(provider, monkeypatch) as (server, maker):
        server.facts["answers"]["failed"] = [
            json.dumps(
                {
                    "status": "failed" if provider in ("replicate", "openrouter") else "FAILED",
                    "error": f"bad {KEY}" if provider != "google" else {"message": f"bad {KEY}"},
                    "failure": f"bad {KEY}",
                    "done": True,
                }
            )
        ]
        server.say = "failed" if provider != "fal" else "done"
        with RunStore(tmp_path / "run") as store:
            run(plan(tiny, maker, [], 1), store, terms=Terms(clock=HastyClock()))
            server.wrong["submit"] = Response(status=400, body={"detail": f"wrong {KEY}"})
            run(plan(tiny, maker, [], 2), store, terms=Terms(clock=HastyClock()))
    for file in (tmp_path / "run").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


def test_a_missing_key_is_refused_before_anything(provider: str, tiny: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the variable's name."""
    with documented(provider, monkeypatch) as (server, maker):
        monkeypatch.delenv(server.facts["key_variable"])
        with pytest.raises(InputError, match=server.facts["key_variable"]):
            maker.check(tiny.scenes)
        assert server.asked == []


def test_a_redirect_never_carries_the_key_away(tiny: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clip's own host gets no key."""
    clip, seen = canned_clip(20, 1), []

    def elsewhere(request: Request) -> Response:
        seen.append(request)
        return Response(body=clip, headers={"Content-Type": "video/mp4"})

    with documented("google", monkeypatch) as (_, maker), LocalServer(elsewhere) as other:
        moved = Response(status=302, body=b"", headers={"Location": f"{other.url}/real.mp4"})
        with LocalServer(lambda _: moved) as first:
            here = replace(maker, client=replace(maker.client, base_url=first.url))
            here.download("x", JobState(status="done", clip=f"{first.url}/clip.mp4"), tmp_path / "clip.mp4")
    assert KEY not in str(seen[0].headers)


BAD = {
    "replicate/veo": "write replicate/OWNER/NAME",
    "replicate/../x": "no model's name",
    "openrouter/": "no model's name",
    "google/gemini-3": "only Veo films",
    "google/veo-3.1 -G duration_s=7": "7 is not one of 4, 5, 6, 8",
    "google/veo-3.1 -G durations=4": "no setting called 'durations'. Did you mean 'duration_s'",
    "runway/gen4.5 -G duration_s=99": "out of range",
    "openrouter/google/veo-3.1 -G duration=long": "duration: expected",
    "fal/a?b": "no model's name",
    "fal/a/b -G in_flight=0": "in_flight: 0",
}


@pytest.mark.parametrize("words", BAD)
def test_wrong_names_and_settings_are_one_sentence(words: str) -> None:
    """Refused before any question is asked."""
    from worldodds.registry import parse_settings

    name, _, setting = words.partition(" -G ")
    with pytest.raises(InputError, match="(?s)" + BAD[words].replace(".", r"\.").replace("(", r"\(")):
        make_generator(name, parse_settings([setting] if setting else []))


def test_calibench_presets_are_the_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds and resolution of the main run (arXiv 2608.16829), which a setting overrides."""
    wanted = {
        "wan-video/wan-2.7-i2v": (3, "720p", "first_frame"),
        "bytedance/seedance-2.0": (4, "480p", "image"),
        "alibaba/happyhorse-1.0": (3, "720p", "image"),
        "google/veo-3.1": (4, "720p", "image"),
        "runwayml/gen-4.5": (5, None, "image"),
    }
    for model, (seconds, resolution, frame) in wanted.items():
        settings = make_generator(f"replicate/{model}").settings
        assert (settings["duration"], settings.get("resolution"), settings["frame_field"]) == (
            seconds,
            resolution,
            frame,
        )
    assert make_generator("replicate/google/veo-3.1", {"duration": 8}).settings["duration"] == 8


def test_a_misspelt_input_is_refused_by_the_models_own_schema(tiny: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is bought."""
    with documented("replicate", monkeypatch) as (_, maker):
        maker.check(tiny.scenes)
        with pytest.raises(InputError, match=r"no input called 'durations'\. Did you mean 'duration'"):
            replace(maker, inputs={"durations": 4}).check(tiny.scenes)


def test_a_frame_or_prompt_that_does_not_fit_is_refused(tiny: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its size and the limit, before anything is asked."""
    with documented("runway", monkeypatch) as (server, maker):
        long = replace(tiny.scenes[0], prompt="x" * 1001)
        with pytest.raises(InputError, match="has 1001 characters; it takes 1000 at most"):
            maker.check([long])
        small = replace(maker, frame_bytes_most=100)
        with pytest.raises(InputError, match=r"the frame of scene '\w+' has .* MB; it takes 0\.0001 MB"):
            small.check(tiny.scenes)
        assert server.asked == []
