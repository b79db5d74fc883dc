"""What a run orders and costs, printed before anything is paid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldodds.cli.orders import Job
    from worldodds.pricing import Bill, Cost
    from worldodds.scene import Suite

FAR_OFF = 0.5  # a TV at which early stopping shows what it saves


def print_dry_run(jobs: Sequence[Job]) -> int:
    """Print each job's bill, what is done of it already, and what it shows."""
    for job in jobs:
        print_bill(job)
    return 0


def print_bill(job: Job) -> None:
    """Print what one job still orders, what that costs, and what all of it will show."""
    from worldodds.cli.screen import console, table
    from worldodds.engine import pending, plan
    from worldodds.plans import plan_suite
    from worldodds.pricing import bill, load_prices
    from worldodds.run_folder import is_run
    from worldodds.store import RunStore

    whole = plan(job.suite, job.generator, job.readers, job.n, stop=job.stop)
    wanted = len(job.suite.scenes) * whole.n
    if is_run(job.folder):
        with RunStore(job.folder, write=False) as store:
            wanted = len(pending(whole, store))
    found = bill(job.generator, job.readers, load_prices(job.prices), rollouts=wanted, workers=job.workers)
    shown = plan_suite(job.suite, n=job.n)
    rows = table("", ">units", "per", ">USD, low", ">high", "price read", "source")
    for cost in found.costs:
        rows.add_row(*_row(cost))
    screen = console()
    screen.print(f"{job.generator.name} into {job.folder}: {_size(found)}", markup=False)
    screen.print(rows)
    screen.print(_total(found, job.max_cost), markup=False)
    screen.print(_shows(shown.n, shown.scenes), markup=False)
    if job.stop == "early":
        screen.print(_early(job.suite, whole.n), markup=False)


def print_plan_bill(
    generator: str,
    settings: tuple[str, ...],
    suite: str,
    n: int | None,
    readers: tuple[str, ...],
    prices: Path | None,
    workers: int | None,
) -> None:
    """Print the bill of a plan, for ``worldodds plan --generator``."""
    from worldodds.cli.orders import Order, orders

    flags = Order(
        generator=generator,
        output=Path("a new folder"),
        suite=suite,
        readers=readers,
        scenes=(),
        n=n,
        generator_settings=settings,
        reader_settings=(),
        workers=workers,
        max_cost=None,
        prices=prices,
        rebuy=False,
        stop=None,
        json_log=None,
        experiment=None,
    )
    print_bill(orders(flags)[0])


def _row(cost: Cost) -> tuple[str, ...]:
    if cost.price is None:
        return cost.name, f"{cost.units:g}", cost.per, "?", "?", "", "not in the table, or the settings say no length"
    low, high = f"{cost.low_usd:.2f}", f"{cost.high_usd:.2f}"
    return cost.name, f"{cost.units:g}", cost.per, low, high, str(cost.price.read_on), cost.price.source


def _size(found: Bill) -> str:
    seconds = "" if found.seconds is None else f", {found.seconds:g} s of video"
    return f"{found.rollouts} rollouts to film{seconds}, {found.readings} readings"


def _total(found: Bill, limit: float | None) -> str:
    if found.high_usd is None:
        money = "What it costs in all is not known: put the missing price into a table of your own (--prices)."
    else:
        money = f"In all {found.low_usd:.2f} to {found.high_usd:.2f} USD."
        if limit is not None and found.high_usd > limit:
            money += f" That may pass --max-cost {limit:g}; the run then stops before it."
    if found.hours is None:
        return money
    low, high = found.hours
    return f"{money} With {found.in_flight} jobs at once about {low:.1f} to {high:.1f} hours."


def _early(suite: Suite, n: int) -> str:
    """Say about how many rollouts early stopping leaves, on average over seeded paths, waves included."""
    from worldodds.statistics.planner import expected_rollouts
    from worldodds.statistics.power import default_spike
    from worldodds.statistics.waves import EarlyRule
    from worldodds.stopping import odds_of

    if any(scene.reference and scene.reference.counts for scene in suite.scenes):
        return "Some odds were counted in an experiment; early stopping needs odds that are known."
    rule = EarlyRule(horizon=n)
    known = [odds for scene in suite.scenes if (odds := odds_of(scene))]
    means: list[float] = []
    for wanted in (0.0, FAR_OFF):
        reach = [min(wanted, 1 - float(odds.probabilities[default_spike(odds)])) for odds in known]
        each = [expected_rollouts(odds, tv=tv, rule=rule.cell) for odds, tv in zip(known, reach, strict=True)]
        means.append(sum(min(n, mean + (rule.wave - 1) / 2) for mean in each) + n * (len(suite.scenes) - len(known)))
    of = f"about {means[0]:.0f} of {n * len(suite.scenes)} rollouts if every scene is calibrated"
    off = f"about {means[1]:.0f} if each is off by a TV of {FAR_OFF:g}"
    return f"With --stop early {of}, {off}; the cost above is for all of them."


def _shows(n: int, scenes: object) -> str:
    found = getattr(scenes, "values", lambda: ())()
    detectable = [scene.detectable_tv for scene in found if scene.detectable_tv is not None]
    certifiable = [scene.certifiable_delta for scene in found if scene.certifiable_delta is not None]
    if not detectable:
        return "Nothing can be said of what it shows: no scene has odds, or n is too small for any."
    seen = f"At n = {n} a TV of {min(detectable):.2f} to {max(detectable):.2f} is seen, by scene"
    sure = f"; calibration is certified within {min(certifiable):.2f} to {max(certifiable):.2f}" if certifiable else ""
    return f"{seen}{sure} (power 0.8)."
