"""``folder/DIR``: clips that were made elsewhere, found by the layouts of PAWBench and CaliBench or by a CSV map."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from worldodds.errors import GenerationError, InputError, nearest
from worldodds.rollout import Rollout, Settings
from worldodds.scene import Scene
from worldodds.typed_settings import typed

ENDINGS = (".mp4", ".mov", ".webm", ".avi", ".mkv")
_NUMBERED = re.compile(r"(?:r|seed_|rollout_|)0*([0-9]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Knobs:
    model: str | None = None
    map: str | None = None
    name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Clips in a folder; make it with `folder`.

    ``model`` is the folder between scene and clip in CaliBench's layout, ``map`` a CSV file with the columns scene,
    index (or seed, which is the same of a rollout; the index counts where both are there) and path, relative to the
    folder. Other columns are left alone.
    """

    root: Path
    model: str | None = None
    map: Path | None = None
    label: str | None = None
    version: str | None = None

    @property
    def name(self) -> str:
        """The name given, else the model's, else the folder's own."""
        return f"folder/{self.label or self.model or self.root.resolve().name}"

    @property
    def settings(self) -> Settings:
        """What tells one model's clips from another's; not where they lay, so a moved folder goes on."""
        return {name: value for name, value in (("model", self.model), ("version", self.version)) if value}

    @property
    def cpu_bound(self) -> bool:
        """Copying is waiting."""
        return False

    def generate(self, scene: Scene, *, seed: int, index: int, into: Path) -> Rollout:
        """Copy the clip of that scene and index.

        Raises:
            GenerationError: there is none, there are two, or it leads out of the folder.
        """
        found = self._mapped(scene.id, index) if self.map else self._laid_out(scene.id, index)
        shutil.copyfile(found, into)
        origin = found.relative_to(self.root.resolve()).as_posix()
        return Rollout(
            scene=scene.id,
            index=index,
            seed=seed,
            status="done",
            served_version=self.version,
            details={"from": origin},
        )

    def _laid_out(self, scene: str, index: int) -> Path:
        places = [self.root / scene, self.root / "rollouts" / scene]
        places = [place / self.model for place in places] if self.model else places
        files = [file for place in places for file in _clips(place) if _number(file.stem) == index]
        flat = [file for file in _clips(self.root) if _flat(file.stem) == (scene, index)]
        if not files and not flat:
            raise GenerationError(
                f"{self.root}: no clip {index} of scene {scene!r}; looked for {scene}/r{index:03d}.mp4, "
                f"rollouts/{scene}/<model>/seed_{index}.mp4 and {scene}_{index}.mp4{self._hint(scene)}"
            )
        if len(files + flat) > 1:
            raise GenerationError(f"{self.root}: two clips {index} of scene {scene!r}: {(files + flat)[1].name}")
        return self._inside((files + flat)[0])

    def _hint(self, scene: str) -> str:
        """Name the models of CaliBench's layout where none was chosen."""
        places = (self.root / "rollouts" / scene, self.root / scene)
        models = sorted({d.name for place in places if place.is_dir() for d in place.iterdir() if d.is_dir()})
        return f"; choose a model with -G model=NAME: {', '.join(models)}" if models and not self.model else ""

    def _mapped(self, scene: str, index: int) -> Path:
        assert self.map is not None
        known = _rows(self.map)
        rows = [row for row in known if row["scene"] == scene and int(row["index"]) == index]
        if len(rows) != 1:
            scenes = dict.fromkeys(row["scene"] for row in known)
            hint = "" if scene in scenes else f".{nearest(scene, scenes)}"
            told = f"{self.map}: {len(rows) or 'no'} rows for scene {scene!r}, index {index}; one needed{hint}"
            raise GenerationError(told)
        return self._inside(self.root / rows[0]["path"])

    def _inside(self, file: Path) -> Path:
        """Refuse a path or a link that leads out of the folder."""
        real = file.resolve()
        if not real.is_relative_to(self.root.resolve()):
            raise GenerationError(f"{file}: leads out of {self.root}; clips must lie inside the folder")
        if not real.is_file():
            raise GenerationError(f"{file}: there is no such file")
        return real


def folder(root: str = "", **settings: object) -> Folder:
    """Return the generator ``folder/DIR``.

    Raises:
        InputError: no such folder, a map that cannot be read, an unknown setting.
    """
    knobs = typed(_Knobs, settings, part="folder")
    place = Path(root)
    if not root or not place.is_dir():
        raise InputError(f"folder/{root}: there is no such folder; write folder/DIR")
    table = None
    if knobs.map is not None:
        table = Path(knobs.map) if Path(knobs.map).is_file() else place / knobs.map
        _rows(table)
    return Folder(root=place, model=_plain(knobs.model), map=table, label=knobs.name, version=knobs.version)


def _plain(model: str | None) -> str | None:
    if model is not None and (model in ("", ".", "..") or "/" in model or "\\" in model):
        raise InputError(f"folder: model: {model!r} is no folder's name")
    return model


def _rows(table: Path) -> list[dict[str, str]]:
    """Read a map's rows as scene, index and path; raises InputError with the row that is wrong."""
    if table.exists() and not table.is_file():
        raise InputError(f"{table}: not a regular file; give a CSV file with the columns scene, index and path")
    try:
        with table.open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{table}: cannot be read: {error}") from None
    header = [name.strip() for name in lines[0]] if lines else []
    number_at = next((name for name in ("index", "seed") if name in header), None)
    if number_at is None or not {"scene", "path"} <= set(header):
        told = f"the columns are {', '.join(header)}" if header else "the file is empty"
        raise InputError(f"{table}: {told}; needed are scene, index (or seed) and path")
    rows: list[dict[str, str]] = []
    for number, line in enumerate(lines[1:], 2):
        if not line:  # a blank line is no row
            continue
        if len(line) != len(header):
            raise InputError(f"{table}: row {number}: {len(line)} fields where the header has {len(header)}")
        row = {name: cell.strip() for name, cell in zip(header, line, strict=True)}
        if not re.fullmatch("[0-9]{1,9}", row[number_at]):
            raise InputError(f"{table}: row {number}: {number_at} {row[number_at]!r} is no whole number")
        rows.append({"scene": row["scene"], "index": row[number_at], "path": row["path"]})
    return rows


def _clips(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from sorted(file for file in place.iterdir() if file.suffix.lower() in ENDINGS)


def _number(stem: str) -> int | None:
    match = _NUMBERED.fullmatch(stem)
    return int(match[1]) if match else None


def _flat(stem: str) -> tuple[str, int] | None:
    scene, _, number = stem.rpartition("_")
    return (scene.removesuffix("_seed"), int(number)) if scene and number.isdigit() else None
