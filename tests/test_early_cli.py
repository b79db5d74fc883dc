"""Early stopping from the command line: paid for at a provider, shown on the screen, told in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldodds.cli import call
from worldodds.cli.watch import _Board
from worldodds.fake_provider import FakeProvider, LocalServer
from worldodds.progress import Progress
from worldodds.scene import Suite
from worldodds.testing import CannedReader

PRICES = """
format = "worldodds.prices/1"
[[price]]
model = "server/*"
per = "clip"
low_usd = 0.5
high_usd = 0.5
read_on = 2026-11-30
source = "the test"
"""


pytestmark = pytest.mark.usefixtures("canned_reader")


@pytest.fixture
def provider() -> Iterator[tuple[FakeProvider, str]]:
    """Sell a coin that always shows heads, and an even die, at half a dollar a clip."""
    fake = FakeProvider(outcomes={"coin": 1, "die": 6}, cost_usd=0.5)
    with LocalServer(fake) as local:
        yield fake, local.url


def words(folder: Path, suite: Path, url: str, *more: str) -> list[str]:
    base = ["run", "--generator", f"server/{url}", "--suite", str(suite), "--reader", "canned"]
    return [*base, "-n", "16", "-o", str(folder), *more]


def test_a_provider_is_paid_for_what_the_verdicts_need(
    provider: tuple[FakeProvider, str], tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 0, what was saved in rollouts and USD, and the same command again buys nothing."""
    fake, url = provider
    folder = tmp_path / "run"
    assert call(words(folder, tiny_folder, url, "--stop", "early")) == 0
    assert len(fake.sold) == 28
    out = " ".join(capsys.readouterr().out.split())
    assert "28 of 32 rollouts bought, 4 saved (12%), 14.00 USD paid, about 2.00 USD saved" in out
    assert "coin: 12 of 16 bought, verdict stood after 12 (e-value 357), 6.00 USD paid, about 2.00 USD saved" in out
    assert "mnTV is not comparable" in out
    assert call(words(folder, tiny_folder, url)) == 0
    assert len(fake.sold) == 28
    capsys.readouterr()
    assert call(["status", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "not needed" in out
    assert "Nothing is open." in out
    assert call(["score", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["models"][f"server/{url.removeprefix('http://')}"]
    assert (told["early"]["cost_usd"], told["early"]["saved_usd"]) == (14.0, 2.0)
    assert told["cells"]["coin"]["early"]["saved"] == 4
    assert call(["monitor", str(folder), "--replay"]) == 0
    assert "28 of 28 rollouts needed" in capsys.readouterr().out


def test_money_may_end_before_the_verdicts_stand(
    provider: tuple[FakeProvider, str], tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3 with the reason; with more money the same command ends as if it had had it from the start."""
    fake, url = provider
    (tmp_path / "prices.toml").write_text(PRICES)
    money = ["--stop", "early", "--prices", str(tmp_path / "prices.toml"), "--max-cost"]
    assert call(words(tmp_path / "run", tiny_folder, url, *money, "5")) == 3
    assert len(fake.sold) == 10
    out = capsys.readouterr().out
    assert "--max-cost 5 is reached" in out
    assert "may yet be wanted" in out
    assert call(["status", str(tmp_path / "run")]) == 3
    assert call(words(tmp_path / "run", tiny_folder, url, *money, "50")) == 0
    assert len(fake.sold) == 28


def test_a_dry_run_says_what_may_be_saved(
    provider: tuple[FakeProvider, str], tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For a calibrated model next to nothing, for one that is far off a good part; nothing is bought."""
    fake, url = provider
    assert call(words(tmp_path / "run", tiny_folder, url, "--stop", "early", "--dry-run")) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "With --stop early about 32 of 32 rollouts if every scene is calibrated, about 2" in out
    assert fake.sold == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--reader", "none", "--stop", "early"], "early stopping needs a reader, whose readings decide"),
        (["-n", "3", "--stop", "early"], "3 rollouts are too few to stop early"),
        (["--stop", "erly"], 'Did you mean "early"?'),
    ],
)
def test_what_cannot_be_is_one_sentence(
    more: list[str], message: str, tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is made."""
    base = ["run", "--generator", "server/127.0.0.1:9", "--suite", str(tiny_folder), "-o", str(tmp_path / "run")]
    reader = [] if "--reader" in more else ["--reader", "canned"]
    assert call([*base, *reader, *more]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


EXPERIMENT = """
format = "worldodds.experiment/1"
suite = "{suite}"
readers = ["canned"]
n = 16
stop = "{stop}"

[[generators]]
name = "server/{url}"
folder = "one"
"""


def test_an_experiment_may_say_it(
    provider: tuple[FakeProvider, str], tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A flag counts instead of its line; a word that it does not know is refused."""
    fake, url = provider
    file = tmp_path / "experiment.toml"
    file.write_text(EXPERIMENT.format(suite=tiny_folder, url=url, stop="early"))
    assert call(["run", str(file), "--scene", "coin"]) == 0
    assert len(fake.sold) == 12
    assert call(["run", str(file), "--scene", "coin", "--stop", "never"]) == 0
    assert len(fake.sold) == 16
    file.write_text(EXPERIMENT.format(suite=tiny_folder, url=url, stop="soon"))
    assert call(["run", str(file)]) == 2
    assert "stop" in capsys.readouterr().err


class ThreeVotes(CannedReader):
    """A reader whose votes are settled by three."""

    @property
    def settings(self) -> dict[str, Any]:
        return {"votes": 3}


def read(rollout: str, label: str | None, reader: str = "canned") -> Progress:
    status = "outcome" if label else "unreadable"
    return Progress(
        step="read", scene="coin", done=1, total=9, status=status, label=label, reader=reader, rollout=rollout
    )


def test_the_board_shows_one_readers_settled_readings(tiny: Suite) -> None:
    """Votes of one clip count once, when they are settled, and other readers' not at all."""
    board = _Board("model", tiny, ThreeVotes())
    for label in ("heads", "tails", "heads"):
        board.note(read("a", label))
    board.note(read("b", "tails"))
    board.note(read("c", None))
    board.note(read("c", None))
    board.note(read("a", "tails", reader="another"))
    cell = board._cells["coin"]
    assert (dict(cell.labels), cell.nulls) == ({"heads": 1}, 1)


def test_the_board_has_one_bar_a_step_whatever_the_waves(tiny: Suite) -> None:
    """A wave that is through makes room for the next."""
    board = _Board("model", tiny, CannedReader())
    for total in (2, 3):
        for done in range(1, total + 1):
            board.note(Progress(step="film", scene="coin", done=done, total=total, status="done"))
    (bar,) = board._bars.tasks
    assert (bar.completed, bar.total) == (3, 3)


def test_the_board_calls_a_cell_by_the_rules_own_bar(tiny: Suite) -> None:
    """From E = 100 on, which eleven heads of a fair coin pass and eight do not."""
    board = _Board("model", tiny, CannedReader())
    seen: list[str] = []
    for i in range(11):
        board.note(read(str(i), "heads"))
        seen.append(board._stands("coin", board._cells["coin"].labels))
    assert seen[0].startswith("e-value 1")
    assert seen[-1] == "miscalibrated"
    assert all(told.startswith("e-value") for told in seen[:8])
