"""The search page and what its box suggests."""

from collections.abc import Iterator
from urllib.parse import parse_qs

import numpy as np
import pytest
from hand_made import HandMade
from starlette.testclient import TestClient

from evercrawl.ask.search.search import place_behind
from evercrawl.crawl.learn.reindex import reindex
from evercrawl.serve.app import app


@pytest.fixture(scope="module")
def asking(tmp_path_factory) -> Iterator[TestClient]:
    made = HandMade(tmp_path_factory.mktemp("search") / "crawl")
    made.seed(*(f"https://a.example/{i}" for i in range(12)), "https://b.example/")
    for i in range(12):
        made.visit(f"https://a.example/{i}", made.page(f"Green tea {i}", text=f"all about teapots number {i}"))
    made.visit("https://b.example/", b"<html lang=de><title>Tee</title><p>green tea ist Tee</html>")
    made.save()
    made.stop()
    reindex(made.directory)
    with TestClient(app(made.directory, "t" * 40), base_url="http://127.0.0.1", client=("127.0.0.1", 1)) as client:
        yield client


def test_facets_count_what_each_filter_would_leave_and_lead_there(asking):
    counted = asking.get("/api/v1/search?q=green&facets=1").json()["facets"]
    assert counted["pages"] == 13
    assert counted["site"] == [{"value": "a.example", "pages": 12}, {"value": "b.example", "pages": 1}]
    assert {each["value"]: each["pages"] for each in counted["language"]}["de"] == 1
    page = asking.get("/?q=green").text
    assert 'href="/?q=green&amp;site=b.example"' in page
    narrowed = asking.get("/?q=green&site=a.example&fetched_within=9999d").text
    assert narrowed.count('class="chip"') == 2
    assert narrowed.partition('">Next')[0].rpartition('href="')[2] == (
        "/?q=green&amp;site=a.example&amp;fetched_within=9999d&amp;skip=10"
    )
    assert "Results 1 to 10 of 12" in narrowed


def test_a_mistyped_word_leads_to_the_one_that_pages_have(asking):
    assert asking.get("/api/v1/search?q=teapost").json()["instead"] == "teapots"
    assert asking.get("/api/v1/search?q=teapots").json()["instead"] is None
    page = asking.get("/?q=grene+teapost&site=a.example").text
    assert 'Did you mean <a href="/?q=green+teapots&amp;site=a.example">' in page


def test_the_box_suggests_questions_that_find_something(asking):
    assert asking.get("/api/v1/suggest?q=green te").json()["suggestions"][0] == "green tea"
    assert asking.get("/api/v1/suggest?q=").json()["suggestions"] == []
    for text in ("a" * 500, "\x00", "'\"(", "site:", "\u202e"):
        assert asking.get("/api/v1/suggest", params={"q": text}).status_code == 200


@pytest.mark.parametrize(
    "wrong", ["fetched_within=soon", "fetched_within=-1h", "fetched_within=9e99d", "fresh=2", "limit=0"]
)
def test_a_filter_that_is_none_gets_a_sentence(asking, wrong):
    for path in ("/api/v1/search", "/"):
        answer = asking.get(f"{path}?q=tea&{wrong}")
        assert (answer.status_code, wrong.partition("=")[0] in answer.text) == (400, True)


def test_questions_are_written_into_addresses_whole(asking):
    page = asking.get("/", params={"q": 'tea & "green" <b>', "site": "a.example"}).text
    address = page.partition('class="chip" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert parse_qs(address.partition("?")[2])["q"] == ['tea & "green" <b>']


def in_pieces(asking, question, limit):
    """Return the ranks and URLs of a search, piece by piece."""
    found, cursor = [], ""
    while cursor is not None and len(found) < 50:
        told = asking.get(f"/api/v1/search?{question}&limit={limit}{f'&cursor={cursor}' if cursor else ''}").json()
        found += [(hit["rank"], hit["url"]) for hit in told["hits"]]
        cursor = told["next_cursor"]
    return found


@pytest.mark.parametrize("question", ["q=green", "q=teapots&site=a.example", "q=site:a.example"])
def test_a_search_in_pieces_is_the_search(asking, question):
    once = in_pieces(asking, question, 100)
    assert len(once) >= 12
    assert in_pieces(asking, question, 1) == in_pieces(asking, question, 5) == once


def test_a_cursor_of_a_search_is_of_that_search_and_goes_without_skip(asking):
    cursor = asking.get("/api/v1/search?q=green&limit=2").json()["next_cursor"]
    for other in ("q=teapots", "q=green&site=a.example", "q=green&fresh=0.1", "q=green&skip=2"):
        assert asking.get(f"/api/v1/search?{other}&cursor={cursor}").status_code == 400


def test_a_search_goes_on_behind_a_hit_wherever_it_stands_now():
    slots, score = np.array([7, 3, 9, 4], np.uint32), np.array([9.0, 5.0, 5.0, 1.0])
    assert place_behind(slots, score, (5.0, 3)) == 2
    assert place_behind(slots, score, (8.0, 4)) == 4, "its score sank: what it was ahead of was told before it"
    assert place_behind(slots, score, (5.0, 11)) == 3, "it answers no more"
    assert place_behind(slots[:0], score[:0], (5.0, 11)) == 0
