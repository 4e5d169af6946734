"""The journal of a crawl is a history too: policies are replayed on what it saw."""

import json

from evercrawl.cli.main import main

DAY_S = 86_400
DAYS, PAGES = 60, 6


def test_policies_are_replayed_on_what_a_crawl_saw(made, capsys):
    urls = [f"http://example.org/{number}" for number in range(PAGES)]
    made.seed(*urls)
    for day in range(DAYS):
        for number, url in enumerate(urls):
            said = f"words of page {number} number {day // (3 * number + 1)} and no others"
            made.visit(url, made.page("A title", text=said))
        made.now += DAY_S
    made.save()
    capsys.readouterr()
    assert main(["backtest", str(made.directory), "--budget", "0.1,1", "--policy", "uniform", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["site"], row["pages"], row["budget"]) for row in rows] == [
        (made.directory.name, PAGES, 0.1), (made.directory.name, PAGES, 1.0)
    ]  # fmt: skip
    measured_days = 0.9 * DAYS * 2 / 3
    assert abs(rows[1]["polls"] - PAGES * measured_days) < 0.1 * PAGES * measured_days
    assert 0.0 < rows[0]["freshness"] < rows[1]["freshness"] < 1.0
