"""What people and disks do to a command line."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import evercrawl
from evercrawl import kernels
from evercrawl.cli import main as cli
from evercrawl.cli import warm
from evercrawl.cli.show import lines
from evercrawl.progress import Progress


def test_a_mistyped_directory_is_not_made(tmp_path, capsys):
    assert cli.main(["crawl", "--dir", str(tmp_path / "exmaple")]) == 2
    assert "name a seed" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_reached_is_told_in_a_sentence(tmp_path, capsys, monkeypatch):
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path / "crawl.toml"))

    monkeypatch.setattr("evercrawl.cli.verbs.starting.crawl.configured", refused)
    assert cli.main(["crawl", "http://example.org/", "--dir", str(tmp_path)]) == 3
    assert capsys.readouterr().err == (
        f"evercrawl: cannot use {tmp_path}/crawl.toml: Permission denied; give this user access to it, or use another "
        "--dir\n"
    )


def test_without_a_place_for_compiled_code_that_is_said(monkeypatch):
    """As for a service that runs as nobody, from an installation that belongs to root."""
    said = []
    monkeypatch.setattr("evercrawl.kernels.missing", lambda: True)
    monkeypatch.setattr("evercrawl.kernels.warm", lambda _: False)
    warm.up(lambda progress: said.append(progress.message))
    assert said == [warm.MESSAGE, warm.NOT_KEPT]


@pytest.mark.parametrize(
    ("seed", "sentence"),
    [
        ("http://127.0.0.1/", "--allow-net 127.0.0.0/8"),
        ("http://nowhere.invalid/", "check that this machine is online"),
    ],
)
def test_a_run_that_gets_nowhere_says_what_to_do_once(tmp_path, capsys, seed, sentence):
    assert cli.main(["crawl", seed, "--dir", str(tmp_path), "--until-idle", "--delay", "0.001", "--seconds", "20"]) == 1
    assert capsys.readouterr().out.count(sentence) == 1


def test_a_site_whose_robots_txt_cannot_be_had_is_named_wherever_one_looks(tmp_path, capsys):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        seed, there = f"http://127.0.0.1:{nobody.getsockname()[1]}/", ["--dir", str(tmp_path)]
        flags = ["--allow-net", "127.0.0.0/8", "--until-idle", "--delay", "0.001", "--seconds", "20"]
        assert cli.main(["crawl", seed, *there, *flags]) == 1
        told = capsys.readouterr().out
        assert cli.main(["crawl", *there, *flags, "--json"]) == 1
        last = [json.loads(line) for line in capsys.readouterr().out.splitlines()][-2]
    what = f"robots.txt of {seed[:-1]} could not be fetched (connect: "
    assert told.count(what) == 2, "what to do, and what was tried"
    assert "errors: robots_unreachable 1  hosts waiting: robots.txt 1" in told
    assert (last["errors"], last["waiting"]) == ({"robots_unreachable": 1}, {"robots.txt": 1})
    assert cli.main(["status", *there]) == 0
    assert f"of {seed[:-1]} could not be fetched (connect: " in capsys.readouterr().out
    assert cli.main(["get", seed, *there]) == 1
    assert "not fetched yet: the robots.txt of its site could not be fetched (connect: " in capsys.readouterr().err
    assert not list(tmp_path.glob("*-shm"))


def test_what_is_said_before_a_run_is_no_state_of_it(capsys):
    watch = lines.Lines(sys.stdout)
    watch(Progress(at=5.0, message="one record was lost"))
    assert capsys.readouterr().out == "one record was lost\n"


def test_what_is_not_compiled_yet_is_before_a_run_begins_and_that_is_said(site, tmp_path):
    """The seconds of a run are seconds of crawling."""
    kernels.warm()
    kept = tmp_path / "evercrawl"
    kept.mkdir(mode=0o700)
    for file in Path(evercrawl.__file__).parent.rglob("*.kernels"):
        if "near" not in file.name:
            shutil.copy(file, kept)
    argv = ["crawl", *site.seeds, "--dir", str(tmp_path / "crawl"), "--seconds", "4", "--delay", "0.001", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "evercrawl", *argv, "--allow-net", "127.0.0.0/8"],
        env={**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["message"] == warm.MESSAGE
    assert len(list(tmp_path.rglob("*near*.kernels"))) == 1
    assert events[-1]["visits"] > 2


def test_a_proxy_is_asked_for_names_that_only_it_knows(site, tmp_path, capsys):
    """The loopback site serves as the proxy: what it is asked for is not of its web, so it answers 404."""
    proxy = site.seeds[0].rstrip("/")
    argv = ["crawl", "http://far.example.org/", "--dir", str(tmp_path), "--proxy", proxy, "--pages", "1"]
    assert cli.main([*argv, "--seconds", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["visits"] == 1
