"""Suites in zip files and in installed packages: found like folders, and refused where unsafe."""

from __future__ import annotations

import stat
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from worldodds.errors import SceneError, UnknownNameError
from worldodds.scene import load_suite
from worldodds.suites import archive, find_suite


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDODDS_CACHE", str(tmp_path / "cache"))


def packed(folder: Path, into: Path, under: str = "") -> Path:
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, f"{under}{path.relative_to(folder)}")
    return into


@pytest.mark.parametrize("under", ["", "tiny-1.0/"])
def test_zip_files(tiny_folder: Path, tmp_path: Path, under: str) -> None:
    """A zip file of a suite's folder, or of its content, is the same suite; it is unpacked once."""
    path = packed(tiny_folder, tmp_path / "tiny.zip", under)
    suite = find_suite(path)
    assert suite.content_hash == load_suite(tiny_folder).content_hash
    first = (suite.folder / "suite.toml").stat().st_mtime_ns
    assert (find_suite(str(path)).folder / "suite.toml").stat().st_mtime_ns == first
    assert not list((tmp_path / "cache" / "suites").glob(".part-*"))


def link(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../out.toml", "leads out"),
        ("/etc/out.toml", "leads out"),
        ("frames/../../out.toml", "leads out"),
        ("..\\out.toml", "leads out"),
        ("C:out.toml", "leads out"),
        (link(zipfile.ZipInfo("suite.toml")), "a link or a device"),
    ],
)
def test_paths_that_lead_out(tmp_path: Path, name: str | zipfile.ZipInfo, told: str) -> None:
    """Paths out of the folder and links are refused, and nothing is left unpacked."""
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as file:
        file.writestr("good.toml", "x")
        file.writestr(name, "/etc/passwd")
    with pytest.raises(SceneError, match=told):
        find_suite(tmp_path / "bad.zip")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert not (tmp_path / "out.toml").exists()


def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many bytes or files are refused as they are unpacked; all files count together."""
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for name in "abc":
            file.writestr(name, b"\0" * 2_000_000)
    monkeypatch.setattr(archive, "MOST_BYTES", 5_000_000)
    with pytest.raises(SceneError, match="more than 5 MB"):
        find_suite(tmp_path / "bomb.zip")
    monkeypatch.setattr(archive, "MOST_FILES", 2)
    with pytest.raises(SceneError, match="3 files"):
        find_suite(tmp_path / "bomb.zip")


def test_files_that_are_no_suite(tmp_path: Path, tiny_folder: Path) -> None:
    """Another kind of file, a damaged one, one without a suite and one with two are each refused in a sentence."""
    (tmp_path / "text.zip").write_text("not a zip file")
    with pytest.raises(SceneError, match="not a zip file"):
        find_suite(tmp_path / "text.zip")
    whole = packed(tiny_folder, tmp_path / "whole.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SceneError, match="not a zip file"):
        find_suite(tmp_path / "cut.zip")
    with zipfile.ZipFile(tmp_path / "none.zip", "w") as file:
        file.writestr("readme.txt", "x")
    with pytest.raises(SceneError, match=r"no suite\.toml"):
        find_suite(tmp_path / "none.zip")
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as file:
        file.writestr("a/suite.toml", "x")
        file.writestr("b/suite.toml", "x")
    with pytest.raises(SceneError, match="2 suites"):
        find_suite(tmp_path / "two.zip")


def test_installed_packages(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package's entry point gives a suite a name: its module, or what its function returns."""
    package = tmp_path / "lib" / "tiny_odds"
    package.parent.mkdir()
    tiny_folder.rename(package)
    (package / "__init__.py").write_text("import pathlib\ndef place():\n    return pathlib.Path(__file__).parent\n")
    monkeypatch.syspath_prepend(str(package.parent))
    values = {"tiny": "tiny_odds", "placed": "tiny_odds:place", "wrong": "math:pi", "calibench": "tiny_odds"}
    points = [EntryPoint(name=name, value=value, group="worldodds.suites") for name, value in values.items()]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: [p for p in points if p.group == group])
    assert find_suite("tiny").scene_ids == find_suite("placed").scene_ids == ("coin", "die")
    assert find_suite("calibench").scene_ids != ("coin", "die")
    with pytest.raises(SceneError, match="neither a package"):
        find_suite("wrong")
    with pytest.raises(UnknownNameError, match="Did you mean 'tiny'"):
        find_suite("tinny")
