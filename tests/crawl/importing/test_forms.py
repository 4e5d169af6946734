"""Indexes, logs, dumps, tables and what Scrapy keeps: histories and URLs become visits without content."""

import gzip
import json
import os
import subprocess
import sys

import pytest
from archived import journal_of, page, records_of, taken, write_warc
from serving import serving
from warcio.archiveiterator import ArchiveIterator

from evercrawl.ask.verify.verify import verify
from evercrawl.cli.main import main
from evercrawl.errors import ConfigError
from evercrawl.types import Outcome

CDXJ = """!OpenWayback-CDXJ 1.0
com,example)/ 20260101120000 {"url": "http://example.com/", "mime": "text/html", "status": "200", "digest": "AAAA"}
com,example)/ 20260201120000 {"url": "http://example.com/", "mime": "text/html", "status": "200", "digest": "BBBB"}
com,example)/ 20260301120000 {"url": "http://example.com/", "mime": "warc/revisit", "status": "-", "digest": "BBBB"}
com,example)/gone 20260301120000 {"url": "http://example.com/gone", "mime": "text/html", "status": "404", "digest": "C"}
com,example)/x.png 20260301120000 {"url": "http://example.com/x.png", "mime": "image/png", "status": "200"}
com,example)/bad 20260301120000 {"url": "http://example.com/bad", "mi
"""
COMMON_CRAWL = """com,example)/ 20260105010203 {"url": "http://example.com/", "mime": "text/html", "mime-detected": \
"text/html", "status": "200", "digest": "AAAA", "length": "7155", "offset": "102", "filename": \
"crawl-data/CC-MAIN-2026-05/segments/1/warc/CC-MAIN-0.warc.gz", "charset": "UTF-8", "languages": "eng"}
"""
CDX = """ CDX N b a m s k r M S V g
com,example)/ 20260101120000 http://example.com/ text/html 200 AAAA - - 7155 102 x.warc.gz
com,example)/ 20260301120000 http://example.com/ text/html 200 BBBB - - 7155 902 x.warc.gz
"""
CRAWL_LOG = """\
2026-03-01T12:00:00.123Z   200      12345 http://h.example/ - - text/html #042 20260301120000123+456 sha1:ABCDEF - -
2026-03-02T12:00:00.123Z   200      12345 http://h.example/ L - text/html #042 20260302120000123+456 sha1:ABCDEG - -
2026-03-01T12:00:00.123Z -9998          - http://h.example/no LLE http://h.example/ unknown #042 - - - -
2026-03-01T12:00:00.123Z     1         55 dns:h.example P http://h.example/ text/dns #042 20260301120000123+4 sha1:A - -
2026-03-01T12:00:01.000Z   404 345 http://h.example/gone L http://h.example/ text/html - 20260301120000123+1 - - -
garbage
"""
NUTCH = """http://n.example/\tVersion: 7
Status: 6 (db_notmodified)
Fetch time: Tue Mar 31 12:00:00 UTC 2026
Modified time: Sun Feb 01 12:00:00 UTC 2026
Retries since fetch: 0
Retry interval: 2592000 seconds (30 days)
Score: 1.0
Signature: 0123456789abcdef
Metadata:\x20
 \t_pst_=success(1), lastModified=0
\tContent-Type=text/html

http://n.example/unread\tVersion: 7
Status: 1 (db_unfetched)
Fetch time: Tue Mar 31 12:00:00 UTC 2026
Modified time: Thu Jan 01 00:00:00 UTC 1970
Retries since fetch: 0
Retry interval: 2592000 seconds (30 days)
Score: 0.1
Signature: null
Metadata:\x20

http://n.example/gone\tVersion: 7
Status: 3 (db_gone)
Fetch time: Tue Mar 31 12:00:00 UTC 2026
Modified time: Thu Jan 01 00:00:00 UTC 1970
Retries since fetch: 0
Retry interval: 2592000 seconds (30 days)
Score: 0.1
Signature: null
Metadata:\x20
 \t_pst_=notfound(14), lastModified=0: http://n.example/gone

http://n.example/denied\tVersion: 7
Status: 3 (db_gone)
Fetch time: Sat Jul 19 17:00:05 CST 2014
Modified time: Wed Dec 31 18:00:00 CST 1969
Retries since fetch: 0
Retry interval: 3888000 seconds (45 days)
Score: 1.0
Signature: null
Metadata:\x20
 \t_pst_=robots_denied(18), lastModified=0

"""
TABLE = """URL;Visited at;Hash;Status
http://c.example/a;2026-01-01T00:00:00Z;x;200
http://c.example/a;2026-02-01;y;200
http://c.example/b;1767225600;;404
nonsense;2026-01-01;;
"""
SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://s.example/a</loc><lastmod>2026-01-01</lastmod></url><url><loc>https://s.example/b</loc></url></urlset>
"""
FORMS = {  # text, visited pages with visits, changes and class, URLs without a date, bad records
    "i.cdxj": (CDXJ, {"http://example.com/": (3, 1, 4), "http://example.com/gone": (1, 0, 7)}, 0, 1),
    "cc-index": (COMMON_CRAWL, {"http://example.com/": (1, 0, 4)}, 0, 0),
    "i.cdx": (CDX, {"http://example.com/": (2, 1, 4)}, 0, 0),
    "crawl.log": (CRAWL_LOG, {"http://h.example/": (2, 1, 4), "http://h.example/gone": (1, 0, 7)}, 1, 1),
    "part-r-00000": (NUTCH, {"http://n.example/": (2, 0, 4), "http://n.example/gone": (1, 0, 7)}, 2, 0),
    "pages.csv": (TABLE, {"http://c.example/a": (2, 1, 4), "http://c.example/b": (1, 0, 7)}, 0, 1),
    "sitemap.xml": (SITEMAP, {}, 2, 0),
    "urls.txt": ("http://u.example/a\nhttp://u.example/b\n", {}, 2, 0),
}
pytestmark = pytest.mark.filterwarnings("ignore:Unclosed file <tempfile.SpooledTemporaryFile")  # warcio's


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", sorted(FORMS))
def test_each_form_is_told_by_what_is_in_it_and_its_histories_are_visits(tmp_path, name, packed):
    text, visited, urls, bad = FORMS[name]
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    made = taken(tmp_path / "crawl", path)
    assert {url: (row[0], row[1], row[3]) for url, row in records_of(tmp_path / "crawl").items()} == visited
    assert (made.urls, made.bad) == (urls, bad)
    assert verify(tmp_path / "crawl").wrong == []
    before = journal_of(tmp_path / "crawl")
    assert taken(tmp_path / "crawl", path).known == made.captures + made.urls
    assert journal_of(tmp_path / "crawl") == before


def test_a_history_teaches_how_often_a_page_changes_and_the_page_is_still_to_be_fetched(tmp_path, capsys):
    lines = list[str]()
    for name in ("often", "never"):
        for month in range(1, 8):
            facts = {"url": f"http://example.com/{name}", "mime": "text/html", "status": "200"}
            facts["digest"] = str(month) if name == "often" else "same"
            lines.append(f"com,example)/{name} 20260{month}01120000 {json.dumps(facts)}\n")
    (tmp_path / "i.cdxj").write_text("".join(lines))
    taken(tmp_path / "crawl", tmp_path / "i.cdxj")
    records = records_of(tmp_path / "crawl")
    assert records["http://example.com/often"][2] > 3 * records["http://example.com/never"][2]
    assert main(["why", "http://example.com/often", "--dir", str(tmp_path / "crawl")]) == 0
    shown = capsys.readouterr().out
    assert "imported: another program visited the page" in shown
    assert "no copy is stored" in shown


def test_an_index_beside_its_archive_brings_contents(tmp_path):
    write_warc(tmp_path / "x.warc.gz", [("http://example.com/", "2026-01-01T12:00:00Z", page("front", "zebra"))])
    with (tmp_path / "x.warc.gz").open("rb") as file:
        records = ArchiveIterator(file)
        next(records)
        records.read_to_end()
        length = records.get_record_length()
    line = {"url": "http://example.com/", "mime": "text/html", "status": "200", "digest": "A", "offset": "0",
            "length": str(length), "filename": "x.warc.gz"}  # fmt: skip
    (tmp_path / "i.cdxj").write_text(f"com,example)/ 20260101120000 {json.dumps(line)}\n")
    assert taken(tmp_path / "crawl", tmp_path / "i.cdxj").pages == 1
    assert taken(tmp_path / "both", tmp_path / "i.cdxj", tmp_path / "x.warc.gz").pages == 1


def test_contents_that_come_after_their_history_are_taken_in(tmp_path):
    (tmp_path / "i.cdxj").write_text(CDXJ)
    write_warc(tmp_path / "x.warc.gz", [("http://example.com/", "2026-02-01T12:00:00Z", page("front", "zebra"))])
    taken(tmp_path / "crawl", tmp_path / "i.cdxj")
    assert taken(tmp_path / "crawl", tmp_path / "x.warc.gz").pages == 1
    assert records_of(tmp_path / "crawl")["http://example.com/"][3] == Outcome.OK
    assert verify(tmp_path / "crawl").wrong == []
    assert taken(tmp_path / "crawl", tmp_path / "i.cdxj", tmp_path / "x.warc.gz").pages == 0


@pytest.mark.parametrize("data", [b"", b"\x7fELF\0\0\0\0", b"\x1f\x8b\x08 none"])
def test_what_is_nothing_of_the_kind_is_refused_with_a_sentence(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(ConfigError, match=r"no format that can be imported|is empty|not a complete gzip|no column"):
        taken(tmp_path / "crawl", tmp_path / "x")
    assert not (tmp_path / "crawl").exists()


def test_the_command_says_what_it_did_and_a_dry_run_changes_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages.csv").write_text(TABLE)
    assert main(["import", "pages.csv", "--dry-run", "--dir", "crawl"]) == 1
    assert "3 captures from 2026-01-01T00:00:00" in capsys.readouterr().out
    assert not (tmp_path / "crawl").exists()
    assert main(["import", "pages.csv", "--json", "--dir", "crawl"]) == 1
    end = json.loads(capsys.readouterr().out)
    assert (end["event"], end["histories"], end["bad"]) == ("end", 3, 1)
    assert main(["import", "none.csv", "--dir", "crawl"]) == 2
    assert "none.csv does not exist" in capsys.readouterr().err


SPIDER = """
import scrapy

