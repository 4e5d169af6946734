"""What matters most, and why a page is visited when it is, asked on the command line of a crawl of a real server."""

import json
import re
from dataclasses import replace

import pytest

from evercrawl.ask.why.explanation import Why
from evercrawl.cli.main import main
from evercrawl.cli.verbs.asking.why import rows


def test_top_lists_pages_and_sites(crawled, site, capsys):
    assert main(["top", "--dir", crawled, "--json", "1000"]) == 0
    pages = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {page["url"] for page in pages} == set(site.web.urls())
    assert sum(page["importance"] for page in pages) == pytest.approx(1.0)

    assert main(["top", "3", "--dir", crawled]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["importance", "x", "mean", "visits", "last", "visit", "changes", "fresh", "page"]
    assert [line.split()[-1] for line in lines] == [page["url"] for page in pages[:3]]
    assert all(" every " in line and (" ago  " in line or "just now" in line) for line in lines)

    assert main(["top", "--sites", "--dir", crawled]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["importance", "x", "mean", "of", "pages", "by", "OPIC", "linking", "known", "read", "site"]
    assert [line.split()[0] for line in lines] == ["1", "2"]
    assert {line.split()[-1] for line in lines} == {"127.0.1.1", "127.0.1.2"}
    assert main(["top", "--sites", "--dir", crawled, "--json"]) == 0
    sites = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for share in ("importance", "of_pages"):
        assert sum(found[share] for found in sites) == pytest.approx(1.0)


def test_top_lists_pages_by_their_sites(crawled, capsys):
    found = {}
    for kind in ([], ["--by-site"], ["--sites"]):
        assert main(["top", "1000", *kind, "--dir", crawled, "--json"]) == 0
        found["".join(kind)] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    pages, by_site, sites = found.values()
    assert {page["url"] for page in by_site} == {page["url"] for page in pages}
    for of in sites:
        shares = [page["importance"] for page in by_site if f"//{of['site']}:" in page["url"]]
        assert sum(shares) == pytest.approx(of["importance"])


def test_top_says_so_where_no_page_rises(crawled, capsys):
    assert main(["top", "--rising", "--dir", crawled]) == 0
    assert capsys.readouterr().out.startswith("no page is rising: ")
    assert main(["top", "--rising", "--within", "1h", "--dir", crawled, "--json"]) == 0
    assert capsys.readouterr().out == ""


def test_why_tells_of_a_page_that_is_held(crawled, site, capsys):
    url = f"{site.web.origins[0]}/p/2"
    assert main(["why", url, "--dir", crawled]) == 0
    said = capsys.readouterr().out
    for expected in (
        rf"page +{url}\n", r"state +stored\n", r"found +on http\S+, \d links? from a seed, 20",
        r"visited +1 time, last 20",
        r"importance +\d", rf"redirect from {site.web.origins[0]}/moved\n", r"cash +-?\d", r"changes +every \d+ days",
        r"model +changes together with its folder with a probability of 10 %, else independently\n",
        r"fresh +the copy is fresh with a probability of \d+", r"worth +\S+", r"due +.*20\d\d-",
        r"turn +\d+ pages? with a higher worth now",
    ):  # fmt: skip
        assert re.search(expected, said), expected


def test_why_tells_which_rule_of_robots_txt_keeps_a_page_out(crawled, site, capsys):
    url = next(url for url, outcome in site.web.urls().items() if outcome == "refused")
    assert main(["why", url, "--dir", crawled, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["state"] == "refused"
    assert found["reasons"] == ["robots: robots.txt disallows it (Disallow: /private/)"]

    unknown = f"{site.web.origins[0]}/private/never-met"
    assert main(["why", unknown, "--dir", crawled]) == 0
    assert re.search(r"state +refused\nbecause +robots\.txt .*\(Disallow: /private/\)", capsys.readouterr().out)


def test_why_tells_of_what_is_no_page_of_the_crawl(crawled, capsys):
    assert main(["why", "http://example.org/", "--dir", crawled]) == 0
    assert re.search(r"state +out of scope\nbecause +crawl\.toml excludes it by scope", capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments",
    [
        ["top", "0"],
        ["top", "many"],
        ["top", "--within", "7d"],
        ["top", "--rising", "--within", "0"],
        ["why", "-"],
        ["why", "ftp://example.org/"],
    ],
)
def test_wrong_use_is_told(tmp_path, capsys, arguments):
    assert main([*arguments, "--dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("evercrawl: ")


@pytest.mark.parametrize("arguments", [["top"], ["why", "http://example.org/"]])
def test_without_a_crawl_there_is_nothing_to_ask(tmp_path, capsys, arguments):
    assert main([*arguments, "--dir", str(tmp_path), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["exit_code"] == 2
    assert "there is no crawl" in err


def test_pages_are_listed_by_other_measures(crawled, capsys):
    for measure in ("authority", "hub", "pagerank", "in-degree"):
        assert main(["top", "3", "--by", measure, "--dir", crawled, "--json"]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [row["rank"] for row in rows] == [1, 2, 3]
        assert rows[0]["importance"] >= rows[2]["importance"] >= 0
    assert main(["top", "3", "--by", "authority", "--dir", crawled]) == 0
    assert "authority" in capsys.readouterr().out.splitlines()[0]
    assert main(["top", "--tax", "0.1", "--dir", crawled]) == 2
    assert "--by pagerank" in capsys.readouterr().err


def test_an_excluded_copy_is_not_called_excluded_of_its_original():
    copy = Why("http://a.example/b", 0.0, "excluded", (), alias="http://a.example/")
    assert dict(rows(copy))["state"] == "excluded; its content is that of http://a.example/"
    assert dict(rows(replace(copy, state="alias")))["state"] == "alias of http://a.example/"
