"""Judges over HTTP: three protocols, every fault, and what is kept of each answer."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldodds import video
from worldodds.engine import plan, read_clips, run
from worldodds.errors import InputError, UnknownNameError, VideoError
from worldodds.fake_judge import FakeJudge, Step, pictures_of
from worldodds.readers.vlm.gate import Gate
from worldodds.readers.vlm.judge import Judge
from worldodds.registry import make_reader
from worldodds.rollout import Clip
from worldodds.scene import Scene, Suite
from worldodds.sources import load
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator, check_reader

KINDS = ("vlm", "gemini", "anthropic")
SECRET = "sk-do-not-write-me-down"  # noqa: S105 - a key for tests
DIE = ("1", "2", "3", "4", "5", "6")
GOOD = {"seen": "x", "answer": "2", "null_rule": "none"}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeJudge]:
    monkeypatch.setenv("TEST_JUDGE_KEY", SECRET)
    with FakeJudge(labels=DIE) as judge:
        yield judge


def _judge(kind: str, fake: FakeJudge, **settings: Any) -> Judge:
    given = {"base_url": fake.url, "api_key_env": "TEST_JUDGE_KEY", "patience": 0.01, **settings}
    reader = make_reader(f"{kind}/some-model", given)
    assert isinstance(reader, Judge)
    return reader


def test_a_judge_reads_what_the_picture_shows(kind: str, fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """Through every protocol the clip's own last frame reaches the judge, and its answer comes back."""
    reading = check_reader(_judge(kind, fake), clip, die)
    assert (reading.status, reading.label) == ("outcome", "2")
    (request,) = fake.requests
    (picture,) = pictures_of(request["body"])
    assert picture in [path.read_bytes() for path in clip.path.parent.glob("evidence/*/*.jpg")]


