"""Files of a crawl directory that somebody damaged or took away: a start says so, or makes them anew."""

import asyncio
import os

import pytest

from evercrawl.config import Config, load
from evercrawl.crawl.robots import RobotsKeeper
from evercrawl.crawl.session import crawl
from evercrawl.errors import StoreError
from evercrawl.parse.digest import keys
from evercrawl.progress import Limits
from evercrawl.store.partition import Partition


@pytest.mark.parametrize("content", [b"no database " * 500, b""])
def test_a_damaged_robots_cache_is_made_anew(tmp_path, content):
    path = tmp_path / "robots.sqlite"
    path.write_bytes(content)
    keeper = RobotsKeeper(str(path), "evercrawl", 5.0)
    assert keeper.of("http://example.org", 0.0) is None
    keeper.close()
    assert path.read_bytes().startswith(b"SQLite format 3\0")


@pytest.mark.parametrize("damage", [lambda file: file.write_bytes(b""), lambda file: file.unlink()])
def test_a_crawl_that_lost_its_name_is_not_begun_anew(filled, damage):
    filled.partition.close()
    damage(filled.directory / "crawl.json")
    with pytest.raises(StoreError, match="restore it from a copy"):
        Partition(filled.directory, keys, os.urandom, now=2.0)


def test_lost_settings_are_written_anew_and_that_is_said(tmp_path):
    said: list[str] = []

    def run(config: Config, *seeds: str) -> None:
        asyncio.run(crawl(tmp_path, config, seeds, Limits(seconds=0.0), lambda now: said.append(now.message)))

    run(Config(delay_s=7.0), "http://example.org/")
    assert not any(said)
    (tmp_path / "crawl.toml").unlink()
    run(Config(delay_s=3.0))
    assert any("crawl.toml was lost" in message for message in said)
    assert load(tmp_path / "crawl.toml").delay_s == 3.0


def test_a_crawl_that_lost_its_journal_keeps_its_archive(filled):
    filled.stop()
    archived = {file.name: file.read_bytes() for file in (filled.directory / "archive").iterdir()}
    for journal in filled.directory.glob("journal-*"):
        journal.unlink()
    with pytest.raises(StoreError, match="put the journal-\\* files back from a copy"):
        Partition(filled.directory, keys, os.urandom, now=2.0)
    assert {file.name: file.read_bytes() for file in (filled.directory / "archive").iterdir()} == archived
