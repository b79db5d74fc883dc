"""A run to label, a server to ask, and a real browser driven over plain WebDriver (skipped where there is none)."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from worldodds.engine import plan, run
from worldodds.labelling.server import LabelServer
from worldodds.labelling.session import Session, open_session
from worldodds.scene import Suite
from worldodds.store import RunStore
from worldodds.testing import CannedGenerator

KEYS = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Backspace": "\ue003",
    "Tab": "\ue004",
    "Home": "\ue011",
    "End": "\ue010",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "ArrowLeft": "\ue012",
    "ArrowRight": "\ue014",
    "ArrowUp": "\ue013",
    "ArrowDown": "\ue015",
}
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
Answer = tuple[int, dict[str, str], Any]


@pytest.fixture
def run_folder(tiny: Suite, tmp_path: Path) -> Path:
    """Return a run of two scenes, four clips each, by a model whose name must not be seen."""
    folder = tmp_path / "secret-run"
    with RunStore(folder) as store:
        run(plan(tiny, CannedGenerator(name="canned/secretmodel"), [], 4), store)
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Asks a labelling server as its page does."""

    server: LabelServer

    def __call__(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Return the status, the headers, and the body (JSON where it is)."""
        raw = f"/{self.server.token}/{path}"
        return self.raw(method, raw, body, **headers)

    def raw(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Ask for a path as it stands, secret or not."""
        link = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=20)
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} if data is not None else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        with contextlib.closing(link):
            link.request(method, path, data, sent)
            answer = link.getresponse()
            raw = answer.read()
            kind = answer.headers.get_content_type()
            return answer.status, dict(answer.headers), json.loads(raw) if kind == "application/json" and raw else raw

    def answer(self, at: int, label: str | None = None, **more: object) -> Answer:
        """Send an answer."""
        return self("POST", "answer", {"at": at, "status": "outcome", "label": label} | more)


@pytest.fixture
def serve() -> Iterator[Callable[..., Client]]:
    """Return what serves a run to an annotator, on a thread of its own."""
    with contextlib.ExitStack() as stack:

        def start(folder: Path, annotator: str = "anna", **how: Any) -> Client:
            server = stack.enter_context(LabelServer(open_session(folder, annotator, **how), folder))
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            return Client(server=server)

        yield start


def session_of(client: Client) -> Session:
    """Return the session behind a client."""
    return client.server.session


class Browser:
    """A window of a real browser, asked over the WebDriver protocol."""

    def __init__(self, port: int, binary: str, profile: Path) -> None:
        self._port = port
        options = {"binary": binary, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self._session = ""
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"

    def _ask(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        link = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        with contextlib.closing(link):
            data = None if method != "POST" else json.dumps(body or {})
            link.request(method, self._session + path, data, {"Content-Type": "application/json"})
            answer = json.loads(link.getresponse().read())["value"]
        if isinstance(answer, dict) and "error" in answer:
            raise AssertionError(answer["message"])
        return answer

    def open(self, url: str) -> None:
        """Go to a page, and wait until its first clip can be answered."""
        self._ask("POST", "/url", {"url": url})
        self.settle()

    def press(self, *keys: str) -> None:
        """Press keys one after the other, and wait until the page is at rest."""
        for key in keys:
            value = KEYS.get(key, key)
            strokes = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
            self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]})
            self.settle()

    def hold(self, key: str, times: int) -> None:
        """Hold a key down, so that it repeats."""
        params = {"type": "keyDown", "key": key, "text": key}
        for i in range(times):
            self.tell("Input.dispatchKeyEvent", {**params, "autoRepeat": i > 0})
        self.tell("Input.dispatchKeyEvent", {"type": "keyUp", "key": key})
        self.settle()

    def click(self, selector: str) -> None:
        """Click what a selector finds, with the mouse."""
        found = self._ask("POST", "/element", {"using": "css selector", "value": selector})
        (element,) = found.values()
        self._ask("POST", f"/element/{element}/click")
        self.settle()

    def js(self, script: str) -> Any:
        """Return what a script returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": []})

    def text(self, selector: str) -> str:
        """Return the text that is seen at a selector."""
        return self.js(f"return document.querySelector({json.dumps(selector)}).innerText")

    def tell(self, command: str, params: Mapping[str, object]) -> Any:
        """Send a command of the browser's own protocol."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def wait(self, condition: str, seconds: float = 20) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + seconds
        while not self.js(f"return Boolean({condition})"):
            seen = self.js("return [document.body.className, document.getElementById('said')?.innerText]")
            assert time.monotonic() < end, f"never true: {condition}; the page says {seen}"
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait until no answer and no clip is on its way."""
        self.wait("document.readyState === 'complete' && !/busy|loading/.test(document.body.className)")

    def look(self, width: int, height: int, *, dark: bool = False, touch: bool = False) -> bytes:
        """Return a picture of the page as PNG, as large as a screen, light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch}
        self.tell("Emulation.setDeviceMetricsOverride", size)
        self.tell("Emulation.setTouchEmulationEnabled", {"enabled": touch})
        colours = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.tell("Emulation.setEmulatedMedia", {"features": colours})
        time.sleep(0.3)
        return base64.b64decode(self._ask("GET", "/screenshot"))

    def complaints(self) -> list[str]:
        """Return what the browser has complained of: errors, and breaches of the page's own policy."""
        entries = self._ask("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def leave(self) -> None:
        """Leave the page, and be a plain screen again."""
        self._ask("POST", "/url", {"url": "about:blank"})
        self.tell("Emulation.clearDeviceMetricsOverride", {})
        self.tell("Emulation.setTouchEmulationEnabled", {"enabled": False})
        self.complaints()

    def close(self) -> None:
        """Close the window and the browser."""
        self._ask("DELETE", "")


@pytest.fixture(scope="session")
def _window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    driver = shutil.which("chromedriver")
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next((path for name in names if (path := shutil.which(name))), None)
    if driver is None or binary is None:
        pytest.skip("needs a browser: apt-get install chromium chromium-driver")
    with subprocess.Popen(
        [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        found = (re.search(r"successfully on port (\d+)", line) for line in process.stdout)
        window = Browser(int(next(one for one in found if one)[1]), binary, tmp_path_factory.mktemp("profile"))
        yield window
        window.close()
        process.terminate()


@pytest.fixture
def browser(_window: Browser) -> Iterator[Browser]:
    """Return the window of a fresh browser, one for all tests; every test has a page of its own to open in it."""
    yield _window
    _window.leave()
