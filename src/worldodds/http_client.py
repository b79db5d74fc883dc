"""One question to a provider over HTTP, and its answer or the right error; keys are sent and never shown."""

from __future__ import annotations

import email.utils
import json
import os
import re
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import msgspec

from worldodds.errors import (
    AccountError,
    GoneError,
    InputError,
    ProviderError,
    RefusedError,
    TransientError,
    UncertainError,
)
from worldodds.extras import need

LONGEST_MESSAGE = 300
LARGEST_CLIP_BYTES = 2 * 1024**3
_MOST_REDIRECTS = 5
_REQUEST_IDS = ("x-request-id", "x-fal-request-id", "request-id", "cf-ray")
_SPENT = ("insufficient_quota", "enforced_spend_limit_reached")  # a "too many" that no waiting changes
_LOCAL = ("localhost", "127.0.0.1", "::1")


def never_refused(_: int, __: Any) -> bool:
    """Tell no answer for a moderation's."""
    return False


@dataclass(frozen=True, slots=True)
class Reply:
    """A provider's answer: its JSON and the id by which its support finds the request."""

    body: Any
    request_id: str | None = None

    def text(self, *path: str | int) -> str | None:
        """Return the text at a place of the answer, None where there is none."""
        value = self.at(*path)
        return value if isinstance(value, str) and value else None

    def needed(self, *path: str | int) -> str:
        """Return the text at a place that the answer to an order must have.

        Raises:
            UncertainError: it is not there, though the order was accepted.
        """
        if found := self.text(*path):
            return found
        place = ".".join(map(str, path))
        raise UncertainError(f"the answer to the order has no {place!r}", request_id=self.request_id)

    def number(self, *path: str | int) -> float | None:
        """Return the number at a place of the answer, None where there is none."""
        value = self.at(*path)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def at(self, *path: str | int) -> Any:
        """Return what stands at a place of the answer, None where there is no such place."""
        value = self.body
        for step in path:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                return None
        return value