class Spider(scrapy.Spider):
    name = "quotes"
    start_urls = ["{url}"]

    def parse(self, response):
        for n in range(3):
            yield scrapy.Request(response.urljoin(f"/wait/{{n}}"), priority=-1)
        self.crawler.engine.close_spider(self, "enough")
"""


def test_the_job_and_the_cache_of_a_scrapy_spider_are_taken_in(tmp_path):
    pytest.importorskip("scrapy", reason="no Scrapy; pip install scrapy")
    import http.server

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page("front", "zebra"))

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        (tmp_path / "spider.py").write_text(SPIDER.format(url=url))
        settings = ["JOBDIR=job", "HTTPCACHE_ENABLED=1", f"HTTPCACHE_DIR={tmp_path / 'cache'}",
                    "TELNETCONSOLE_ENABLED=0", "CONCURRENT_REQUESTS=1", "LOG_LEVEL=ERROR"]  # fmt: skip
        flags = [word for setting in settings for word in ("-s", setting)]
        bare = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        command = [sys.executable, "-m", "scrapy", "runspider", "spider.py", *flags]
        subprocess.run(command, cwd=tmp_path, check=True, env=bare, timeout=120)
    made = taken(tmp_path / "crawl", tmp_path / "job", tmp_path / "cache")
    assert made.pages >= 1
    assert made.bad == 0
    assert made.urls + made.pages >= 3
    assert records_of(tmp_path / "crawl")[url][3] == Outcome.OK
    assert verify(tmp_path / "crawl").wrong == []


def test_a_pickle_that_would_run_something_runs_nothing(tmp_path):
    import pickle
    import struct

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {tmp_path / 'ran'}",)

    (tmp_path / "job" / "requests.queue").mkdir(parents=True)
    items = [pickle.dumps({"url": "http://a.example/", "meta": {"x": Evil()}}), b"none", pickle.dumps(Evil())]
    data = struct.pack(">L", 3) + b"".join(item + struct.pack(">L", len(item)) for item in items)
    (tmp_path / "job" / "requests.queue" / "0").write_bytes(data)
    made = taken(tmp_path / "crawl", tmp_path / "job")
    assert (made.made_known, made.known, made.bad) == (0, 1, 2)  # the only URL is the seed
    assert not (tmp_path / "ran").exists()
