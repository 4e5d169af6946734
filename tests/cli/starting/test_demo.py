"""The demonstration runs, holds what was learned against the truth, and says where the crawl is."""

import json

import pytest

from evercrawl.cli import main as cli
from evercrawl.cli.show.demo_report import told
from evercrawl.simulate.living.comparison import PolicyComparison
from evercrawl.simulate.living.learned import Learned


def test_demo(tmp_path, capsys):
    given = ["demo", "--dir", str(tmp_path), "--pages", "120", "--seconds", "3", "--seed", "7", "--worlds", "2"]
    assert cli.main([*given, "--json"]) == 0
    *_, demo = lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (end,) = [line for line in lines if line["event"] == "end"]
    assert end["fetched"] > 60
    assert demo["archives"]
    assert all(archive.startswith(str(tmp_path)) for archive in demo["archives"])
    assert [world["seed"] for world in demo["worlds"]] == [7, 8]
    assert all(0 < world["freshness"] < 1 and 0 < world["round_robin"] < 1 for world in demo["worlds"])
    assert demo["won"] == all(world["gain"] > 1 for world in demo["worlds"])
    assert len(demo["top"]) == 10
    assert 0 <= demo["importance_error"] < 1


def test_it_says_what_was_won_and_what_was_lost():
    found = Learned([("http://a.example/", 0.012, 0.0125)], 0.034, [(50, 2.0, 3.0)], 0.9)
    worlds = [PolicyComparison(7, 300.0, 0.6, 0.5, 0.75, 0.001), PolicyComparison(8, 300.0, 0.45, 0.5, 0.75, 0.002)]
    text = "\n".join(told(found, worlds, real=7))
    assert "12.00    12.50   http://a.example/" in text
    assert "once in 2 s" in text
    assert "won, 1.20x (in real time)" in text
    assert "LOST, 0.90x" in text
    assert "fresher in 1 of 2 worlds" in text


@pytest.mark.parametrize(
    "wrong", [["--pages", "119"], ["--pages", "many"], ["--seconds", "0"], ["--worlds", "0"], ["--seed", "-1"]]
)
def test_wrong_numbers_are_refused_before_anything_is_made(tmp_path, capsys, wrong):
    assert cli.main(["demo", "--dir", str(tmp_path / "demo"), *wrong]) == 2
    assert f"{wrong[0]} must be " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
