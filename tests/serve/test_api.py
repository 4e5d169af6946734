"""What programs ask."""

import time
from datetime import datetime

import pytest

from evercrawl.serve.app import API


def test_the_status_is_that_of_the_command_line(client, crawl):
    found = client.get("/api/v1/status").json()
    assert (found["known"], found["fetched"], found["visits"], found["running"]) == (3, 2, 3, True)
    assert datetime.fromisoformat(found["made_at"]).timestamp() == pytest.approx(found["made_at_s"], abs=0.001)


def test_lists_are_by_importance(client):
    pages = client.get("/api/v1/pages?limit=2").json()["pages"]
    assert [page["rank"] for page in pages] == [1, 2]
    sites = client.get("/api/v1/sites").json()["sites"]
    assert {site["site"] for site in sites} == {"a.example", "b.example"}


def test_what_comes_next_and_what_came_last(client, crawl):
    following = client.get("/api/v1/next").json()["pages"]
    assert [page["due_at_s"] for page in following] == sorted(page["due_at_s"] for page in following)
    crawl.visit("https://b.example/", crawl.page("Ships", text="other words"))
    crawl.save()
    until = time.monotonic() + 20
    while not (visits := client.get("/api/v1/visits").json()["visits"]) and time.monotonic() < until:
        time.sleep(0.01)
    assert [(visit["url"], visit["outcome"], visit["changed"]) for visit in visits] == [
        ("https://b.example/", "ok", True)
    ]


def test_a_page_is_explained_and_shown_in_a_sandbox(client):
    why = client.get("/api/v1/why", params={"url": "https://A.example"}).json()
    assert (why["url"], why["history"]["visits"]) == ("https://a.example/", 1)
    shown = client.get("/api/v1/content", params={"url": "https://b.example/"})
    assert b"Ships <script>" in shown.content
    assert shown.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert client.get("/api/v1/content", params={"url": "https://never.example/"}).status_code == 404


@pytest.mark.parametrize("path", sorted(set(API) - {"events"}))
def test_unknown_parameters_are_refused_with_those_there_are(client, path):
    answer = client.get(f"/api/v1/{path}?nonsense=1")
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert "'nonsense' is no parameter" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("pages?limit=0", 400),
        ("pages?limit=99999999999999999999999", 400),
        ("pages?limit=1&limit=2", 400),
        ("search?q=", 400),
        ("search?q=tea&fresh=nan", 400),
        ("search?q=" + "x" * 501, 400),
        ("why?url=mailto:me@example.org", 400),
        ("nothing", 404),
    ],
)
def test_bad_questions_get_a_sentence(client, path, status):
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_without_an_index_the_search_says_how_to_make_one(client):
    answer = client.get("/api/v1/search?q=tea")
    assert answer.status_code == 503
    assert "evercrawl reindex" in answer.json()["detail"]


def test_health_and_figures(client):
    assert client.get("/health/live").text == client.get("/health/ready").text == "ok\n"
    figures = client.get("/metrics").text
    assert "evercrawl_known_urls 3.0" in figures
    assert 'evercrawl_pages{class="gone"} 1.0' in figures
    assert "a.example" not in figures, "no label names a host"


def test_events_begin_with_the_state(client):
    with client.stream("GET", "/api/v1/events") as stream:
        lines = stream.iter_lines()
        first = [next(lines) for _ in range(3)]
    assert first[0].startswith("id: ")
    assert first[1] == "event: state"
    assert '"known":3' in first[2]
