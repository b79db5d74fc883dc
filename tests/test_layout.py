"""Imports go one way, modules stay small, and what is heavy is loaded only by those who use it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
MOST_LINES = 320

# A module imports only modules above it. A folder stands for all its files, unless one of them has a place of its own.
ORDER = (
    "_version",
    "errors",
    "extras",
    "outcome",
    "odds_table",
    "toml_file",
    "placement",
    "suite_protocol",
    "scene",
    "scene_file",
    "scene_draft",
    "rollout",
    "spending",
    "job",
    "attempts",
    "throttle",
    "clock",
    "protocols",
    "row",
    "tally",
    "statistics",
    "audit",
    "early",
    "measurement",
    "scorecard",
    "headline",
    "judged",
    "given_odds",
    "tracks",
    "beside_tracks",
    "families",
    "plans",
    "mp4_boxes",
    "video",
    "sampled",
    "scene_check",
    "scene_stills",
    "workers",
    "evidence",
    "disputes",
    "truth",
    "suites",
    "worlds",
    "http_client",
    "typed_settings",
    "generators",
    "readers",
    "exam",
    "doctor",
    "alike",
    "looks",
    "migrations",
    "run_folder",
    "frozen_suite",
    "store",
    "keys",
    "still_open",
    "stopping",
    "followed",
    "working_folder",
    "purse",
    "decisions",
    "purchase",
    "jobs",
    "progress",
    "filming",
    "reading",
    "engine",
    "pricing",
    "quotes",
    "drift",
    "interop",
    "bring_calibench",
    "sources",
    "labelling",
    "audit_sources",
    "votes",
    "judges",
    "certificates",
    "judge_words",
    "interop.readers_json",
    "trusted",
    "track_scores",
    "crosscheck",
    "comparison",
    "standing",
    "interop.judged_json",
    "interop.early_json",
    "interop.score_json",
    "interop.tracks_json",
    "interop.families_json",
    "interop.money_json",
    "interop.documents",
    "bounds",
    "status",
    "interop.status_json",
    "report",
    "interop.inspect_log",
    "experiment",
    "registry",
    "inspect_plugin",
    "testing",
    "fake_provider",
    "fake_judge",
    "serving",
    "cli",
    "__main__",
)
# A scorecard's rows for pandas are the cells of its JSON document, which is made of scorecards: loaded when asked for.
UPWARD = {("scorecard", "interop.score_json")}

HEAVY = ("scipy.stats", "cv2", "av", "mujoco", "pymunk", "pandas", "matplotlib")


def _name(path: Path) -> str:
    parts = path.relative_to(SRC / "worldodds").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in sorted((SRC / "worldodds").rglob("*.py"))}


def _imports(node: ast.AST) -> Iterator[str]:
    """Yield what is imported from worldodds anywhere in a module, also inside functions; not what only types need."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        children: Iterator[ast.AST] = iter(node.orelse)
    else:
        children = ast.iter_child_nodes(node)
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[2] for alias in node.names if alias.name.split(".")[0] == "worldodds")
    if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "worldodds":
        base = node.module.partition(".")[2]
        for alias in node.names:
            deeper = f"{base}.{alias.name}".lstrip(".")
            yield deeper if deeper in MODULES else base
    for child in children:
        yield from _imports(child)


def _place(module: str) -> str:
    """Return the entry of the list that a module belongs to: its own, else its folder's."""
    parts = module.split(".")
    known = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    found = next((name for name in known if name in ORDER), None)
    assert found, f"{module} has no place in ORDER: put it below all that it imports, and into CONTRIBUTING.md's layout"
    return found


@pytest.mark.parametrize("module", [name for name in MODULES if name])
def test_imports_go_one_way(module: str) -> None:
    """A module imports only modules above it in the list."""
    place = _place(module)
    for target in {_place(name) for name in _imports(ast.parse(MODULES[module].read_text())) if name}:
        below = ORDER.index(target) > ORDER.index(place) and (place, target) not in UPWARD
        assert not below, f"{module} imports {target}, which stands below {place}"


def test_the_list_names_only_what_there_is() -> None:
    """Every entry of the list is a module or a folder."""
    assert set(ORDER) - set(MODULES) <= {"__main__"}


def test_readers_do_not_know_the_simulator() -> None:
    """No reader imports a world or a generator: what it knows of a scene stands in the scene's file."""
    readers = [name for name in MODULES if name.split(".")[0] == "readers"]
    targets = {target for name in readers for target in _imports(ast.parse(MODULES[name].read_text()))}
    seen = {target.split(".")[0] for target in targets}
    assert readers
    assert not seen & {"worlds", "generators"}


def test_the_core_touches_no_files() -> None:
    """From tally to scorecard nothing reads a file, a clock, a network or a process."""
    core = [name for name in MODULES if name.split(".")[0] in ("tally", "statistics", "measurement", "scorecard")]
    edges = {"pathlib", "os", "io", "time", "datetime", "socket", "sqlite3", "subprocess", "random", "shutil"}
    assert core
    for name in core:
        tree = ast.parse(MODULES[name].read_text())
        plain = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        parts = {n.module.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
        assert not (plain | parts) & edges, f"{name} imports {(plain | parts) & edges}"


@pytest.mark.parametrize("module", list(MODULES))
def test_modules_stay_small(module: str) -> None:
    """A module that has grown past the limit lacks an idea, not a cut."""
    lines = len(MODULES[module].read_text().splitlines())
    assert lines < MOST_LINES, f"{module} has {lines} lines"


def _loaded(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after running some code."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import worldodds, worldodds.statistics",
        "from worldodds.statistics import multinomial_test, total_variation, jackknife, invert, Monitor, plan_scene",
        "from worldodds import Counts, Reference, find_suite, load, plan, RunStore",
    ],
)
def test_importing_costs_little(code: str) -> None:
    """What scores a table loads neither scipy.stats nor anything that films, reads, draws or tabulates."""
    assert not _loaded(code) & set(HEAVY)


def test_help_loads_no_numbers() -> None:
    """`worldodds --help` does not even load numpy."""
    loaded = _loaded("from worldodds.cli import call\nassert call(['--help']) == 0")
    assert not loaded & {*HEAVY, "numpy", "scipy"}
