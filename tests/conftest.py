"""Shared by all tests: no network, quick hypothesis, and a small suite of our own on disk."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from worldodds import video
from worldodds.scene import Suite, load_suite
from worldodds.worlds.gl import load_mujoco

# MuJoCo chooses how to draw when it is imported: so here, before any test that plays with its environment
load_mujoco()

settings.register_profile("worldodds", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("worldodds")

COIN = """
format = "worldodds.scene/1"
id = "coin"
title = "A coin"
prompt = "A coin is flipped and lands flat on the table."
labels = ["heads", "tails"]
frame = "frames/coin.png"

[readout]
evidence = "last frame"
question = "Which side is up?"

[[readout.nulls]]
name = "blank"
kind = "unreadable"
rule = "Nothing can be seen."

[reference]
kind = "uniform"
reason = "A coin has two like sides."
"""

DIE = COIN.replace("coin", "die").replace('"heads", "tails"', '"1", "2", "3", "4", "5", "6"')

SUITE = """
format = "worldodds.suite/1"
id = "tiny"
title = "Two scenes for tests"
version = "1"
source = "made for tests"
scenes = ["coin", "die"]

[protocol]
rollouts = 6
aggregate = "mntv"
"""


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that leaves this machine."""
    connect = socket.socket.connect

    def only_here(self: socket.socket, address: object) -> None:
        if self.family != socket.AF_UNIX:
            assert isinstance(address, tuple)
            host = str(address[0])
            assert host == "localhost" or ipaddress.ip_address(host).is_loopback, f"a test may not reach {host}"
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", only_here)


@pytest.fixture(autouse=True)
def _own_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep certificates of tests away from the user's."""
    monkeypatch.setenv("WORLDODDS_CERTIFICATES", str(tmp_path / "certificates"))


@pytest.fixture
def tiny_folder(tmp_path: Path) -> Path:
    """Return a folder with a suite of two scenes, frames included."""
    folder = tmp_path / "tiny"
    (folder / "frames").mkdir(parents=True)
    for name, text in (("coin", COIN), ("die", DIE), ("suite", SUITE)):
        (folder / f"{name}.toml").write_text(text)
    for shade, name in enumerate(("coin", "die")):
        video.write_still(np.full((64, 64, 3), 60 * shade, dtype=np.uint8), folder / "frames" / f"{name}.png")
    return folder


@pytest.fixture
def tiny(tiny_folder: Path) -> Suite:
    """Return the small suite."""
    return load_suite(tiny_folder)


@pytest.fixture
def canned_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command line name the reader of canned clips."""
    from worldodds import registry

    monkeypatch.setitem(registry._READERS, "canned", "worldodds.testing:CannedReader")