def test_the_documented_request_is_sent(kind: str, fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """Path, key header, model, temperature, limit and schema stand where each protocol documents them."""
    _judge(kind, fake, temperature=0.5, max_tokens=99).read(clip, die, vote=0)
    path, headers, body = (fake.requests[0][name] for name in ("path", "headers", "body"))
    if kind == "vlm":
        assert path.endswith("/v1/chat/completions")
        assert headers["authorization"] == f"Bearer {SECRET}"
        schema = body["response_format"]["json_schema"]
        assert (body["model"], body["temperature"], body["max_tokens"]) == ("some-model", 0.5, 99)
        assert (body["response_format"]["type"], schema["strict"]) == ("json_schema", True)
        enum = schema["schema"]["properties"]["answer"]["enum"]
    elif kind == "gemini":
        assert path.endswith("/v1/models/some-model:generateContent")
        assert headers["x-goog-api-key"] == SECRET
        config = body["generationConfig"]
        assert (config["temperature"], config["maxOutputTokens"]) == (0.5, 99)
        assert config["responseMimeType"] == "application/json"
        enum = config["responseSchema"]["properties"]["answer"]["enum"]
    else:
        assert path.endswith("/v1/messages")
        assert (headers["x-api-key"], headers["anthropic-version"]) == (SECRET, "2023-06-01")
        assert (body["model"], body["temperature"], body["max_tokens"]) == ("some-model", 0.5, 99)
        assert body["tool_choice"] == {"type": "tool", "name": "reading"}
        enum = body["tools"][0]["input_schema"]["properties"]["answer"]["enum"]
    assert set(enum) == {*DIE, "unreadable", "out_of_schema"}


def test_everything_of_an_answer_is_kept(kind: str, fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """Raw reply, served version, tokens, cost, order of labels, evidence and who decoded stand in the reading."""
    reading = _judge(kind, fake, input_usd=2.0, output_usd=10.0).read(clip, die, vote=3)
    raw = json.loads(reading.raw or "")
    (reply,) = raw["replies"]
    assert reply["model"] == "fake-judge-2026-01"
    assert (reply["input_tokens"], reply["output_tokens"]) == (100, 15)
    assert reply["cost_usd"] == pytest.approx(0.0005 if kind == "vlm" else (100 * 2 + 15 * 10) / 1e6)
    assert json.loads(reply["text"])["answer"] == "2"
    assert (raw["vote"], sorted(raw["order"]), raw["decoded_by"]) == (3, sorted(DIE), "worldodds")
    assert (clip.path.parent / "evidence" / raw["evidence"]).is_dir()


BUSY = [Step(status=429, retry_after="0"), Step(status=503), Step(status=500), Step(status=529), Step(cut=True)]


@pytest.mark.parametrize("step", BUSY, ids=lambda step: f"{step.status}{'-cut' if step.cut else ''}")
def test_a_busy_endpoint_is_asked_again(kind: str, fake: FakeJudge, clip: Clip, die: Scene, step: Step) -> None:
    """Too many, a fault of the server, or a stream that is cut: the same question again, and its answer counts."""
    fake.script = [step, step]
    assert _judge(kind, fake).read(clip, die, vote=0).label == "2"
    assert fake.served == 3


def test_an_endpoint_that_stays_busy_fails_the_reading(fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """After six attempts the reading is failed, with what the endpoint said; it is no null."""
    fake.answer = lambda _: Step(status=503)
    reading = _judge("vlm", fake).read(clip, die, vote=0)
    assert (reading.status, fake.served) == ("failed", 6)
    assert "HTTP 503" in (reading.reason or "")


def test_a_slow_endpoint_is_left_and_asked_again(fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """An answer that does not come in time is given up, and asked for again."""
    fake.script = [Step(delay_s=1.0)]
    assert _judge("vlm", fake, timeout_s=0.3).read(clip, die, vote=0).label == "2"


BAD = {
    "empty body": Step(body=""),
    "empty text": Step(text=""),
    "truncated": Step(text='{"seen": "a 2", "answer": "2', ran_out=True),
    "wrong enum": Step(text=json.dumps({**GOOD, "answer": "7"})),
    "two labels": Step(text="2 or 3"),
    "null rule with a label": Step(text=json.dumps({**GOOD, "null_rule": "blank"})),
    "no choices": Step(body="{}"),
}


@pytest.mark.parametrize("step", BAD.values(), ids=BAD.keys())
def test_a_malformed_reply_is_asked_again(kind: str, fake: FakeJudge, clip: Clip, die: Scene, step: Step) -> None:
    """One bad reply costs one more question; both replies are kept."""
    fake.script = [step]
    reading = _judge(kind, fake).read(clip, die, vote=0)
    assert reading.label == "2"
    assert len(json.loads(reading.raw or "")["replies"]) == 2


@pytest.mark.parametrize("step", BAD.values(), ids=BAD.keys())
def test_a_judge_that_stays_malformed_fails(kind: str, fake: FakeJudge, clip: Clip, die: Scene, step: Step) -> None:
    """Two bad replies are a failed reading: never a null, never a guess."""
    fake.answer = lambda _: step
    reading = _judge(kind, fake).read(clip, die, vote=0)
    assert (reading.status, reading.label) == ("failed", None)
    assert "malformed reply, asked 2 times" in (reading.reason or "")


def test_prose_around_json_is_no_fault(kind: str, fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """An object in a fence, with chatter about it, is read."""
    fake.script = [Step(text=f"Let me look... 1, 2?\n```json\n{json.dumps(GOOD)}\n```\nDone.")]
    assert _judge(kind, fake).read(clip, die, vote=0).label == "2"
    assert fake.served == 1


def test_a_refusal_is_the_judges_failure(kind: str, fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """A judge that refuses is failed with its reason, at once: the model that made the clip has no null of it."""
    fake.script = [Step(refused=True, text="")]
    reading = _judge(kind, fake).read(clip, die, vote=0)
    assert (reading.status, fake.served) == ("failed", 1)
    assert "the judge refused" in (reading.reason or "")


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_model_stops_at_once(kind: str, fake: FakeJudge, clip: Clip, die: Scene, status: int) -> None:
    """What every question would be answered by stops the reading, with the endpoint's words and without the key."""
    fake.answer = lambda _: Step(status=status, body=json.dumps({"error": {"message": f"no, {SECRET}"}}))
    with pytest.raises(InputError, match="answers no question") as told:
        _judge(kind, fake).read(clip, die, vote=0)
    assert SECRET not in str(told.value)


def test_an_endpoint_without_json_mode_is_asked_in_words(kind: str, fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """An endpoint that refuses the schema is asked without, from then on; plain words are then read strictly."""

    def no_schema(body: Any) -> Step:
        bound = "response_format" in body or "tools" in body or "responseSchema" in body.get("generationConfig", {})
        return (
            Step(status=400, body='{"error": {"message": "no such parameter"}}') if bound else Step(text="It shows 2.")
        )

    fake.answer = no_schema
    judge = _judge(kind, fake)
    assert [judge.read(clip, die, vote=vote).label for vote in range(3)] == ["2", "2", "2"]
    assert fake.served == 4


def test_an_endpoint_without_images_is_told(kind: str, fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """An endpoint that takes no pictures fails each reading with its own sentence."""
    fake.answer = lambda _: Step(status=400, body='{"error": {"message": "this model does not support images"}}')
    reading = _judge(kind, fake).read(clip, die, vote=0)
    assert reading.status == "failed"
    assert "does not support images" in (reading.reason or "")


STREAM = 'data: {"choices": [{"delta": {"content": "2"}}]}\n\n'


def test_a_stream_nobody_asked_for_is_no_answer(kind: str, fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """Events instead of one answer, whole or cut off, are asked again and never pieced together."""
    fake.script = [Step(body=STREAM, cut=True), Step(body=STREAM)]
    assert _judge(kind, fake).read(clip, die, vote=0).label == "2"
    fake.answer = lambda _: Step(body=STREAM)
    reading = _judge(kind, fake).read(clip, die, vote=0)
    assert (reading.status, reading.label) == ("failed", None)
    assert "the answer is not JSON" in (reading.reason or "")


def test_an_error_in_a_good_answer_is_an_error(fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """A router's status 200 with an error inside is busy, or failed, as its code says."""
    busy = Step(body='{"error": {"code": 429, "message": "slow down"}}')
    fake.script = [busy]
    assert _judge("vlm", fake).read(clip, die, vote=0).label == "2"
    fake.answer = lambda _: Step(body='{"error": {"code": 400, "message": "bad picture"}}')
    assert "bad picture" in (_judge("vlm", fake).read(clip, die, vote=0).reason or "")


def test_a_broken_clip_asks_nobody(kind: str, fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """A truncated file is an error of the clip before any question is sent."""
    clip.path.write_bytes(clip.path.read_bytes()[:-200])
    with pytest.raises(VideoError):
        _judge(kind, fake).read(clip, die, vote=0)
    assert fake.served == 0


def test_gemini_may_decode_the_clip_itself(fake: FakeJudge, clip: Clip, die: Scene) -> None:
    """The whole clip goes out with its rate of frames, and the reading says who decoded it."""
    fake.answer = lambda _: Step(text=json.dumps(GOOD))
    reading = _judge("gemini", fake, video_fps=8.0).read(clip, die, vote=0)
    parts = fake.requests[0]["body"]["contents"][0]["parts"]
    assert parts[1]["videoMetadata"] == {"fps": 8.0}
    assert parts[1]["inlineData"]["mimeType"] == "video/mp4"
    assert pictures_of(fake.requests[0]["body"]) == [clip.path.read_bytes()]
    assert json.loads(reading.raw or "")["decoded_by"] == "provider"
    with pytest.raises(InputError, match="gemini/MODEL only"):
        _judge("vlm", fake, video_fps=8.0)


def test_judges_are_blind(kind: str, fake: FakeJudge, tiny: Suite, tmp_path: Path) -> None:
    """Nothing that is sent names the model that filmed, a file, a folder, an index or the odds."""
    with RunStore(tmp_path / "secret-run") as store:
        maker = CannedGenerator(name="canned/very-secret-model")
        run(plan(tiny, maker, [_judge(kind, fake)], 3), store, workers=1)
    for request in fake.requests:
        sent = json.dumps({**request, "headers": {}})
        for word in ("secret", "canned", "r00", ".mp4", str(tmp_path), "like sides", "0.5", "1/6"):
            assert word not in sent


def test_keys_are_never_written(kind: str, fake: FakeJudge, tiny: Suite, tmp_path: Path) -> None:
    """After a run with faults that echo the key no file of it holds the key."""
    fake.script = [Step(status=400, body=json.dumps({"error": {"message": f"key {SECRET} is odd"}}))] * 2
    fake.script.append(Step(text=json.dumps({**GOOD, "seen": f"I was given {SECRET}"})))
    with RunStore(tmp_path / "run") as store:
        run(plan(tiny, CannedGenerator(), [_judge(kind, fake)], 3), store, workers=1)
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert len(files) > 10
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert all(SECRET in json.dumps(request["headers"]) for request in fake.requests)


def test_a_run_is_read_and_resumed(kind: str, fake: FakeJudge, tiny: Suite, tmp_path: Path) -> None:
    """A judge's run scores like the truth; what failed is asked again, and what is there is not."""
    coin = tiny.only(["die"])
    fake.script = [Step(refused=True, text="")] * 2
    with RunStore(tmp_path / "run") as store:
        first = run(plan(coin, CannedGenerator(), [_judge(kind, fake)], 6), store, workers=1)
        assert (first.read, len(first.open)) == (6, 2)
        second = read_clips(store, _judge(kind, fake))
        assert (second.read, second.open) == (2, ())
        assert read_clips(store, _judge(kind, fake)).read == 0
    counts = load(tmp_path / "run").tallies()["canned/even"]["die"].counts
    assert counts.counts == (1, 1, 1, 1, 1, 1)


def _voting(by_vote: Callable[[int, int], str]) -> Callable[[Any], Step]:
    """Answer by how often the picture was asked about."""
    times: Counter[bytes] = Counter()
    lock = threading.Lock()

    def answer(body: Any) -> Step:
        picture = pictures_of(body)[-1]
        with lock:
            times[picture] += 1
            return Step(text=json.dumps({**GOOD, "answer": by_vote(len(times), times[picture])}))

    return answer


def test_votes_are_asked_only_while_they_matter(fake: FakeJudge, tiny: Suite, tmp_path: Path) -> None:
    """Of three votes the third is asked where the first two differ, and only there."""
    fake.answer = _voting(lambda clip, time: "2" if clip % 2 or time != 2 else "3")
    with RunStore(tmp_path / "run") as store:
        judge = _judge("vlm", fake, votes=3)
        summary = run(plan(tiny.only(["die"]), CannedGenerator(), [judge], 6), store, workers=1)
        assert summary.open == ()
        assert (summary.read, fake.served) == (15, 15)  # six clips twice, three of them a third time
        more = read_clips(store, _judge("vlm", fake, votes=5))
        assert more.read > 0  # more votes later add to those there are
        votes = Counter(stored.rollout_key for stored in store.readings().values())
        assert max(votes.values()) <= 5
    counts = load(tmp_path / "run").tallies()["canned/even"]["die"].counts
    assert counts.n == 6


def test_concurrency_adapts(fake: FakeJudge, tiny: Suite, tmp_path: Path) -> None:
    """As many questions are out as the judge may have at once; a "too many" halves them."""
    fake.latency_s = 0.05
    with RunStore(tmp_path / "run") as store:
        judge = _judge("vlm", fake, in_flight=8)
        run(plan(tiny, CannedGenerator(), [judge], 12), store)
        assert 4 < fake.most_at_once <= 8
    gate = Gate(8, patience=0.0)
    gate.pushed_back(1, None)
    assert gate.limit == 4
    for _ in range(40):
        gate.answered()
    assert gate.limit == 8


def test_trust_stands_beside_and_never_in_a_score(fake: FakeJudge, tiny: Suite, tmp_path: Path) -> None:
    """An audit of trust is a reading of its own: scores and openness of the outcome are the same without it."""
    with RunStore(tmp_path / "run") as store:
        run(plan(tiny, CannedGenerator(), [_judge("vlm", fake)], 3), store, workers=1)
    before = load(tmp_path / "run").tallies()
    checks = dict.fromkeys(("scene_grounding", "action_execution", "object_continuity", "physical_process"), "pass")
    fake.script = [Step(refused=True, text="")]
    fake.answer = lambda _: Step(text=json.dumps({"seen": "x", **checks, "status": "trusted"}))
    settings = {"base_url": fake.url, "api_key_env": "TEST_JUDGE_KEY"}
    with RunStore(tmp_path / "run") as store:
        summary = read_clips(store, make_reader("trust/vlm/some-model", settings), workers=1)
        assert len(summary.open) == 1
    source = load(tmp_path / "run")
    assert source.reader == "vlm/some-model"
    assert source.tallies() == before
    first = pictures_of(fake.requests[-1]["body"])[0]
    assert first in [scene.frame.read_bytes() for scene in tiny.scenes if scene.frame]


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("vlm/m", {"base_url": "https://example.org/v1"}, "api_key_env=NAME"),
        ("vlm/m", {"base_url": "https://user:pass@example.org/v1"}, "without a key"),
        ("vlm/m", {"api_key": "sk-1"}, "a key is never a setting"),
        ("vlm/m", {"vote": 3}, "Did you mean 'votes'"),
        ("vlm/m", {"votes": 0}, "between 1 and 99"),
        ("vlm/", {}, "no model's name"),
        ("gemini/m", {"video_fps": 99.0}, "between 0.1 and 24"),
        ("trust/vllm/m", {}, "Did you mean 'vlm'"),
    ],
)
def test_wrong_settings_are_told(name: str, settings: dict[str, Any], told: str) -> None:
    """What cannot be meant is refused with what would be right."""
    with pytest.raises((InputError, UnknownNameError), match=told):
        make_reader(name, settings)


def test_a_missing_key_is_told(monkeypatch: pytest.MonkeyPatch, clip: Clip, die: Scene) -> None:
    """Without the key's variable the reading stops before anything is sent, naming it."""
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    with pytest.raises(InputError, match="OPENROUTER_API_KEY"):
        make_reader("vlm/some-model").read(clip, die, vote=0)


def test_frames_of_a_whole_clip_come_in_order(fake: FakeJudge, tmp_path: Path, die: Scene) -> None:
    """A sampling of several frames is sent in the order of time, the last one last."""
    path = tmp_path / "long.mp4"
    video.encode([np.full((64, 64, 3), 20 + 5 * i, dtype=np.uint8) for i in range(12)], path, frame_rate=24)
    _judge("vlm", fake, frames=4).read(video.probe(path), die, vote=0)
    import cv2

    pictures = pictures_of(fake.requests[0]["body"])
    shades = [float(cv2.imdecode(np.frombuffer(p, np.uint8), 1).mean()) for p in pictures]
    assert len(shades) == 4
    assert shades == sorted(shades)
