"""Money, experiments, what is open and what closes it: from the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from worldodds.cli import call
from worldodds.errors import InputError
from worldodds.fake_provider import FakeProvider, LocalServer, Response
from worldodds.interop.status_json import StatusDocument
from worldodds.pricing import load_prices, per_clip_usd, price_of
from worldodds.registry import make_generator
from worldodds.store import RunStore

PRICES = """
format = "worldodds.prices/1"
[[price]]
model = "server/*"
per = "clip"
low_usd = 0.2
high_usd = 0.25
read_on = 2026-11-30
source = "the test"
"""


pytestmark = pytest.mark.usefixtures("canned_reader")


@pytest.fixture
def provider() -> Iterator[tuple[FakeProvider, str]]:
    fake = FakeProvider(outcomes={"coin": 2, "die": 6})
    with LocalServer(fake) as local:
        yield fake, local.url


def words(folder: Path, suite: Path, url: str, *more: str) -> list[str]:
    base = ["run", "--generator", f"server/{url}", "--suite", str(suite), "--reader", "canned"]
    n = () if "-n" in more else ("-n", "2")
    return [*base, *n, "-o", str(folder), *more]


def test_status_names_what_is_open_and_the_command_that_closes_it(
    provider: tuple[FakeProvider, str], tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3 while anything is open, with bounds; the command given closes it; then 0."""
    fake, url = provider
    lost = Response(status=404, body={"message": "no such job"})
    fake.fault = lambda step, token, _: lost if step == "poll" and fake.jobs[token][1]["seed"] == 1 else None
    folder = tmp_path / "my run"
    assert call(words(folder, tiny_folder, url)) == 3
    capsys.readouterr()
    assert call(["status", str(folder), "--json"]) == 3
    text = capsys.readouterr().out
    assert msgspec.json.decode(text, type=StatusDocument, strict=True).run == str(folder)
    found = json.loads(text)
    assert found["format"] == "worldodds.status/1"
    assert found["scenes"]["coin"]["rollouts"] == {"done": 1, "failed": 1}
    low, high = found["scenes"]["coin"]["score_bounds"]
    assert low < high
    assert len(found["open"]) == 2
    assert all("perhaps bought" in line for line in found["open"])
    (command,) = found["close_with"]
    assert command.endswith("--rebuy")
    fake.fault = lambda *_: None
    import shlex

    assert call(shlex.split(command)[1:]) == 0
    capsys.readouterr()
    assert call(["status", str(folder)]) == 0
    assert "Nothing is open." in capsys.readouterr().out


def test_a_missing_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2."""
    assert call(["status", str(tmp_path)]) == 2
    assert "no run here" in capsys.readouterr().err


def test_a_dry_run_buys_nothing_and_makes_nothing(
    provider: tuple[FakeProvider, str], tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says how many rollouts, what they cost and what they show."""
    fake, url = provider
    (tmp_path / "prices.toml").write_text(PRICES)
    more = ["-n", "6", "--dry-run", "--prices", str(tmp_path / "prices.toml"), "--max-cost", "0.9"]
    assert call(words(tmp_path / "run", tiny_folder, url, *more)) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "12 rollouts to film" in out
    assert "2.40 3.00" in out
    assert "At n = 6 a TV of" in out
    assert fake.sold == []
    assert not (tmp_path / "run").exists()


