"""A vision-language model as a reader: evidence, a blind question, a reply that is checked, and all of it on record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec

from worldodds.errors import (
    AccountError,
    GoneError,
    InputError,
    OutOfRangeError,
    ProviderError,
    RefusedError,
    TransientError,
)
from worldodds.evidence import Evidence, EvidenceStore, Sampling
from worldodds.readers.vlm.gate import Gate
from worldodds.readers.vlm.question import WORDING, Question, outcome_question
from worldodds.readers.vlm.reply import MalformedReplyError, outcome_reading
from worldodds.readers.vlm.said import Asked, Dialect, Said
from worldodds.readers.vlm.trust import STATUSES, trust_question, trust_reading
from worldodds.rollout import Clip, Reading, Settings
from worldodds.scene import Scene

Axis = Literal["outcome", "trust"]
ATTEMPTS = 6  # at an endpoint that is busy or out of reach
REPLIES = 2  # a malformed reply is asked again once
_MOST_VIDEO_BYTES = 14_000_000  # base64 adds a third, and an inline request may have 20 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """What changes an answer: recorded with every reading, and part of its key (``votes`` only of how many there are).

    ``seed`` orders the labels, another way at every vote. ``video_fps`` hands the whole clip to a provider that
    decodes it itself (gemini only), at that many frames a second.
    """

    votes: int = 1
    temperature: float = 0.0
    send_temperature: bool = True
    max_tokens: int = 2048
    frames: str = "scene"
    long_side: int = 768
    quality: int = 90
    seed: int = 0
    video_fps: float | None = None


@dataclass(frozen=True, kw_only=True)
class Judge:
    """One model at one endpoint, reading one axis. ``place`` is the endpoint's address, part of every key.

    ``prices`` are USD for a million tokens in and out, where the endpoint does not tell a cost.
    """

    name: str
    model: str
    dialect: Dialect
    gate: Gate
    knobs: Knobs
    axis: Axis = "outcome"
    place: str | None = None
    prices: tuple[float, float] | None = None
    evidence: EvidenceStore = field(default_factory=EvidenceStore)
    cpu_bound: bool = False
    _plain: set[str] = field(default_factory=set[str])

    @property
    def settings(self) -> Settings:
        """Every knob that changes an answer, the wording of the question and the endpoint."""
        knobs = msgspec.to_builtins(self.knobs)
        return {**knobs, "base_url": self.place, "wording": WORDING}

    @property
    def in_flight(self) -> int:
        """How many questions are out at once."""
        return self.gate.in_flight

    def read(self, clip: Clip, scene: Scene, *, vote: int) -> Reading:
        """Read one clip once.

        Raises:
            VideoError: the clip is broken.
            AccountError, InputError: the endpoint refuses every question (a wrong key, an unknown model).
        """
        sampling = Sampling(frames=self.knobs.frames, long_side=self.knobs.long_side, quality=self.knobs.quality)
        if self.axis == "trust" and sampling.frames == "scene":
            sampling = replace(sampling, frames="2fps")
        found = self.evidence.of(clip, sampling.of(scene))
        question, asked = self._prepared(clip, scene, found, vote)
        about: dict[str, Any] = {"evidence": found.key, "frames": [frame.sha256 for frame in found.frames]}
        about |= {"order": question.order, "vote": vote}
        about["decoded_by"] = "provider" if asked.video else "worldodds"
        try:
            return self._answered(asked, question, scene, about)
        except (AccountError, GoneError) as error:
            raise InputError(f"{self.name} answers no question: {error}") from None
        except RefusedError as error:
            return _failed(f"the judge refused: {error}", about)
        except ProviderError as error:
            return _failed(str(error), about)

    def _prepared(self, clip: Clip, scene: Scene, found: Evidence, vote: int) -> tuple[Question, Asked]:
        video = _whole_video(clip, self.knobs.video_fps) if self.knobs.video_fps else None
        pictures = () if video else found.pictures()
        if self.axis == "trust":
            source = _source(scene)
            question = trust_question(scene, found.frames, sourced=source is not None, video=video is not None)
            pictures = pictures if source is None else (source, *pictures)
        else:
            seed = self.knobs.seed
            question = outcome_question(scene, found.frames, seed=seed, vote=vote, video=video is not None)
        asked = Asked(
            model=self.model,
            text=question.text,
            pictures=pictures,
            schema=question.schema,
            temperature=self.knobs.temperature if self.knobs.send_temperature else None,
            max_tokens=self.knobs.max_tokens,
            video=video,
        )
        return question, asked

    def _answered(self, asked: Asked, question: Question, scene: Scene, about: dict[str, Any]) -> Reading:
        """Ask until a reply can be read, at most so often."""
        told = ""
        about["replies"] = replies = list[dict[str, Any]]()
        for _ in range(REPLIES):
            said, bound = self._said(asked)
            replies.append(self._record(said, bound))
            if said.refused:
                return _failed(f"the judge refused: {said.refused}", about)
            try:
                reading = self._reading(said, question, scene)
            except MalformedReplyError as error:
                told = f"the reply was cut off: {error}" if said.cut else str(error)
                continue
            return replace(reading, raw=_json(about))
        return _failed(f"malformed reply, asked {REPLIES} times: {told}", about)

    def _reading(self, said: Said, question: Question, scene: Scene) -> Reading:
        if self.axis == "trust":
            return trust_reading(said.text, question)
        return outcome_reading(said.text, question, scene)

    def _said(self, asked: Asked) -> tuple[Said, bool]:
        """Ask bound to the schema; an endpoint that will not be bound is asked without, from then on."""
        if self._plain:
            return self._patiently(replace(asked, schema=None)), False
        try:
            return self._patiently(asked), True
        except ProviderError as error:
            if type(error) is not ProviderError:
                raise
            try:
                said = self._patiently(replace(asked, schema=None))
            except ProviderError:
                raise error from None
            self._plain.add("no schema")
            return said, False

    def _patiently(self, asked: Asked) -> Said:
        """Ask again while the endpoint is busy or out of reach."""
        for failures in range(1, ATTEMPTS):
            try:
                with self.gate.passing():
                    said = self.dialect.ask(asked)
            except TransientError as error:
                self.gate.pushed_back(failures, error.retry_after_s)
                continue
            self.gate.answered()
            return said
        with self.gate.passing():
            return self.dialect.ask(asked)

    def _record(self, said: Said, bound: bool) -> dict[str, Any]:
        cost = said.cost_usd
        if cost is None and self.prices and said.input_tokens is not None and said.output_tokens is not None:
            cost = (said.input_tokens * self.prices[0] + said.output_tokens * self.prices[1]) / 1e6
        return {**msgspec.to_builtins(said), "cost_usd": cost, "schema": bound}


@dataclass(frozen=True, kw_only=True)
class TrustJudge(Judge):
    """The same, asked whether a clip is to be trusted: an axis of its own, which no score depends on."""

    axis: Axis = "trust"

    @property
    def labels(self) -> tuple[str, ...]:
        """Its answers."""
        return STATUSES


def _source(scene: Scene) -> bytes | None:
    """Return the scene's own picture as it is, where there is one."""
    return scene.frame.read_bytes() if scene.frame else None


def _whole_video(clip: Clip, fps: float) -> tuple[bytes, str, float]:
    data = clip.path.read_bytes()
    if len(data) > _MOST_VIDEO_BYTES:
        size = f"{len(data) / 1e6:.0f} MB"
        raise OutOfRangeError(f"the clip has {size}, more than fits into one request; read it by frames (no video_fps)")
    return data, "video/webm" if data.startswith(b"\x1aE\xdf\xa3") else "video/mp4", fps


def _failed(reason: str, about: Mapping[str, Any]) -> Reading:
    return Reading(status="failed", reason=reason, raw=_json(about))


def _json(about: Mapping[str, Any]) -> str:
    return msgspec.json.encode(about).decode()
