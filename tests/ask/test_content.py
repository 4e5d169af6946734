"""The newest stored content of a page."""

import pytest

from evercrawl.ask.content import StoredPage, content
from evercrawl.config import Config
from evercrawl.errors import NotHeldError
from evercrawl.model.stored.reader import opened
from evercrawl.types import Outcome

SITE = "http://example.org"


def get(made, path: str) -> StoredPage:
    crawl = opened(made.directory)
    try:
        return content(crawl, SITE + path, Config())
    finally:
        crawl.close()


def test_codings_are_undone_and_the_newest_content_counts(filled):
    found = get(filled, "/")
    assert found.body.startswith(b"<html lang=en><title>Home again")
    assert (found.title, found.mime, found.language) == ("Home again", "text/html", "en")
    assert (found.visits, found.changes, found.status, found.outcome) == (2, 1, 200, Outcome.OK)
    assert found.visited_at == found.stored_at == filled.now
    assert found.headers["content-encoding"] == "gzip"
    assert found.notes == ()


def test_a_page_found_unchanged_has_the_content_of_before(filled):
    found = get(filled, "/a")
    assert b"one two" in found.body
    assert found.status == 304
    assert found.visited_at > found.stored_at


def test_a_permanent_redirect_is_followed_and_said(filled):
    found = get(filled, "/moved")
    assert found.final_url == f"{SITE}/a"
    assert b"one two" in found.body
    assert found.notes == (f"{SITE}/moved redirects (301) to {SITE}/a.",)


def test_a_copy_names_its_original(filled):
    found = get(filled, "/copy")
    assert (found.final_url, found.outcome) == (f"{SITE}/a", Outcome.DUPLICATE)
    assert "same content" in found.notes[0]


def test_a_copy_whose_original_changed_stands_for_itself(made):
    made.fill()
    made.visit(f"{SITE}/a", made.page("Other"))
    made.stop()
    found = get(made, "/copy")
    assert found.final_url == f"{SITE}/copy"
    assert b"one two" in found.body


def test_the_same_content_under_new_validators_leads_back_to_the_body(made):
    made.fill()
    for tag in ('"2"', '"3"', '"4"'):
        made.visit(f"{SITE}/a", made.page("A", "/", "/a", text="one two"), squeeze=True, etag=tag)
    made.stop()
    found = get(made, "/a")
    assert b"one two" in found.body
    assert found.headers["etag"] == '"4"'
    assert (found.visits, found.changes) == (5, 0)


def test_a_page_gone_since_shows_what_it_was(made):
    made.fill()
    made.visit(f"{SITE}/a", b"", 410)
    made.stop()
    found = get(made, "/a")
    assert b"one two" in found.body
    assert "is gone: status 410 when" in found.notes[0]


def test_a_page_in_trouble_shows_what_it_was(made):
    made.fill()
    made.visit(f"{SITE}/a", b"", 0, error="timeout")
    made.stop()
    assert "timeout: it was made so" in get(made, "/a").notes[0]


def test_a_page_read_in_part_says_so(filled):
    found = get(filled, "/cut")
    assert found.body == filled.page("Cut")
    assert "read only in part" in found.notes[0]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/later", "not fetched yet"),
        ("/never", "never seen"),
        ("/gone", "was gone \\(404\\)"),
        ("/broken", "returned no content at .*: timeout"),
        ("/private", "was not requested at .*: robots"),
        ("/away", "redirects \\(302\\) to http://elsewhere.example/, which is out of the crawl's scope"),
    ],
)
def test_where_there_is_no_content_the_reason_is_told(filled, path, why):
    with pytest.raises(NotHeldError, match=why):
        get(filled, path)


def test_a_url_out_of_scope_is_told_apart(filled):
    crawl = opened(filled.directory)
    with pytest.raises(NotHeldError, match="out of this crawl's scope"):
        content(crawl, "http://other.example/", Config())
    crawl.close()


def test_redirects_in_a_circle_end(made):
    made.seed(f"{SITE}/x", f"{SITE}/y")
    made.visit(f"{SITE}/x", b"", 301, location="/y")
    made.visit(f"{SITE}/y", b"", 301, location="/x")
    made.stop()
    with pytest.raises(NotHeldError, match="nothing to show"):
        get(made, "/x")


def test_it_can_be_asked_while_the_crawl_runs(made):
    made.fill()
    made.snapshot()
    made.visit(f"{SITE}/later", made.page("Later"))
    made.save()
    assert get(made, "/later").title == "Later"


def test_how_likely_a_copy_is_to_be_the_page_is_told_of_where_redirects_lead(filled):
    moved, page = get(filled, "/moved"), get(filled, "/a")
    assert moved.page == page.page == f"{SITE}/a"
    assert moved.fresh == pytest.approx(page.fresh, abs=1e-6)
    assert 0 < page.fresh < 1


def test_the_copy_of_a_page_that_is_gone_is_not_fresh(made):
    made.fill()
    made.visit(f"{SITE}/a", b"no", 404)
    made.stop()
    assert get(made, "/a").fresh == 0.0


def test_what_is_not_held_names_the_page_to_fetch(filled):
    for path, page in (("/later", "/later"), ("/gone", "/gone")):
        with pytest.raises(NotHeldError) as error:
            get(filled, path)
        assert error.value.page == SITE + page
    with pytest.raises(NotHeldError) as error:
        get(filled, "/unknown")
    assert error.value.page == ""