def test_max_cost_ends_a_run_before_the_limit(
    provider: tuple[FakeProvider, str], tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3, the reason, and the same command with more money goes on."""
    fake, url = provider
    (tmp_path / "prices.toml").write_text(PRICES)
    money = ["--prices", str(tmp_path / "prices.toml"), "--max-cost"]
    assert call(words(tmp_path / "run", tiny_folder, url, *money, "0.8")) == 3
    assert len(fake.sold) == 3
    assert "--max-cost 0.8 is reached: 0.75 USD" in capsys.readouterr().out
    assert call(words(tmp_path / "run", tiny_folder, url, *money, "1")) == 0
    assert len(fake.sold) == 4


def test_max_cost_needs_a_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is not in the table is never guessed."""
    run = ["run", "--generator", "replicate/google/veo-3.1", "-o", str(tmp_path / "x"), "--max-cost", "5"]
    assert call(run) == 2
    assert "no price is known for a clip of replicate/google/veo-3.1" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


EXPERIMENT = """
format = "worldodds.experiment/1"
suite = "{suite}"
readers = ["canned"]
n = 3
output = "runs"

[[generators]]
name = "server/{url}"
folder = "plain"

[[generators]]
name = "server/{url}"
folder = "slow"
[generators.settings]
steps = 50
"""


def test_an_experiment_is_a_file(
    provider: tuple[FakeProvider, str], tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One run folder a generator with the file in each; flags count instead of its lines."""
    fake, url = provider
    file = tmp_path / "experiment.toml"
    file.write_text(EXPERIMENT.format(suite=tiny_folder, url=url))
    log = tmp_path / "log.jsonl"
    assert call(["run", str(file), "-n", "2", "--scene", "coin", "--json-log", str(log)]) == 0
    capsys.readouterr()
    assert len(fake.sold) == 4
    assert [body["settings"] for body in fake.bodies[-2:]] == [{"steps": 50}] * 2
    for name in ("plain", "slow"):
        assert (tmp_path / "runs" / name / "experiment.toml").read_text() == file.read_text()
    steps = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(steps) == 8
    assert {"at", "step", "scene", "status", "cost_usd"} <= steps[0].keys()
    assert call(["status", str(tmp_path / "runs/slow")]) == 0


def test_an_experiment_may_film_only_and_names_what_lies_beside_it(
    provider: tuple[FakeProvider, str], tiny_folder: Path, tmp_path: Path
) -> None:
    """An empty list of readers is no reader, and the suite is found from wherever the command is given."""
    _, url = provider
    (tmp_path / "there").mkdir()
    shutil.copytree(tiny_folder, tmp_path / "there" / "mine")
    file = tmp_path / "there" / "experiment.toml"
    file.write_text(EXPERIMENT.format(suite="mine", url=url).replace('["canned"]', "[]"))
    assert call(["run", str(file), "-n", "1", "--scene", "coin"]) == 0
    with RunStore(tmp_path / "there" / "runs" / "plain", write=False) as store:
        assert [rollout.status for rollout in store.rollouts().values()] == ["done"]
        assert not store.readings()


BAD_EXPERIMENTS = {
    "no such key": ("n = 3", "nn = 3", "no such key"),
    "shared folder": ('"slow"', '"plain"', "two generators share 'plain'"),
    "outside": ('"slow"', '"../slow"', "leads out of the output"),
    "unknown kind": ('name = "server/', 'name = "sever/', "Did you mean 'server'"),
}


@pytest.mark.parametrize("case", BAD_EXPERIMENTS)
def test_a_wrong_experiment_is_one_sentence(
    case: str, tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the first of its generators is begun."""
    old, new, message = BAD_EXPERIMENTS[case]
    file = tmp_path / "experiment.toml"
    file.write_text(EXPERIMENT.format(suite=tiny_folder, url="127.0.0.1:9").replace(old, new))
    assert call(["run", str(file)]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_plan_says_what_a_generator_costs(capsys: pytest.CaptureFixture[str]) -> None:
    """Seconds of video, low and high, and the price's date."""
    assert call(["plan", "--suite", "calibench", "--generator", "runway/gen4.5", "-n", "32"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "288 rollouts to film, 1440 s of video, 288 readings" in out
    assert "In all 172.80 to 172.80 USD." in out
    assert "2026-11-30" in out


def test_prices_are_never_guessed(tmp_path: Path) -> None:
    """A model without an entry has no price, and one by the second needs to know its seconds."""
    prices = load_prices()
    assert price_of("fal/some/model", prices) is None
    assert per_clip_usd(make_generator("openrouter/google/veo-3.1"), prices) is None
    assert per_clip_usd(make_generator("openrouter/google/veo-3.1", {"duration": 4}), prices) == 2.0
    (tmp_path / "p.toml").write_text(PRICES.replace("high_usd = 0.25", "high_usd = 0.1"))
    with pytest.raises(InputError, match="is no range"):
        load_prices(tmp_path / "p.toml")
