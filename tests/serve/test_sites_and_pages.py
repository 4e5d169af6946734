"""One site, one host, one page: what is told of each alone."""

import csv
import io
import time

import pytest


def ready(client, path):
    until = time.monotonic() + 30
    while (answer := client.get(path)).status_code == 503 and time.monotonic() < until:
        time.sleep(0.02)
    return answer


def test_sites_tell_how_fresh_they_are_and_what_failed(client, crawl):
    crawl.visit("https://b.example/", b"", 500)
    crawl.save()
    token = _token(client, 4)
    found = {each["site"]: each for each in ready(client, f"/api/v1/sites?at_least={token}").json()["sites"]}
    assert (found["b.example"]["errors"], found["b.example"]["hosts"]) == (1, 1)
    assert found["a.example"]["visited"] == 2
    assert 0 < found["a.example"]["fresh"] <= 1
    assert found["a.example"]["changes_per_day"] > 0


def _token(client, visits: int) -> str:
    until = time.monotonic() + 20
    while f"_visits_total {visits}.0" not in client.get("/metrics").text and time.monotonic() < until:
        time.sleep(0.02)
    return client.get("/api/v1/status").headers["evercrawl-sequence"]


def test_lists_can_be_of_one_site(client, crawl):
    crawl.visit("https://b.example/", crawl.page("Ships", text="other words"))
    crawl.visit("https://a.example/", crawl.page("Tea", "/ships", text="other tea"))
    crawl.save()
    _token(client, 5)
    for path, name in (("next", "pages"), ("visits", "visits")):
        urls = {each["url"] for each in client.get(f"/api/v1/{path}?site=B.example").json()[name]}
        assert urls <= {"https://b.example/"}
        assert client.get(f"/api/v1/{path}?site=never.example").json()[name] == []
    seen = client.get("/api/v1/map?site=a.example").json()
    assert (seen["sites"], {page[0] for page in seen["pages"]}) == (
        ["a.example"], {"https://a.example/", "https://a.example/ships"},
    )  # fmt: skip
    assert client.get("/api/v1/map?site=never.example").json()["pages"] == []


def test_the_pages_that_are_no_dots_are_told_by_site(client):
    found = client.get("/api/v1/map?limit=1").json()
    assert len(found["pages"]) == 1
    assert sum(pages for _, pages, _ in found["others"]) == 2


def test_the_visits_to_a_page_are_told(client):
    (visit,) = ready(client, "/api/v1/visits?url=https://a.example/ships").json()["visits"]
    assert (visit["outcome"], visit["status"], visit["changed"]) == ("gone", 404, False)
    assert client.get("/api/v1/visits?url=https://never.example/").status_code == 404


def test_who_runs_a_host_gets_a_table_of_what_it_was_asked_for(client, crawl):
    answer = ready(client, "/api/v1/requests?host=A.example")
    assert answer.headers["content-type"].startswith("text/csv")
    head, *rows = csv.reader(io.StringIO(answer.text))
    assert head == ["at", "url", "outcome", "status", "bytes"]
    assert [row[1:4] for row in rows] == [
        ["https://a.example/ships", "gone", "404"], ["https://a.example/", "ok", "200"],
    ]  # fmt: skip
    assert len(ready(client, "/api/v1/requests?host=a.example&limit=1").text.splitlines()) == 2
    assert client.get("/api/v1/requests?host=never.example").status_code == 404
    assert client.get("/api/v1/requests").status_code == 404


def test_the_worth_of_a_visit_rises_until_it_crosses_the_price(client, crawl):
    found = client.get("/api/v1/rise?url=https://a.example/").json()
    assert len(found["points"]) in (0, 48)
    values = [point["value"] for point in found["points"] if point["value"] is not None]
    assert values == sorted(values)
    assert client.get("/api/v1/rise?url=https://never.example/").json()["points"] == []


def test_a_page_tells_its_next_visit_with_how_well_such_are_kept(client):
    told = ready(client, "/api/v1/why?url=https://a.example/").json()["appointment"]
    assert (told["judged"], told["wanted"], told["kept"]) == (0, 0.8, None)
    assert {"due_at", "low_at", "high_at"} <= set(told)
    assert ready(client, "/api/v1/why?url=https://never.example/").json()["appointment"] is None


@pytest.mark.parametrize("at", ["2999-01-01", "2000-01-01"])
def test_the_copy_of_an_instant_is_shown_in_the_same_sandbox(client, at):
    answer = ready(client, f"/api/v1/content?url=https://b.example/&at={at}")
    if at < "2020":
        assert (answer.status_code, "first read" in answer.json()["detail"]) == (404, True)
    else:
        assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert b"Ships <script>" in answer.content
    assert client.get("/api/v1/content?url=https://b.example/&at=nonsense").status_code == 400
