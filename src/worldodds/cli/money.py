"""What a run orders and costs, printed before anything is paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from worldodds.pricing.bill import NO_LENGTH, NO_PRICE, total

if TYPE_CHECKING:
    from worldodds.cli.orders import Job
    from worldodds.pricing.bill import Bill, Cost
    from worldodds.quotes import Quote, Saving


def quote_of(job: Job, *, anew: bool = False) -> Quote:
    """Work out what one job still orders, all if ``anew``, what that costs, and what all of it will show."""
    from worldodds.cli.orders import purse_for
    from worldodds.engine import plan
    from worldodds.pricing import load_prices
    from worldodds.quotes import quote
    from worldodds.run_folder import is_run
    from worldodds.store import RunStore

    whole = plan(job.suite, job.generator, job.readers, job.n, stop=job.stop)
    prices = load_prices(job.prices)
    purse_for(job, 0.0)  # a limit without a price is refused now, as the run will refuse it
    if anew or not is_run(job.folder):
        return quote(whole, prices, workers=job.workers)
    with RunStore(job.folder, write=False) as store:
        return quote(whole, prices, store=store, workers=job.workers)


def print_dry_run(jobs: Sequence[Job], *, json: bool = False) -> int:
    """Print each job's bill, what is done of it already, and what it shows; their sum where there are several."""
    from worldodds.cli.screen import console
    from worldodds.interop.money_json import dry_run_json, limit_entry

    found = [(str(job.folder), quote_of(job)) for job in jobs]
    limit = jobs[0].max_cost
    if json:
        print(dry_run_json(found, limit))
        return 0
    screen = console()
    for folder, one in found:
        print_bill(one, f"into {folder}")
        screen.print(_shows(one), markup=False)
        if one.saving:
            screen.print(_early(one.saving), markup=False)
    if len(found) > 1:
        screen.print(_all(found), markup=False)
    if limit is not None:
        held = limit_entry([one for _, one in found], limit)
        spent = f"{held.spent_usd:.2f} USD spent before and " if held.spent_usd else ""
        far = "may pass it: the run then stops before it" if held.may_pass else "stay within it"
        told = f"--max-cost {limit:g}: {spent}{held.clips_high_usd:.2f} USD at most for clips {far}."
        screen.print(f"{told} What readings cost is not held by it.", markup=False)
    return 0


def print_bill(found: Quote, where: str = "") -> None:
    """Print what one plan still orders and what that costs."""
    from worldodds.cli.screen import console, table

    rows = table("", ">units", "per", ">USD, low", ">high")
    for cost in found.bill.costs:
        rows.add_row(*_row(cost))
    screen = console()
    name = " ".join(part for part in (found.plan.generator.name, where) if part)
    screen.print(f"{name}: {_size(found.bill)}", markup=False)
    screen.print(rows)
    for line in dict.fromkeys(_told(cost) for cost in found.bill.costs):
        screen.print(f"  {line}", markup=False, style="dim")
    screen.print(_total(found.bill), markup=False)


def _row(cost: Cost) -> tuple[str, ...]:
    units = _span(cost.least, cost.most, "{:.4g}" if "million" in cost.per else "{:g}")
    if cost.price is None:
        return cost.name, units, cost.per, "?", "?"
    return cost.name, units, cost.per, f"{cost.low_usd:.2f}", f"{cost.high_usd:.2f}"


def _told(cost: Cost) -> str:
    """Say where a price comes from, or why there is none."""
    if cost.price is None:
        return f"{cost.name}: {cost.reason}"
    read = f", read on {cost.price.read_on}" if cost.price.read_on else ""
    return f"{cost.name}: {cost.price.source}{read}"


def _size(bill: Bill) -> str:
    seconds = "" if bill.seconds is None else f", {bill.seconds:g} s of video"
    return f"{bill.rollouts} rollouts to film{seconds}, {_span(*bill.readings, '{}')} readings"


def _span(low: float, high: float, form: str) -> str:
    return form.format(high) if low == high else f"{form.format(low)}-{form.format(high)}"


def _total(bill: Bill) -> str:
    if bill.low_usd is None or bill.high_usd is None:
        money = f"What it costs in all is not known: {_next_step(bill)}."
    else:
        money = f"In all {bill.low_usd:.2f} to {bill.high_usd:.2f} USD."
    if bill.hours is None:
        return f"{money} Clips are made here: how long that takes only filming tells."
    low, high = bill.hours
    return f"{money} With {bill.in_flight} jobs at once about {low:.1f} to {high:.1f} hours."


def _next_step(bill: Bill) -> str:
    reasons = {cost.reason for cost in bill.costs}
    steps = ["put the missing price into a table of your own (--prices)"] if NO_PRICE in reasons else []
    steps += ["set the length of a clip (-G), where the generator takes one"] if NO_LENGTH in reasons else []
    return "; ".join(steps)


def _all(found: Sequence[tuple[str, Quote]]) -> str:
    bills = [one.bill for _, one in found]
    low, high = total(bill.low_usd for bill in bills), total(bill.high_usd for bill in bills)
    money = "at a cost that is not known" if low is None or high is None else f"{low:.2f} to {high:.2f} USD"
    return f"\nAll {len(found)} generators: {sum(bill.rollouts for bill in bills)} rollouts to film, {money}."


def _early(saving: Saving) -> str:
    of = f"about {saving.if_calibrated:.0f} of {saving.planned} rollouts if every scene is calibrated"
    off = f"about {saving.if_off:.0f} if each is off by a TV of {saving.tv:g}"
    return f"With --stop early {of}, {off}; the cost above is for all of them."


def _shows(found: Quote) -> str:
    shows = found.shows
    scenes = [*shows.scenes.values(), *shows.uncertain.values()]
    detectable = [scene.detectable_tv for scene in scenes if scene.detectable_tv is not None]
    certifiable = [scene.certifiable_delta for scene in scenes if scene.certifiable_delta is not None]
    none = f" Nothing for scenes without odds: {', '.join(shows.unknown)}." if shows.unknown else ""
    if not scenes:
        return "Nothing can be said of what it shows: no scene has odds."
    if not detectable and not certifiable:
        return f"At n = {shows.n} nothing is seen or certified: that is too few for any scene.{none}"
    seen = f"a TV of {_range(detectable)} is seen" if detectable else "no TV is seen"
    sure = f"; calibration is certified within {_range(certifiable)}" if certifiable else ""
    return f"At n = {shows.n} {seen}{sure} (power {shows.power:g}).{none}"


def _range(numbers: Sequence[float]) -> str:
    low, high = f"{min(numbers):.2f}", f"{max(numbers):.2f}"
    return low if low == high else f"{low} to {high}, by scene"
