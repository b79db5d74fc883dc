"""How quick the labelling page is on a run of 10,000 clips: the start, a clip, an answer; fresh and half labelled."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from worldodds import RunStore, find_suite, video
from worldodds.keys import rollout_key
from worldodds.labelling.session import open_session
from worldodds.labelling.sheet import stored_label
from worldodds.rollout import Clip, Reading, Rollout

CLIPS = 10_000


def make_run(folder: Path) -> None:
    """Write a ledger of 10,000 clips in nine scenes; all are one file under many names."""
    suite = find_suite("calibench")
    with RunStore(folder) as store:
        store.freeze_suite(suite)
        store.note("generator", {"name": "canned/even", "settings": {}})
        first = folder / "clip.mp4"
        video.encode([np.full((480, 640, 3), shade, dtype=np.uint8) for shade in range(72)], first, frame_rate=24)
        made = video.probe(first)
        with store.together():
            for number in range(CLIPS):
                scene, index = suite.scenes[number % len(suite.scenes)], number // len(suite.scenes)
                path = store.scene_folder(scene) / f"r{index:03d}.mp4"
                path.parent.mkdir(parents=True, exist_ok=True)
                os.link(first, path)
                clip = Clip(path=path, sha256=made.sha256, seconds=made.seconds, frames=made.frames)
                key = rollout_key(scene, "canned/even", {}, seed=index, index=index)
                store.add_rollout(key, Rollout(scene=scene.id, index=index, seed=index, status="done", clip=clip))


def label_half(folder: Path) -> None:
    """Label every other clip."""
    session = open_session(folder, "anna")
    with RunStore(folder) as store, store.together():
        for task in session.sheet.tasks[::2]:
            answer = Reading.saw(task.scene.labels[0])
            store.add_reading(stored_label(task, session.sheet.reader, answer))


def measure(folder: Path) -> dict[str, float]:
    """Return seconds until the page answers, then the medians and the slowest of 200 clips and answers, in ms."""
    begin = time.perf_counter()
    line = [sys.executable, "-m", "worldodds", "label", str(folder), "--annotator", "anna", "--no-browser"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own command
        assert process.stdout is not None
        url = urlsplit(next(found[0] for text in process.stdout if (found := re.search(r"http://\S+", text))))
        link = http.client.HTTPConnection(url.netloc)

        def ask(path: str, body: object = None) -> tuple[dict, int, float]:
            start = time.perf_counter()
            method, data = ("GET", None) if body is None else ("POST", json.dumps(body))
            link.request(method, url.path + path, data, {"Content-Type": "application/json"})
            raw = link.getresponse().read()
            return json.loads(raw), len(raw), 1000 * (time.perf_counter() - start)

        sheet, size, _ = ask("sheet")
        first, _, _ = ask(f"task/{sheet['start']}")
        started = time.perf_counter() - begin
        tasks, answers, at = [], [], first["at"]
        for _ in range(200):
            task, _, ms = ask(f"task/{at}")
            tasks.append(ms)
            label = sheet["scenes"][task["scene"]]["labels"][0]
            told, _, ms = ask("answer", {"at": at, "status": "outcome", "label": label})
            answers.append(ms)
            at = told["next"]
        ask("finish", {})
    return {
        "start_s": started,
        "sheet_bytes": size,
        "task_ms": np.median(tasks),
        "task_slowest_ms": max(tasks),
        "answer_ms": np.median(answers),
        "answer_slowest_ms": max(answers),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        run = Path(home) / "run"
        make_run(run)
        for name in ("fresh", "half labelled"):
            print(f"{CLIPS} clips, {name}: " + ", ".join(f"{key} {value:.3g}" for key, value in measure(run).items()))
            label_half(run)
