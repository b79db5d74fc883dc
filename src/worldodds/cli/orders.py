"""What `worldodds run` is asked for: an experiment's lines with the flags over them, as jobs of one generator each."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worldodds.errors import InputError

if TYPE_CHECKING:
    from worldodds.protocols import Generator, HostedGenerator, Reader
    from worldodds.purse import Purse
    from worldodds.scene import Suite
    from worldodds.stopping import When
    from worldodds.store import RunStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The words of the command line, None or empty where nothing was said."""

    generator: str | None
    output: Path | None
    suite: str | None
    readers: tuple[str, ...]
    scenes: tuple[str, ...]
    n: int | None
    generator_settings: tuple[str, ...]
    reader_settings: tuple[str, ...]
    workers: int | None
    prices: Path | None
    max_cost: float | None = None
    rebuy: bool = False
    stop: When | None = None
    json_log: Path | None = None
    experiment: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One generator to be run into one folder."""

    suite: Suite
    generator: Generator | HostedGenerator
    readers: tuple[Reader, ...]
    n: int | None
    folder: Path
    workers: int | None = None
    max_cost: float | None = None
    prices: Path | None = None
    rebuy: bool = False
    stop: When | None = None
    json_log: Path | None = None
    experiment: Path | None = None
    words: tuple[str, ...] = ()


def orders(flags: Order) -> list[Job]:
    """Return one job a generator, all of them checked before the first is begun.

    Raises:
        InputError: neither an experiment nor a generator and an output, an unknown name or setting.
    """
    if flags.workers is not None and flags.workers < 1:
        raise InputError(f"workers: {flags.workers} given; give 1 or more")
    if flags.max_cost is not None and not flags.max_cost >= 0:
        raise InputError(f"max-cost: {flags.max_cost:g} USD given; give 0 or more")
    return _of_experiment(flags, flags.experiment) if flags.experiment else [_of_flags(flags)]


def _of_flags(flags: Order) -> Job:
    if flags.generator is None or flags.output is None:
        lacking = "--generator" if flags.generator is None else "--output"
        raise InputError(f"{lacking} is missing; give --generator and --output, or an experiment's file")
    return _job(flags, flags.generator, _settings(flags.generator_settings), flags.output)


def _of_experiment(flags: Order, path: Path) -> list[Job]:
    """Read the file; a flag counts instead of its line, -G on top of each generator's settings."""
    from dataclasses import replace

    from worldodds.experiment import load_experiment

    found = load_experiment(path)
    whole = replace(
        flags,
        suite=flags.suite or found.suite_beside(path),
        readers=flags.readers or found.readers or ("none",),
        scenes=flags.scenes or found.scenes,
        n=found.n if flags.n is None else flags.n,
        workers=flags.workers or found.workers,
        max_cost=found.max_cost if flags.max_cost is None else flags.max_cost,
        stop=flags.stop or found.stop,
    )
    output = flags.output or path.parent / found.output
    models = [model for model in found.generators if flags.generator in (None, model.name)]
    if not models:
        known = ", ".join(model.name for model in found.generators)
        raise InputError(f"{path}: there is no generator {flags.generator!r}; there are {known}")
    over = _settings(flags.generator_settings)
    reading = {**found.reader_settings, **_settings(flags.reader_settings)}
    return [_job(whole, model.name, {**model.settings, **over}, output / model.run_folder, reading) for model in models]


def _job(flags: Order, name: str, settings: dict[str, Any], folder: Path, reading: dict[str, Any] | None = None) -> Job:
    from worldodds.registry import make_generator, make_reader
    from worldodds.suites import find_suite

    suite = find_suite(flags.suite or "calibench")
    maker = make_generator(name, settings)
    reading = _settings(flags.reader_settings) if reading is None else reading
    return Job(
        suite=suite.only(flags.scenes) if flags.scenes else suite,
        generator=maker,
        readers=tuple(make_reader(reader, reading) for reader in flags.readers or ("tracker",) if reader != "none"),
        n=flags.n,
        folder=folder,
        workers=flags.workers,
        max_cost=flags.max_cost,
        prices=flags.prices,
        rebuy=flags.rebuy,
        stop=flags.stop,
        json_log=flags.json_log,
        experiment=flags.experiment,
        words=("worldodds", *_said()),
    )


def purse_for(job: Job, spent_usd: float) -> Purse:
    """Return what a job may spend, after ``spent_usd`` went to others of its experiment.

    Raises:
        InputError: a limit is set, and no price is known by which to heed it.
    """
    from worldodds.pricing import load_prices, per_clip_usd
    from worldodds.purse import Purse

    estimate = per_clip_usd(job.generator, load_prices(job.prices))
    if job.max_cost is None:
        return Purse(per_clip_usd=estimate or 0.0)
    if estimate is None:
        raise InputError(
            f"max-cost: no price is known for a clip of {job.generator.name} with these settings; "
            "put it into a table of your own and name it with --prices, as docs/generators.md shows"
        )
    return Purse(limit_usd=max(0.0, job.max_cost - spent_usd), per_clip_usd=estimate)


def keep_experiment(job: Job, store: RunStore) -> None:
    """Put a copy of the experiment's file into the run's folder."""
    if job.experiment:
        target = store.folder / "experiment.toml"
        shutil.copyfile(job.experiment, target.with_suffix(".part"))
        target.with_suffix(".part").replace(target)


def _settings(pairs: tuple[str, ...]) -> dict[str, Any]:
    from worldodds.registry import parse_settings

    return dict(parse_settings(pairs))


def _said() -> list[str]:
    """Return the words of the command line as they were typed, without what is said once only."""
    from worldodds.cli import said

    return [word for word in said() if word not in ("--rebuy", "--dry-run")] or sys.argv[1:]
