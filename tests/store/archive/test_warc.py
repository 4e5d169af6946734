"""Records as other people's readers see them."""

import base64
import datetime
import gzip
import hashlib
import io
from types import SimpleNamespace

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from evercrawl.store.archive.answer import stored
from evercrawl.store.archive.member import unpack
from evercrawl.store.archive.warc import ArchiveEntry, EntryKind, Original, payload_digest, visit_records, warcinfo
from evercrawl.store.archive.warc_read import parse
from evercrawl.types import Exchange, Request

HEAD = b"HTTP/1.1 200 OK\r\nServer: test\r\nContent-Type: text/html\r\n"
SENT = b"GET /a?b=1 HTTP/1.1\r\nHost: example.org\r\nUser-Agent: evercrawl\r\n\r\n"
AT = 1790000000.123456
PAGE = b"<p>page</p>" * 50


def chunked(body, size=100):
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])


def exchange(wire=b"", head=HEAD + b"\r\n", **changed: object):
    given_values = {
        "request": Request("http://example.org/a?b=1"),
        "at": AT,
        "status": 200,
        "sent": SENT,
        "head": head,
        "wire": wire,
        "headers": {"content-type": "text/html"},
        "ip": "192.0.2.7",
    }
    return Exchange(**(given_values | changed))


def answer(entry):
    """The response record of an entry, read by ourselves."""
    return stored(parse(unpack(visit_records(entry, bytes(range(32)))[1])))


CASES = {
    "plain": exchange(PAGE),
    "empty": exchange(head=b"HTTP/1.1 204 No Content\r\n\r\n", status=204),
    "chunked": exchange(chunked(PAGE), HEAD + b"Transfer-Encoding: chunked\r\n\r\n"),
    "gzip": exchange(
        gzip.compress(PAGE), HEAD + b"Content-Encoding: gzip\r\n\r\n", headers={"content-encoding": "gzip"}
    ),
    "chunked gzip": exchange(
        chunked(gzip.compress(PAGE)),
        HEAD + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
        headers={"content-encoding": "gzip"},
    ),
    "said gzip, is not": exchange(PAGE, HEAD + b"Content-Encoding: gzip\r\n\r\n", headers={"content-encoding": "gzip"}),
    "image over one stored block": exchange(bytes(range(256)) * 700, headers={"content-type": "image/png"}),
    "image of exactly one stored block": exchange(b"x" * (65535 - 4), headers={"content-type": "image/png"}),
    "cut in a chunk": exchange(
        chunked(PAGE)[:-99], HEAD + b"Transfer-Encoding: chunked\r\n\r\n", truncated=True, error="reset"
    ),
    "body that looks like a record": exchange(b"\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n"),
    "IPv6": exchange(PAGE, ip="2001:db8::1"),
    "no empty line": exchange(PAGE, HEAD),
    "bare line feeds": exchange(PAGE, HEAD.replace(b"\r", b"") + b"\n"),
    "bytes beyond ASCII": exchange(PAGE, HEAD + b"X-Name: caf\xe9\r\n\r\n"),
    "repeated field": exchange(PAGE, HEAD + b"Set-Cookie: a\r\nSet-Cookie: b\r\n\r\n"),
}


def block_of(exchange):
    head = exchange.head + (b"" if exchange.head.endswith((b"\r\n\r\n", b"\n\n")) else b"\r\n")
    return head + exchange.wire


@pytest.fixture(scope="module")
def segment(tmp_path_factory):
    """All the cases in one file, and the offset of each record."""
    path = tmp_path_factory.mktemp("warc") / "cases.warc.gz"
    data, starts = [warcinfo(path.name, "evercrawl 0", "evercrawl", AT, bytes(16))], []
    for number, case in enumerate(CASES.values()):
        for record in visit_records(ArchiveEntry(case), bytes([number, *range(31)])):
            starts.append(sum(map(len, data)))
            data.append(record)
    path.write_bytes(b"".join(data))
    return path, starts


def test_warcio_reads_every_block_back(segment):
    with segment[0].open("rb") as file:
        blocks = [(record.rec_type, record.raw_stream.read()) for record in ArchiveIterator(file, no_record_parse=True)]
    expected = [("request", SENT), None] * len(CASES)
    expected[1::2] = [("response", block_of(case)) for case in CASES.values()]
    assert blocks[0][0] == "warcinfo"
    assert blocks[1:] == expected


