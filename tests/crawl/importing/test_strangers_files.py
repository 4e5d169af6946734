"""Files of strangers: what they make a reader raise costs the record alone; no links, pipes or bombs are read."""

import gzip
import math
import os
import pickle
import random
from pathlib import Path
from typing import BinaryIO

import pytest
from archived import taken

from evercrawl.crawl.importing import files
from evercrawl.crawl.importing.captures import Spot, Unusable
from evercrawl.crawl.importing.opening import FORMS, sources
from evercrawl.crawl.importing.planning import Plan
from evercrawl.errors import ConfigError

URL = "http://e.example/"
META = {"url": URL, "response_url": URL, "timestamp": 1.7e9, "status": 200}
CDXJ = 'com,e)/ 20240101000000 {"url": "%s", %s}\n'
GOOD = CDXJ % (URL, '"status": "200", "digest": "AAAA"')
RECORD = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://e.example/\r\nWARC-Date: %s\r\n"
    b"Content-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>words"


def cache(folder: Path, name: str = "aabb", meta: object = None, raw: bytes | None = None) -> Path:
    """Write one entry of a cache of Scrapy; return its folder."""
    entry = folder / "cache" / "sp" / name[:2] / name
    entry.mkdir(parents=True)
    (entry / "pickled_meta").write_bytes(raw if raw is not None else pickle.dumps(META | (meta or {})))
    (entry / "response_headers").write_bytes(b"Content-Type: text/html")
    (entry / "response_body").write_bytes(b"<title>t</title>words")
    return entry


def read(path: Path) -> tuple[int, list[str]]:
    """Return how many captures files hold, and what cannot be used of them."""
    found = sources([path])
    plan = Plan(found, 2e9)
    assert plan.read(lambda done, total: None, lambda: False)
    for source in found:
        source.close()
    return len(plan), plan.troubles


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ('"a": ' + "[" * 100_000 + "]" * 100_000, "RecursionError|not a JSON object"),
        ('"filename": "w.warc", "offset": "99999", "length": "10"', "the file ends before it"),
        ('"filename": "w.warc", "offset": "0", "length": "4611686018427387000"', "the file ends before it"),
        ('"filename": "l.warc", "offset": "0", "length": "10"', "is a link"),
    ],
)
def test_a_line_of_an_index_costs_itself_alone(tmp_path, facts, why):
    (tmp_path / "w.warc").write_bytes(b"WARC/1.0\r\n")
    (tmp_path / "l.warc").symlink_to(tmp_path / "w.warc")
    (tmp_path / "x.cdxj").write_text(CDXJ % (URL, facts) + GOOD)
    count, (trouble,) = read(tmp_path / "x.cdxj")
    assert count == 1
    assert any(part in trouble for part in why.split("|"))
    assert "x.cdxj, record 1: " in trouble


@pytest.mark.parametrize("meta", [{"timestamp": 10**400}, {"status": 10**5000}, {"timestamp": math.nan}])
def test_an_entry_of_a_cache_costs_itself_alone(tmp_path, meta):
    cache(tmp_path, meta=meta)
    cache(tmp_path, "ccdd")
    count, (trouble,) = read(tmp_path / "cache")
    assert (count, "aabb: " in trouble) == (1, True)


@pytest.mark.parametrize("name", ["response_body", "pickled_meta", "response_headers"])
@pytest.mark.parametrize("kind", ["pipe", "link", "bomb"])
def test_neither_links_nor_pipes_nor_bombs_of_a_cache_are_read(tmp_path, monkeypatch, name, kind):
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(files.content, "__defaults__", (1 << 20,))
    monkeypatch.setattr(files.unpacked, "__defaults__", (1 << 20,))
    entry = cache(tmp_path)
    path = entry / name
    path.rename(tmp_path / "private")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(tmp_path / "private")
    elif name == "response_body":  # which is stored as it was sent
        path.write_bytes(b"x" * (2 << 20))
    else:
        path.write_bytes(gzip.compress(bytes(2 << 20)))
    count, (trouble,) = read(tmp_path / "cache")
    assert count == 0
    words = {"pipe": "not a regular file", "link": "is a link", "bomb": "more than 1 MiB"}
    assert words[kind] in trouble


def test_links_in_a_folder_are_refused_and_one_that_a_person_names_is_followed(tmp_path):
    (tmp_path / "private.cdxj").write_text(GOOD)
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "x.cdxj").symlink_to(tmp_path / "private.cdxj")
    with pytest.raises(ConfigError, match="is a link"):
        sources([folder])
    assert read(folder / "x.cdxj") == (1, [])
    job = tmp_path / "job"
    (tmp_path / "elsewhere").mkdir()
    job.mkdir()
    (job / "requests.queue").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="is a link"):
        sources([job])


