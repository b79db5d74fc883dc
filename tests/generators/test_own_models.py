"""Your own model joins as a program, a server in ten lines, a Python object, or a folder of clips."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from worldodds import video
from worldodds.clock import HastyClock
from worldodds.engine import plan, run
from worldodds.errors import GenerationError, InputError, MissingDependencyError, RefusedError
from worldodds.fake_provider import canned_clip
from worldodds.filming import Terms
from worldodds.generators.command import command
from worldodds.generators.folder import folder
from worldodds.generators.server import server
from worldodds.registry import make_generator
from worldodds.scene import Suite
from worldodds.serving import make_server
from worldodds.sources import load
from worldodds.store import RunStore
from worldodds.testing import CannedReader, check_generator

PROGRAM = """
import pathlib, sys
frame, prompt, seed, out = sys.argv[1:5]
assert pathlib.Path(frame).read_bytes().startswith(b"\\x89PNG"), frame
if seed == "3":
    sys.exit("the model crashed")
if seed == "4":
    print("not this one", file=sys.stderr); sys.exit(75)
if seed != "5":
    pathlib.Path(out).write_bytes((pathlib.Path(__file__).parent / f"{int(seed) % 2}.mp4").read_bytes())
pathlib.Path(__file__).with_suffix(f".{seed}.txt").write_text(prompt)
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    place = tmp_path / "a program" / "film.py"
    place.parent.mkdir()
    place.write_text(PROGRAM)
    for shade in (0, 1):
        (place.parent / f"{shade}.mp4").write_bytes(canned_clip(20 + 10 * shade, shade))
    return f"{sys.executable} '{place}' {{frame}} {{prompt}} {{seed}} {{out}}"


def test_a_program_films_without_a_shell(program: str, tiny: Suite, tmp_path: Path) -> None:
    """Prompts with quotes and dollars arrive as they are; its failures and refusals are told apart."""
    maker = command(program)
    check_generator(maker, tiny.scenes[0], tmp_path)
    with RunStore(tmp_path / "run") as store:
        summary = run(plan(tiny.only(["coin"]), maker, [CannedReader()], 6), store)
    assert summary.clips == 3
    assert [line.partition(": failed: ")[2] for line in summary.open] == [
        f"GenerationError: {maker.name} ended with code 1: the model crashed",
        f"GenerationError: {maker.name} ended well but wrote nothing to {{out}}: without a word",
    ]
    assert (tmp_path / "a program/film.0.txt").read_text() == tiny.scene("coin").prompt
    cell = load(tmp_path / "run").tallies()[maker.name]["coin"]
    assert (cell.refused, cell.failed, cell.counts.counts) == (1, 2, (2, 1))


BAD_COMMANDS = {
    "": "no program",
    "film {seed}": "no {out}",
    "film {out}": "no {seed}",
    "film {sede} {out}": "no place {sede}",
    "film '{seed} {out}": "close the quotes",
    "film {seed} {out} {": "meant as such twice",
}


@pytest.mark.parametrize("template", BAD_COMMANDS)
def test_a_wrong_template_is_one_sentence(template: str) -> None:
    """Before anything runs."""
    with pytest.raises(InputError) as raised:
        command(template)
    assert BAD_COMMANDS[template] in str(raised.value)


def test_a_program_that_is_not_there_or_too_slow(tiny: Suite, tmp_path: Path) -> None:
    """Is a failure with its cause."""
    absent = command("no-such-program-at-all {seed} {out}")
    with pytest.raises(GenerationError, match="cannot be run: No such file"):
        absent.generate(tiny.scenes[0], seed=0, index=0, into=tmp_path / "a.mp4")
    slow = command(f"{sys.executable} -c 'import time; time.sleep(60)' {{seed}} {{out}}", timeout_s=1)
    with pytest.raises(GenerationError, match="longer than 1 s"):
        slow.generate(tiny.scenes[0], seed=0, index=0, into=tmp_path / "a.mp4")


@contextmanager
def serving(generate: object, place: Path, **options: object) -> Iterator[str]:
    http = make_server(generate, folder=place, **options)  # type: ignore[arg-type]
    threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"127.0.0.1:{http.server_address[1]}"
    finally:
        http.shutdown()
        http.shop.stop()
        http.server_close()


def film_grey(frame: Path, prompt: str, seed: int, out: Path, steps: int = 1) -> list[np.ndarray]:
    assert video.read_still(frame).shape == (64, 64, 3)
    if seed == 2:
        raise RefusedError("no")
    if seed == 3:
        raise RuntimeError("out of memory")
    picture = np.full((64, 64, 3), 20 + 10 * (seed % 2), dtype=np.uint8)
    picture[:8, :8] = seed * 37
    return [picture] * 6


