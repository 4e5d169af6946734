"""WARC files of other programs become visits: contents, versions, links and rates of change."""

import base64
import gzip
import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from archived import CONFIG, journal_of, page, records_of, taken, write_warc
from fastwarc.warc import ArchiveIterator
from file_site import file_site
from warcio.capture_http import capture_http
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from evercrawl.ask.verify.verify import verify
from evercrawl.cli.main import main
from evercrawl.config import save
from evercrawl.crawl.importing.forms.warc import RevisitContents, WarcSource
from evercrawl.parse.sites import found_site
from evercrawl.store.partition import Partition
from evercrawl.types import Outcome

pytestmark = pytest.mark.filterwarnings("ignore:Unclosed file <tempfile.SpooledTemporaryFile")  # warcio's
MONTHS = [f"2026-{month:02d}-01T10:00:00Z" for month in range(1, 7)]


def history(pages: int = 5) -> list[tuple[str, str, bytes]]:
    """Return captures of six months: every second page changes each time."""
    return [
        (
            f"http://site.example/{n}",
            date,
            page(f"page {n}", f"zebra {n} as of {month if n % 2 else 0}", [f"/{(n + 1) % pages}", "/unread"]),
        )
        for month, date in enumerate(MONTHS)
        for n in range(pages)
    ]


def test_contents_versions_links_and_rates_are_there_and_the_directory_is_whole(tmp_path, capsys):
    write_warc(tmp_path / "a.warc.gz", history())
    made = taken(tmp_path / "crawl", tmp_path / "a.warc.gz")
    assert (made.captures, made.pages, made.bad, made.whole) == (30, 30, 0, True)
    assert verify(tmp_path / "crawl").wrong == []
    records = records_of(tmp_path / "crawl")
    assert {url: row[:2] for url, row in records.items()} == {
        f"http://site.example/{n}": [6, 5 if n % 2 else 0] for n in range(5)
    }
    assert records["http://site.example/1"][2] > 3 * records["http://site.example/0"][2]
    assert main(["search", "zebra", "--dir", str(tmp_path / "crawl")]) == 0
    assert main(["get", "http://site.example/1", "--versions", "--dir", str(tmp_path / "crawl")]) == 0
    assert main(["why", "http://site.example/unread", "--dir", str(tmp_path / "crawl")]) == 0
    shown = capsys.readouterr().out
    assert "2026-01-01 10:00:00" in shown
    assert "\n6  2026-06-01" in shown
    assert "link from http://site.example/" in shown


def test_files_are_sorted_by_date_and_a_second_import_changes_nothing(tmp_path):
    write_warc(tmp_path / "late.warc.gz", history()[15:])
    write_warc(tmp_path / "early.warc", history()[:15], gzip=False)
    made = taken(tmp_path / "crawl", tmp_path / "late.warc.gz", tmp_path / "early.warc")
    assert made.pages == 30
    assert records_of(tmp_path / "crawl")["http://site.example/3"][:2] == [6, 5]
    before = journal_of(tmp_path / "crawl")
    again = taken(tmp_path / "crawl", tmp_path)  # the folder
    assert (again.pages, again.known) == (0, 30)
    assert journal_of(tmp_path / "crawl") == before


def test_what_is_stopped_or_cut_goes_on_and_ends_as_if_it_had_not_been(tmp_path):
    write_warc(tmp_path / "a.warc.gz", history(30))
    taken(tmp_path / "whole", tmp_path / "a.warc.gz")
    parts = [taken(tmp_path / "parts", tmp_path / "a.warc.gz", stop=lambda done, at=at: done >= at) for at in (64, 128)]
    assert [part.whole for part in parts] == [False, False]
    assert taken(tmp_path / "parts", tmp_path / "a.warc.gz").whole
    parts, whole = records_of(tmp_path / "parts"), records_of(tmp_path / "whole")
    assert {url: row[:2] for url, row in parts.items()} == {url: row[:2] for url, row in whole.items()}
    assert all(row[2] == pytest.approx(whole[url][2], rel=0.05) for url, row in parts.items())  # priors are fitted anew
    assert verify(tmp_path / "parts").wrong == []


