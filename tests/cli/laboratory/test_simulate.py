"""Worlds are lived, told and held to their promises; a broken one is said with the command that repeats it."""

import json

import pytest

from evercrawl.cli import main as cli
from evercrawl.simulate import simulation
from evercrawl.simulate.checkers.base import Checker
from evercrawl.simulate.result import Result


class Displeased(Checker):
    """Nothing is good enough."""

    law = "nothing"

    def asked(self, request, address, at) -> None:
        self.blame(f"{request.url} was asked for")


@pytest.fixture
def displeased(monkeypatch):
    monkeypatch.setattr(simulation, "CHECKERS", (Displeased,))


def test_worlds_are_told_one_a_line_and_summed_up(capsys):
    assert cli.main(["simulate", "--seed", "16", "--worlds", "2", "--jobs", "1"]) == 0
    *worlds, end = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in worlds] == ["world 16", "world 17"]
    assert all(" x), " in line and "hash " in line for line in worlds)
    assert end.startswith("2 worlds, ")
    assert end.endswith("0 with a broken promise")


def test_as_json_in_processes_it_is_the_same(capsys):
    told = []
    for jobs in ("1", "2"):
        assert cli.main(["simulate", "--seed", "16", "--worlds", "2", "--jobs", jobs, "--json"]) == 0
        told.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    one, other = told
    assert [line["event"] for line in one] == ["world", "world", "end"]
    assert [line["hash"] for line in one[:2]] == [line["hash"] for line in other[:2]]
    assert one[2]["worlds"] == 2
    assert one[2]["broken"] == []
    assert all(line["speed"] > 0 for line in one[:2])


def test_what_was_interrupted_goes_on_where_it_was(capsys, tmp_path, monkeypatch):
    kept, seeds = tmp_path / "worlds.jsonl", list[int]()
    assert cli.main(["simulate", "--seed", "10", "--worlds", "1", "--resume", str(kept)]) == 0
    one = json.loads(kept.read_text().splitlines()[1])
    monkeypatch.setattr("evercrawl.simulate.processes.simulate", lambda seed: seeds.append(seed) or Result(seed))
    words = ["simulate", "--seed", "10", "--worlds", "3", "--resume", str(kept), "--jobs", "1", "--json"]
    capsys.readouterr()
    assert cli.main(words) == 0
    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert seeds == [11, 12]
    assert (end["worlds"], end["kept"], end["virtual_s"]) == (3, 1, one["row"]["virtual_s"])
    assert cli.main([word for word in words if word != "--json"]) == 0
    assert "3 of the worlds were kept of earlier runs" in capsys.readouterr().out
    assert seeds == [11, 12]


@pytest.mark.usefixtures("displeased")
def test_a_world_with_a_broken_promise_is_lived_again(capsys, tmp_path):
    words = ["simulate", "--seed", "5", "--resume", str(tmp_path / "worlds"), "--jobs", "1"]
    assert [cli.main(words), cli.main(words)] == [1, 1]
    assert capsys.readouterr().out.count("BROKEN nothing: ") >= 2


@pytest.mark.usefixtures("displeased")
def test_a_broken_promise_fails_and_says_how_to_see_it_again(capsys):
    assert cli.main(["simulate", "--seed", "5", "--until-failure", "--jobs", "1"]) == 1
    out, err = capsys.readouterr()
    assert "BROKEN nothing: " in out
    assert "evercrawl lab simulate --seed 5 --verbose" in out
    assert "evercrawl lab simulate --seed 5 --verbose" in err


@pytest.mark.usefixtures("displeased")
def test_the_log_of_a_world_is_told_to_whoever_wants_it(capsys):
    assert cli.main(["simulate", "--seed", "5", "--verbose", "--json"]) == 1
    out, err = capsys.readouterr()
    world = json.loads(out.splitlines()[0])
    assert world["broken"]
    assert any(" asked http" in line for line in err.splitlines())
    assert any(" broken nothing" in line for line in err.splitlines())


@pytest.mark.parametrize("wrong", [["--seed", "-1"], ["--worlds", "0"], ["--jobs", "0"], ["--seed", "x"]])
def test_wrong_numbers_are_refused(capsys, wrong):
    assert cli.main(["simulate", *wrong]) == 2
    assert f"{wrong[0]} must be " in capsys.readouterr().err


def test_a_crawl_in_partitions_is_counted(capsys):
    assert cli.main(["simulate", "--partitions", "64", "--known", "1e11", "--seed", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["event"], told["parts"], told["known"]) == ("counts", 64, 1e11)
    assert told["nearest_used"] == max(told["limits"].values()) > 1
    assert cli.main(["simulate", "--partitions", "64", "--known", "1e11", "--seed", "1"]) == 0
    said = capsys.readouterr().out
    assert "nothing is crawled" in said
    assert f"PASSED {told['nearest_used']:,.0%}" in said


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["--partitions", "3"], "power of two"),
        (["--partitions", "4", "--worlds", "2"], "leave --worlds out"),
        (["--partitions", "4", "--known", "many"], "such as 5000000 or 1e9"),
        (["--known", "5"], "give --partitions P too"),
    ],
)
def test_what_cannot_be_counted_gets_a_sentence(capsys, given, sentence):
    assert cli.main(["simulate", *given]) == 2
    assert sentence in capsys.readouterr().err
