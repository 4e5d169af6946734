"""The lab: the ledger's own numbers, over HTTP."""

import time

import pytest

from evercrawl.importance.ledger.examples import EXAMPLES
from evercrawl.importance.ledger.trace import TraceSettings, traced


def test_the_trace_is_that_of_the_ledger(client):
    found = client.get("/api/v1/lab?graph=scale-free&order=greedy&virtual=link&steps=120&window=two&size=10").json()
    web = EXAMPLES["scale-free"]
    assert [tuple(link) for link in found["links"]] == list(web.links)
    mine = traced(24, web.links, TraceSettings("greedy", 120, virtual="link", window="two", size=10.0))
    assert found["visits"] == mine.visits
    assert -1 in found["visits"], "the virtual page is visited too"
    assert found["exact"] == pytest.approx(mine.exact, rel=1e-5)
    for name in ("cash", "history", "estimate"):
        assert found["states"][name][120] == pytest.approx(getattr(mine.states[120], name), rel=1e-5)
    assert found["states"]["bound"][120] == pytest.approx(mine.states[120].bound, rel=1e-5)


def test_a_web_can_be_drawn(client):
    found = client.get("/api/v1/lab?graph=drawn&pages=3&links=1-2.2-1.3-1&order=push&steps=60").json()
    assert found["links"] == [[0, 1], [1, 0], [2, 0]]
    assert found["states"]["error"][-1] < 1e-4
    alone = client.get("/api/v1/lab?graph=drawn&pages=1").json()
    assert alone["exact"] == [1.0]


def test_the_neighbourhood_of_a_page_is_drawn_from_its_links(client):
    until = time.monotonic() + 30
    path = "/api/v1/lab?graph=site&url=https://b.example/"
    while (answer := client.get(path)).status_code == 503 and time.monotonic() < until:
        time.sleep(0.02)
    found = answer.json()
    assert found["names"] == ["https://b.example/", "https://a.example/"]
    assert found["links"] == [[1, 0]]
    assert len(client.get("/api/v1/lab?graph=site").json()["names"]) >= 1
    assert client.get("/api/v1/lab?graph=site&url=https://never.example/").status_code == 404


@pytest.mark.parametrize(
    "asked",
    [
        "graph=nothing", "order=best", "steps=0", "steps=5001", "pages=61", "size=nan", "tax=0", "window=none",
        "graph=drawn&links=1-2.2", "graph=drawn&pages=2&links=1-3", "graph=drawn&links=1-2.", "order=push&virtual=none",
        "graph=scale-free&steps=5000&every=1", "graph=site&url=mailto:x@y", "spends=never", "seed=-1",
    ],
)  # fmt: skip
def test_bad_questions_get_a_sentence(client, asked):
    answer = client.get(f"/api/v1/lab?{asked}")
    assert answer.status_code == 400
    assert len(answer.json()["detail"]) > 20


def test_the_largest_answer_is_small(client):
    links = ".".join(f"{page}-{(page * 7 + step) % 60 + 1}" for page in range(1, 61) for step in range(5))
    answer = client.get(f"/api/v1/lab?graph=drawn&pages=60&steps=5000&window=improved&links={links}")
    assert answer.status_code == 200
    assert len(answer.content) < 1 << 20
    assert len(answer.json()["visits"]) == 5000