@dataclass(frozen=True, kw_only=True)
class Client:
    """Talks to one provider.

    ``key_variable`` is the environment variable that holds the key (None: no key), ``authorize`` makes the headers of
    it, ``refused`` tells a moderation's "no" from other errors by HTTP status and body.
    """

    provider: str
    base_url: str
    key_variable: str | None = None
    authorize: Callable[[str], Mapping[str, str]] = field(default=lambda key: {"Authorization": f"Bearer {key}"})
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    refused: Callable[[int, Any], bool] = never_refused
    timeout_s: float = 60.0

    @property
    def key(self) -> str | None:
        """The key, from the environment.

        Raises:
            InputError: the variable is not set.
        """
        if self.key_variable is None:
            return None
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            raise InputError(f"{self.provider}: no key; set the environment variable {self.key_variable}")
        return key

    def ask(self, method: str, path: str, *, body: Any = None, submitting: bool = False) -> Reply:
        """Send one request and return its JSON.

        ``submitting`` says that the request buys something: then an answer that is lost raises UncertainError.

        Raises:
            ProviderError: the kind that fits; see `worldodds.errors`.
        """
        url = self._url(path)
        headers = self._headers(url) | ({} if body is None else {"Content-Type": "application/json"})
        # pictures make bodies of a megabyte, which the standard library's encoder would go through in Python's time
        content = None if body is None else msgspec.json.encode(body)
        try:
            response = self._http.request(method, url, content=content, headers=headers)
        except _never_sent() as error:
            raise TransientError(self._say(f"cannot be reached ({type(error).__name__})")) from None
        except need("httpx", "run").HTTPError as error:
            lost = UncertainError if submitting else TransientError
            raise lost(self._say(f"the answer was lost ({type(error).__name__})")) from None
        return self._sorted(response, submitting)

    def upload(self, path: str, name: str, data: bytes, kind: str) -> Reply:
        """Send a file as a form's field ``content`` and return the answer.

        Raises:
            ProviderError: the kind that fits.
        """
        url = self._url(path)
        try:
            response = self._http.post(url, files={"content": (name, data, kind)}, headers=self._headers(url))
        except need("httpx", "run").HTTPError as error:
            raise TransientError(self._say(f"the upload broke off ({type(error).__name__})")) from None
        return self._sorted(response, submitting=False)

    def fetch(self, url: str, into: Path) -> None:
        """Download a clip; the key goes to the provider's own host only, also through redirects.

        Raises:
            ProviderError: a wrong status, a body that is cut off, empty or not a video.
        """
        url = self._url(url)
        try:
            for _ in range(_MOST_REDIRECTS):
                with self._http.stream("GET", url, headers=self._headers(url)) as response:
                    if response.is_redirect:
                        url = self._url(urljoin(url, response.headers.get("location", "")))
                        continue
                    self._check_status(response)
                    self._save(response, into)
                    return
        except need("httpx", "run").HTTPError as error:
            raise TransientError(self._say(f"the download broke off ({type(error).__name__})")) from None
        raise ProviderError(self._say("the clip's address leads from one to the next without end"))

    # -- inside ----------------------------------------------------------------------------------------------------

    @cached_property
    def _http(self) -> Any:
        httpx = need("httpx", "run")
        limits = httpx.Limits(max_connections=200, max_keepalive_connections=64)
        http = httpx.Client(timeout=httpx.Timeout(self.timeout_s, connect=20.0), limits=limits)
        weakref.finalize(self, http.close)
        return http

    def _url(self, path: str) -> str:
        url = path if "://" in path else f"{self.base_url.rstrip('/')}/{path.lstrip('/')}"
        parts = urlsplit(url)
        plain = parts.scheme == "http" and (parts.hostname in _LOCAL or _host(url) == _host(self.base_url))
        if parts.scheme != "https" and not plain:
            raise ProviderError(self._say(f"gave an address that is not https: {parts.scheme}://{parts.hostname}"))
        return url

    def _headers(self, url: str) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity"}
        if _host(url) == _host(self.base_url):
            headers |= self.headers
            if self.key:
                headers |= self.authorize(self.key)
        return headers

    def _sorted(self, response: Any, submitting: bool) -> Reply:
        """Return the JSON of a good answer; raise the error that a bad one means."""
        try:
            # no answer may carry the key on into a message: a provider that echoes it is not repeated
            body = json.loads(self._without_key(response.text)) if response.content else None
        except (json.JSONDecodeError, UnicodeDecodeError):
            body = None
            if response.is_success:
                lost = UncertainError if submitting else TransientError
                raise lost(self._say("the answer is not JSON"), request_id=_request_id(response)) from None
        if response.is_success:
            return Reply(body, _request_id(response))
        raise self._error(response, body, submitting)

    def _error(self, response: Any, body: Any, submitting: bool) -> ProviderError:
        status, request_id = response.status_code, _request_id(response)
        told = self._say(f"HTTP {status}: {_told(body) or response.text}")
        if self.refused(status, body):
            return RefusedError(told, request_id=request_id)
        if status in (401, 402, 403) or (status == 429 and any(word in response.text for word in _SPENT)):
            return AccountError(told, request_id=request_id)
        if status in (429, 503) or (status in (408, 425) and not submitting):
            return TransientError(told, request_id=request_id, retry_after_s=_retry_after_s(response))
        if status >= 500 or status == 408:
            lost = UncertainError if submitting else TransientError
            return lost(told, request_id=request_id, retry_after_s=_retry_after_s(response))
        if status in (404, 410):  # no such job; of an order: no such model, and every other order would hear the same
            return (AccountError if submitting else GoneError)(told, request_id=request_id)
        return ProviderError(told, request_id=request_id)

    def _check_status(self, response: Any) -> None:
        if response.status_code != 200:
            response.read()
            raise self._error(response, None, submitting=False)

    def _save(self, response: Any, into: Path) -> None:
        declared, got = response.headers.get("content-length"), 0
        with into.open("wb") as file:
            for chunk in response.iter_raw():
                if not got and not is_video(chunk):
                    kind = response.headers.get("content-type", "something")
                    raise TransientError(self._say(f"sent {kind} that is not a video instead of the clip"))
                got += len(chunk)
                if got > LARGEST_CLIP_BYTES:
                    raise ProviderError(self._say("the clip is larger than 2 GiB"))
                file.write(chunk)
        if not got or (declared and declared.isdigit() and got != int(declared)):
            raise TransientError(self._say(f"the download was cut off: {got} of {declared or 'some'} bytes"))

    def _say(self, told: str) -> str:
        """Make a message that fits on a line and shows neither the key nor the signature of an address."""
        text = re.sub(r"(https?://[^\s?\"']+)\?[^\s\"']*", r"\1?...", " ".join(told.split()))
        return f"{self.provider}: {self._without_key(text)[:LONGEST_MESSAGE]}"

    def _without_key(self, text: str) -> str:
        key = os.environ.get(self.key_variable, "").strip() if self.key_variable else ""
        return text.replace(key, "***") if key else text


def is_video(head: bytes) -> bool:
    """Say whether a file begins as mp4, mov, webm or avi do; whatever its name or declared type.

    >>> is_video(b"<!DOCTYPE html><html>"), is_video(b"____ftypisom")
    (False, True)
    """
    boxes = (b"ftyp", b"styp", b"moov", b"moof", b"mdat", b"free", b"wide")
    return head[4:8] in boxes or head.startswith(b"\x1aE\xdf\xa3") or (head[:4] == b"RIFF" and head[8:12] == b"AVI ")


def _never_sent() -> tuple[type[Exception], ...]:
    httpx = need("httpx", "run")
    return (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL)


def _host(url: str) -> tuple[str | None, int | None]:
    parts = urlsplit(url)
    return parts.hostname, parts.port


def _request_id(response: Any) -> str | None:
    return next((response.headers[name] for name in _REQUEST_IDS if name in response.headers), None)


def _retry_after_s(response: Any) -> float | None:
    """Read Retry-After: seconds, or a date, which is measured by the provider's clock and not by ours."""
    text = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,6}(\.[0-9]+)?", text):
        return float(text)
    try:
        until = email.utils.parsedate_to_datetime(text)
        now = email.utils.parsedate_to_datetime(response.headers.get("date", ""))
        return max(0.0, (until - now).total_seconds())
    except (TypeError, ValueError):
        return None


def _told(body: Any) -> str | None:
    """Find the sentence in an error's body, which every provider keeps elsewhere."""
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return next((told for told in map(_told, body) if told), None)
    if isinstance(body, dict):
        for name in ("message", "detail", "msg", "error", "title"):
            if told := _told(body.get(name)):
                return told
    return None
