"""What one exchange shows of a page."""

import pytest

from evercrawl.model.stored.reading import Before, no_page
from evercrawl.store.journal.events import PARTIAL, Visit
from evercrawl.types import Exchange, Outcome, Request
from tests.helpers.hashing import HASHER
from tests.helpers.readings import read

URL = "http://example.org/dir/page"
HTML = {"content-type": "text/html; charset=utf-8"}
PAGE = b"<title>A title</title><p>words</p><a href=x>x</a><a rel=nofollow href=y>y</a><a href=//other.example/>o</a>"
FIRST, REST = HASHER.digest(PAGE)
SAME = Before(visits=1, digest=FIRST, digest_rest=REST, outcome=Outcome.OK, event=256, visited_at=1.0)


def reading(status=200, body=PAGE, headers=HTML, before=None, **more: object):
    exchange = Exchange(Request(URL), 10.0, status=status, body=body, wire=body, headers=headers, **more)
    return read(exchange, None, 0, before or Before())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/there", "http://example.org/there"), ("there?a=b#part", "http://example.org/dir/there?a=b"),
        ("//b.example", "http://b.example/"), ("HTTPS://B.example:443/%7e", "https://b.example/%7e"),
        ("http://example.org/dir/page", URL),
    ],
)  # fmt: skip
def test_where_a_redirect_leads(status, location, target):
    found = reading(status, b"", {"location": location})
    assert (found.redirect, found.page.targets, found.digest) == (target, [], 0)


@pytest.mark.parametrize("location", ["", "ftp://a/", "http://[bad"])
def test_where_a_redirect_leads_that_nobody_can_follow(location):
    assert reading(302, b"", {"location": location}).redirect == ""


def test_what_a_page_teaches():
    found = reading(headers=HTML | {"etag": 'W/"1"', "last-modified": "yesterday", "content-language": "en"})
    page = found.page
    assert page.targets == ["http://example.org/dir/x", "http://other.example/"]
    assert (page.title, found.mime, found.etag, found.last_modified) == ("A title", "text/html", 'W/"1"', "yesterday")
    assert (found.digest, found.digest_rest) == (FIRST, REST)
    assert page.simhash
    assert page.language == "en"


def test_refresh_is_a_link_and_canonical_another_name():
    head = b'<link rel=canonical href=/c><meta http-equiv=refresh content="5; url=/r">'
    assert reading(body=head).page.targets == ["http://example.org/r"]
    assert reading(body=head).page.canonical == "http://example.org/c"
    assert reading(body=b"<link rel=canonical href=/dir/page>").page.canonical == ""


def test_links_that_are_not_vouched_for():
    body = b"<a href=/a>a</a><a rel=ugc href=/b>b</a><a rel='nofollow ugc' href=/c>c</a><a rel=nofollow href=/a>a</a>"
    found = reading(body=body)
    assert found.page.targets == ["http://example.org/a", "http://example.org/b"]
    assert (found.page.unpaid, found.page.withheld) == (["http://example.org/b"], 1)


@pytest.mark.parametrize(
    ("headers", "body", "links", "noindex"),
    [
        ({"x-robots-tag": "noindex"}, PAGE, 2, True),
        ({"x-robots-tag": "nofollow"}, PAGE, 0, False),
        ({"x-robots-tag": "none"}, PAGE, 0, True),
        ({"x-robots-tag": "otherbot: none"}, PAGE, 2, False),
        ({"x-robots-tag": "evercrawl: none"}, PAGE, 0, True),
        ({}, b'<meta name=robots content="noindex">' + PAGE, 2, True),
        ({}, b'<meta name=robots content="nofollow">' + PAGE, 0, False),
        ({}, b'<meta name=ROBOTS content="NONE">' + PAGE, 0, True),
    ],
)
def test_directives(headers, body, links, noindex):
    found = reading(body=body, headers=HTML | headers)
    assert len(found.page.targets) == links
    assert found.page.noindex == noindex


@pytest.mark.parametrize(
    ("headers", "body", "links", "similar"),
    [
        ({"content-type": "application/xhtml+xml"}, PAGE, 2, True),
        ({}, b"  \n" + PAGE, 2, True),  # no type, and it looks like a page
        ({}, b"plain <a href=x>", 0, False),
        ({"content-type": "text/plain"}, PAGE, 0, True),
        ({"content-type": "image/png"}, PAGE, 0, False),
        ({"content-type": "TEXT/HTML"}, PAGE, 2, True),
    ],
)
def test_only_pages_are_read_for_links(headers, body, links, similar):
    found = reading(headers=headers, body=body)
    assert (len(found.page.targets), bool(found.page.simhash)) == (links, similar)
    assert found.digest


def test_what_is_kept_of_long_fields():
    found = reading(body=b"<title>" + b"t" * 999 + b"</title>", headers=HTML | {"etag": "e" * 9999})
    assert (len(found.page.title), len(found.etag)) == (300, 512)


# Against the visit before


def test_not_modified():
    found = reading(304, b"", {}, SAME)
    assert (found.unchanged, found.kept, found.digest) == (True, True, SAME.digest)
    assert reading(304, b"", {}).digest == 0  # an answer to what we had not asked
    assert reading(304, b"", {}, SAME, error="reset").digest == 0


def test_the_same_content_again_is_not_parsed():
    found = reading(before=SAME, headers=HTML | {"etag": '"2"'})
    assert (found.unchanged, found.kept, found.page.targets, found.etag) == (True, True, [], '"2"')


def test_content_of_which_not_all_links_could_be_let_in_is_parsed_again():
    held = Visit(0, 0, 1.0, Outcome.OK, 200, PARTIAL)
    found = reading(before=Before(visits=1, digest=FIRST, digest_rest=REST, outcome=Outcome.OK, event=256, held=held))
    assert (found.unchanged, found.kept, len(found.page.targets)) == (True, False, 2)


def test_other_content_is_a_change():
    found = reading(body=PAGE + b"!", before=SAME)
    assert (found.unchanged, found.kept, len(found.page.targets)) == (False, False, 2)


def test_a_part_is_not_whole_unless_it_is_all_of_a_copy_that_is_held():
    assert reading().whole
    assert not reading(truncated=True).whole
    assert not reading(truncated=True, before=SAME).whole
    copy = Before(visits=1, digest=FIRST, digest_rest=REST, outcome=Outcome.DUPLICATE, event=256)
    assert reading(truncated=True, before=copy).whole


@pytest.mark.parametrize("answer", [{}, {"status": 302, "headers": {"location": "/"}}])
def test_of_a_page_that_is_none_nothing_counts(answer):
    full = reading(**answer)
    found = no_page(full, "soft 404")
    assert (found.soft404, found.digest, found.redirect, found.page.targets) == ("soft 404", 0, "", [])
    assert (found.etag, found.last_modified, found.page.title, found.page.feeds) == ("", "", "", [])
    assert (found.content, found.size_bytes, found.mime) == (full.content, full.size_bytes, full.mime)


@pytest.mark.parametrize("answer", [{"status": 500}, {"status": 404}, {"status": 0, "error": "reset"}])
def test_what_has_no_content_neither_changes_nor_confirms_it(answer):
    found = reading(before=SAME, **answer)
    assert (found.digest, found.unchanged, found.page.targets) == (0, False, [])
