"""Policies are replayed on what a whole crawl of several hosts saw, site by site."""

import json
import re

import pytest

from evercrawl.cli.main import main
from evercrawl.cli.show.tables import backtest as backtest_table
from evercrawl.crawl import loop
from evercrawl.progress import Limits

A, B, C = "http://a.example", "http://b.example", "http://c.example"
HOUR, DAY = 3600.0, 86_400.0
DAYS, PAGES = 20, 5


@pytest.fixture
def directory(run, monkeypatch):
    """Return a crawl of three sites: one changes daily, one every other day and two thirds, one never."""
    monkeypatch.setattr(loop, "REPORT_S", DAY)
    world = run.World()
    every = {A: DAY, B: 64 * HOUR, C: 1000 * DAY}
    links = [f"{origin}/{i}" for origin in every for i in range(PAGES)]
    world.pages = {f"{A}/": run.html(*links)}
    for url in links:
        each = every[url[: len(A)]]
        world.pages[url] = lambda headers, at, url=url, each=each: run.html(text=f"edition {at // each:g} of {url}")
    run(world, [f"{A}/"], Limits(seconds=DAYS * DAY), scope="any", refresh_after_s=8 * HOUR)
    return str(run.directory)


def test_a_crawl_of_several_hosts_has_rows_for_each_of_them_from_one_replay(directory, capsys, monkeypatch):
    """The site of a row is the crawl for all of them together, and theirs else; the budget is one."""
    capsys.readouterr()
    flags = ["--budget", "0.5", "--policy", "uniform,price,notices"]
    assert main(["backtest", directory, *flags, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    policies = ("uniform", "price", "notices")
    names = ["crawl", "a.example", "b.example", "c.example"]
    assert [(row["site"], row["policy"]) for row in rows] == [(name, policy) for name in names for policy in policies]
    found = {(row["site"], row["policy"]): row for row in rows}
    for policy in policies:
        whole, *of_each = (found[name, policy] for name in names)
        assert [row["pages"] for row in (whole, *of_each)] == [3 * PAGES + 1, PAGES + 1, PAGES, PAGES]
        for name in ("polls", "unchanged", "unseen"):
            assert whole[name] == sum(row[name] for row in of_each)
        assert found["a.example", policy]["freshness"] < found["b.example", policy]["freshness"]
        assert found["c.example", policy]["freshness"] == 1.0
        for k, each in enumerate(whole["bins"]):
            assert each["count"] == sum(row["bins"][k]["count"] for row in of_each)
    judged = {site: sum(each["count"] for each in found[site, "price"]["bins"]) for site in names}
    assert min(judged.values()) > 0
    assert all(found[site, "price"]["brier"] is not None for site in names)
    whole = found["crawl", "uniform"]
    assert whole["polls"] == pytest.approx(0.5 * whole["pages"] * DAYS * 0.9 * 2 / 3, rel=0.1)
    assert found["a.example", "uniform"]["freshness"] < found["a.example", "notices"]["freshness"]
    assert main(["backtest", directory, *flags]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(bool(re.match(r"[abc]\.example +\d +(uniform|price|notices) +0\.5 ", line)) for line in lines) == 9
    monkeypatch.setattr(backtest_table, "SITES", 2)
    assert main(["backtest", directory, *flags]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(bool(re.match(r"[abc]\.example +\d +(uniform|price|notices) +0\.5 ", line)) for line in lines) == 6
    assert lines[-1] == "and 1 site more"
