"""The papers keep pace with the code: commands parse, imports exist, links lead somewhere, words are the same."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from worldodds import cli
from worldodds.generators.presets import PRESETS
from worldodds.interop.tables import COLUMNS
from worldodds.rollout import ReadingStatus, RolloutStatus
from worldodds.scorecard import Verdict
from worldodds.suites import find_suite

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
NAMES = [str(path.relative_to(ROOT)) for path in PAGES]


def _text(name: str) -> str:
    return (ROOT / name).read_text()


def _blocks(name: str, *languages: str) -> Iterator[str]:
    for language, body in re.findall(r"^```(\w+)\n(.*?)^```", _text(name), flags=re.MULTILINE | re.DOTALL):
        if language in languages:
            yield body


def _commands() -> list[tuple[str, str]]:
    """Return every worldodds command line shown in a shell block, with the page it is on."""
    found: list[tuple[str, str]] = []
    for name in NAMES:
        for block in _blocks(name, "sh", "console", "bash", "shell"):
            lines = block.replace("\\\n", " ").splitlines()
            found += [(name, line.removeprefix("$ ")) for line in lines if re.match(r"(\$ )?worldodds\b", line)]
    found += [(name, code) for name in NAMES for code in re.findall(r"`(worldodds [a-z][^`]*)`", _text(name))]
    return sorted(set(found))


def _words(line: str) -> list[str]:
    words = shlex.split(line, comments=True)[1:]
    stop = next((i for i, word in enumerate(words) if word in ("|", ">", "&&", ";")), len(words))
    return words[:stop]


@pytest.mark.parametrize(("page", "line"), _commands())
def test_commands_parse(page: str, line: str) -> None:
    """Every command line shown names a command that exists, and only options and arguments that it takes."""
    words = _words(line)
    if len(words) == 1 and not words[0].startswith("-"):  # a command only named, its arguments left out
        assert words[0] in cli.app, f"{page}: there is no command {words[0]!r}"
        return
    _, _, ignored = cli.app.parse_args(words, exit_on_error=False, print_error=False)
    assert ignored is not None


def test_commands_are_checked() -> None:
    """The search for command lines finds those of the pages."""
    assert len(_commands()) > 20


@pytest.mark.parametrize("command", [name for name in cli.app if not name.startswith("-")])
def test_every_command_is_documented(command: str) -> None:
    """Every command there is stands on some page."""
    assert any(re.search(rf"`?worldodds {command}\b|`{command}`", _text(name)) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_python_blocks_compile_and_their_imports_exist(name: str) -> None:
    """Every Python block is valid, and whatever it imports is there under that name."""
    for block in _blocks(name, "python", "py"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    import_module(alias.name)
            elif isinstance(node, ast.ImportFrom):
                assert node.module
                for alias in node.names:
                    assert _has(node.module, alias.name), f"{name}: {node.module} has no {alias.name}"


def _has(module: str, name: str) -> bool:
    if hasattr(import_module(module), name):
        return True
    try:
        import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    """Every relative link names a file of the repository, and its anchor a heading of that file."""
    prose = re.sub(r"^```.*?^```", "", _text(name), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), f"{name}: {link}"
        if anchor:
            assert anchor in _anchors(target), f"{name}: {link}"


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _table(name: str, head: str) -> list[str]:
    """Return the words in the first column of the table whose first heading is ``head``."""
    rows = _text(name).split(f"| {head} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [row.split("|")[1].strip().strip("`") for row in rows]


def test_rollout_statuses_are_the_codes() -> None:
    """The table of rollout statuses lists exactly those there are."""
    assert _table("docs/concepts.md", "of a rollout") == list(get_args(RolloutStatus))


def test_reading_statuses_are_the_codes() -> None:
    """The table of reading statuses lists exactly those there are."""
    assert _table("docs/concepts.md", "of a reading") == list(get_args(ReadingStatus))


def test_verdicts_are_the_codes() -> None:
    """The table of verdicts lists exactly those there are."""
    assert set(_table("docs/concepts.md", "verdict")) == set(get_args(Verdict))


def test_exit_codes_are_the_codes() -> None:
    """The table of exit codes lists those that the command line uses."""
    codes = [int(code) for code in _table("docs/concepts.md", "code")]
    assert codes == [0, 1, cli.BAD_INPUT, cli.OPEN, cli.INTERRUPTED, cli.TERMINATED]


def test_scenes_are_those_of_the_suite() -> None:
    """The page on scenes lists the suite's scenes in its order, and names no null rule that no scene has."""
    suite = find_suite("calibench")
    assert _table("docs/scenes.md", "scene") == list(suite.scene_ids)
    rules = {null.name for scene in suite.scenes for null in scene.readout.nulls}
    told = {rule for cell in _table("docs/scenes.md", "null") for rule in re.findall(r"[a-z_]+", cell)}
    assert {rule for rule in rules if not rule.startswith("several_")} == told - {"several_"}


def test_presets_are_the_simulators() -> None:
    """The table of presets lists every built-in world model."""
    assert set(_table("docs/scenes.md", "preset")) == {f"simulator/{name}" for name in PRESETS}


SCHEMAS = sorted((ROOT / "src" / "worldodds" / "schemas").glob("*.json"))


@pytest.mark.parametrize("document", [path.stem.removesuffix("-1") for path in SCHEMAS])
def test_every_json_key_is_explained(document: str) -> None:
    """Every key of a document's schema stands in the page on JSON, in that document's section."""
    schema = json.loads((ROOT / "src" / "worldodds" / "schemas" / f"{document}-1.json").read_text())
    keys = {key for entry in schema["$defs"].values() for key in entry["properties"]}
    section = _text("docs/json.md").split(f"## `worldodds.{document}/1`")[1].split("\n## ")[0]
    general = {"format", "worldodds_version", "suite", "suite_version", "suite_hash", "reader"}
    told = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", section))))
    assert keys - told - general == set()


def test_table_columns_are_told() -> None:
    """The page on JSON names the columns of exported tables, in their order."""
    tables = _text("docs/json.md").split("## Tables")[1]
    assert [word for word in re.findall(r"`(\w+)`", tables) if word in COLUMNS] == list(COLUMNS)