def test_a_function_becomes_a_server(tiny: Suite, tmp_path: Path) -> None:
    """Ten lines: a function that returns frames; refusals and crashes are told apart; the version is recorded."""
    with serving(film_grey, tmp_path / "server", version="grey-2") as address:
        maker = make_generator(f"server/{address}", {"steps": 4})
        with RunStore(tmp_path / "run") as store:
            summary = run(plan(tiny.only(["coin"]), maker, [CannedReader()], 4), store)
        with RunStore(tmp_path / "other") as store, pytest.raises(InputError, match="no setting called 'step'"):
            run(plan(tiny, make_generator(f"server/{address}", {"step": 4}), [], 1), store)
    assert (summary.clips, len(summary.open)) == (2, 1)
    assert "RuntimeError: out of memory" in summary.open[0]
    with RunStore(tmp_path / "run", write=False) as store:
        assert {r.served_version for r in store.rollouts().values()} == {"grey-2"}


def test_a_restarted_server_goes_on(tiny: Suite, tmp_path: Path) -> None:
    """Orders and clips lie in its folder, so a client that paid finds its job again."""
    with serving(film_grey, tmp_path / "server") as address, RunStore(tmp_path / "run") as store:
        run(plan(tiny.only(["coin"]), server(address), [], 2), store)
        (tmp_path / "run/rollouts/coin/r001.mp4").unlink()
        port = int(address.rpartition(":")[2])
    with serving(film_grey, tmp_path / "server", port=port) as address, RunStore(tmp_path / "run") as store:
        assert run(plan(tiny.only(["coin"]), server(address), [], 2), store).open == ()
    assert len(list((tmp_path / "server").glob("*.json"))) == 2


