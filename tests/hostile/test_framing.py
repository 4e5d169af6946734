"""Answers that nobody asked for, and lines that would be fields, records or requests."""

import json
from urllib.parse import urlsplit

import pytest
from fastwarc.warc import ArchiveIterator

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def page(title, links=()):
    body = f"<title>{title}</title>".encode() + b"".join(b'<a href="%b">x</a>' % link.encode() for link in links)
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


EVIL = page("POISON", ["/poison"])


@pytest.mark.parametrize(
    "forge",
    [
        lambda own: own + EVIL,
        lambda own: own + b"\r\n" + EVIL,
        lambda own: own + EVIL * 50,
        lambda own: HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nown\r\n0\r\n\r\n" + EVIL,
        lambda own: b"HTTP/1.1 204 No Content\r\n\r\n" + EVIL,
        lambda own: b"HTTP/1.1 304 Not Modified\r\nContent-Length: %d\r\n\r\n" % len(EVIL) + EVIL,
        lambda own: HEAD + b"Content-Length: 0\r\n\r\n" + EVIL,
        lambda own: b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" + EVIL,
    ],
    ids=["behind", "behind a blank line", "many", "behind chunks", "for 204", "for 304", "for an empty one", "for 404"],
)  # fmt: skip
def test_an_answer_behind_an_answer_is_never_the_next_page_s(hostile, forge):
    far = hostile.Far({"/": page("front", [f"/{i}" for i in range(6)])})
    for i in range(6):
        own = page(f"own {i}")
        far.replies[f"/{i}"] = own if i % 2 else forge(own)
    crawled = hostile.crawl(far)
    assert set(far.asked) >= {f"/{i}" for i in range(6)}
    assert "/poison" not in far.asked
    assert not any("POISON" in visit.title for visit in crawled.visits)
    titles = {visit.title for visit in crawled.visits}
    assert {"own 1", "own 3", "own 5"} <= titles


INJECTED = [
    "/a%0d%0aX-Injected: 1", "/b\r\nX-Injected: 2", "/c&#13;&#10;X-Injected:&#32;3", "/d\tX-Injected: 4",
    "/e HTTP/1.1&#13;&#10;X-Injected: 5&#13;&#10;&#13;&#10;GET /x", "/f\u2028X-Injected: 6", "/g\x00X-Injected: 7",
    "/h?\u560d\u560aX-Injected: 8", "//{host}%0d%0aX-Injected:9/", "//user:pass%0d%0a@{host}/i",
    "/j#%0d%0aX-Injected: 10",
]  # fmt: skip


def test_no_line_break_of_a_link_or_a_location_makes_a_field_or_a_request(hostile):
    far = hostile.Far({})
    links = [link.replace("{host}", "127.0.9.1") for link in INJECTED]
    far.replies["/"] = page("front", [*links, *(f"/r{i}" for i in range(len(links)))])
    for i, link in enumerate(links):
        far.replies[f"/r{i}"] = hostile.OK.replace(b"200 OK", b"302 Found") + (
            b"Content-Length: 0\r\nLocation: " + link.replace("\r\n", "\t").encode() + b"\r\n\r\n"
        )
    hostile.crawl(far, delay_s=0.001)
    assert len(far.requests) > 20
    for head in far.requests:
        lines = head.decode("latin-1").split("\r\n")
        assert lines[0].startswith("GET /")
        assert lines[0].count(" ") == 2
        assert {line.partition(":")[0] for line in lines[1:-2]} <= {
            "Host", "User-Agent", "Accept", "Accept-Encoding", "If-None-Match", "If-Modified-Since"
        }  # fmt: skip


FORGED_RECORD = (
    b"\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://bank.example/\r\nContent-Length: 3\r\n\r\nhi!"
)


def test_what_a_page_holds_makes_no_record_of_the_archive_and_no_line_of_its_index(hostile):
    """Not in the body, nor in any field that record or index quote."""
    forged = hostile.reply(
        FORGED_RECORD + b"<title>forged</title>", 'Content-Type: text/html;"}\x0b{"url": "http://bank.example/"',
        "WARC-Target-URI: http://bank.example/", 'ETag: "\x0bWARC/1.1"', "Location: WARC/1.1",
    )  # fmt: skip
    far = hostile.Far({"/": hostile.page("/forged?\nWARC/1.1", "/forged"), "/forged": forged})
    hostile.crawl(far)
    found = []
    for segment in sorted((hostile.directory / "archive").glob("*.warc.gz")):
        with segment.open("rb") as file:
            found += [
                record.headers["WARC-Target-URI"]
                for record in ArchiveIterator(file)
                if record.headers["WARC-Type"] == "response"
            ]
    assert len(found) == 3
    assert {urlsplit(url).hostname for url in found} == {"127.0.9.1"}
    lines = [line for name in (hostile.directory / "archive").glob("*.cdxj") for line in name.read_text().splitlines()]
    urls = {json.loads(line.split(" ", 2)[2])["url"] for line in lines}
    assert {urlsplit(url).hostname for url in urls} == {"127.0.9.1"}


@pytest.mark.parametrize(
    "tag", ['"\x01"', '"' + "a" * 510 + ' b"', "a\x7f", '"good"'], ids=["control", "long", "delete", "good"]
)
def test_a_validator_that_cannot_be_sent_does_not_keep_a_page_from_being_read_again(hostile, tag):
    """Cut or not, it spoiled the request once, and each time the host was left alone for longer."""
    far = hostile.Far({"/": hostile.reply(b"<title>t</title>", f"ETag: {tag}")})
    crawled = hostile.crawl(far, policy="breadth_first", refresh_after_s=0.1, seconds=1.0, until_idle=False)
    assert far.asked.count("/") > 1
    assert {visit.error for visit in crawled.visits} == {""}
    assert any(b"If-None-Match" in head for head in far.requests) == (tag == '"good"')


def test_a_validator_with_control_characters_does_not_keep_a_sitemap_from_being_read_again(hostile):
    from evercrawl.crawl.sitemaps.cache import Listing
    from evercrawl.crawl.sitemaps.sitemaps import _remember
    from evercrawl.types import Exchange, Request

    listing = Listing("http://a.example/s.xml", ("http://a.example",))
    headers = {"etag": '"\x01"', "last-modified": "x" * 600}
    _remember(listing, Exchange(Request(listing.url), 0.0, status=200, headers=headers))
    assert (listing.etag, listing.last_modified) == ("", "")
