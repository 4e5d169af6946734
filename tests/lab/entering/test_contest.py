"""A contest that others can enter."""

import json

import numpy as np
import pytest

from evercrawl.cli.main import main
from evercrawl.lab.entering.entering import BASELINE, UPPER, beside, interval

ENTRY = """
import numpy as np

from evercrawl.schedule import Policy


class {name}(Policy):
    def value(self, pages, context):
        return np.where(np.isnan(pages.visited_at), 1e12, context.now - pages.visited_at)
"""
SMALL = ["--beside", "cycle", "--history", "peps", "--sample", "20", "--years", "0.25", "--budget", "0.05"]


@pytest.fixture
def entry(tmp_path, monkeypatch):
    (tmp_path / "entered_policy.py").write_text(ENTRY.format(name="LongestAgo"))
    monkeypatch.syspath_prepend(str(tmp_path))
    return "entered_policy:LongestAgo"


def test_an_entry_is_run_beside_others_and_stands_where_its_like_does(entry, tmp_path, capsys):
    out = tmp_path / "out"
    made = ["--made", "0.3", "--pages", "30"]
    assert main(["lab", "contest", entry, *SMALL, *made, "--out", str(out), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    standings = [line for line in lines if line["event"] == "row"]
    fields = {line["field"] for line in standings}
    assert fields == {"histories", "made-up pages, correlation 0", "made-up pages, correlation 0.5"}
    for field in fields:
        here = {line["policy"]: line for line in standings if line["field"] == field}
        assert set(here) == {BASELINE, entry, "cycle", UPPER}
        assert here[entry]["score"] == pytest.approx(here["cycle"]["score"], abs=0.05), "it is the same rule"
        assert [line["policy"] for line in here.values() if line["entered"]] == [entry]
        assert sorted(line["rank"] for line in here.values()) == [1, 2, 3, 4]
        assert here[UPPER]["rank"] == 1
        assert all(line["low"] <= line["score"] <= line["high"] for line in here.values())
    page = (out / "contest.md").read_text()
    assert f"**{entry}**" in page
    assert (out / "contest.parquet").stat().st_size > 0


def test_what_is_no_entry_is_refused_with_what_to_do(entry, capsys):
    for argv, told in (
        (["price"], "name it with --beside"),
        (["nowhere_at_all:Mine", "--beside", "cycle"], "cannot load"),
        ([entry, "--made", "x"], "--made must be polls per page and day"),
        ([entry, "--budget", "0"], "--budget must be polls per page and day"),
    ):
        assert main(["lab", "contest", *argv]) == 2
        assert told in capsys.readouterr().err


def test_all_that_ship_take_part_where_nobody_says_with_whom():
    assert {"price", "nutch_adaptive", "stormcrawler_adaptive", "uniform", "tianwang"} <= set(beside())
    assert UPPER not in beside()


def test_intervals_of_few_draws_are_wide():
    few, many = np.array([0.8, 0.9]), np.tile([0.8, 0.9], 50)
    assert interval(few)[1] - interval(few)[0] > 10 * (interval(many)[1] - interval(many)[0])
    assert interval(np.array([0.5])) == (0.5, 0.5)
