"""The command that tells what to buy, what it shows, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from worldodds.cli.whole import Rollouts
from worldodds.errors import InputError

if TYPE_CHECKING:
    from worldodds.plans import SuitePlan
    from worldodds.quotes import Quote

Flag = Annotated[bool, Parameter(negative=())]
Names = Annotated[tuple[str, ...], Parameter(negative=())]


def plan(
    *,
    suite: str = "calibench",
    scene: Names = (),
    tv: float = 0.2,
    delta: float = 0.2,
    n: Rollouts = None,
    scorability: float = 1.0,
    power: float = 0.8,
    generator: str | None = None,
    generator_settings: Annotated[tuple[str, ...], Parameter(name="-G", negative=())] = (),
    reader: Names = (),
    reader_settings: Annotated[tuple[str, ...], Parameter(name="-R", negative=())] = (),
    prices: Path | None = None,
    workers: int | None = None,
    json: Flag = False,
) -> int:
    """Tell what a suite's rollouts will show before you pay for them, and how many you need.

    Parameters
    ----------
    suite
        A suite's name or its folder.
    scene
        Plan only this scene; may be given more than once.
    tv
        The total variation that you want to see, as the paper's contamination spike.
    delta
        The total variation within which you want to certify calibration.
    n
        Rollouts of each scene; the suite's protocol says how many by default.
    scorability
        The share of clips that you expect to be readable.
    power
        How surely you want to see or certify it.
    generator
        A world model: tell what its clips cost too.
    generator_settings
        A setting of the generator, key=value; may be given more than once.
    reader
        Who reads the clips, tracker by default; may be given more than once.
    reader_settings
        A setting of the readers, key=value, such as votes=3; may be given more than once.
    prices
        A table of prices of your own.
    workers
        How many jobs the provider gets at once.
    json
        Print everything as JSON (format worldodds.plan/1).
    """
    from worldodds.plans import plan_suite
    from worldodds.suites import find_suite

    whole = find_suite(suite)
    planned = plan_suite(
        whole.only(scene) if scene else whole, n=n, tv=tv, delta=delta, power=power, scorability=scorability
    )
    words = _Words(suite, scene, n, generator_settings, reader, reader_settings, prices, workers)
    quote = words.quote(generator)
    if json:
        from worldodds.interop.documents import as_json, plan_document

        print(as_json(plan_document(planned, quote)))
        return 0
    _print_plan(planned)
    if quote:
        from worldodds.cli.money import print_bill

        print()
        print_bill(quote)
    return 0


class _Words(NamedTuple):
    """What was said of a generator and of whom its clips are read by."""

    suite: str
    scenes: tuple[str, ...]
    n: int | None
    generator_settings: tuple[str, ...]
    readers: tuple[str, ...]
    reader_settings: tuple[str, ...]
    prices: Path | None
    workers: int | None

    def quote(self, generator: str | None) -> Quote | None:
        """Return what it costs; None where no generator is named.

        Raises:
            InputError: something that only a price needs was said, and no generator.
        """
        if generator is None:
            said = {"-G": self.generator_settings, "--reader": self.readers, "-R": self.reader_settings}
            said |= {"--prices": self.prices, "--workers": self.workers}
            if idle := [name for name, value in said.items() if value not in ((), None)]:
                raise InputError(
                    f"{idle[0]} tells what clips cost, which needs a world model; name it with --generator"
                )
            return None
        from worldodds.cli.money import quote_of
        from worldodds.cli.orders import Order, orders

        flags = Order(**self._asdict(), generator=generator, output=Path())
        return quote_of(orders(flags)[0], anew=True)


def _print_plan(plan: SuitePlan) -> None:
    from worldodds.cli.screen import console, table
    from worldodds.plans import experiment_words

    rows = table(
        "scene",
        f">TV seen\nat n = {plan.n}",
        f">n to see\nTV {plan.tv:g}",
        f">n to certify\nwithin {plan.delta:g}",
        ">early stop, mean n\nif calibrated",
        f">\nif off by TV {plan.tv:g}",
    )
    for scene_id, scene in plan.scenes.items():
        rows.add_row(
            scene_id,
            number(scene.detectable_tv, ".2f"),
            number(scene.n_to_detect, "d"),
            str(scene.n_to_certify),
            f"{scene.expected_at_reference:.1f}",
            number(scene.expected_at_tv, ".1f"),
        )
    screen, early = console(), ""
    if plan.scenes:
        screen.print(rows)
        early = f"; with early stopping {plan.expected_at_reference:.0f} if it is calibrated"
    screen.print(
        f"\nOne model at n = {plan.n}: {plan.rollouts} rollouts{early}. Power {plan.power:g}, "
        f"scorability {plan.scorability:g}. TV is the paper's contamination spike; n counts nulls."
    )
    for scene_id, scene in plan.scenes.items():
        if scene.n_to_certify != scene.n_by_formula:
            screen.print(f"{scene_id}: the chi-squared formula alone would say {scene.n_by_formula} to certify.")
    for scene_id, scene in plan.uncertain.items():
        screen.print(f"{scene_id}: {experiment_words(scene, plan)}", soft_wrap=True)
    if plan.unknown:
        screen.print(f"No reference odds, so no plan: {', '.join(plan.unknown)}.")


def number(value: float | None, form: str) -> str:
    """Write a number, or a dash where there is none."""
    return "-" if value is None else format(value, form)
