"""Write the conditioning frame of every world: the first picture of any of its clips, as a PNG beside the suite.

python scripts/render_frames.py [SCENE ...]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from worldodds.video import write_still
from worldodds.worlds import WORLDS, load_world

FRAMES = Path(__file__).parents[1] / "src/worldodds/suites/calibench/frames"
SIZE = (640, 480)


def main() -> None:
    """Draw and write the frames."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", default=list(WORLDS), metavar="SCENE")
    for scene in parser.parse_args().scenes:
        world = load_world(scene)
        first = next(iter(world.draw(world.simulate(start_seed=0), SIZE)))
        FRAMES.mkdir(exist_ok=True)
        write_still(first, FRAMES / f"{scene}.png")
        print(FRAMES / f"{scene}.png")


if __name__ == "__main__":
    main()
