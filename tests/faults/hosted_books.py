"""Fakes of hosted providers that sell many jobs as their facts files say, and keep books of what was bought."""

from __future__ import annotations

import json
import re
import threading
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import worldodds.generators
from worldodds.fake_provider import Request, Response, canned_clip

FACTS = Path(worldodds.generators.__file__).parent / "facts"
PAGE = 5  # jobs a page of a list
OrderOf = Callable[[Any], tuple[str, int]]

# prompt and seed of an order's body, by provider: where the facts files say they stand
ORDERS: Mapping[str, OrderOf] = {
    "replicate": lambda body: (body["input"]["prompt"], body["input"]["seed"]),
    "runway": lambda body: (body["promptText"], body["seed"]),
}


@dataclass(kw_only=True)
class HostedBooks:
    """One provider: every accepted order becomes a job with an id of its own; nothing is made one by any key.

    ``outcomes`` is the number of labels by prompt; ``fault`` is as `worldodds.fake_provider.FakeProvider` has it, an
    order's token being its prompt and seed. ``sold`` lists every accepted order as (prompt, seed).
    """

    provider: str
    outcomes: Mapping[str, int]
    refuse: frozenset[int] = frozenset()
    fault: Callable[[str, str, int], Response | None] = lambda *_: None
    url: str = ""
    sold: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    bodies: list[Any] = field(default_factory=list[Any])

    def __post_init__(self) -> None:
        self.facts = tomllib.loads((FACTS / f"{self.provider}.toml").read_text())
        self._counts: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Response:
        """Answer one request."""
        with self._lock:
            if (request.method, request.path) == (self.facts["submit"]["method"], self.facts["submit"]["path"]):
                return self._submit(request.body)
            path, _, query = request.path.partition("?")
            if path == self.facts.get("model", {}).get("path"):
                return Response(body=json.loads(self.facts["model"]["answer"]))
            if path == self.facts.get("list", {}).get("path"):
                return self._list(int(query.partition("=")[2] or 0))
            for step, documented in (("poll", self.facts["poll"]["path"]), ("clip", "/clip/{job}.mp4")):
                if number := self._number(documented, path):
                    return self._fault(step, number) or self._tell(step, int(number))
        return Response(status=404, body={"detail": f"undocumented: {request.method} {request.path}"})

    def _number(self, documented: str, path: str) -> str | None:
        pattern = re.escape(documented.replace(self.facts["submit"]["job"], "{job}"))
        found = re.fullmatch(pattern.replace(re.escape("{job}"), "job-([0-9]+)"), path)
        return found[1] if found else None

    def _submit(self, body: Any) -> Response:
        order = ORDERS[self.provider](body)
        wrong = self._fault("submit", str(order))
        if wrong and wrong.status >= 400 and not wrong.drop:
            return wrong
        self.sold.append(order)
        self.bodies.append(body)
        return wrong or self._json(self.facts["submit"]["answer"], len(self.sold) - 1, self.facts["submit"]["status"])

    def _list(self, start: int) -> Response:
        """List jobs with their inputs, the newest first."""
        numbers = list(reversed(range(len(self.sold))))
        model = self.provider == "replicate" and json.loads(self.facts["submit"]["answer"])["model"]
        jobs = [{"id": f"job-{k}", "model": model, **self.bodies[k]} for k in numbers[start : start + PAGE]]
        more = f"{self.url}{self.facts['list']['path']}?cursor={start + PAGE}"
        return Response(body={"results": jobs, "next": more if start + PAGE < len(numbers) else None})

    def _tell(self, step: str, number: int) -> Response:
        prompt, seed = self.sold[number]
        if step == "clip":
            clip = canned_clip(20 + 10 * (seed % self.outcomes[prompt]), seed)
            return Response(body=clip, headers={"Content-Type": "video/mp4"})
        kind = "waiting" if self._count("told", str(number)) == 0 else "refused" if seed in self.refuse else "done"
        return self._json(self.facts["answers"][kind][0], number)

    def _json(self, text: str, number: int, status: int = 200) -> Response:
        told = text.replace(self.facts["submit"]["job"], f"job-{number}")
        told = told.replace("{base}/clip.mp4", f"{self.url}/clip/job-{number}.mp4").replace("{base}", self.url)
        return Response(status=status, body=json.loads(told))

    def _fault(self, step: str, token: str) -> Response | None:
        return self.fault(step, token, self._count(step, token))

    def _count(self, step: str, token: str) -> int:
        count = self._counts[step, token] = self._counts.get((step, token), -1) + 1
        return count