def test_a_server_may_ask_for_a_key(tiny: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the environment only."""
    with serving(film_grey, tmp_path / "server", key="sesame") as address:
        with RunStore(tmp_path / "run") as store:
            summary = run(plan(tiny, server(address), [], 1), store, terms=Terms(clock=HastyClock()))
        assert "WORLDODDS_SERVER_KEY" in str(summary.stopped)
        monkeypatch.setenv("WORLDODDS_SERVER_KEY", "sesame")
        with RunStore(tmp_path / "run") as store:
            assert run(plan(tiny, server(address), [], 1), store).open == ()


@pytest.mark.parametrize("address", ["", "http://user:pass@host", "ftp://host", "http://host/?key=1"])
def test_a_wrong_address_is_refused(address: str) -> None:
    """Also one with a password in it."""
    with pytest.raises(InputError, match="write server/HOST:PORT"):
        server(address)


LAYOUTS = {
    "PAWBench": "{scene}/r{index:03d}.mp4",
    "CaliBench": "rollouts/{scene}/veo31/seed_{index}.mp4",
    "flat": "{scene}_{index}.mp4",
    "numbered": "{scene}/{index}.mp4",
}


def lay_out(place: Path, layout: str, n: int = 2) -> None:
    for scene, outcomes in (("coin", 2), ("die", 6)):
        for index in range(n):
            file = place / layout.format(scene=scene, index=index)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(canned_clip(20 + 10 * (index % outcomes), index))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_clips_made_elsewhere_are_found(layout: str, tiny: Suite, tmp_path: Path) -> None:
    """In the layouts of the two papers and in plain ones; what is not there stays open."""
    lay_out(tmp_path / "clips", LAYOUTS[layout])
    maker = folder(str(tmp_path / "clips"), **({"model": "veo31"} if layout == "CaliBench" else {}))
    with RunStore(tmp_path / "run") as store:
        summary = run(plan(tiny, maker, [CannedReader()], 3), store)
    assert summary.clips == 4
    assert "no clip 2 of scene 'coin'" in summary.open[0]
    assert load(tmp_path / "run").tallies()[maker.name]["coin"].counts.counts == (1, 1)


def test_a_table_may_map_clips(tiny: Suite, tmp_path: Path) -> None:
    """Columns scene, seed, path."""
    lay_out(tmp_path / "clips", "x/{scene}-{index}-final.mp4")
    rows = [f"{scene},{i},x/{scene}-{i}-final.mp4" for scene in ("coin", "die") for i in (0, 1)]
    (tmp_path / "clips/map.csv").write_text("\n".join(["scene,seed,path", *rows]))
    with RunStore(tmp_path / "run") as store:
        assert run(plan(tiny, folder(str(tmp_path / "clips"), map="map.csv"), [], 2), store).open == ()


def test_nothing_is_taken_from_outside_the_folder(tiny: Suite, tmp_path: Path) -> None:
    """Neither through a table's path nor through a link."""
    (tmp_path / "secret.mp4").write_bytes(canned_clip(20, 0))
    place = tmp_path / "clips"
    (place / "coin").mkdir(parents=True)
    (place / "coin/r000.mp4").symlink_to(tmp_path / "secret.mp4")
    (place / "map.csv").write_text("scene,index,path\ncoin,0,../secret.mp4\n")
    for maker in (folder(str(place)), folder(str(place), map="map.csv")):
        with pytest.raises(GenerationError, match="leads out of"):
            maker.generate(tiny.scenes[0], seed=0, index=0, into=tmp_path / "out.mp4")
    with pytest.raises(InputError, match="no folder's name"):
        folder(str(place), model="../..")


def test_the_models_of_a_calibench_folder_are_offered(tiny: Suite, tmp_path: Path) -> None:
    """Where none was chosen."""
    lay_out(tmp_path / "clips", LAYOUTS["CaliBench"])
    with pytest.raises(GenerationError, match="choose a model with -G model=NAME: veo31"):
        folder(str(tmp_path / "clips")).generate(tiny.scenes[0], seed=0, index=0, into=tmp_path / "out.mp4")


def test_a_python_object_joins_by_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class is made with the settings, an object is taken as it is, and a wrong place is one sentence."""
    (tmp_path / "my_model_7.py").write_text(
        "from worldodds.testing import CannedGenerator\nready = CannedGenerator()\nMaker = CannedGenerator\nx = 1\n"
    )
    monkeypatch.chdir(tmp_path)
    assert make_generator("python/my_model_7:ready").name == "canned/even"
    assert make_generator("python/my_model_7:Maker", {"name": "my/own"}).name == "my/own"
    for place, message in {
        "my_model_7": "write python/MODULE:NAME",
        "no_model_7:x": "no module 'no_model_7'",
        "my_model_7:redy": "Did you mean 'ready'",
        "my_model_7:x": "has no generate",
    }.items():
        with pytest.raises(InputError, match=message):
            make_generator(f"python/{place}")


def test_diffusers_says_what_it_needs(tiny: Suite, tmp_path: Path) -> None:
    """Without torch it names the extra; wrong settings are refused before anything is loaded."""
    maker = make_generator("diffusers/some/model", {"steps": 4})
    assert maker.settings == {"steps": 4}
    with pytest.raises(InputError, match="'float8' is not one of"):
        make_generator("diffusers/some/model", {"dtype": "float8"})
    try:
        import torch  # noqa: F401
    except ImportError:
        with pytest.raises(MissingDependencyError, match=r"worldodds\[diffusers\]"):
            maker.generate(tiny.scenes[0], seed=0, index=0, into=tmp_path / "a.mp4")  # type: ignore[union-attr]


MAPS = {
    "": "the file is empty; needed are scene, index (or seed) and path",
    "scene,idx,path\ncoin,0,a.mp4\n": "the columns are scene, idx, path; needed are scene, index (or seed) and path",
    "scene,seed,path\ncoin,0,a.mp4,more\n": "row 2: 4 fields where the header has 3",
    "scene,seed,path\n\ncoin,²,a.mp4\n": "row 3: seed '²' is no whole number",
    "scene,index,path\ncoin,-1,a.mp4\n": "row 2: index '-1' is no whole number",
}


@pytest.mark.parametrize("text", MAPS)
def test_a_wrong_map_is_one_sentence(text: str, tmp_path: Path) -> None:
    """With the row and what is needed."""
    (tmp_path / "map.csv").write_text(text)
    with pytest.raises(InputError, match=re.escape(MAPS[text])):
        folder(str(tmp_path), map="map.csv")


def test_a_map_that_is_no_file_is_refused(tmp_path: Path) -> None:
    """A pipe that nobody writes to would be waited for without end."""
    os.mkfifo(tmp_path / "map.csv")
    with pytest.raises(InputError, match="not a regular file"):
        folder(str(tmp_path), map="map.csv")


def test_columns_of_a_map(tiny: Suite, tmp_path: Path) -> None:
    """A mark in front, columns of other names, and an index beside a seed, which counts; a scene's case is told."""
    (tmp_path / "a.mp4").write_bytes(canned_clip(20, 1))
    (tmp_path / "map.csv").write_text("\ufeffscene, index ,seed,path,note\ncoin,0,41,a.mp4,x\nDie,0,41,a.mp4,x\n")
    maker = folder(str(tmp_path), map="map.csv")
    coin, die = tiny.scenes
    assert maker.generate(coin, seed=0, index=0, into=tmp_path / "out.mp4").details == {"from": "a.mp4"}
    with pytest.raises(GenerationError, match=r"no rows for scene 'die', index 0; one needed\. Did you mean 'Die'\?"):
        maker.generate(die, seed=0, index=0, into=tmp_path / "out.mp4")