def test_an_import_that_was_killed_before_its_first_event_begins_anew(tmp_path):
    """The directory is there already, but no URL is known in it that tells what belongs to the crawl."""
    write_warc(tmp_path / "a.warc.gz", history())
    (tmp_path / "crawl").mkdir()
    save(CONFIG, tmp_path / "crawl")
    Partition(tmp_path / "crawl", os.urandom, now=1_767_225_600.0, site=found_site).close()
    assert taken(tmp_path / "crawl", tmp_path / "a.warc.gz").pages == 30
    assert verify(tmp_path / "crawl").wrong == []


def test_a_killed_import_goes_on(tmp_path):
    write_warc(tmp_path / "a.warc.gz", history(150))
    command = [
        sys.executable,
        "-m",
        "evercrawl",
        "import",
        str(tmp_path / "a.warc.gz"),
        "--dir",
        str(tmp_path / "crawl"),
    ]
    process = subprocess.Popen([*command, "--workers", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while len(journal_of(tmp_path / "crawl")) < 10_000 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert 0 < len(records_of(tmp_path / "crawl")) <= 150
    made = taken(tmp_path / "crawl", tmp_path / "a.warc.gz")
    assert made.whole
    assert made.known > 0
    assert made.known + made.pages == 900
    assert verify(tmp_path / "crawl").wrong == []
    assert {tuple(row[:2]) for row in records_of(tmp_path / "crawl").values()} == {(6, 5), (6, 0)}


def test_bad_records_are_counted_and_what_follows_them_is_read(tmp_path):
    write_warc(tmp_path / "a.warc.gz", history()[:10])
    members = [b"\x1f\x8b\x08" + part for part in (tmp_path / "a.warc.gz").read_bytes().split(b"\x1f\x8b\x08")[1:]]
    assert len(members) == 10
    members[3] = members[3][:60] + b"\0\0\0\0" + members[3][64:]
    members[7] = gzip.compress(gzip.decompress(members[7]).replace(b"WARC-Date: 2026", b"WARC-Date: none"))
    (tmp_path / "a.warc.gz").write_bytes(b"".join(members) + b"what is no record")
    made = taken(tmp_path / "crawl", tmp_path / "a.warc.gz")
    assert made.pages == 8
    assert made.bad == 3
    assert any("is not a date" in trouble for trouble in made.troubles)
    assert verify(tmp_path / "crawl").wrong == []


def test_a_file_that_is_compressed_as_a_whole_is_read_too(tmp_path):
    write_warc(tmp_path / "plain.warc", history(), gzip=False)
    (tmp_path / "whole.warc.gz").write_bytes(gzip.compress((tmp_path / "plain.warc").read_bytes()))
    made = taken(tmp_path / "crawl", tmp_path / "whole.warc.gz")
    assert (made.pages, made.bad) == (30, 0)


def test_the_scope_holds(tmp_path):
    write_warc(tmp_path / "a.warc.gz", [*history(), ("http://other.example/", MONTHS[0], page("other"))])
    config = replace(CONFIG, exclude=("/3$",))
    made = taken(tmp_path / "crawl", tmp_path / "a.warc.gz", config=config)
    assert made.outside == {"exclude": 6}
    assert made.pages == 25
    write_warc(tmp_path / "b.warc.gz", [("http://third.example/", MONTHS[5], page("third"))])
    assert taken(tmp_path / "crawl", tmp_path / "b.warc.gz", config=config).outside == {"scope": 1}


def test_what_pages_are_made_of_is_left_out_unless_it_is_asked_for(tmp_path):
    write_warc(tmp_path / "a.warc.gz", [("http://a.example/logo.png", MONTHS[0], b"\x89PNG")], mime="image/png")
    write_warc(tmp_path / "b.warc.gz", history())
    made = taken(tmp_path / "crawl", tmp_path / "a.warc.gz", tmp_path / "b.warc.gz")
    assert made.left_out == {"not a document": 1}
    assert taken(tmp_path / "all", tmp_path / "a.warc.gz", everything=True).pages == 1


def test_revisits_get_their_content_and_errors_and_redirects_are_what_they_were(tmp_path):
    body = page("same", "zebra")
    with (tmp_path / "a.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True)

        def answer(status: str, fields: list[tuple[str, str]], date: str, url: str, data: bytes = b"") -> None:
            head = StatusAndHeaders(status, fields, protocol="HTTP/1.1")
            dated = {"WARC-Date": date}
            writer.write_record(
                writer.create_warc_record(url, "response", io.BytesIO(data), http_headers=head, warc_headers_dict=dated)
            )

        answer("200 OK", [("Content-Type", "text/html")], MONTHS[0], "http://a.example/", body)
        digest = "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        about = "http://a.example/", digest, "http://a.example/", MONTHS[0]
        writer.write_record(
            writer.create_revisit_record(*about, http_headers=head, warc_headers_dict={"WARC-Date": MONTHS[1]})
        )
        answer("301 Moved", [("Location", "/")], MONTHS[1], "http://a.example/old")
        answer("404 Not Found", [("Content-Type", "text/html")], MONTHS[2], "http://a.example/none", b"no")
    made = taken(tmp_path / "crawl", tmp_path / "a.warc.gz")
    assert made.pages == 4
    assert {url: (row[0], row[3]) for url, row in records_of(tmp_path / "crawl").items()} == {
        "http://a.example/": (2, Outcome.OK),
        "http://a.example/old": (1, Outcome.REDIRECT),
        "http://a.example/none": (1, Outcome.GONE),
    }
    assert verify(tmp_path / "crawl").wrong == []


def test_bodies_whose_codings_were_undone_are_read_also_from_what_fastwarc_wrote(tmp_path):
    fields = [("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")]
    write_warc(
        tmp_path / "by-warcio.warc.gz", [("http://a.example/", MONTHS[0], page("plain", "zebra"))], fields=fields
    )
    with (tmp_path / "by-warcio.warc.gz").open("rb") as source, (tmp_path / "a.warc").open("wb") as file:
        for record in ArchiveIterator(source, parse_http=False):
            record.write(file)
    made = taken(tmp_path / "crawl", tmp_path / "a.warc")
    assert (made.pages, made.bad) == (1, 0)
    assert records_of(tmp_path / "crawl")["http://a.example/"][3] == Outcome.OK
    assert main(["search", "zebra", "--dir", str(tmp_path / "crawl")]) == 0


@pytest.fixture
def site(tmp_path):
    """Serve three pages on loopback."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_bytes(page("front", "zebra", ["a.html", "b.html"]))
    (folder / "a.html").write_bytes(page("a", "okapi"))
    (folder / "b.html").write_bytes(page("b", "quagga"))
    (folder / "style.css").write_text("p { color: red }")

    with file_site(folder) as address:
        yield address


@pytest.mark.skipif(shutil.which("wget") is None, reason="no wget; apt-get install wget")
def test_what_wget_wrote_is_taken_in(tmp_path, site):
    command = [
        "wget",
        "-q",
        "-r",
        "-nd",
        "--no-proxy",
        "--warc-file",
        str(tmp_path / "got"),
        "-P",
        str(tmp_path / "w"),
        site,
    ]
    subprocess.run(command, check=False, cwd=tmp_path)
    made = taken(tmp_path / "crawl", tmp_path / "got.warc.gz")
    assert {Path(url).name for url, row in records_of(tmp_path / "crawl").items() if row[3] == Outcome.OK} >= {
        "a.html", "b.html"}  # fmt: skip
    assert made.bad == 0
    assert verify(tmp_path / "crawl").wrong == []


def test_what_warcio_captured_is_taken_in(tmp_path, site):
    import http.client

    with capture_http(str(tmp_path / "got.warc.gz")):
        for name in ("", "a.html", "style.css", "missing.html"):
            connection = http.client.HTTPConnection(site.split("/")[2])
            connection.request("GET", f"/{name}")
            connection.getresponse().read()
            connection.close()
    made = taken(tmp_path / "crawl", tmp_path / "got.warc.gz")
    assert made.pages == 3
    assert made.left_out == {"not a document": 1}
    assert made.bad == 0


def test_false_lengths_beyond_the_end_cost_no_copy_of_the_rest(tmp_path):
    fields = ("WARC-Type: response", "WARC-Target-URI: http://a.test/", "Content-Length: 9999999999")
    head = "\r\n".join(("WARC/1.1", *fields, "", "x", "", "")).encode()
    took = list[float]()
    for count in (8_000, 32_000):
        (tmp_path / "false.warc").write_bytes(head * count)
        source, began = WarcSource(tmp_path / "false.warc", RevisitContents()), time.process_time()
        assert len(list(source.scan())) == count
        took.append(time.process_time() - began)
        source.close()
    assert took[1] < 10 * took[0], "sixteen times as long if each copied the rest of the file"
