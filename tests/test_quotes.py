"""What is ordered and what it costs, told before anything is paid: as text and JSON, by the token and by the vote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from worldodds import plan
from worldodds.cli import call
from worldodds.fake_provider import FakeProvider, LocalServer
from worldodds.interop.documents import PlanDocument
from worldodds.interop.money_json import DryRunDocument
from worldodds.pricing import load_prices
from worldodds.pricing.tokens import tokens_of
from worldodds.quotes import quote
from worldodds.registry import make_generator, make_reader
from worldodds.suites import find_suite

pytestmark = pytest.mark.usefixtures("canned_reader")

PRICES = """
format = "worldodds.prices/1"
[[price]]
model = "server/*"
per = "clip"
low_usd = 0.2
high_usd = 0.25
read_on = 2026-11-30
source = "the test"
[[price]]
model = "vlm/*"
per = "million input tokens"
low_usd = 1
high_usd = 2
read_on = 2026-11-30
source = "the test"
[[price]]
model = "vlm/*"
per = "million output tokens"
low_usd = 4
high_usd = 4
read_on = 2026-11-30
source = "the test"
"""


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(PRICES)
    return path


@pytest.fixture
def url() -> Iterator[str]:
    with LocalServer(FakeProvider(outcomes={"coin": 2, "die": 6})) as local:
        yield local.url


def judge(**settings: str | float) -> list[str]:
    words = ["--reader", "vlm/some/model", "-R", "api_key_env=none"]
    return [*words, *(word for name, value in settings.items() for word in ("-R", f"{name}={value}"))]


def dry_run(capsys: pytest.CaptureFixture[str], *words: str) -> DryRunDocument:
    assert call(["run", *words, "--dry-run", "--json"]) == 0
    return msgspec.json.decode(capsys.readouterr().out, type=DryRunDocument)


def test_the_document_has_what_the_text_tells(
    url: str, prices: Path, tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rollouts, readings from fewest to most votes, amounts, hours, what it shows, and the limit."""
    words = ["--generator", f"server/{url}", "--suite", str(tiny_folder), "-n", "6", "-o", str(tmp_path / "run")]
    words += ["--prices", str(prices), "--max-cost", "2", *judge(votes=3, frames="last")]
    found = dry_run(capsys, *words)
    (job,) = found.jobs
    assert (found.rollouts, found.readings_low, found.readings_high) == (12, 24, 36)
    assert [cost.per for cost in job.bill.costs] == ["clip", "million input tokens", "million output tokens"]
    clip, asked, replied = job.bill.costs
    assert (clip.low_usd, clip.high_usd) == (2.4, 3.0)
    assert (asked.low_usd, asked.high_usd) == (pytest.approx(24 * 450e-6), pytest.approx(36 * 2200e-6 * 2))
    assert (replied.low_usd, replied.high_usd) == (
        pytest.approx(24 * 40e-6 * 4),
        pytest.approx(36 * 2048e-6 * 4, abs=1e-6),
    )
    assert found.max_cost is not None
    assert found.max_cost.may_pass
    assert job.bill.in_flight
    assert set(job.shows) == {"coin", "die"}
    assert call(["run", *words, "--dry-run"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "12 rollouts to film, 24-36 readings" in out
    assert f"In all {found.low_usd:.2f} to {found.high_usd:.2f} USD." in out
    assert "--max-cost 2: 3.00 USD at most for clips may pass it" in out


def test_a_run_that_was_begun_orders_what_is_left(
    url: str, prices: Path, tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was filmed and read is not ordered again, a new reader reads what is here, and spent is what was paid."""
    base = ["--generator", f"server/{url}", "--suite", str(tiny_folder), "-o", str(tmp_path / "run")]
    canned, money = ["--reader", "canned"], ["--prices", str(prices), "--max-cost", "9"]
    assert call(["run", *base, *canned, *money, "-n", "2"]) == 0
    capsys.readouterr()
    again = dry_run(capsys, *base, *canned, *money, "-n", "2")
    assert (again.rollouts, again.readings_high, again.jobs[0].bill.costs[0].high_usd) == (0, 0, 0.0)
    assert again.jobs[0].spent_usd == pytest.approx(1.0)
    assert again.max_cost is not None
    assert not again.max_cost.may_pass
    more = dry_run(capsys, *base, *judge(votes=3), "-n", "3")
    assert (more.rollouts, more.readings_low, more.readings_high) == (2, 6 * 2, 6 * 3)
    other = ["--generator", "simulator/fair", *base[2:]]
    assert call(["run", *other, *canned, "--dry-run"]) == 2
    assert "this run was made with" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--generator", "replicate/google/veo-3.1"], "replicate/google/veo-3.1: no price in the table"),
        (["--generator", "openrouter/google/veo-3.1"], "openrouter/google/veo-3.1: the settings do not say how long"),
        (["--generator", "simulator/fair", *judge()], "vlm/some/model: no price in the table"),
    ],
)
def test_what_is_not_known_is_null_with_a_reason(
    words: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Never 0."""
    bill = dry_run(capsys, *words, "-o", str(tmp_path / "run"), "--scene", "dice").jobs[0].bill
    assert (bill.low_usd, bill.high_usd) == (None, None)
    assert any(line.startswith(reason) for line in bill.reasons)
    assert any(cost.reason and cost.low_usd is None for cost in bill.costs)


def test_an_experiment_is_summed(
    url: str, prices: Path, tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job a generator; an unknown part leaves the sum unknown."""
    file = tmp_path / "experiment.toml"
    text = f'format = "worldodds.experiment/1"\nsuite = "{tiny_folder}"\nn = 5\nreaders = ["none"]\n'
    text += (
        f'[[generators]]\nname = "server/{url}"\nfolder = "a"\n[[generators]]\nname = "server/{url}"\nfolder = "b"\n'
    )
    file.write_text(text)
    found = dry_run(capsys, str(file), "--prices", str(prices))
    assert (len(found.jobs), found.rollouts, found.high_usd) == (2, 20, 5.0)
    file.write_text(text + '[[generators]]\nname = "replicate/some/model"\n')
    assert dry_run(capsys, str(file), "--prices", str(prices)).high_usd is None
    assert call(["run", str(file), "--prices", str(prices), "--dry-run"]) == 0
    assert "All 3 generators: 30 rollouts to film, at a cost that is not known." in capsys.readouterr().out


def test_counted_odds_show_something_and_unknown_ones_are_named(
    tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A suite whose odds were all counted in an experiment is not one without odds."""
    even = '[reference]\nkind = "uniform"\nreason = "A coin has two like sides."\n'
    counted = (
        '[reference]\nkind = "counts"\ncounts = { heads = 81, tails = 51 }\nreason = "Counted."\nsource = "a test"\n'
    )
    coin, die = (tiny_folder / f"{name}.toml" for name in ("coin", "die"))
    coin.write_text(coin.read_text().replace(even, counted))
    die.write_text(die.read_text().replace(even.replace("coin", "die"), ""))
    words = ["--generator", "simulator/natural", "--reader", "none", "--suite", str(tiny_folder)]
    (job,) = dry_run(capsys, *words, "-n", "32", "-o", str(tmp_path / "run")).jobs
    assert job.shows["coin"].detectable_tv is not None
    assert job.no_reference == ("die",)
    assert call(["run", *words, "-n", "32", "-o", str(tmp_path / "run"), "--dry-run"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "At n = 32 a TV of" in out
    assert "Nothing for scenes without odds: die." in out


def test_plan_tells_money_and_needs_a_generator_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The bill is in its document; words that only a price needs are refused alone, before the plan is printed."""
    words = ["plan", "--scene", "dice", "--generator", "runway/gen4_turbo", "--json"]
    assert call([*words, "--reader", "gemini/gemini-3.5-flash"]) == 0
    found = msgspec.json.decode(capsys.readouterr().out, type=PlanDocument)
    assert found.bill is not None
    assert (found.bill.seconds, found.bill.costs[0].high_usd, found.bill.readings_high) == (160, 8.0, 32)
    assert call(["plan", "--scene", "dice", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bill"] is None
    for idle in (["--reader", "tracker"], ["-G", "a=1"], ["-R", "votes=3"], ["--workers", "2"], ["--prices", "x.toml"]):
        assert call(["plan", *idle]) == 2
        told = capsys.readouterr()
        assert f"{idle[0]} tells what clips cost, which needs a world model" in told.err
        assert told.out == ""
    assert call(["run", "--generator", "simulator/fair", "-o", "x", "--json"]) == 2
    assert "--json prints what --dry-run tells" in capsys.readouterr().err


def test_a_price_of_ones_own_settings_goes_before_the_table(tmp_path: Path) -> None:
    """Two prices a judge, without a day on which they were read; a table without days is refused."""
    suite = find_suite("calibench").only(["dice"])
    reader = make_reader("gemini/gemini-3.5-flash", {"input_usd": 10, "output_usd": 20, "frames": "4"})
    planned = plan(suite, make_generator("runway/gen4_turbo"), [reader], 1)
    asked, replied = quote(planned, load_prices()).bill.judging
    assert (asked.low_usd, asked.high_usd) == (pytest.approx(1200e-6 * 10), pytest.approx(6100e-6 * 10))
    assert replied.high_usd == pytest.approx(2048e-6 * 20)
    assert asked.price is not None
    assert asked.price.read_on is None
    path = tmp_path / "undated.toml"
    path.write_text("\n".join(line for line in PRICES.splitlines() if "read_on" not in line))
    with pytest.raises(Exception, match="read_on is missing"):
        load_prices(path)


def test_pictures_follow_the_sampling() -> None:
    """One for the last frame, some a second for a whole clip, none known where the clip's length is not."""
    scene = find_suite("calibench").only(["dice"]).scenes[0]

    def most(name: str = "gemini/m", seconds: float | None = 4.0, **settings: float | str) -> float | None:
        found = tokens_of(make_reader(name, settings), scene, seconds)
        return found and found.asked[1] - 900

    assert most(frames="last", seconds=None) == 1300
    assert most(frames="2fps") == 10 * 1300
    assert most(frames="2fps", seconds=None) is None
    assert most(video_fps=2) == 8 * 300
    assert most("trust/gemini/m", frames="last") == 2 * 1300
    assert tokens_of(make_reader("tracker"), scene, 4.0) is None