def test_fastwarc_reads_every_block_back(segment):
    with segment[0].open("rb") as file:
        blocks = [record.reader.read() for record in FastIterator(file, parse_http=False)]
    assert blocks[1::2] == [SENT] * len(CASES)
    assert blocks[2::2] == [block_of(case) for case in CASES.values()]


def test_warcio_check_passes(segment, capsys):
    checker = Checker(SimpleNamespace(inputs=[str(segment[0])], verbose=True))
    assert checker.process_all() == 0
    assert capsys.readouterr().out.count("digest pass") == len(CASES)


def test_warcio_check_would_fail(segment, tmp_path, capsys):
    """The check above has teeth: a body with one other byte does not pass."""
    request, response = visit_records(ArchiveEntry(CASES["plain"]), bytes(32))
    forged = unpack(response).replace(b"<p>page", b"<p>Page", 1)
    (tmp_path / "forged.warc.gz").write_bytes(request + gzip.compress(forged))
    assert Checker(SimpleNamespace(inputs=[str(tmp_path / "forged.warc.gz")], verbose=False)).process_all() == 1
    assert "payload digest failed" in capsys.readouterr().out


def test_fastwarc_finds_the_digests_right(segment):
    with segment[0].open("rb") as file:
        records = FastIterator(file, record_types=WarcRecordType.response)
        verdicts = dict(zip(CASES, (record.verify_payload_digest() for record in records), strict=True))
    del verdicts["bare line feeds"]  # fastwarc sees no end of these headers
    assert set(verdicts.values()) == {True}


def test_any_record_can_be_read_by_its_offset(segment):
    path, starts = segment
    for start, case in zip(starts[1::2], CASES.values(), strict=True):
        with path.open("rb") as file:
            file.seek(start)
            assert next(iter(FastIterator(file, parse_http=False))).reader.read() == block_of(case)
        with path.open("rb") as file:
            file.seek(start)
            assert next(ArchiveIterator(file, no_record_parse=True)).raw_stream.read() == block_of(case)


def test_warcio_decodes_the_body(segment):
    with segment[0].open("rb") as file:
        bodies = [record.content_stream().read() for record in ArchiveIterator(file) if record.rec_type == "response"]
    got = dict(zip(CASES, bodies, strict=True))
    assert [got[name] for name in ("plain", "chunked", "gzip", "chunked gzip", "said gzip, is not")] == [PAGE] * 5


def test_fields_of_a_response(segment):
    with segment[0].open("rb") as file:
        info, request, response, *_ = list(ArchiveIterator(file))
    assert info.rec_headers["WARC-Filename"] == "cases.warc.gz"
    assert response.rec_headers.protocol == "WARC/1.1"
    assert (
        response.rec_headers["WARC-Target-URI"] == request.rec_headers["WARC-Target-URI"] == CASES["plain"].request.url
    )
    assert response.rec_headers["WARC-Date"] == "2026-09-21T14:13:20.123456Z"
    assert response.rec_headers["WARC-IP-Address"] == "192.0.2.7"
    assert response.rec_headers["Content-Type"] == "application/http; msgtype=response"
    assert response.rec_headers["WARC-Concurrent-To"] == request.rec_headers["WARC-Record-ID"]
    assert request.rec_headers["WARC-Concurrent-To"] == response.rec_headers["WARC-Record-ID"]
    assert request.rec_headers["WARC-Record-ID"] != response.rec_headers["WARC-Record-ID"]
    assert response.rec_headers["WARC-Protocol"] is None


@pytest.mark.parametrize(
    ("error", "reason"),
    [("too_large", "length"), ("timeout", "time"), ("reset", "disconnect"), ("", "unspecified")],
)
def test_a_cut_body_says_why(error, reason):
    assert answer(ArchiveEntry(exchange(PAGE, truncated=True, error=error))).truncated == reason
    assert answer(ArchiveEntry(exchange(PAGE, error=error))).truncated == ""


