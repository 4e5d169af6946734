# ruff: noqa: ANN202  (what a test runs is a nested function)
"""Documents and feeds of a crawl are read in another process: searched, exported, and their links followed."""

import asyncio
import contextlib

import office_files as files
import pytest

from evercrawl.ask.reading.content_table import ContentTable
from evercrawl.ask.reading.selection import Wanted
from evercrawl.ask.search.search import Search
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import Answer

pytest.importorskip("docx")
OOXML = "application/vnd.openxmlformats-officedocument."
FEED = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>News of tea</title><language>en-GB</language>
<image><title>a picture</title></image><item><title>Kettles &amp;amp; cups</title><link>/from-feed</link>
<pubDate>Sun, 06 Sep 2009 16:20:00 GMT</pubDate></item></channel></rss>"""


SEARCHED = {
    "findings docx": "/a.docx", "words xlsx": "/b.xlsx", "a point": "/c", "kettles cups": "/feed",
    "findings pdf": "/paper",
}  # fmt: skip


def kept(kind, body):
    return Answer(200, {"Content-Type": kind}, body)


def test_a_crawl_reads_documents_and_feeds(live):
    async def go():
        async with live.Server() as server:
            origin = server.web.origins[0]
            server.extra |= {
                "/": live.html("/a.docx", "/b.xlsx", "/c", "/d.odt", "/bomb.docx", "/feed", "/broken.pptx", "/paper"),
                "/paper": kept("application/pdf", files.pdf(link=f"{origin}/from-pdf")),
                "/a.docx": kept(f"{OOXML}wordprocessingml.document", files.docx(link=f"{origin}/from-docx")),
                "/b.xlsx": kept("application/octet-stream", files.xlsx()),
                "/c": kept(f"{OOXML}presentationml.presentation", files.pptx()),
                "/d.odt": kept("application/vnd.oasis.opendocument.text", files.odt()),
                "/bomb.docx": kept(f"{OOXML}wordprocessingml.document", files.bomb(200 << 20)),
                "/broken.pptx": kept(f"{OOXML}presentationml.presentation", files.pptx()[:9_000]),
                "/feed": kept("application/rss+xml", FEED),
                "/from-docx": live.html(text="found in a document"),
                "/from-pdf": live.html(text="found in a paper"),
                "/from-feed": live.html(text="found in a feed"),
            }
            limits = Limits(until_idle=True, seconds=600)
            await live.crawl([f"{origin}/"], limits, refresh_after_s=1000.0, probe_share=0.0, workers="1")
            return origin

    origin = asyncio.run(go())
    outcomes = {url.removeprefix(origin): label for url, label in live.outcomes().items()}
    assert set(outcomes.values()) == {"ok"}
    assert {"/from-docx", "/from-feed", "/from-pdf"} <= outcomes.keys()
    found = {visit.slot: visit for visit in live.visits()}
    about = {url.removeprefix(origin): found[slot] for slot, url in enumerate(live.urls()) if slot in found}
    assert (about["/a.docx"].title, about["/a.docx"].language) == ("A report", "de")
    assert (about["/feed"].title, about["/feed"].language) == ("News of tea", "en-GB")
    assert about["/d.odt"].language == "fr"
    assert about["/paper"].title == "A paper"
    assert about["/b.xlsx"].text.visible
    assert not about["/bomb.docx"].text.visible
    with live.partition() as partition:
        table = ContentTable(partition, Wanted())
        content = {
            url.removeprefix(origin): text
            for piece in table.pieces()
            for url, text in zip(piece["url"], piece["content"], strict=True)
        }
    assert "# Findings of docx" in content["/a.docx"]
    assert "words of xlsx | 42" in content["/b.xlsx"]
    assert "a point" in content["/c"]
    assert f"- [Kettles & cups]({origin}/from-feed)" in content["/feed"]
    assert "a picture" not in content["/feed"]
    assert sum(table.tally.failed.values()) == 2
    with contextlib.closing(Search(live.directory)) as search:
        said = {words: search.ask(words).hits[0].url.removeprefix(origin) for words in SEARCHED}
    assert said == SEARCHED
    live.verified()
