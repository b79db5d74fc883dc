"""Kill a buying run at random steps while its provider misbehaves, a thousand times by default.

    python benchmarks/faults.py [KILLS] [SEED]

Every few hundred steps the run ends and begins anew in another folder; each ended run is compared with an undisturbed
one (keys, statuses, outcomes, hashes, files), and its provider's books are searched for a clip that was sold twice.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from worldodds import video
from worldodds.fake_provider import FakeProvider, LocalServer

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from conftest import COIN, DIE, SUITE
from test_faults import OUTCOMES, Lives, Trouble, state

N = 6
State = tuple[list[object], list[object], dict[str, bytes]]
KILLS_A_RUN = 25


def suite_in(folder: Path) -> Path:
    (folder / "frames").mkdir(parents=True)
    for name, text in (("coin", COIN), ("die", DIE), ("suite", SUITE)):
        (folder / f"{name}.toml").write_text(text)
    for shade, name in enumerate(("coin", "die")):
        video.write_still(np.full((64, 64, 3), 60 * shade, dtype=np.uint8), folder / "frames" / f"{name}.png")
    return folder


def one_run(suite: Path, folder: Path, rng: random.Random, kills: int) -> tuple[int, FakeProvider, State]:
    """Film once under kills and faults; return how often it was killed, the provider and what is left."""
    provider = FakeProvider(outcomes=OUTCOMES, refuse=frozenset({4}), fault=Trouble(rng.randrange(10**9)))
    deaths = 0
    with LocalServer(provider) as local:
        lives = Lives(suite, folder, local.url, N)
        while deaths < kills:
            end = lives.live(rng.randint(1, 30))
            assert end in (-9, 0), end
            deaths += end == -9
            if end == 0:
                for clip in rng.sample(sorted(folder.glob("rollouts/*/*.mp4")), 5):
                    clip.unlink()
        assert lives.live(0) == 0
        lives.close()
    return deaths, provider, state(folder)


def main() -> None:
    kills, seed = (*[int(word) for word in sys.argv[1:]], *(1000, 0)[len(sys.argv) - 1 :])
    rng, deaths, runs, sold, begun = random.Random(seed), 0, 0, 0, time.monotonic()  # noqa: S311 - not a secret
    with tempfile.TemporaryDirectory() as name:
        suite = suite_in(Path(name) / "suite")
        calm = FakeProvider(outcomes=OUTCOMES, refuse=frozenset({4}))
        with LocalServer(calm) as local:
            lives = Lives(suite, Path(name) / "calm", local.url, N)
            assert lives.live(0) == 0
            lives.close()
        wanted = state(Path(name) / "calm")
        while deaths < kills:
            died, provider, left = one_run(suite, Path(name) / f"run{runs}", rng, min(KILLS_A_RUN, kills - deaths))
            deaths, runs, sold = deaths + died, runs + 1, sold + len(provider.sold)
            for mine, theirs in zip(left, wanted, strict=True):
                assert mine == theirs, f"run {runs} differs from an undisturbed one:\n{mine}\n{theirs}"
            clips = {(scene, index) for scene, index, _ in provider.sold}
            assert len(clips) == len(provider.sold) == 2 * N, f"run {runs}: bought twice"
    took_s = time.monotonic() - begun
    print(
        f"{deaths} kills in {runs} runs, {sold} clips sold, none twice; all equal an undisturbed run ({took_s:.0f} s)"
    )


if __name__ == "__main__":
    main()
