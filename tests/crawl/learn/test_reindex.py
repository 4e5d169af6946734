"""The index made anew, and held against journal and archive, in the directory of a real crawl."""

import asyncio
import shutil
from pathlib import Path

import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.crawl.learn.reindex import reindex
from evercrawl.crawl.session import crawl
from evercrawl.errors import ConfigError, StoreError
from evercrawl.progress import Limits
from evercrawl.search.index import FOLDER, Index, IndexedPage
from evercrawl.search.query import parse
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback
from evercrawl.store.disk.lock import Lock


@pytest.fixture
def crawled(tmp_path):
    async def go() -> None:
        async with Loopback(hosts=2, pages=12, changing=0) as server:
            config = Config(delay_s=0.0, allow_net=(NETWORK,))
            await crawl(tmp_path / "crawl", config, server.seeds, Limits(until_idle=True, seconds=600))

    asyncio.run(go())
    return tmp_path / "crawl"


def answers(directory, words):
    index = Index(directory / FOLDER, writable=False)
    try:
        return index.search(parse(words)).slot.tolist(), sorted(index.held()[0].tolist())
    finally:
        index.close()


def test_an_index_made_anew_answers_like_the_one_that_was_kept(crawled):
    before = answers(crawled, "page journal")
    assert before[1]
    shutil.rmtree(crawled / FOLDER)
    made = reindex(crawled)
    assert not made.troubles
    assert made.pages == len(before[1])
    assert answers(crawled, "page journal") == before
    assert verify(crawled).fine


def test_verify_blames_an_index_that_holds_something_else(crawled):
    assert verify(crawled).checked["pages in the search index"] == len(answers(crawled, "x")[1])
    index = Index(crawled / FOLDER)
    index.put([IndexedPage(answers(crawled, "x")[1][0], 1, "http://x/", "x", "x", "a title", "other content", "en")])
    index.put([IndexedPage(100_000, 1, "http://x/", "x", "x", "a title", "of no page", "en")])
    index.commit(index.at)
    index.close()
    wrong = verify(crawled).wrong
    assert len(wrong) == 2
    assert "lacks the newest content" in wrong[0]
    assert "a superfluous entry for page 100000" in wrong[1]
    assert all("evercrawl reindex" in sentence for sentence in wrong)
    reindex(crawled)
    assert verify(crawled).fine


def test_an_index_that_lags_is_to_be_mended(crawled):
    index = Index(crawled / FOLDER)
    index.remove(answers(crawled, "x")[1][:3])
    index.commit(index.at - 1)
    index.close()
    found = verify(crawled)
    assert found.fine
    assert "lacks 3 pages" in found.mends[0]


def test_a_page_whose_archive_record_is_damaged_is_told_of(crawled):
    segment = next((crawled / "archive").glob("*.warc.gz"))
    data = bytearray(segment.read_bytes())
    third = len(data) // 3
    data[third : 2 * third] = bytes(third)
    segment.write_bytes(data)
    made = reindex(crawled)
    assert made.troubles
    assert made.pages
    assert all("://" in trouble for trouble in made.troubles)
    assert made.pages == len(answers(crawled, "x")[1])


def test_there_must_be_a_crawl_and_nobody_at_it(tmp_path):
    with pytest.raises(ConfigError, match="no crawl"):
        reindex(tmp_path)
    (tmp_path / "crawl.json").write_text("{}")
    with Lock.take(tmp_path, "crawling", 0.0), pytest.raises(StoreError, match="in use"):
        reindex(tmp_path)


def test_there_is_an_index_at_every_instant(crawled, monkeypatch):
    """Killed before or after the removal of the old index, a crawl has the old or the new one."""
    remove, seen = shutil.rmtree, list[bool]()

    def removed(place: Path, **named: bool) -> None:
        for after in (False, True):
            if after:
                remove(place, **named)
            seen.append(verify(crawled).fine)

    monkeypatch.setattr(shutil, "rmtree", removed)
    reindex(crawled)
    assert seen == [True] * 4
    assert not (crawled / "search.new").exists()
    monkeypatch.setattr("ctypes.CDLL", lambda _: None)  # a system that cannot exchange folders
    monkeypatch.setattr(shutil, "rmtree", remove)
    reindex(crawled)
    assert verify(crawled).fine
