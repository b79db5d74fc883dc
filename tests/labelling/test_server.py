"""The page's server: one secret address on this machine, clips in parts, small and blind JSON, nothing lost."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldodds import video
from worldodds.cli import call
from worldodds.labelling.playable import CACHE, Projector, content_type
from worldodds.labelling.ranges import parse_range
from worldodds.labelling.session import open_session
from worldodds.rollout import Reading
from worldodds.store import RunStore

Serve = Callable[..., Any]  # returns the Client of conftest.py


def test_only_the_secret_address_answers(run_folder: Path, serve: Serve) -> None:
    """Without the secret, or under another host's name, or from another site's page, everything is refused."""
    ask = serve(run_folder)
    assert ask("GET", "sheet")[0] == 200
    for path in (
        "/",
        "/sheet",
        "/wrong/sheet",
        f"/{ask.server.token}",
        f"/{ask.server.token[:-1]}/sheet",
        "/%00/",
        "//",
    ):
        assert ask.raw("GET", path)[0] == 403, path
    for method in ("GET", "POST", "HEAD"):
        assert ask(method, "sheet", Host=f"evil.example:{ask.server.server_port}")[0] == 403
    assert ask("GET", "sheet", Host="127.0.0.1:1")[0] == 403
    assert ask("POST", "undo", {}, Origin="https://evil.example")[0] == 403
    assert ask("POST", "undo", {}, Origin=f"http://localhost:{ask.server.server_port}")[0] == 200


def test_it_listens_on_this_machine_only(run_folder: Path, serve: Serve) -> None:
    """The socket is bound to the loopback address, and every session has a secret of its own."""
    one, two = serve(run_folder), serve(run_folder)
    assert one.server.server_address[0] == "127.0.0.1"
    assert one.server.token != two.server.token
    assert len(one.server.token) >= 32


@pytest.mark.parametrize(
    "path",
    ["../run.sqlite", "clip/../../run.sqlite", "clip/..%2f..%2frun.sqlite", "label.html", "clip/-1", "clip/x", "clip/"],
)
def test_paths_lead_nowhere_else(run_folder: Path, serve: Serve, path: str) -> None:
    """Clips are named by their place; no other file can be asked for."""
    assert serve(run_folder)("GET", path)[0] == 404


def test_the_page_is_whole_and_keeps_to_itself(run_folder: Path, serve: Serve) -> None:
    """Page, style and script come from here, name no other place, and the policy forbids any."""
    ask = serve(run_folder)
    for name, kind in (("", "text/html"), ("label.css", "text/css"), ("label.js", "text/javascript")):
        status, headers, body = ask("GET", name)
        assert (status, headers["Content-Type"].partition(";")[0]) == (200, kind)
        assert b"//" not in re.sub(rb"(?m)(?<!:)//( |$).*", b"", body)
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"


def test_nothing_gives_the_model_away(run_folder: Path, serve: Serve) -> None:
    """Neither model, nor seed, nor index, nor path is in what the page is told."""
    ask = serve(run_folder)
    answers = [ask("GET", path) for path in ("sheet", *(f"task/{at}" for at in range(8)), "clip/0", "clip/99")]
    told = json.dumps([body if isinstance(body, dict) else "" for _, _, body in answers])
    told += json.dumps([headers for _, headers, _ in answers])
    assert not re.search(r"secret|canned|seed|index|rollout|\.mp4|r000|" + str(run_folder.parent), told)


def test_clips_come_in_parts(run_folder: Path, serve: Serve) -> None:
    """A range gives 206 and exactly those bytes; beyond the end is 416; no sense is the whole clip."""
    ask = serve(run_folder)
    whole = ask.server.session.task(0).clip.path.read_bytes()
    status, headers, body = ask("GET", "clip/0")
    assert (status, body, headers["Accept-Ranges"], headers["Content-Type"]) == (200, whole, "bytes", "video/mp4")
    status, headers, body = ask("GET", "clip/0", Range="bytes=5-99")
    assert (status, body, headers["Content-Range"]) == (206, whole[5:100], f"bytes 5-99/{len(whole)}")
    assert ask("GET", "clip/0", Range="bytes=-7")[2] == whole[-7:]
    assert ask("GET", "clip/0", Range=f"bytes={len(whole)}-")[0] == 416
    assert ask("GET", "clip/0", Range="lines=1-2")[::2] == (200, whole)
    assert ask("HEAD", "clip/0")[::2] == (200, b"")
    assert ask("GET", "clip/8")[0] == 404


@given(st.integers(1, 50), st.one_of(st.none(), st.integers(0, 60)), st.one_of(st.none(), st.integers(0, 60)))
def test_ranges_are_slices(size: int, first: int | None, last: int | None) -> None:
    """Whatever is asked for, what is given is the slice that the standard names, or nothing lies there."""
    header = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    content = bytes(range(size))
    if first is None:
        wanted = content if last is None else content[max(size - last, 0) :]
    else:
        wanted = content[first:] if last is None else content[first : last + 1] if last >= first else content
    if not wanted:
        with pytest.raises(IndexError):
            parse_range(header, size)
        return
    span = parse_range(header, size)
    assert (content[span.first : span.last + 1] if span else content) == wanted


def test_answers_are_saved_at_once(run_folder: Path, serve: Serve) -> None:
    """What is confirmed is in the ledger, with its note, and the next open clip is named."""
    ask = serve(run_folder)
    status, _, told = ask.answer(0, "heads", note="  a bit blurred ")
    assert (status, told) == (200, {"at": 0, "next": 1, "progress": [[1, 4], [0, 4]]})
    ask.answer(1, status="unreadable", reason="blank")
    with RunStore(run_folder, write=False) as store:
        kept = [stored for stored in store.readings().values() if stored.reader == "people/anna"]
    assert [stored.reading for stored in kept] == [
        Reading(status="outcome", label="heads", raw="a bit blurred"),
        Reading(status="unreadable", reason="blank"),
    ]
    assert ask("POST", "undo", {})[2]["at"] == 1
    assert ask("GET", "task/1")[2]["answer"]["status"] == "missing"
    assert ask("GET", "task/0")[2]["note"] == "a bit blurred"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"at": 0, "status": "outcome", "label": "edge"}, 400),
        ({"at": 99, "status": "outcome", "label": "heads"}, 400),
        ({"at": "0", "status": "outcome", "label": "heads"}, 400),
        ({"at": 0}, 400),
        ({"at": 0, "status": "unreadable", "model": "x"}, 400),
        ([], 400),
        (b"{", 400),
        (b"x" * 70_000, 400),
    ],
)
def test_bad_answers_are_refused(run_folder: Path, serve: Serve, body: object, status: int) -> None:
    """A wrong body is told so, and nothing is kept."""
    ask = serve(run_folder)
    answer = ask("POST", "answer", body)
    assert (answer[0], list(answer[2])) == (status, ["message"])
    assert ask.server.session.done == 0


def test_only_json_is_taken(run_folder: Path, serve: Serve) -> None:
    """A form, which any page could send, is refused."""
    ask = serve(run_folder)
    body = b'{"at": 0, "status": "outcome", "label": "heads"}'
    assert ask("POST", "answer", body, Content_Type="text/plain")[0] == 400


def test_a_full_disk_is_told_and_the_answer_is_not_shown(run_folder: Path, serve: Serve) -> None:
    """Where the ledger cannot be written, the page is told that nothing was saved."""
    ask = serve(run_folder)
    (run_folder / "run.sqlite").rename(run_folder / "away")
    status, _, told = ask.answer(0, "heads")
    assert status == 503
    assert told["message"].startswith("not saved:")


def test_two_people_at_once_do_not_meet(run_folder: Path, serve: Serve) -> None:
    """Each has a sheet and a ledger's reader of their own."""
    anna, bea = serve(run_folder, "anna"), serve(run_folder, "bea")
    anna.answer(0, "heads")
    bea.answer(0, "tails")
    assert (anna.server.session.done, bea.server.session.done) == (1, 1)
    with RunStore(run_folder, write=False) as store:
        assert {stored.reader for stored in store.readings().values()} == {"people/anna", "people/bea"}


