"""The JSON of ``worldodds status``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from worldodds._version import __version__
from worldodds.status import Cell, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneStatus:
    """How many rollouts of a scene have which status, and between which scores it must end."""

    rollouts: dict[str, int]
    score_bounds: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusDocument:
    """Where a run stands: what is open, and the commands that close it, in order."""

    format: str
    worldodds_version: str
    run: str
    generator: str
    reader: str | None
    scenes: Mapping[str, SceneStatus]
    open: tuple[str, ...]
    close_with: tuple[str, ...]
    mntv_bounds: tuple[float, float] | None
    spent_usd: float
    warnings: tuple[str, ...]


def status_document(found: Status) -> StatusDocument:
    """Put what `worldodds.status.run_status` found into the document's shape."""
    return StatusDocument(
        format="worldodds.status/1",
        worldodds_version=__version__,
        run=str(found.folder),
        generator=found.generator,
        reader=found.reader,
        scenes={cell.scene: _scene(cell) for cell in found.cells},
        open=found.open,
        close_with=found.close,
        mntv_bounds=found.bounds,
        spent_usd=round(found.spent_usd, 6),
        warnings=found.twins,
    )


def _scene(cell: Cell) -> SceneStatus:
    return SceneStatus(rollouts=dict(cell.rollouts), score_bounds=cell.bounds)
