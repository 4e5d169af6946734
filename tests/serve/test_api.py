"""What programs ask."""

import time
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from evercrawl.model.worth.usage import Question, UsageWriter
from evercrawl.serve import context, replica
from evercrawl.serve.api.resources import RESOURCES
from evercrawl.serve.app import app


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


def test_urls_that_were_found_since_the_last_view_break_no_answer(client, crawl):
    crawl.visit("https://b.example/", crawl.page("Ships", *(f"/ship-{i}" for i in range(2000)), text="many"))
    for i in range(1500, 1520):
        crawl.visit(f"https://b.example/ship-{i}", crawl.page("A ship", text=f"a ship of number {i}"))
    crawl.save()
    until = time.monotonic() + 20
    while not client.get("/api/v1/visits").json()["visits"] and time.monotonic() < until:
        time.sleep(0.01)
    for path in ("next", "status", "map", "pages", "sites", "search?q=ship"):
        assert client.get(f"/api/v1/{path}").status_code in (200, 503), path


def test_a_page_is_explained_and_shown_in_a_sandbox(client):
    why = client.get("/api/v1/why", params={"url": "https://A.example"}).json()
    assert (why["url"], why["history"]["visits"]) == ("https://a.example/", 1)
    shown = client.get("/api/v1/content", params={"url": "https://b.example/"})
    assert b"Ships <script>" in shown.content
    assert shown.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert client.get("/api/v1/content", params={"url": "https://never.example/"}).status_code == 404


@pytest.mark.parametrize("path", sorted(set(RESOURCES) - {"events"}))
def test_unknown_parameters_are_refused_with_those_there_are(client, path):
    answer = client.get(f"/api/v1/{path}?nonsense=1")
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    there = ", ".join(RESOURCES[path].parameters)
    known = f"there are: {there}" if there else "there are none here"
    assert answer.json()["detail"] == f"'nonsense' is no parameter; {known}", "as OpenAPI has them"


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


def ready(client, path):
    """Ask for what is derived from the journal, once that is made."""
    until = time.monotonic() + 30
    while (answer := client.get(path)).status_code == 503 and time.monotonic() < until:
        time.sleep(0.02)
    return answer.json()


def test_changes_versions_and_links_are_told(client, crawl):
    crawl.visit("https://a.example/", crawl.page("Tea", "/ships", "https://b.example/", text="all about coffee"))
    crawl.save()
    assert ready(client, "/api/v1/inlinks?url=https://b.example/")["pages"][0]["url"] == "https://a.example/"
    until = time.monotonic() + 20
    while len((found := ready(client, "/api/v1/versions?url=https://a.example/"))["versions"]) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    pieces = [tuple(piece) for piece in found["diff"]["pieces"]]
    assert ("went", "tea") in pieces
    assert ("came", "coffee") in pieces
    changes = ready(client, "/api/v1/changes?since=2000-01-01&diff=1")
    assert changes["pages"] == {"changed": 1} | {kind: n for kind, n in changes["pages"].items() if kind != "changed"}
    assert sum(row["visits"] for row in ready(client, "/api/v1/minutes?since=2000-01-01")["minutes"]) == 4
    assert client.get("/api/v1/versions?url=https://never.example/").status_code == 404


def test_a_page_tells_how_it_is_used_and_what_is_new_of_that(client, crawl):
    path = "/api/v1/why?url=https://b.example/"
    none = ready(client, path)["use"]
    assert (none["retrieved"], none["clicked"], none["R"], none["C"]) == (0, 0, 0.0, 0.0)
    shown = ("https://b.example/", "https://a.example/")
    UsageWriter(crawl.directory).add([Question(float(i), str(i), shown, shown[: i % 2]) for i in range(10)])
    use = client.get(path).json()["use"]
    assert (use["retrieved"], use["clicked"], use["visits"]) == (10, 5, 1)
    assert [use[name] for name in "RC"] == pytest.approx([10.0, 0.5], rel=1e-4)
    assert 0.0 < use["P"] <= 1.0
    assert use["U"] == pytest.approx(0.0)


def test_the_description_names_every_path_and_parameter(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {f"/api/v1/{name}" for name in [*RESOURCES, "retrievals", "clicks"]}
    *own, common = paths["/api/v1/search"]["get"]["parameters"]
    assert common == {"$ref": "#/components/parameters/at_least"}
    assert [each["name"] for each in own] == [
        "q", "site", "language", "fresh", "fetched_within", "limit", "skip", "facets", "cursor",
    ]  # fmt: skip


WRITE = {"authorization": "Bearer " + "t" * 40}


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({"do": "burn"}, "'burn' is not an order; there are: boost, "),
        ({"do": "seed"}, "seed and check take 1 to 1000 urls"),
        ({"do": "pause", "urls": ["https://a.example/"]}, "other orders none"),
        ({"do": "seed", "urls": ["mailto:me@example.org"]}, "is not an http or https URL"),
        ({"do": "exclude", "pattern": "("}, "is not a regular expression"),
        ({"do": "exclude", "pattern": "(" * 5_000 + "a" + ")" * 5_000}, "is nested too deeply, or repeats too often"),
        ({"do": "boost", "pattern": "/", "factor": 1e9}, "factor must be"),
        ({"do": "set", "name": "nonsense", "values": ["1"]}, "is not a setting"),
        ({"do": "set", "name": "delay_s", "values": ["soon"]}, "delay_s must be a duration"),
        ({"do": "pause", "more": 1}, "not an order"),
        ({"do": "forget"}, "forget takes 1 to 1000"),
        ({"do": "pause", "what": ["a.example"]}, "other orders none"),
        ({"do": "forget", "what": ["~~~"]}, "what to forget is"),
        ({"do": "forget", "what": ["x" * 9000]}, "what to forget is"),
        (["pause"], "not an order"),
    ],
)
def test_what_is_no_order_is_refused_with_a_sentence(client, order, said):
    answer = client.post("/api/v1/orders", json=order, headers=WRITE)
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


