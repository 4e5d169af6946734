"""Odd WARC files that other people's tools have met."""

import base64
import json
from pathlib import Path

import pytest

from evercrawl.errors import StoreError
from evercrawl.store.archive.cdxj import index_segment
from evercrawl.store.archive.warc_read import walk
from evercrawl.store.disk.disk import RealDisk

pytestmark = pytest.mark.golden

ROWS = [
    json.loads(row) for row in (Path(__file__).parent / "data" / "warc_samples.jsonl").read_text("utf-8").splitlines()
]

KINDS = {
    "example-bad-non-chunked.warc.gz": ["warcinfo", "warcinfo", "response", "request", "revisit", "request"],
    "example-iana.org-chunked.warc": ["warcinfo", "response", "request"],
    "example-resource.warc.gz": ["warcinfo", "warcinfo", "resource"],
    "example-space-in-target-uri.warc.gz": ["warcinfo", "resource"],
    "example-trunc.warc": ["warcinfo", "warcinfo", "response"],
    "post-test.warc.gz": ["response", "request"] * 3,
    "gzip_extra_sl.warc.gz": ["warcinfo"],
}


@pytest.fixture
def disk(tmp_path):
    files = RealDisk(tmp_path)
    yield files
    files.close()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_sample(row, disk):
    disk.append(row["name"], base64.b64decode(row["b64"]))
    found = list(walk(disk, row["name"]))
    assert [each.record.kind for each in found] == KINDS[row["name"]]
    problems = [each.record.problems for each in found]
    expect = row["expect"]
    if "per-record" in expect:
        assert all("not compressed record by record" in words[0] for words in problems)
    elif "space" in expect:
        assert problems == [[], ["space in WARC-Target-URI"]]
    elif "truncated" in expect:
        assert problems[:-1] == [[], []]
        assert "does not end where" in problems[-1][0]
        assert found[-1].record.damaged
    else:
        assert expect == "valid, chunked payload" or expect == "valid" or "accept" in expect
        assert problems == [[] for _ in found]
    if "chunked payload" in expect:
        assert b"chunked" in found[1].record.message()[0]
        assert found[1].record.message()[1].endswith(b"\r\n0\r\n\r\n")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_sample_cut_anywhere(row, disk):
    """However a file is cut, its whole records are read and what is left of the last is reported."""
    data = base64.b64decode(row["b64"])
    disk.append("whole", data)
    whole = list(walk(disk, "whole"))
    for size in range(1, len(data), 97):
        disk.replace("cut", [data[:size]])
        found = list(walk(disk, "cut"))
        intact = [each.record for each in whole if each.offset + each.length <= size and not each.record.damaged]
        assert [each.record for each in found[: len(intact)]] == intact
        assert all(each.record.damaged for each in found[len(intact) :])


def test_damaged_file_is_not_indexed(disk):
    (row,) = [row for row in ROWS if "truncated" in row["expect"]]
    disk.append("a.warc", base64.b64decode(row["b64"]))
    with pytest.raises(StoreError, match=r"a\.warc, byte 1197: does not end"):
        index_segment(disk, "a.warc")
