"""What becomes of one exchange: every outcome, the flags, what asks a host to be left alone."""

import pytest

from evercrawl.crawl.reading import Before, read, rest, retry_after_s
from evercrawl.parse.digest import digest
from evercrawl.schedule.hosts import Host
from evercrawl.store.events import CHANGED, HAS_LINKS, KEEP, NOINDEX, TLS_BAD, UNCHANGED
from evercrawl.types import Exchange, Outcome, Request

URL = "http://example.org/dir/page"
HTML = {"content-type": "text/html; charset=utf-8"}
PAGE = b"<title>A title</title><p>words</p><a href=x>x</a><a rel=nofollow href=y>y</a><a href=//other.example/>o</a>"
SAME = Before(visits=1, digest=digest(PAGE), outcome=Outcome.OK, event=256, visited_at=1.0)


@pytest.fixture
def host():
    return Host(0, "example.org")


def reading(status=200, body=PAGE, headers=HTML, before=None, **more: object):
    exchange = Exchange(Request(URL), 10.0, status=status, body=body, wire=body, headers=headers, **more)
    return read(exchange, None, 0, before or Before(), "evercrawl")


@pytest.mark.parametrize(
    ("exchange", "outcome", "error"),
    [
        ({}, Outcome.OK, ""),
        ({"status": 203}, Outcome.OK, ""),
        ({"body": b""}, Outcome.OK, ""),
        ({"truncated": True, "detail": "the far end hung up"}, Outcome.TRUNCATED, "truncated: the far end hung up"),
        ({"truncated": True, "error": "timeout", "detail": "late"}, Outcome.TRUNCATED, "timeout: late"),
        ({"status": 204, "body": b""}, Outcome.ERROR, "status: 204"),
        ({"status": 304, "body": b""}, Outcome.ERROR, "status: 304"),  # an answer to what we had not asked
        ({"status": 300}, Outcome.ERROR, "status: 300"),
        ({"status": 400}, Outcome.ERROR, "status: 400"),
        ({"status": 401}, Outcome.ERROR, "status: 401"),
        ({"status": 404}, Outcome.GONE, ""),
        ({"status": 410}, Outcome.GONE, ""),
        ({"status": 429}, Outcome.ERROR, "status: 429"),
        ({"status": 500}, Outcome.ERROR, "status: 500"),
        ({"status": 503}, Outcome.ERROR, "status: 503"),
        ({"status": 999}, Outcome.ERROR, "status: 999"),
        ({"status": 0, "error": "timeout", "detail": "no answer"}, Outcome.ERROR, "timeout: no answer"),
        ({"status": 0, "error": "reset"}, Outcome.ERROR, "reset"),
        ({"status": 0, "error": "dns", "detail": "no such name"}, Outcome.ERROR, "dns: no such name"),
        ({"status": 200, "error": "coding", "detail": "bad gzip"}, Outcome.ERROR, "coding: bad gzip"),
        ({"status": 0, "error": "refused_address", "detail": "inside"}, Outcome.REFUSED, "refused_address: inside"),
        ({"status": 302, "headers": {"location": "/there"}}, Outcome.REDIRECT, ""),
        ({"status": 302, "headers": {}}, Outcome.ERROR, "redirect: to '', which cannot be fetched"),
        ({"status": 301, "headers": {"location": "ftp://a/"}}, Outcome.ERROR,
         "redirect: to 'ftp://a/', which cannot be fetched"),
        ({"status": 301, "headers": {"location": "http://[bad"}}, Outcome.ERROR,
         "redirect: to 'http://[bad', which cannot be fetched"),
    ],
)  # fmt: skip
def test_outcomes(exchange, outcome, error):
    found = reading(**exchange)
    assert (found.outcome, found.error) == (outcome, error)


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
    assert (found.outcome, found.redirect, found.targets) == (Outcome.REDIRECT, target, [])


def test_what_a_page_teaches():
    found = reading(headers=HTML | {"etag": 'W/"1"', "last-modified": "yesterday", "content-language": "en"})
    assert found.targets == ["http://example.org/dir/x", "http://other.example/"]
    assert (found.title, found.mime, found.etag, found.last_modified) == ("A title", "text/html", 'W/"1"', "yesterday")
    assert found.flags == HAS_LINKS
    assert found.digest == digest(PAGE)
    assert found.simhash
    assert found.language == "en"


def test_refresh_is_a_link_and_canonical_another_name():
    head = b'<link rel=canonical href=/c><meta http-equiv=refresh content="5; url=/r">'
    assert reading(body=head).targets == ["http://example.org/r"]
    assert reading(body=head).canonical == "http://example.org/c"
    assert reading(body=b"<link rel=canonical href=/dir/page>").canonical == ""


def test_links_that_are_not_vouched_for():
    body = b"<a href=/a>a</a><a rel=ugc href=/b>b</a><a rel='nofollow ugc' href=/c>c</a><a rel=nofollow href=/a>a</a>"
    found = reading(body=body)
    assert found.targets == ["http://example.org/a", "http://example.org/b"]
    assert (found.unpaid, found.withheld) == (["http://example.org/b"], 1)


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
    assert len(found.targets) == links
    assert bool(found.flags & NOINDEX) == noindex


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
    assert (len(found.targets), bool(found.simhash)) == (links, similar)
    assert found.digest