def test_temporary_files_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 20)
    with gzip.open(tmp_path / "x.csv.gz", "wb") as file:
        file.write(b"url\n" + URL.encode() + b"\n" * (8 << 20))
    with pytest.raises(ConfigError, match="more than 100 times its size"):
        sources([tmp_path / "x.csv.gz"])


def test_a_long_line_or_field_costs_itself_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_LINE_BYTES", 1 << 18)
    lines = ["url,date", f"{URL},2024-01-01", f"{URL}{'a' * 200_000},2024-01-01", "x" * (3 << 18), f"{URL}b,2024-01-01"]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    count, troubles = read(tmp_path / "x.csv")
    assert (count, len(troubles)) == (2, 2)
    (tmp_path / "y.csv").write_text(f"url,date,{'a' * 200_000}\n")
    with pytest.raises(ConfigError, match="cannot be imported"):
        sources([tmp_path / "y.csv"], "csv")


@pytest.mark.parametrize("packed", [False, True])
def test_records_of_an_archive_are_bounded_and_have_dates_that_a_crawl_can_hold(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 21)
    large = ANSWER + bytes(3 << 20)
    records = [
        RECORD % (date, len(body), body)
        for date, body in (
            (b"0001-01-01T00:00:00+14:00", ANSWER), (b"2024-01-01T00:00:00Z", large), (b"2024-01-02T00:00:00Z", ANSWER),
        )
    ]  # fmt: skip
    (tmp_path / "x.warc").write_bytes(b"".join(gzip.compress(one) if packed else one for one in records))
    (source,) = sources([tmp_path / "x.warc"])
    early, too_large, good = list(source.scan())
    assert isinstance(early, Unusable)
    assert "is not a date" in early.why
    assert "larger than" in too_large.why
    assert isinstance(good, Spot)
    assert source.load(good.place, good.length, 0).url == URL
    source.close()


def test_what_a_reader_raises_while_records_are_loaded_costs_the_record(tmp_path, monkeypatch):
    """As when files change during the import."""
    (tmp_path / "x.csv").write_text(f"url,date\n{URL},2024-01-01\n{URL}b,2024-01-02\n")
    read_at = files.read_at

    def failing(file: BinaryIO, place: int, length: int) -> bytes:
        if place < 20:
            raise OverflowError("too large")
        return read_at(file, place, length)

    monkeypatch.setattr(files, "read_at", failing)
    done = taken(tmp_path / "crawl", tmp_path / "x.csv")
    assert (done.histories, done.bad) == (1, 1)
    assert "OverflowError" in done.troubles[0]


SAMPLES = {
    "warc": RECORD % (b"2024-01-01T00:00:00Z", len(ANSWER), ANSWER),
    "cdxj": GOOD.encode() * 3,
    "nutch": b"http://e.example/\tVersion: 7\nStatus: 2 (db_fetched)\nFetch time: Tue Mar 02 19:26:45 EST 2021\n"
             b"Retry interval: 2592000 seconds (30 days)\nSignature: fafd8b62\n\n",
    "heritrix": b"2024-01-01T00:00:00.000Z   200 23 http://e.example/ - - text/html #001 - sha1:A - -\n",
    "sitemap": b"<urlset><url><loc>http://e.example/a</loc><lastmod>2024-01-01</lastmod></url></urlset>",
    "csv": b"url,date,status\nhttp://e.example/,2024-01-01,200\n",
}  # fmt: skip


def test_every_form_of_one_file_has_a_sample():
    assert set(SAMPLES) == {form for form in FORMS if not form.startswith("scrapy")}


@pytest.mark.parametrize("form", SAMPLES)
def test_whatever_is_damaged_readers_yield_what_they_say(tmp_path, form):
    draw, sample, path = random.Random(form), SAMPLES[form], tmp_path / "x"
    for _ in range(60):
        data = bytearray(sample)
        for _ in range(draw.randrange(1, 6)):
            at = draw.randrange(len(data))
            data[at : at + draw.randrange(3)] = draw.choice([b"", b"\0", b"\xff", b'"', b"9" * 400, b"\n", b"[" * 2000])
        path.write_bytes(data)
        try:
            (source,) = sources([path], form)
        except ConfigError:
            continue
        for found in source.scan():
            if isinstance(found, Spot):
                source.load(found.place, found.length, found.part)
        source.close()