@pytest.mark.parametrize(
    ("status_line", "request_line", "protocol"),
    [
        (b"HTTP/2 200 \r\n", b"GET /HTTP/2 HTTP/2\r\n", "h2"),
        (b"HTTP/2.0 200 OK\r\n", b"GET / HTTP/2.0\r\n", "h2"),
        (b"HTTP/3 200 \r\n", b"GET / HTTP/3\r\n", "h3"),
        (b"HTTP/1.1 200 not HTTP/2 \r\n", b"GET /HTTP/2 HTTP/1.1\r\n", None),
    ],
)
def test_a_newer_protocol_is_written_as_http_1(status_line, request_line, protocol):
    fields = b"server: x HTTP/2\r\n\r\n"
    records = visit_records(ArchiveEntry(exchange(PAGE, status_line + fields, sent=request_line + fields)), bytes(32))
    request, response = ArchiveIterator(io.BytesIO(b"".join(records)))
    assert response.rec_headers["WARC-Protocol"] == protocol
    request, response = (parse(unpack(record)) for record in records)
    if protocol:
        status_line = b"HTTP/1.1" + status_line[status_line.index(b" ") :]
        request_line = request_line[: request_line.rindex(b" ")] + b" HTTP/1.1\r\n"
    assert response.block == status_line + fields + PAGE
    assert request.block == request_line + fields


def test_a_304_keeps_its_headers_and_names_the_original():
    head = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"
    original = Original("http://example.org/a", AT - 60)
    entry = ArchiveEntry(exchange(b"", head, status=304), EntryKind.NOT_MODIFIED, original)
    (_, record) = ArchiveIterator(io.BytesIO(b"".join(visit_records(entry, bytes(32)))))
    assert record.rec_type == "revisit"
    assert record.rec_headers["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert record.rec_headers["WARC-Refers-To-Target-URI"] == "http://example.org/a"
    assert record.rec_headers["WARC-Refers-To-Date"] == "2026-09-21T14:12:20.123456Z"
    assert record.rec_headers["WARC-Payload-Digest"] is None
    back = answer(entry)
    assert (back.kind, back.status, back.head, back.wire) == (EntryKind.NOT_MODIFIED, 304, head, b"")
    assert back.refers_to is not None
    assert (back.refers_to.url, back.refers_to.at) == (original.url, pytest.approx(original.at, abs=1e-6))


@pytest.mark.parametrize("digest", ["", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"])
def test_the_same_content_is_not_kept_twice(digest):
    entry = ArchiveEntry(exchange(PAGE), EntryKind.SAME_CONTENT, Original("http://example.org/b", AT - 60, digest))
    (_, record) = ArchiveIterator(io.BytesIO(b"".join(visit_records(entry, bytes(32)))))
    assert record.rec_headers["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert record.rec_headers["WARC-Payload-Digest"] == (digest or payload_digest(PAGE))
    back = answer(entry)
    assert (back.kind, back.status, back.wire) == (EntryKind.SAME_CONTENT, 200, b"")


def test_without_the_request_s_bytes_there_is_no_request_record():
    request, response = visit_records(ArchiveEntry(exchange(PAGE, sent=b"")), bytes(32))
    assert request == b""
    assert b"Concurrent" not in unpack(response)


def test_what_the_server_compressed_is_stored_as_it_is():
    wire = gzip.compress(bytes(range(256)) * 4)
    entry = ArchiveEntry(exchange(wire, headers={"content-encoding": "gzip"}))
    assert wire in visit_records(entry, bytes(32))[1]
    assert len(visit_records(ArchiveEntry(exchange(PAGE * 100)), bytes(32))[1]) < len(PAGE * 100) / 20


def test_a_line_break_in_the_agent_makes_no_field():
    record = parse(unpack(warcinfo("x", "a\r\nWARC-Type: response", "b", AT, bytes(16))))
    assert record.kind == "warcinfo"
    assert b"software: a WARC-Type: response\r\n" in record.block


@given(
    st.binary(max_size=300),
    st.floats(0, 4e9),
    st.sampled_from(["", "gzip", "br", " identity "]),
    st.binary(min_size=32, max_size=32),
)
def test_any_body_comes_back(wire, at, coding, noise):
    case = exchange(wire, at=at, headers={"content-encoding": coding})
    record = parse(unpack(visit_records(ArchiveEntry(case), noise)[1]))
    assert record.problems == []
    back = stored(record)
    assert (back.head, back.wire, back.url, back.ip) == (case.head, wire, case.request.url, case.ip)
    assert back.at == pytest.approx(at, abs=1e-6)
    assert back.digest == payload_digest(wire)
    (other,) = FastIterator(io.BytesIO(visit_records(ArchiveEntry(case), noise)[1]), parse_http=False)
    assert other.record_date == datetime.datetime.fromtimestamp(round(at * 1e6) // 10**6, datetime.UTC).replace(
        microsecond=round(at * 1e6) % 10**6
    )


@pytest.mark.parametrize("body", [b"", b"a", bytes(range(256))])
def test_a_digest_is_written_in_base_32(body):
    assert payload_digest(body) == "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()
