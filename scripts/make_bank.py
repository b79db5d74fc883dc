"""Find start seeds for the rare outcomes of a world and write them to the package's bank.

python scripts/make_bank.py galton_board --outcomes 1 2 10 11 --first 1000000 --tries 60000
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor

from worldodds.worlds import load_world
from worldodds.worlds.bank import BANK_PATH

CHUNK = 500


def outcomes(scene: str, first: int) -> list[tuple[int, str | None]]:
    """Run the physics of one chunk of start seeds."""
    world = load_world(scene)
    return [(seed, world.simulate(start_seed=seed, noise_seed=seed).outcome) for seed in range(first, first + CHUNK)]


def main() -> None:
    """Search in order of seeds until every outcome has enough, or the tries are spent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scene")
    parser.add_argument("--outcomes", nargs="+", required=True)
    parser.add_argument("--first", type=int, default=1_000_000)
    parser.add_argument("--tries", type=int, default=60_000)
    parser.add_argument("--enough", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    found: dict[str, list[int]] = defaultdict(list)
    firsts = range(args.first, args.first + args.tries, CHUNK)
    with ProcessPoolExecutor(args.workers) as pool:
        for chunk in itertools.chain(pool.map(outcomes, itertools.repeat(args.scene), firsts)):
            for seed, outcome in chunk:
                if outcome in args.outcomes and len(found[outcome]) < args.enough:
                    found[outcome].append(seed)
    bank = json.loads(BANK_PATH.read_text(encoding="utf-8")) if BANK_PATH.is_file() else {}
    bank[args.scene] = {
        "settings": load_world(args.scene).settings(),
        "starts": {outcome: found[outcome] for outcome in args.outcomes},
    }
    BANK_PATH.write_text(json.dumps(bank, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")
    print({outcome: len(found[outcome]) for outcome in args.outcomes})


if __name__ == "__main__":
    main()
