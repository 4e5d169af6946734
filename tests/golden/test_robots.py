"""Reference verdicts for robots.txt: RFC 9309's own examples and the facts that Google's matcher publishes."""

import base64
import json
from pathlib import Path

import pytest

from evercrawl.fetch.robots import Robots, parse

pytestmark = pytest.mark.golden

DATA = Path(__file__).parent / "data"


def rows(name):
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def path_of(url):
    return "/" + url.partition("//")[2].partition("/")[2]


@pytest.mark.parametrize(
    "row", rows("robots_cases.jsonl"), ids=lambda row: f"{row['case']} {row['agent']} {row['url']}"
)
def test_verdict(row):
    assert parse(row["robots"].encode()).allowed(row["agent"], path_of(row["url"])) is row["allowed"]


def odd_file(name) -> Robots:
    (row,) = [row for row in rows("robots_odd_files.jsonl") if row["name"] == name]
    return parse(base64.b64decode(row["b64"]))


@pytest.mark.parametrize("row", rows("robots_odd_files.jsonl"), ids=lambda row: row["name"])
def test_odd_file_is_read(row):
    body = base64.b64decode(row["b64"])
    robots = parse(body)
    closed = {"extensions-group-merging.txt"}  # the one file that shuts out agents it does not name
    assert robots.allowed("evercrawl", "/") is (row["name"] not in closed)
    assert robots.body == body


@pytest.mark.parametrize("coding", ["utf8", "utf16le", "utf16be"])
def test_byte_order_mark(coding):
    robots = odd_file(f"robots-with-{coding}-bom.txt")
    assert not robots.allowed("evercrawl", "/search.aspx")
    assert robots.sitemaps == ("http://www.newsweek.com/sitemap_index.xml",)


def test_groups_are_merged_through_extensions():
    robots = odd_file("extensions-group-merging.txt")
    for agent in ("mybot", "yourbot"):
        assert not robots.allowed(agent, "/private/x")
        assert not robots.allowed(agent, "/login/x")
        assert robots.allowed(agent, "/x")
    assert not robots.allowed("otherbot", "/x")


def test_one_group_of_many_agents():
    robots = odd_file("many-user-agents.txt")
    assert not robots.allowed("BlackWidow", "/")
    assert not robots.allowed("OutfoxBot", "/")


def test_typos_that_are_forgiven():
    robots = odd_file("directive-typos-robots.txt")  # its agents bot1, bot2... all have the product token "bot"
    assert not robots.allowed("bot", "/dissalow/")
    assert robots.allowed("bot", "/desallow/")
    assert not robots.allowed("bot", "/useragent/")
    assert not robots.allowed("bot", "/useragent-no-colon/")


def test_longest_rule_across_merged_groups():
    robots = odd_file("precedence-of-rules.txt")
    assert not robots.allowed("testy", "/foo/b")
    assert robots.allowed("testy", "/foo/bar")
    assert not robots.allowed("wget", "/")  # "/*" is an octet longer than "/"
    assert robots.allowed("wget", "/foo")
