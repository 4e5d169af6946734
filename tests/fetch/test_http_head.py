"""Heads of answers: which statuses there are, what is a field, and that crawl and archive read the same."""

import gzip
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evercrawl.crawl.sessions.redacting import redacted, set_cookies
from evercrawl.fetch.answer import settle, unwrap
from evercrawl.http_head import head_fields, status_of
from evercrawl.store.archive.answer import stored
from evercrawl.store.archive.member import unpack
from evercrawl.store.archive.warc import ArchiveEntry, EntryKind, visit_records
from evercrawl.store.archive.warc_read import parse
from evercrawl.types import Exchange, Request


def answered(lines: list[bytes], wire: bytes = b"") -> Exchange:
    exchange = Exchange(Request("http://example.org/"), 1e9, wire=wire)
    settle(exchange, lines, 0, "")
    return exchange


def archived(exchange: Exchange):
    member = visit_records(ArchiveEntry(exchange, EntryKind.RESPONSE), bytes(32))[1]
    return stored(parse(unpack(member)))


def test_a_status_has_three_digits_from_100_to_599_or_is_999() -> None:
    for status in (*range(100, 600), 999):
        assert status_of(b"HTTP/1.1 %d Words\r\n" % status) == status
        assert status_of(b"HTTP/2 %d \r\n" % status) == status


@pytest.mark.parametrize(
    "words",
    [
        "70000", "2" + "0" * 30, "200" + "0" * 5_000, "1000", "2000", "099", "000", "600", "998", "20", "2", "", "-200",
        "+200", "200.0", "0x200", "2_0", "two", "²00", "٢٠٠", "200\xa0OK", "200\x0bOK", "200\x00", "200OK", "1e2",
    ],
    ids=lambda words: ascii(words)[:20],
)  # fmt: skip
def test_everything_else_is_none_and_a_fault_of_the_protocol(words: str) -> None:
    line = b"HTTP/1.1 " + words.encode() + b" OK\r\n"
    assert status_of(line) == 0
    exchange = answered([line, b"Content-Length: 2\r\n", b"\r\n"], b"hi")
    assert (exchange.status, exchange.error, exchange.wire, exchange.head) == (0, "protocol", b"", b"")


@pytest.mark.parametrize(
    "start", ["ICY 200 OK", "HTTP 200 OK", "http/1.1 200 OK", "HTTP/1.1\t200 OK", " HTTP/1.1 200 OK", "200"]
)
def test_a_head_begins_as_http_does(start: str) -> None:
    assert status_of(start.encode()) == 0


def test_an_interim_answer_with_a_status_that_is_none_is_no_answer() -> None:
    exchange = answered([b"HTTP/1.1 1000 ?\r\n", b"\r\n", b"HTTP/1.1 200 OK\r\n", b"\r\n"])
    assert (exchange.status, exchange.error) == (0, "protocol")


def test_fields_are_latin_1_and_only_spaces_and_tabs_are_blank() -> None:
    lines = [
        b"HTTP/1.1 200 OK",
        b"A:\t gzip\xa0 ",
        b"B : \x0b1\x85",
        b"C: caf\xe9",
        b"D:1",
        b"\t2",
        b" 3 ",
        b"none",
        b": no",
    ]
    head = b"\r\n".join([*lines, b"d: 4", b"", b""])
    assert head_fields(head) == {"a": "gzip\xa0", "b": "\x0b1\x85", "c": "caf\xe9", "d": "1 2 3, 4"}


names = st.text(st.characters(codec="latin-1", exclude_characters=":\r\n"), max_size=12).map(
    lambda s: s.encode("latin-1")
)
values = st.text(st.characters(codec="latin-1", exclude_characters="\r\n"), max_size=30).map(
    lambda s: s.encode("latin-1")
)
usual = st.sampled_from([b"Content-Encoding", b"Content-Type", b"Transfer-Encoding", b"ETag", b"Location"])
codings = st.sampled_from(
    [b"gzip", b"gzip\xa0", b"\x0bgzip", b"gzip, \xa0", b"br", b"chunked", b"identity\x85", b"x-gzip\t"]
)
fields = st.lists(st.tuples(names | usual, values | codings), max_size=6)
bodies = st.sampled_from([b"", b"plain", gzip.compress(b"page " * 20), b"5\r\nhello\r\n0\r\n\r\n"]) | st.binary(
    max_size=40
)


@given(
    st.sampled_from([b"1.1", b"1.0", b"2"]), st.integers(200, 1100), fields, st.sampled_from([b"\r\n", b"\n"]), bodies
)
def test_crawl_and_archive_read_every_answer_the_same(version, status, lines, end, wire) -> None:
    head = [b"HTTP/%s %d OK%s" % (version, status, end), *(b"%s:%s%s" % (*line, end) for line in lines), end]
    if any(line.strip(b"\r\n") == b"" for line in head[1:-1]):
        return
    exchange = answered(head, wire)
    assert exchange.status == (status if status < 600 or status == 999 else 0)
    if not exchange.status:
        return
    kept = archived(exchange)
    assert (kept.status, kept.headers, kept.wire) == (exchange.status, exchange.headers, exchange.wire)
    again = Exchange(exchange.request, 1e9, status=kept.status, wire=kept.wire, headers=kept.headers)
    again.http_version = exchange.http_version
    unwrap(again)
    assert not exchange.wire or again.body == exchange.body


pieces = st.sampled_from(
    [
        b"Set-Cookie",
        b"set-cookie\t",
        b"X",
        b":",
        b": ",
        b" ",
        b"\t",
        b"\r\n",
        b"\n",
        b"\r",
        b"\x0b",
        b"\x85",
        b"a=",
        b";",
    ]
)


@given(st.lists(pieces | st.just(b"?"), max_size=30))
@example([b"\r\n", b"Set-Cookie", b":", b"\r\n", b" ", b"?"])
@example([b"\r\n", b"Set-Cookie", b":", b"a=", b";", b"\r\n", b"\t", b"?"])
@example([b"\r\n", b"X", b":", b"\r", b"Set-Cookie", b":", b"?", b"\r\n", b"Set-Cookie", b":", b"?"])
def test_no_part_of_a_cookie_that_is_taken_stays_in_the_head(parts: list[bytes]) -> None:
    secrets = iter(range(100, 200))
    head = b"HTTP/1.1 200 OK" + b"".join(b"secret%d" % next(secrets) if part == b"?" else part for part in parts)
    kept = redacted(head, {"set-cookie"})
    for cookie in set_cookies(head):
        assert not [secret for secret in re.findall(r"secret\d+", cookie) if secret.encode() in kept]
    fields = head_fields(head)
    assert ("set-cookie" in fields) is bool(set_cookies(head))
    assert {name: value for name, value in head_fields(kept).items() if name != "set-cookie"} == {
        name: value for name, value in fields.items() if name != "set-cookie"
    }
