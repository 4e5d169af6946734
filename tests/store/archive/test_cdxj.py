"""The index: what it says, in which order, and that it leads to the records."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.store.archive.archive import Archive, Pointer
from evercrawl.store.archive.cdxj import Capture, captures, index_name, index_segment, line, lines, write
from evercrawl.store.archive.surt import surt_key
from evercrawl.store.archive.warc import ArchiveEntry, EntryKind, Original
from evercrawl.store.disk.disk import RealDisk
from evercrawl.types import Exchange, Request

AT = 1790000000.9


def visit(url, kind=EntryKind.RESPONSE, original=None, **changed: object):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n"
    values = {"request": Request(url), "at": AT, "status": 200, "head": head, "wire": b"page", "sent": b"GET\r\n\r\n"}
    return ArchiveEntry(Exchange(**(values | changed)), kind, original)


@pytest.fixture
def disk(tmp_path):
    files = RealDisk(tmp_path)
    yield files
    files.close()


@pytest.fixture
def archive(disk):
    store = Archive(disk, "1a", random.Random(0).randbytes, software="x", agent="y")
    store.append(
        [
            visit("http://www.example.org/b"),
            visit("http://example.org/a"),
            visit(
                "http://example.org/a",
                EntryKind.NOT_MODIFIED,
                Original("http://example.org/a", AT, "sha1:ABC"),
                at=AT + 30,
                head=b"HTTP/1.1 304 Not Modified\r\n\r\n",
            ),
            visit(
                "http://example.org/a",
                EntryKind.SAME_CONTENT,
                Original("http://example.org/a", AT, "sha1:ABC"),
                at=AT + 60,
            ),
            visit("http://example.com/", head=b"HTTP/1.1 200 OK\r\n\r\n", wire=b""),
        ]
    )
    return store


def test_index_leads_to_the_records(disk, archive):
    segment = archive.name(0)
    assert index_segment(disk, segment) == 4
    text = disk.read(index_name(segment), 0, 1 << 20).decode()
    assert text.endswith("}\n")
    rows = text.splitlines()
    assert rows == sorted(rows)
    assert [row.split(" ", 2)[:2] for row in rows] == [
        ["com,example)/", "20260921141320"],
        ["org,example)/a", "20260921141320"],
        ["org,example)/a", "20260921141420"],
        ["org,example)/b", "20260921141320"],
    ]
    for row in rows:
        fields = json.loads(row.split(" ", 2)[2])
        assert fields["filename"] == "evercrawl-1a-00000.warc.gz"
        back = archive.read(Pointer(0, int(fields["offset"]), int(fields["length"])))
        assert back.url == fields["url"]
    by_row = [json.loads(row.split(" ", 2)[2]) for row in rows]
    assert [fields["mime"] for fields in by_row] == ["unk", "text/html", "warc/revisit", "text/html"]
    assert [fields["status"] for fields in by_row] == ["200", "200", "200", "200"]
    assert by_row[0]["digest"] == "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    assert by_row[2]["digest"] == "ABC"


def test_the_journal_s_rows_make_the_same_index(disk, archive):
    segment = archive.name(0)
    index_segment(disk, segment)
    from_records = disk.read(index_name(segment), 0, 1 << 20)
    rows = list(captures(disk, segment))
    random.Random(1).shuffle(rows)
    assert write(disk, segment, rows) == 4
    assert disk.read(index_name(segment), 0, 1 << 20) == from_records


def test_an_index_of_many_lines_is_written_whole(disk):
    rows = [Capture(f"http://example.org/{n}", AT, "text/html", 200, "", n, 9) for n in range(2500)]
    write(disk, "archive/x.warc.gz", rows)
    assert disk.read("archive/x.cdxj", 0, 1 << 30).decode().splitlines() == lines(rows, "x.warc.gz")


def test_what_is_not_known_is_left_out():
    fields = json.loads(line(Capture("http://example.org/", AT, "unk", 0, "", 1, 2), "x").split(" ", 2)[2])
    assert "digest" not in fields
    assert "status" not in fields


@given(st.text(max_size=20), st.text('ab"\\\n\u00e9\U0001f600', max_size=9), st.integers(0, 999))
def test_a_line_is_json_whatever_it_says(path, mime, status):
    found = line(Capture(f"http://example.org/{path}", AT, mime, status, "sha1:AB", 7, 8), 'x"y')
    fields = {"url": f"http://example.org/{path}", "mime": mime, "status": str(status), "digest": "AB", "length": "8",
              "offset": "7", "filename": 'x"y'}  # fmt: skip
    if not status:
        del fields["status"]
    head = f"{surt_key(fields['url'])} 20260921141320 "
    assert found == head + json.dumps(fields)


@given(st.text("aB1-_.~/%", max_size=12), st.data())
def test_an_escape_of_what_needs_none_changes_no_key(path, data):
    path = path.replace("%", "")
    at = data.draw(st.integers(0, max(len(path) - 1, 0)))
    escaped = path[:at] + "".join(f"%{ord(letter):02X}" for letter in path[at : at + 1]) + path[at + 1 :]
    assert surt_key(f"http://example.org/{escaped}") == surt_key(f"http://example.org/{path}")


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.org:8080/A/b%20c?Z=1&a=2", "org,example:8080)/a/b%20c?a=2&z=1"),
        ("http://www2.example.org/", "org,example)/"),
        ("http://wwwx.example.org/", "org,example,wwwx)/"),
        ("http://www.www.com/", "com,www)/"),
        ("http://example.org./a", "org,example)/a"),
        ("https://example.org:443/", "org,example)/"),
        ("https://example.org:80/a", "org,example:80)/a"),
        ("http://user:pw@example.org/a", "org,example)/a"),
        ("http://127.0.1.3:8300/x/", "3,1,0,127:8300)/x"),
        ("http://[2001:db8::1]:8080/a/", "2001:db8::1:8080)/a"),
        ("http://xn--bcher-kva.example/", "example,xn--bcher-kva)/"),
        ("http://example.org/a//b/", "org,example)/a/b"),
        ("http://example.org/a%2F%2E%2E%2Fb", "org,example)/b"),
        ("http://example.org//../a", "org,example)/a"),
        ("http://example.org/a?", "org,example)/a"),
        ("http://example.org/?&a=b", "org,example)/?&a=b"),
        ("http://example.org/a?b=/&&c", "org,example)/a?&b=/&c"),
        ("http://example.org/a?b=c&a", "org,example)/a?a&b=c"),
        ("http://example.org/%7Euser/%25/%2f?x=%41%2520&y", "org,example)/~user/%25?x=a%20&y"),
        ("http://example.org/%E4%F6", "org,example)/%e4%f6"),
        ("http://example.org/a%23b%3Fc#f", "org,example)/a%23b?c"),
        ("http://example.org/a|b^c`d{}?q='\"<>", "org,example)/a|b^c`d{}?q='\"<>"),
        ("http://example.org/x?jsessionid=0123456789abcdef0123456789abcdef&b=1", "org,example)/x?b=1"),
        ("http://example.org/a?SID=0123456789abcdef0123456789abcdef", "org,example)/a"),
        ("http://example.org/a?cfid=1&cftoken=2&b", "org,example)/a?b"),
        ("http://example.org/(a(0123456789abcdefghijklmn))/x.aspx", "org,example)/x.aspx"),
        ("http://example.org/(0123456789abcdefghijklmn)/x.aspx", "org,example)/x.aspx"),
    ],
)
def test_key_is_the_one_that_replay_tools_look_up(url, key):
    """What the `surt` package, which pywb and cdxj-indexer use, answers for the same URL."""
    assert surt_key(url) == key
