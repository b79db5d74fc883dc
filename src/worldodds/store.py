"""The ledger of a run: one SQLite file in the run's folder, append-only, safe to kill at any moment."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from worldodds.attempts import Attempt
from worldodds.errors import StoreError
from worldodds.frozen_suite import freeze, mend, thaw
from worldodds.migrations import MIGRATIONS
from worldodds.rollout import Clip, Reading, Rollout, Settings, State
from worldodds.run_folder import LEDGER, lock, need_run, prepare
from worldodds.scene import Scene, Suite

_ATTEMPT = ("key", "state", "token", "job", "error_class", "message", "request_id", "cost_usd")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReading:
    """A reading as the ledger keeps it: which rollout and clip, which reader with which settings, which vote."""

    key: str
    rollout_key: str
    sha256: str
    reader: str
    settings: Mapping[str, Any]
    vote: int
    reading: Reading


class RunStore:
    """A run's folder: ``run.sqlite``, ``rollouts/<scene>/r000.mp4`` and a frozen copy of the suite.

    Use it as a context manager. Opening for writing takes the folder's lock and removes what a killed run left
    half-made; opening with ``write=False`` never changes anything. ``alone=False`` appends rows that nobody else makes
    (a person's labels) beside whoever holds the lock. ``":memory:"`` keeps the ledger in memory.

    Raises:
        StoreError: no run there, a damaged or newer ledger, or another process is writing to it.
    """

    def __init__(self, folder: Path | str, *, write: bool = True, alone: bool = True) -> None:
        self.folder = Path(folder)
        self._lock: IO[str] | None = None
        self._frozen: tuple[str, Suite] | None = None
        self._memory = str(folder) == ":memory:"
        if self._memory:
            self._open(":memory:")
            return
        path = self.folder / LEDGER
        if not write or not alone:
            need_run(self.folder)
        if write and alone:
            prepare(self.folder)
            self._lock = lock(self.folder)
        try:
            self._open(str(path), write=write)
        except sqlite3.OperationalError as error:
            self.close()
            raise StoreError(f"{path}: cannot be opened now: {error}; mend that, or wait, and try again") from None
        except sqlite3.DatabaseError as error:
            self.close()
            raise StoreError(f"{path}: not a readable ledger ({error}); restore it from a copy") from None
        except StoreError:
            self.close()
            raise
        if write and alone:
            for leftover in self.folder.glob("rollouts/*/.part-*"):
                shutil.rmtree(leftover)

    def _open(self, path: str, *, write: bool = True) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
        self._db.row_factory = sqlite3.Row
        (version,) = self._db.execute("pragma user_version").fetchone()
        if version > len(MIGRATIONS):
            raise StoreError(f"{path}: made by a newer worldodds (ledger version {version}); upgrade worldodds")
        if not version and not write:
            raise StoreError(f"{self.folder}: the run was never started; run it once first")
        self._version = version
        for number, script in enumerate(MIGRATIONS[version:] if write else (), version + 1):
            self._db.executescript(f"begin; {script} pragma user_version = {number}; commit;")
            self._version = number

    def close(self) -> None:
        """Close the ledger and give the lock back."""
        if hasattr(self, "_db"):
            self._db.close()
        if self._lock:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def together(self) -> Generator[None]:
        """Write all rows of a block, or none: one commit, and one wait for the disk."""
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    # -- what the run is -------------------------------------------------------------------------------------------

    def about(self, name: str) -> Any:
        """Return a fact of the run (``generator``, ``settings``, ``suite``), or None."""
        row = self._db.execute("select value from run where name = ? order by id desc limit 1", (name,)).fetchone()
        return json.loads(row["value"]) if row else None

    def note(self, name: str, value: object) -> None:
        """Record a fact of the run; recording the same value again adds nothing."""
        if self.about(name) != json.loads(_json(value)):
            self._db.execute("insert into run (at, name, value) values (?, ?, ?)", (_now(), name, _json(value)))

    @property
    def suite(self) -> Suite:
        """The run's frozen copy of the suite.

        Raises:
            StoreError: the run was never started, or the copy is gone or no longer what was frozen.
        """
        name = self.about("suite")
        if name is None:
            raise StoreError(f"{self.folder}: the run was never started; run it once first")
        if self._frozen is None or self._frozen[0] != name:
            self._frozen = (name, thaw(self.folder, name))
        return self._frozen[1]

    def freeze_suite(self, suite: Suite) -> None:
        """Keep a copy of the whole suite; a changed suite gets a copy of its own beside the old one."""
        self.note("suite", freeze(suite, None if self._memory else self.folder))

    def mend_suite(self, suite: Suite) -> None:
        """Put the frozen copy back where it is gone or was changed, if this is the suite that it was made of."""
        if not self._memory and (name := self.about("suite")):
            mend(suite, self.folder, name)

    def planned(self) -> dict[str, int]:
        """Return how many rollouts were asked for, by scene id."""
        return {r["scene"]: r["n"] for r in self._db.execute("select scene, max(n) as n from planned group by scene")}

    def plan(self, scene: str, n: int) -> None:
        """Record that ``n`` rollouts of a scene are wanted; fewer than before changes nothing."""
        if self.planned().get(scene, 0) < n:
            self._db.execute("insert into planned (at, scene, n) values (?, ?, ?)", (_now(), scene, n))

    # -- rollouts --------------------------------------------------------------------------------------------------

    def scene_folder(self, scene: Scene) -> Path:
        """Return the folder of a scene's clips."""
        return self.folder / "rollouts" / scene.id

    def add_rollout(self, key: str, rollout: Rollout) -> None:
        """Append what became of a rollout."""
        clip = rollout.clip
        row = (
            _now(),
            key,
            rollout.scene,
            rollout.index,
            rollout.seed,
            rollout.status,
            str(clip.path.relative_to(self.folder)) if clip else None,
            clip.sha256 if clip else None,
            clip.seconds if clip else None,
            clip.frames if clip else None,
            rollout.served_version,
            rollout.cost_usd,
            rollout.message,
            _json(rollout.details),
        )
        columns = "at, key, scene, idx, seed, status, path, sha256, seconds, frames, served_version, cost_usd, message"
        self._db.execute(f"insert into rollout ({columns}, details) values ({_marks(row)})", row)  # noqa: S608

    def rollouts(self) -> dict[str, Rollout]:
        """Return the state of every rollout by key, scene by scene in index order."""
        rows = self._db.execute("select * from rollout_now order by scene, idx, id")
        return {row["key"]: self._rollout(row) for row in rows}

    def states(self) -> dict[str, State]:
        """Return what became of every rollout by key, in the same order: much faster, where that is all one asks."""
        rows = self._tuples(
            "select key, scene, idx, seed, status, sha256, message from rollout_now order by scene, idx, id"
        )
        return {key: State(*rest) for key, *rest in rows}

    def attempts(self, key: str) -> int:
        """Return how many times a rollout was tried."""
        return self._db.execute("select count(*) from rollout where key = ?", (key,)).fetchone()[0]

    # -- providers -------------------------------------------------------------------------------------------------

    def add_attempt(self, attempt: Attempt) -> None:
        """Append a line to a rollout's history at its provider."""
        row = (_now(), *(getattr(attempt, name) for name in _ATTEMPT))
        self._db.execute(f"insert into attempt (at, {', '.join(_ATTEMPT)}) values ({_marks(row)})", row)  # noqa: S608

    def attempts_now(self, *, failed: bool = False) -> dict[str, Attempt]:
        """Return the newest line of every rollout's history at its provider, by key; only those that say it failed."""
        return {line.key: line for line in self._attempts("attempt_now", "state = 'failed'" if failed else "true")}

    def attempt_history(self, *, ended: bool = False) -> list[Attempt]:
        """Return all lines, oldest first; only those that say what a purchase came to if asked."""
        only = "state in ('refused', 'failed') or cost_usd is not null" if ended else "true"
        return self._attempts("attempt", f"{only} order by id")

    def _attempts(self, table: str, only: str) -> list[Attempt]:
        columns = ", ".join(_ATTEMPT)
        rows = self._tuples(f"select {columns} from {table} where {only}") if self._version > 1 else ()  # noqa: S608
        return [Attempt(**dict(zip(_ATTEMPT, row, strict=True))) for row in rows]

    def add_look(self, sha256: str, picture: bytes) -> None:
        """Keep a clip's small picture."""
        self._db.execute("insert or ignore into look (sha256, picture) values (?, ?)", (sha256, picture))

    def looks(self) -> dict[str, bytes]:
        """Return the small pictures of clips, by the clip's sha256."""
        rows = self._db.execute("select * from look") if self._version > 1 else ()
        return {row["sha256"]: row["picture"] for row in rows}

    def _rollout(self, row: sqlite3.Row) -> Rollout:
        clip = None
        if row["path"]:
            path = self.folder / row["path"]
            clip = Clip(path=path, sha256=row["sha256"], seconds=row["seconds"], frames=row["frames"])
        return Rollout(
            scene=row["scene"],
            index=row["idx"],
            seed=row["seed"],
            status=row["status"],
            clip=clip,
            served_version=row["served_version"],
            cost_usd=row["cost_usd"],
            message=row["message"],
            details=json.loads(row["details"]) if row["details"] != "{}" else {},
        )

    # -- readings --------------------------------------------------------------------------------------------------

    def add_reading(self, stored: StoredReading) -> None:
        """Append a reading."""
        r = stored.reading
        settings = _json(stored.settings)
        row = (_now(), stored.key, stored.rollout_key, stored.sha256, stored.reader, settings, stored.vote)
        row = (*row, r.status, r.label, r.reason, r.raw)
        columns = "at, key, rollout_key, sha256, reader, settings, vote, status, label, reason, raw"
        self._db.execute(f"insert into reading ({columns}) values ({_marks(row)})", row)  # noqa: S608

    def readings(self) -> dict[str, StoredReading]:
        """Return the state of every reading by key, in order of reading."""
        return {row["key"]: _stored(row) for row in self._db.execute("select * from reading_now order by id")}

    def readings_in_doubt(self) -> list[StoredReading]:
        """Return all votes of the clips of which a reader failed one, in order of reading."""
        failed = "select rollout_key, reader from reading_now where status = 'failed'"
        rows = self._db.execute(f"select * from reading_now where (rollout_key, reader) in ({failed}) order by id")  # noqa: S608
        return [_stored(row) for row in rows]

    def answers(self, reader: str) -> dict[str, Reading]:
        """Return what one reader has answered, by key, without its raw words: faster, where that is all one asks."""
        rows = self._tuples("select key, status, label, reason from reading_now where reader = ?", reader)
        made = cache(Reading.without_raw)  # most are like others
        return {key: made(*said) for key, *said in rows}

    def readers(self) -> dict[str, Settings]:
        """Return who has read clips of the run, each with the settings of its newest reading."""
        rows = self._tuples("select reader, settings, max(id) from reading group by reader order by reader")
        return {reader: json.loads(settings) for reader, settings, _ in rows}

    def _tuples(self, asked: str, *values: object) -> Iterator[tuple[Any, ...]]:
        cursor = self._db.cursor()
        cursor.row_factory = None
        return cursor.execute(asked, values)


def _stored(row: sqlite3.Row) -> StoredReading:
    return StoredReading(
        key=row["key"],
        rollout_key=row["rollout_key"],
        sha256=row["sha256"],
        reader=row["reader"],
        settings=json.loads(row["settings"]),
        vote=row["vote"],
        reading=Reading(status=row["status"], label=row["label"], reason=row["reason"], raw=row["raw"]),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _json(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def _marks(row: Sequence[object]) -> str:
    return ", ".join("?" * len(row))