def test_a_clip_that_is_gone_is_said_to_be(run_folder: Path, serve: Serve) -> None:
    """A changed clip is a fault of the clip: it is not shown, and cannot be answered."""
    ask = serve(run_folder)
    ask.server.session.task(0).clip.path.write_bytes(b"other")
    assert "no longer the file" in ask("GET", "task/0")[2]["fault"]
    assert ask("GET", "clip/0")[0] == 410
    assert ask.answer(0, "heads")[0] == 410


def film(path: Path, codec: str, pixels: str, container: str, size: tuple[int, int] = (64, 48)) -> Path:
    """Write twelve frames with some codec."""
    with av.open(str(path), "w", format=container) as out:
        stream = out.add_stream(codec, rate=12)
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        for i in range(12):
            picture = np.full((size[1], size[0], 3), 20 * i, dtype=np.uint8)
            out.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        out.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(
    ("codec", "pixels", "container", "plays"),
    [
        ("libx264", "yuv420p", "mp4", True),
        ("libvpx-vp9", "yuv420p", "webm", True),
        ("libx264", "yuv444p", "mp4", False),
        ("libx264", "yuv420p10le", "mp4", False),
        ("libx264", "yuv420p", "matroska", False),
        ("mpeg4", "yuv420p", "mp4", False),
        ("ffv1", "yuv420p", "avi", False),
    ],
)
def test_browsers_get_what_they_play(tmp_path: Path, codec: str, pixels: str, container: str, plays: bool) -> None:
    """A clip that browsers do not play is copied to H.264, frame by frame; the clip itself is left as it is."""
    path = film(tmp_path / "clip", codec, pixels, container)
    clip, before = video.probe(path), path.read_bytes()
    shown = Projector(tmp_path).file(clip)
    assert (shown == path) is plays
    assert path.read_bytes() == before
    forced = Projector(tmp_path).file(clip, copy=True)
    assert forced == tmp_path / CACHE / f"{clip.sha256}.mp4"
    copy, original = video.decode(forced), video.decode(path)
    assert video.plays_in_browsers(forced)
    assert len(copy.frames) == clip.frames
    assert np.allclose(copy.times, original.times, atol=2e-3)
    levels = [[frame.mean() for frame in footage.frames] for footage in (copy, original)]
    assert np.allclose(*levels, atol=6)


