"""A checkout of CaliBench's repository: its frames, prompts, outcomes and clips, read without running its code."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worldodds.errors import SourceError, nearest
from worldodds.interop.calibench import ENDING, read_bins
from worldodds.interop.files import parse_json, read_text
from worldodds.interop.pawbench_inputs import inside
from worldodds.interop.rows import check_unique
from worldodds.row import Row
from worldodds.scene import Scene, Suite

_PICTURES = (".png", ".jpg", ".jpeg", ".webp")
_MOST_SEEDS = 10_000
_MOST_CODE = 1_000_000  # characters; the parser's own limits are far beyond, and crash


def read_prompts(file: Path) -> dict[str, tuple[str, str]]:
    """Return the stem of the frame and the prompt, by scene id, of the literal ``SCENES`` in ``scenes.py``.

    Raises:
        SourceError: no such literal, code where a text should stand, or an entry without its frame or prompt.
    """
    text = read_text(file)
    if len(text) > _MOST_CODE:
        raise SourceError(f"{file}: {len(text)} characters; this is not the file of scenes")
    try:
        tree = ast.parse(text)
        found = next((value for node in tree.body if (value := _assigned(node, "SCENES"))), None)
        scenes: Any = ast.literal_eval(found) if found is not None else None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"{file}: SCENES is not a plain literal: {error}") from None
    if not isinstance(scenes, dict) or not scenes:
        raise SourceError(f"{file}: there is no dictionary SCENES = {{...}}; give the root of a checkout of CaliBench")
    return {str(scene): _entry(file, str(scene), fields) for scene, fields in scenes.items()}


def official_suite(checkout: Path, suite: Suite) -> Suite:
    """Return the suite with the checkout's frames and prompts, and the read-out rules and odds as they were.

    What a reader may know of our own frames' layout is left out: it does not hold for theirs.

    Raises:
        SourceError: a scene is missing or unknown, or a frame is missing or leads out of the checkout.
    """
    prompts = read_prompts(checkout / "scenes.py")
    for scene in prompts:
        if scene not in suite.scene_ids:
            raise SourceError(
                f"{checkout / 'scenes.py'}: no scene is called {scene!r}.{nearest(scene, suite.scene_ids)}"
            )
    if lacking := [scene for scene in suite.scene_ids if scene not in prompts]:
        raise SourceError(f"{checkout / 'scenes.py'}: there is no scene {lacking[0]!r}; all nine are asked for")
    scenes = tuple(_official(checkout, scene, *prompts[scene.id]) for scene in suite.scenes)
    source = f"Frames and prompts: a checkout of CaliBench, under their own licence. {suite.source}"
    return replace(suite, scenes=scenes, source=source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """The checkout's outcomes of the main grid, and how many bins files of other grids were set aside, by scene."""

    rows: tuple[Row, ...]
    set_aside: Mapping[str, int]


def read_outcomes(checkout: Path, suite: Suite) -> Outcomes:
    """Read ``analysis/*_bins.json``; ablations, whose scenes the suite does not have, are set aside and counted.

    Raises:
        SourceError, UnknownNameError: a file of the main grid is wrong; the message names file and rollout.
    """
    rows: list[Row] = []
    others: Counter[str] = Counter()
    for file in sorted(checkout.glob(f"analysis/**/*{ENDING}")):
        cell = parse_json(read_text(file), str(file))
        scene = str(cell.get("scene")) if isinstance(cell, dict) else ""
        if file.parent.name != "analysis":
            others[f"{file.parent.name}/{scene}"] += 1
        elif isinstance(cell, dict) and scene not in suite.scene_ids:
            others[scene] += 1
        else:
            rows += read_bins(file, suite)
    check_unique(rows)
    return Outcomes(rows=tuple(rows), set_aside=dict(others))


def filmed_models(checkout: Path, suite: Suite) -> dict[str, int]:
    """Return the models that have clips ``rollouts/<scene>/<model>/seed_<i>.mp4``, and their highest seed plus one."""
    found: dict[str, int] = {}
    for clip in checkout.glob("rollouts/*/*/seed_*.mp4"):
        model, number = clip.parent.name, clip.stem.removeprefix("seed_")
        if clip.parents[1].name in suite.scene_ids and number.isdecimal() and int(number) < _MOST_SEEDS:
            found[model] = max(found.get(model, 0), int(number) + 1)
    return dict(sorted(found.items()))


def scenes_filmed(checkout: Path, model: str, suite: Suite) -> tuple[str, ...]:
    """Return the scenes of which a model has clips."""
    return tuple(s for s in suite.scene_ids if any((checkout / "rollouts" / s / model).glob("seed_*.mp4")))


def _official(checkout: Path, scene: Scene, stem: str, prompt: str) -> Scene:
    at = f"scenes.py: {scene.id}: frame"
    frames = [inside(checkout, f"conditioning_frames/{stem}{ending}", at) for ending in _PICTURES]
    frame = next((path for path in frames if path.is_file()), None)
    if frame is None:
        raise SourceError(f"{checkout}: conditioning_frames has no picture {stem!r} for scene {scene.id!r}")
    return replace(scene, prompt=prompt, frame=frame, geometry={})


def _assigned(node: ast.stmt, name: str) -> ast.expr | None:
    """Return what a statement assigns to a name, None where it does not."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return None
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
    return node.value if named else None


def _entry(file: Path, scene: str, fields: object) -> tuple[str, str]:
    texts = [fields.get(key) if isinstance(fields, dict) else None for key in ("frame", "prompt")]
    stem, prompt = texts
    if not isinstance(stem, str) or not isinstance(prompt, str) or not prompt.strip():
        raise SourceError(f'{file}: {scene}: not {{"frame": ..., "prompt": ...}} with two texts')
    return stem, prompt
