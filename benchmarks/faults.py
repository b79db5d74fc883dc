"""Kill a buying run at random steps while its provider misbehaves, a thousand times by default.

    python benchmarks/faults.py [KILLS] [SEED] [MODEL]

MODEL is ``server`` (the default), or one of the hosted models ``replicate/google/veo-3.1``, whose provider lists its
jobs, and ``runway/gen4.5``, whose provider tells nothing: there a run ends by buying again what was perhaps bought.
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
from worldodds.fake_provider import FakeProvider, LocalServer, faultless
from worldodds.scene import load_suite

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests/faults"))
from conftest import COIN, DIE, SUITE
from hosted_books import HostedBooks
from lives import Lives, N, Trouble, state

OUTCOMES = {"coin": 2, "die": 6}
REFUSED = frozenset({4})
State = tuple[list[object], list[object], dict[str, bytes]]
KILLS_A_RUN = 25


def suite_in(folder: Path) -> Path:
    (folder / "frames").mkdir(parents=True)
    for name, text in (("coin", COIN), ("die", DIE), ("suite", SUITE)):
        (folder / f"{name}.toml").write_text(text)
    for shade, name in enumerate(("coin", "die")):
        video.write_still(np.full((64, 64, 3), 60 * shade, dtype=np.uint8), folder / "frames" / f"{name}.png")
    return folder


def provider_of(model: str, suite: Path, seed: int | None) -> FakeProvider | HostedBooks:
    """Return a provider of the model, misbehaving by the seed where there is one."""
    faults = {} if seed is None else {"fault": Trouble(seed)}
    if model == "server":
        return FakeProvider(outcomes=OUTCOMES, refuse=REFUSED, **faults)
    outcomes = {scene.prompt: len(scene.labels) for scene in load_suite(suite).scenes}
    return HostedBooks(provider=model.partition("/")[0], outcomes=outcomes, refuse=REFUSED, **faults)


def one_run(
    suite: Path, folder: Path, model: str, seed: int | None, rng: random.Random, kills: int
) -> tuple[int, list[tuple[str, int]], State]:
    """Film once under kills and faults; return how often it was killed, what was sold and what is left."""
    provider = provider_of(model, suite, seed)
    deaths = 0
    with LocalServer(provider) as local:
        if isinstance(provider, HostedBooks):
            provider.url = local.url
        with Lives(suite, folder, local.url, N, model=model) as lives:
            while deaths < kills:
                end = lives.live(rng.randint(1, 30))
                assert end in (-9, 0, 3), end
                deaths += end == -9
                clips = sorted(folder.glob("rollouts/*/*.mp4"))
                if end != -9:
                    for clip in rng.sample(clips, min(5, len(clips))):
                        clip.unlink()
                if end == 3 and not clips:
                    break
            end = lives.live(0)
            unasked = [(scene, seed) for scene, seed, *_ in provider.sold]
            assert len(set(unasked)) == len(unasked), f"{folder}: bought twice"
            if end == 3:
                assert model.startswith("runway"), "only a provider that tells nothing leaves something perhaps bought"
                if isinstance(provider, HostedBooks):
                    provider.fault = faultless
                assert lives.live(0, rebuy=True) == 0
    assert len({(scene, seed) for scene, seed, *_ in provider.sold}) == 2 * N, f"{folder}: not all was bought"
    return deaths, unasked, state(folder)


def main() -> None:
    given = sys.argv[1:]
    kills, seed, model = (*given, *("1000", "0", "server")[len(given) :])
    rng, deaths, runs, sold, begun = random.Random(int(seed)), 0, 0, 0, time.monotonic()  # noqa: S311 - not a secret
    with tempfile.TemporaryDirectory() as name:
        suite = suite_in(Path(name) / "suite")
        _, _, wanted = one_run(suite, Path(name) / "calm", model, None, rng, 0)
        while deaths < int(kills):
            folder, trouble = Path(name) / f"run{runs}", rng.randrange(10**9)
            most = min(KILLS_A_RUN, int(kills) - deaths)
            died, clips, left = one_run(suite, folder, model, trouble, rng, most)
            deaths, runs, sold = deaths + died, runs + 1, sold + len(clips)
            for mine, theirs in zip(left, wanted, strict=True):
                assert mine == theirs, f"run {runs} differs from an undisturbed one:\n{mine}\n{theirs}"
    took_s = time.monotonic() - begun
    told = "none twice without --rebuy" if model.startswith("runway") else "none twice"
    print(f"{model}: {deaths} kills in {runs} runs, {sold} clips sold, {told}; all equal a calm run ({took_s:.0f} s)")


if __name__ == "__main__":
    main()
