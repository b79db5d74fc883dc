"""How long PAWBench's metrics take for eleven models: 27,500 rows of the official evaluator's own file.

Run: python benchmarks/pawbench.py
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import numpy as np

from worldodds.beside_tracks import beside_tracks
from worldodds.sources import load
from worldodds.suites import find_suite
from worldodds.tracks import placement_of, score_tracks

MODELS = 11


def write_rows(path: Path) -> int:
    rng = np.random.default_rng(0)
    lines: list[str] = []
    for model in range(MODELS):
        for scene in find_suite("pawbench").scenes:
            for i, outcome in enumerate(rng.integers(len(scene.labels), size=50).tolist()):
                null = rng.random() < 0.2
                seen = {"observation": "null_observation"} if null else {"observation": "outcome"}
                fields = {
                    "sample_id": f"model-{model}::{scene.id}::r{i:03d}::repeat={i}",
                    "scene_id": scene.id,
                    "track": placement_of(scene).track,
                    "model_or_lane": f"model-{model}",
                    "repeat_index": i,
                    **seen,
                    **({} if null else {"outcome_label": scene.labels[outcome]}),
                }
                lines.append(json.dumps(fields))
    path.write_text("\n".join(lines))
    return len(lines)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        rows = write_rows(path)
        started, cpu = time.perf_counter(), time.process_time()
        source = load(path)
        read, read_cpu = time.perf_counter(), time.process_time()
        tallies = source.tallies()
        cards = score_tracks(tallies, source.suite)
        done, done_cpu = time.perf_counter(), time.process_time()
        beside_tracks(cards, tallies, source.suite, judge_error=0.08)
        beside, beside_cpu = time.perf_counter(), time.process_time()
    print(f"{rows} rows of {MODELS} models, {len(source.suite.scenes)} scenes")
    print(f"read                      {read - started:6.2f} s   ({read_cpu - cpu:.2f} s of CPU)")
    print(f"all published metrics     {done - read:6.2f} s   ({done_cpu - read_cpu:.2f} s of CPU)")
    print(f"reading and metrics       {done - started:6.2f} s   ({done_cpu - cpu:.2f} s of CPU); the aim is 1 s")
    print(f"what stands beside them   {beside - done:6.2f} s   ({beside_cpu - done_cpu:.2f} s of CPU)")


if __name__ == "__main__":
    main()
