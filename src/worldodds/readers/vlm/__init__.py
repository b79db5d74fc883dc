"""Vision-language models as readers: ``vlm/MODEL``, ``gemini/MODEL``, ``anthropic/MODEL``; ``trust/`` before each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from worldodds.errors import InputError, UnknownNameError, nearest
from worldodds.evidence import EvidenceStore
from worldodds.http_client import Client
from worldodds.readers.vlm import anthropic as messages
from worldodds.readers.vlm.gate import Gate
from worldodds.readers.vlm.gemini import GenerateContent
from worldodds.readers.vlm.judge import Judge, Knobs, TrustJudge
from worldodds.readers.vlm.openai import ChatCompletions, moderated
from worldodds.readers.vlm.said import Dialect
from worldodds.typed_settings import typed, within

OPENROUTER = "https://openrouter.ai/api/v1"
GEMINI = "https://generativelanguage.googleapis.com/v1beta"
ANTHROPIC = "https://api.anthropic.com/v1"
KEYS = {  # host -> the environment variable that its own papers name for the key
    "openrouter.ai": "OPENROUTER_API_KEY",
    "api.openai.com": "OPENAI_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
}
_GATES: WeakValueDictionary[tuple[str, int, float], Gate] = WeakValueDictionary()
_EVIDENCE = EvidenceStore()  # one a process: judges that read a clip at the same time wait for one decoding
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """How an endpoint is reached: changes no answer, and is no part of any key.

    ``api_key_env`` names the environment variable with the key; ``none`` for an endpoint without. ``input_usd`` and
    ``output_usd`` are prices of a million tokens. ``patience`` scales the waits after faults.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    in_flight: int = 16
    timeout_s: float = 120.0
    input_usd: float | None = None
    output_usd: float | None = None
    patience: float = 1.0


def vlm(model: str = "", **settings: Any) -> Judge:
    """Return a judge behind any OpenAI-compatible endpoint; OpenRouter by default."""
    part = f"vlm/{model}"
    knobs, line = _split(part, settings)
    _no_video(part, knobs)
    client = replace(_client(part, line, OPENROUTER), refused=moderated)
    limit = "max_completion_tokens" if urlsplit(client.base_url).hostname == "api.openai.com" else "max_tokens"
    return _judge(part, model, ChatCompletions(client=client, limit=limit), knobs, line, client.base_url)


def gemini(model: str = "", **settings: Any) -> Judge:
    """Return a judge behind the Gemini API."""
    part = f"gemini/{model}"
    knobs, line = _split(part, settings)
    within(part, "video_fps", knobs.video_fps, 0.1, 24)
    client = _client(part, line, GEMINI)
    client = replace(client, authorize=_header("x-goog-api-key"))
    return _judge(part, model, GenerateContent(client=client), knobs, line, client.base_url)


def anthropic(model: str = "", **settings: Any) -> Judge:
    """Return a judge behind Anthropic's Messages API."""
    part = f"anthropic/{model}"
    knobs, line = _split(part, settings)
    _no_video(part, knobs)
    client = _client(part, line, ANTHROPIC)
    headers = {"anthropic-version": messages.VERSION}
    client = replace(client, authorize=_header("x-api-key"), headers=headers)
    return _judge(part, model, messages.Messages(client=client), knobs, line, client.base_url)


def trust(rest: str = "", **settings: Any) -> Judge:
    """Return the judge of that name, asked whether a clip is to be trusted instead of how it ended."""
    kind, _, model = rest.partition("/")
    kinds = {"vlm": vlm, "gemini": gemini, "anthropic": anthropic}
    if kind not in kinds:
        raise UnknownNameError(f"trust/{rest}: write trust/ and a judge's name.{nearest(kind, kinds)}")
    judge = kinds[kind](model, **settings)
    kept: dict[str, Any] = {field.name: getattr(judge, field.name) for field in fields(judge)}
    kept |= {"name": f"trust/{judge.name}", "axis": "trust"}
    return TrustJudge(**kept)


def _split(part: str, settings: Mapping[str, Any]) -> tuple[Knobs, Line]:
    """Part what changes an answer from how the endpoint is reached, and check both."""
    known = [field.name for shape in (Knobs, Line) for field in fields(shape)]
    if unknown := [name for name in settings if name not in known]:
        hint = "; a key is never a setting: put it into an environment variable" if "key" in unknown[0] else ""
        raise UnknownNameError(f"{part} has no setting called {unknown[0]!r}{hint}.{nearest(unknown[0], known)}")
    line_names = [field.name for field in fields(Line)]
    texts = {name: str(value) if name == "frames" else value for name, value in settings.items()}
    knobs = typed(Knobs, {name: value for name, value in texts.items() if name not in line_names}, part=part)
    line = typed(Line, {name: value for name, value in texts.items() if name in line_names}, part=part)
    within(part, "votes", knobs.votes, 1, 99)
    within(part, "temperature", knobs.temperature, 0, 2)
    within(part, "max_tokens", knobs.max_tokens, 16, 100_000)
    within(part, "seed", knobs.seed, 0, 2**63 - 1)
    within(part, "in_flight", line.in_flight, 1, 1000)
    within(part, "timeout_s", line.timeout_s, 0.1, 3600)
    within(part, "patience", line.patience, 0, 100)
    return knobs, line


def _client(part: str, line: Line, base_url: str) -> Client:
    base_url = (line.base_url or base_url).rstrip("/")
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise InputError(f"{part}: base_url: give http(s)://HOST/PATH, without a key, a password or a query in it")
    key = line.api_key_env or KEYS.get(parts.hostname)
    if key is None and parts.hostname not in _LOCAL:
        raise InputError(f"{part}: which key? name its environment variable: -R api_key_env=NAME, or none for no key")
    key = None if key is None or key.lower() == "none" else key
    return Client(provider=part, base_url=base_url, key_variable=key, timeout_s=line.timeout_s)


def _judge(part: str, model: str, dialect: Dialect, knobs: Knobs, line: Line, place: str) -> Judge:
    if not model or model != model.strip() or set(model) & set("?#\\ ") or ".." in model:
        raise InputError(f"{part}: no model's name; write {part.partition('/')[0]}/MODEL")
    prices = None if line.input_usd is None or line.output_usd is None else (line.input_usd, line.output_usd)
    return Judge(
        name=part,
        model=model,
        dialect=dialect,
        gate=_gate(place, line),
        knobs=knobs,
        place=place,
        prices=prices,
        evidence=_EVIDENCE,
    )


def _gate(place: str, line: Line) -> Gate:
    """Return the gate of an endpoint: one for all judges behind it, so that together they ask no more at once."""
    name = (place, line.in_flight, line.patience)
    return _GATES.get(name) or _GATES.setdefault(name, Gate(line.in_flight, patience=line.patience))


def _header(name: str) -> Callable[[str], Mapping[str, str]]:
    return lambda key: {name: key}


def _no_video(part: str, knobs: Knobs) -> None:
    if knobs.video_fps is not None:
        raise InputError(f"{part}: video_fps is for gemini/MODEL only: this endpoint takes pictures, which we decode")