def test_odd_sides_lose_a_line(tmp_path: Path) -> None:
    """H.264 for browsers needs even sides."""
    clip = video.probe(film(tmp_path / "clip.mp4", "libx264", "yuv444p", "mp4", (65, 47)))
    shown = Projector(tmp_path).file(clip)
    assert video.decode(shown).frames[0].shape == (46, 64, 3)
    assert not list(shown.parent.glob(".*"))
    assert content_type(tmp_path / "a.webm") == "video/webm"


def start(folder: Path, *words: str) -> tuple[subprocess.Popen[str], str]:
    """Start the command and return it with the page's address."""
    line = [sys.executable, "-m", "worldodds", "label", str(folder), "--no-browser", "--annotator", "anna", *words]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    url = next(found[0] for text in process.stdout if (found := re.search(r"http://\S+", text)))
    return process, url


def post(url: str, body: object) -> None:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
        assert answer.status == 200


def test_kill_loses_nothing(run_folder: Path) -> None:
    """Killed without warning, every confirmed answer is there, and the next session goes on behind it."""
    process, url = start(run_folder)
    with process:
        for at in range(3):
            post(f"{url}answer", {"at": at, "status": "outcome", "label": "heads"})
        process.send_signal(signal.SIGKILL)
    session = open_session(run_folder, "anna")
    assert (session.done, session.open_after(-1)) == (3, 3)


def test_the_command_ends_with_the_page_and_tells_what_is_left(run_folder: Path) -> None:
    """Finishing stops the command: 3 while clips are open, 0 when all are labelled; Ctrl-C does the same."""
    process, url = start(run_folder, "--scene", "coin", "--sample", "2")
    with process:
        post(f"{url}answer", {"at": 0, "status": "outcome", "label": "heads"})
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()  # type: ignore[union-attr]
    assert process.returncode == 3
    assert "1 of 2 clips labelled by people/anna." in rest
    process, url = start(run_folder, "--scene", "coin", "--sample", "2")
    with process:
        post(f"{url}answer", {"at": 1, "status": "outcome", "label": "tails"})
        post(f"{url}finish", {})
        rest = process.stdout.read()  # type: ignore[union-attr]
    assert process.returncode == 0
    assert f"worldodds score {run_folder} --reader people/anna" in rest


def test_the_command_refuses_what_cannot_be(
    run_folder: Path, tmp_path: Path, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder without a run, a port that is taken or none, and a name that is none are bad input, in a sentence."""
    taken = serve(run_folder).server.server_port
    for folder, words, told in (
        (tmp_path, (), "no run here"),
        (run_folder, ("--port", str(taken)), f"port: {taken} cannot be used"),
        (run_folder, ("--port", "99999"), "port: 99999 cannot be used"),
        (run_folder, ("--annotator", "a b"), "'a b' is no name"),
    ):
        assert call(["label", str(folder), "--no-browser", *words]) == 2
        assert told in capsys.readouterr().err
