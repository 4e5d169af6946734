"""Lists go on where they ended."""

import pytest

from evercrawl.ask.orders.give import give
from evercrawl.config import Config, save
from evercrawl.serve.api import listed
from evercrawl.serve.cursors import NEXT
from evercrawl.store.orders import CrawlOrder

A, B = "https://a.example/", "https://b.example/"


@pytest.fixture
def crawl(crawl):
    """A crawl with forty pages, of which thirty were read, and some orders."""
    crawl.visit(A, crawl.page("Tea", *(f"/ship-{i}" for i in range(40)), B, text="all about tea and ships"))
    for i in range(30):
        links = [f"/ship-{i + 1}"] if i % 3 == 0 else []
        crawl.visit(f"{A}ship-{i}", crawl.page("A ship", A, *links, text=f"a ship of number {i}"))
    for i in range(30):
        crawl.visit(f"{A}ship-{i}", crawl.page("A ship", A, text=f"number {i} {'sank ' * (i % 5 + 1)}"))
    crawl.save()
    save(Config(policy="nutch_adaptive"), crawl.directory)  # under which pages fall due without a price
    for number in range(7):
        give(crawl.directory, CrawlOrder("exclude", pattern=f"/{number}/"))
    return crawl


def whole(client, path, field, key, limit):
    """Return a list piece by piece."""
    found, cursor, answers = [], "", 0
    while cursor is not None and answers < 100:
        mark = "&" if "?" in path else "?"
        answer = client.get(f"/api/v1/{path}{mark}limit={limit}{f'&cursor={cursor}' if cursor else ''}")
        assert answer.status_code == 200, answer.text
        found += [row[key] for row in answer.json()[field]]
        cursor, answers = answer.json()[NEXT], answers + 1
    return found


@pytest.mark.parametrize(
    ("path", "field", "key", "most"),
    [
        ("pages", "pages", "url", 5000),
        ("pages", "pages", "rank", 5000),
        ("sites", "sites", "site", 5000),
        ("next", "pages", "url", 1000),
        ("next", "pages", "rank", 1000),
        ("changes?since=30000d&all=1", "changes", "sequence", 1000),
        ("history", "visits", "at_s", 1000),
        (f"history?url={A}ship-3", "visits", "at_s", 1000),
        ("history?site=b.example", "visits", "url", 1000),
        (f"inlinks?url={A}", "pages", "url", 1000),
        ("orders", "orders", "id", 1000),
        (f"visits?url={A}ship-3", "visits", "at_s", 256),
        (f"versions?url={A}ship-3", "versions", "at_s", 1000),
    ],
)
def test_a_list_in_pieces_is_the_list(client, path, field, key, most):
    once = whole(client, path, field, key, most)
    assert len(once) >= 1
    for limit in (1, 4):
        assert whole(client, path, field, key, limit) == once


def test_all_sites_are_listed_however_many_there_are(client, monkeypatch):
    monkeypatch.setattr(listed, "MOST", 1)
    assert sorted(whole(client, "sites", "sites", "site", 1)) == ["a.example", "b.example"]


def test_what_comes_meanwhile_moves_nothing(client, crawl):
    first = client.get("/api/v1/history?limit=10").json()
    crawl.visit(B, crawl.page("Ships", text="others"))
    crawl.save()
    rest = client.get(f"/api/v1/history?limit=1000&cursor={first[NEXT]}").json()["visits"]
    assert len(rest) + 10 == 64
    assert [row["at_s"] for row in first["visits"] + rest] == sorted(
        (row["at_s"] for row in first["visits"] + rest), reverse=True
    )


def test_history_has_a_span(client):
    visits = client.get("/api/v1/history?limit=1000").json()["visits"]
    since, until = visits[20]["at"], visits[10]["at"]
    found = client.get("/api/v1/history", params={"since": since, "until": until}).json()["visits"]
    assert {row["at"] for row in found} <= {row["at"] for row in visits[10:21]}
    assert visits[20]["at"] in {row["at"] for row in found}
    assert visits[10]["at"] not in {row["at"] for row in found}


@pytest.mark.parametrize("bad", ["x", "A" * 401, "%00", "kKSr"])
def test_what_is_no_cursor_gets_a_sentence(client, bad):
    answer = client.get(f"/api/v1/pages?cursor={bad}")
    assert answer.status_code == 400
    assert "cursor" in answer.json()["detail"]


def test_a_cursor_is_of_its_own_list(client):
    cursor = client.get("/api/v1/pages?limit=1").json()[NEXT]
    answer = client.get(f"/api/v1/next?cursor={cursor}")
    assert answer.status_code == 400
    assert "belongs to another list" in answer.json()["detail"]
    assert client.get(f"/api/v1/history?limit=1&site=a.example&cursor={cursor}").status_code == 400