def test_an_order_is_written_down_for_the_next_start(crawl):
    directory = crawl.directory
    crawl.stop()
    with TestClient(app(directory, "t" * 40), base_url="http://127.0.0.1", client=("127.0.0.1", 1)) as client:
        answer = client.post("/api/v1/orders", json={"do": "exclude", "pattern": "/ships"}, headers=WRITE)
        assert (answer.status_code, answer.json()["state"]) == (202, "waits")
        (listed,) = client.get("/api/v1/orders").json()["orders"]
    assert (listed["do"], listed["by"], listed["state"]) == ("exclude", "web", "waits")
    assert "/ships" in (directory / "orders.jsonl").read_text()


def test_a_long_journal_is_read_for_the_sites_by_a_process_of_its_own(crawl, monkeypatch):
    monkeypatch.setattr(replica, "LONG_BYTES", 0)
    with TestClient(
        app(crawl.directory, "t" * 40), base_url="http://127.0.0.1:8400", client=("127.0.0.1", 5000)
    ) as asking:
        while (found := asking.get("/api/v1/sites?limit=2")).status_code == 202:
            assert found.json()["pending"]
        monkeypatch.undo()
        assert found.json()["sites"] == asking.get("/api/v1/sites?limit=2").json()["sites"]
    assert {site["site"] for site in found.json()["sites"]} == {"a.example", "b.example"}


def test_what_the_running_crawl_says_comes_over_its_line(client, monkeypatch):
    assert client.get("/api/v1/progress").json()["progress"] is None, "whose lock names no socket"
    parts = client.app.state.context
    monkeypatch.setattr(context, "PROGRESS_S", 0.0)
    monkeypatch.setattr(context, "ask", lambda *_: {"visits": 7, "waiting": {"resting": 2}})
    assert client.get("/api/v1/progress").json()["progress"]["waiting"] == {"resting": 2}
    monkeypatch.setattr(context, "ask", lambda *_: {"error": "ask one of ping"})
    assert parts.progress() is None


def test_hosts_that_are_left_alone_are_told_with_what_waits_on_them(client, crawl):
    number = list(crawl.state.hosts).index("a.example")
    state = client.app.state.context.replica.view.state
    state.away[number] = time.time() + 60
    (host,) = client.get("/api/v1/waits").json()["hosts"]
    assert (host["host"], host["pages"]) == ("a.example", 0)
    assert host["until_s"] > time.time()


def test_many_hosts_that_are_left_alone_are_told_at_once(client, crawl, monkeypatch):
    """All records are looked through once, and each host has its own."""
    crawl.seed(*(f"https://h{number:02}.example/{page}" for number in range(40) for page in "ab"))
    for number in range(0, 40, 2):
        crawl.visit(f"https://h{number:02}.example/a", crawl.page(f"page {number}"))
    crawl.save()
    replica = client.app.state.context.replica
    while len(replica.view.state.hosts) < 41 or replica.view.state.records.count < 21:
        time.sleep(0.01)
    state = replica.view.state
    for name in (f"h{number:02}.example" for number in range(40)):
        state.away[state.hosts.find(name)] = time.time() + 60
    looks = list[str]()

    class Watched(np.ndarray):
        def __getitem__(self, key) -> Any:
            looks.extend([key] if isinstance(key, str) and key == "host" else ())
            return super().__getitem__(key)

    monkeypatch.setattr(state.records, "rows", state.records.rows.view(Watched))
    found = {host["host"]: host for host in client.get("/api/v1/waits").json()["hosts"]}
    assert len(found) == 40
    assert 0 < len(looks) < 5
    assert {found[f"h{number:02}.example"]["pages"] for number in range(0, 40, 2)} == {1}
    assert {found[f"h{number:02}.example"]["pages"] for number in range(1, 40, 2)} == {2}
    seen = {name for name, host in found.items() if host.get("since_s") is not None}
    assert seen >= {f"h{number:02}.example" for number in range(0, 40, 2)}
    assert not seen & {f"h{number:02}.example" for number in range(1, 40, 2)}


def test_long_answers_are_compressed_and_events_are_not(client, crawl):
    crawl.seed(*(f"https://a.example/long/{number}" for number in range(200)))
    crawl.save()
    while len(client.get("/api/v1/pages?limit=200").json()["pages"]) < 200:
        time.sleep(0.05)
    found = client.get("/api/v1/pages?limit=200")
    assert found.headers["content-encoding"] == "gzip"
    assert int(found.headers["content-length"]) < len(found.content) / 3
    assert "content-encoding" not in client.get("/api/v1/pages?limit=1").headers