def test_what_is_kept_of_long_fields():
    found = reading(body=b"<title>" + b"t" * 999 + b"</title>", headers=HTML | {"etag": "e" * 9999})
    assert (len(found.title), len(found.etag)) == (300, 512)


# Against the visit before


def test_not_modified():
    found = reading(304, b"", {}, SAME)
    assert (found.outcome, found.flags, found.digest) == (Outcome.OK, UNCHANGED | KEEP, SAME.digest)


def test_the_same_content_again_is_not_parsed():
    found = reading(before=SAME, headers=HTML | {"etag": '"2"'})
    assert (found.outcome, found.flags, found.targets, found.etag) == (Outcome.OK, UNCHANGED | KEEP, [], '"2"')


def test_other_content_is_a_change():
    found = reading(body=PAGE + b"!", before=SAME)
    assert found.flags == CHANGED | HAS_LINKS
    assert len(found.targets) == 2


@pytest.mark.parametrize("answer", [{"status": 304, "body": b""}, {}])
def test_a_copy_that_has_not_changed_is_still_one(answer):
    before = Before(visits=1, digest=SAME.digest, outcome=Outcome.DUPLICATE, event=256)
    assert reading(before=before, **answer).outcome == Outcome.DUPLICATE


def test_a_redirect_has_one_link_and_no_content():
    found = reading(before=SAME, status=302, headers={"location": "/"})
    assert (found.flags, found.redirect, found.digest) == (HAS_LINKS, "http://example.org/", 0)


@pytest.mark.parametrize("answer", [{"status": 500}, {"status": 404}, {"status": 0, "error": "reset"}])
def test_what_has_no_content_neither_changes_nor_confirms_it(answer):
    assert reading(before=SAME, **answer).flags == 0


@pytest.mark.parametrize(("tls_ok", "flag"), [(None, 0), (True, 0), (False, TLS_BAD)])
def test_a_bad_certificate_is_noted_whatever_came(tls_ok, flag):
    assert reading(tls_ok=tls_ok).flags & TLS_BAD == flag
    assert reading(404, tls_ok=tls_ok).flags == flag


# What asks for rest


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        ("120", 120.0), (" 7 ", 7.0), ("0", 0.0), ("999999999999", 86_400.0), ("", 0.0), ("soon", 0.0), ("-5", 0.0),
        ("1.5", 0.0), ("١٢", 0.0), ("Sun, 09 Sep 2001 01:48:40 GMT", 120.0), ("Sunday, 09-Sep-01 01:48:40 GMT", 120.0),
        ("Sun, 09 Sep 2001 01:00:00 GMT", 0.0), ("Sun, 09 Sep 2035 01:48:40 GMT", 86_400.0),
        ("Sun, 99 Sep 2001 01:48:40 GMT", 0.0), ("Sun, 09 Sep 99999 01:48:40 GMT", 0.0),
    ],
)  # fmt: skip
def test_retry_after(status, value, wait_s):
    exchange = Exchange(Request(URL), 0.0, status=status, headers={"retry-after": value})
    assert retry_after_s(exchange, 1_000_000_000.0) == wait_s


@pytest.mark.parametrize("now", [0.0, 1_000_000_000.0, 2_000_000_000.0])
def test_a_date_to_come_back_at_is_by_the_clock_of_who_says_it(now):
    headers = {"date": "Sun, 09 Sep 2001 01:46:40 GMT", "retry-after": "Sun, 09 Sep 2001 01:48:40 GMT"}
    assert retry_after_s(Exchange(Request(URL), now, status=503, headers=headers), now) == 120.0


@pytest.mark.parametrize("status", [200, 301, 404, 500, 502])
def test_retry_after_counts_with_429_and_503_alone(status):
    assert retry_after_s(Exchange(Request(URL), 0.0, status=status, headers={"retry-after": "9"}), 0.0) == 0.0


@pytest.mark.parametrize("status", [0, 408, 425, 429, 500, 502, 503, 504])
def test_trouble_makes_the_host_rest_twice_as_long_each_time(host, status):
    ends = []
    for _ in range(14):
        one = reading(status, b"")
        assert one.trouble
        one.host = host
        rest(one, 1000.0)
        ends.append(host.away_until - 1000.0)
    assert ends == [min(2.0**n, 3600.0) for n in range(14)]
    well = reading()
    well.host = host
    rest(well, 9000.0)
    assert (host.failures, host.reason) == (0, "resting")


@pytest.mark.parametrize("status", [200, 204, 301, 400, 401, 403, 404, 410, 501])
def test_a_page_s_own_fault_is_no_trouble_of_its_host(host, status):
    one = reading(status, headers={"location": "/"})
    one.host = host
    rest(one, 1000.0)
    assert not one.trouble
    assert host.away_until == 0.0


def test_what_we_refuse_says_nothing_of_the_host(host):
    host.failed(0.0)
    one = reading(0, error="refused_address")
    one.host = host
    rest(one, 1000.0)
    assert host.failures == 1


def test_retry_after_and_then_trouble_back_off_further(host):
    asked = reading(503, headers={"retry-after": "100"})
    asked.host = host
    rest(asked, 1000.0)
    assert (host.away_until, host.failures) == (1100.0, 1)
    trouble = reading(500)
    trouble.host = host
    rest(trouble, 1100.0)
    assert host.away_until == 1102.0
