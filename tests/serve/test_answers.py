"""Answers are as the description of the API says."""

import pytest
from hand_made import HandMade
from jsonschema import Draft202012Validator, FormatChecker
from starlette.testclient import TestClient

from evercrawl.ask.orders.give import give
from evercrawl.crawl.learn.reindex import reindex
from evercrawl.model.worth.usage import Question, UsageWriter
from evercrawl.serve.api.resources import RESOURCES, description
from evercrawl.serve.app import app
from evercrawl.store.orders import CrawlOrder

A, B, GONE, NEW = "https://a.example/", "https://b.example/", "https://a.example/ships", "https://a.example/new"
ASKED = {
    "status": [""],
    "search": ["?q=tea", "?q=tea&facets=1", "?q=nothinglikeit"],
    "suggest": ["", "?q=te"],
    "pages": ["", "?limit=1"],
    "sites": ["", "?limit=1"],
    "next": ["", "?limit=1"],
    "visits": ["", f"?url={A}"],
    "history": ["", "?limit=1", f"?url={A}"],
    "progress": [""],
    "waits": [""],
    "changes": ["?since=30000d&all=1&diff=1", "?since=30000d&limit=1"],
    "why": [f"?url={A}", f"?url={B}", f"?url={GONE}", f"?url={NEW}", "?url=https://unknown.example/"],
    "rise": [f"?url={A}"],
    "versions": [f"?url={A}", f"?url={B}", f"?url={GONE}"],
    "inlinks": [f"?url={B}"],
    "map": ["", "?site=a.example"],
    "minutes": ["?since=30000d"],
    "orders": ["", "?limit=1"],
    "lab": ["?graph=star&steps=5", "?graph=site&steps=3"],
}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    crawl = HandMade(tmp_path_factory.mktemp("answers") / "crawl")
    crawl.seed(A, B)
    crawl.visit(A, crawl.page("Tea", "/ships", B, text="all about tea"))
    crawl.visit(B, crawl.page("Ships <script>", text="all about ships"))
    crawl.visit(GONE, b"", 404)
    crawl.visit(A, crawl.page("Tea", "/ships", "/new", B, text="all about coffee"))
    crawl.visit(B, b"", 503)
    crawl.visit(A, crawl.page("Tea", "/ships", "/new", B, text="all about tea, and more"))
    crawl.save()
    crawl.stop()
    reindex(crawl.directory)
    UsageWriter(crawl.directory).add([Question(1.0, "tea", (A, B), (A,))])
    give(crawl.directory, CrawlOrder("exclude", pattern="/private/"))
    with TestClient(
        app(crawl.directory, "t" * 40), base_url="http://127.0.0.1:8400", client=("127.0.0.1", 5)
    ) as asking:
        yield asking


def validator(schema):
    whole = description()
    return Draft202012Validator({**schema, "components": whole["components"]}, format_checker=FormatChecker())


def schema_of(path, method="get", status="200"):
    return description()["paths"][f"/api/v1/{path}"][method]["responses"][status]["content"]["application/json"][
        "schema"
    ]


def troubles(path, found):
    return [f"{list(e.absolute_path)}: {e.message[:200]}" for e in validator(schema_of(path)).iter_errors(found)]


@pytest.mark.parametrize("path", sorted(ASKED))
def test_an_answer_is_as_described(client, path):
    for asked in ASKED[path]:
        answer = client.get(f"/api/v1/{path}{asked}")
        assert answer.status_code == 200, answer.text
        assert troubles(path, answer.json()) == [], asked


def test_every_answer_in_json_is_described():
    json = {name for name, resource in RESOURCES.items() if resource.media == "application/json"}
    assert json == set(ASKED) | {"plan"}, "content, requests and events are no JSON; a plan takes a process"
    for name in json:
        Draft202012Validator.check_schema({**schema_of(name), "components": description()["components"]})
        assert schema_of(name), name


def test_the_answers_that_are_compared_hold_something(client):
    assert client.get("/api/v1/search?q=tea&facets=1").json()["hits"][0]["ticket"]
    assert client.get("/api/v1/changes?since=30000d&all=1&diff=1").json()["changes"][0]["diff"]
    assert client.get(f"/api/v1/why?url={A}").json()["worth"]
    assert client.get("/api/v1/orders").json()["orders"]
    assert client.get("/api/v1/minutes?since=30000d").json()["minutes"]


def test_a_field_that_nobody_described_is_found(client):
    found = client.get("/api/v1/pages").json()
    found["pages"][0]["more"] = 1
    assert len(troubles("pages", found)) == 1
    del found["pages"][0]["more"], found["pages"][0]["url"]
    assert len(troubles("pages", found)) == 1


def test_orders_and_problems_are_as_described(client):
    body = {"do": "pause", "wait_s": 0.0}
    answer = client.post("/api/v1/orders", json=body, headers={"authorization": f"Bearer {'t' * 40}"})
    assert answer.status_code == 202
    assert not list(validator(schema_of("orders", "post", "202")).iter_errors(answer.json()))
    problem = client.get("/api/v1/pages?limit=0")
    schema = description()["paths"]["/api/v1/pages"]["get"]["responses"]["400"]["content"]
    assert not list(validator(schema["application/problem+json"]["schema"]).iter_errors(problem.json()))
