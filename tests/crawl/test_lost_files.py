"""Files of a crawl directory that somebody damaged or took away: a start says so, or makes them anew."""

import asyncio
import os

import pytest

from evercrawl.ask.status import calibration
from evercrawl.config import Config, load
from evercrawl.crawl.session import crawl
from evercrawl.errors import ConfigError, StoreError
from evercrawl.lab.histories import history_of_crawl
from evercrawl.model.rules.robots import RobotsKeeper
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import found_site
from evercrawl.progress import Limits
from evercrawl.store.birth import is_crawl
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
    for name in ("crawl.json", "crawl-copy.json"):
        damage(filled.directory / name)
    with pytest.raises(StoreError, match="restore it from a copy"):
        Partition(filled.directory, os.urandom, now=2.0)


@pytest.mark.parametrize("name", ["crawl.json", "crawl-copy.json"])
@pytest.mark.parametrize(
    "damage",
    [lambda file: file.write_bytes(b""), lambda file: file.unlink(), lambda file: file.write_bytes(b'{"format": 1,')],
)
def test_the_name_of_a_crawl_is_kept_twice(filled, name, damage):
    filled.partition.close()
    file = filled.directory / name
    whole = file.read_bytes()
    damage(file)
    assert is_crawl(filled.directory)
    reader = opened(filled.directory)
    assert reader.birth == filled.partition.birth
    reader.close()
    again = Partition(filled.directory, os.urandom, now=2.0, site=found_site)
    assert again.birth == filled.partition.birth
    assert not again.new
    assert (name == "crawl.json") == any("it was read from crawl-copy.json" in repair for repair in again.repairs)
    again.close()
    assert file.read_bytes() == whole


def test_a_journal_that_is_damaged_before_its_end_is_not_taken_for_all_of_it(made):
    made.seed("http://example.org/")
    for words in ("one two three", "four five six", "seven eight nine"):
        made.visit("http://example.org/", made.page("A title", text=words))
        made.save()
    made.stop()
    [file] = made.directory.glob("journal-*")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    for ask in (history_of_crawl, calibration):
        with pytest.raises(StoreError, match="the journal is damaged: journal-"):
            ask(made.directory)


def test_a_folder_that_is_not_there_is_no_crawl_that_was_lost(tmp_path):
    with pytest.raises(ConfigError, match=r"there is no folder .*none; name the directory of a crawl with --dir"):
        opened(tmp_path / "none")


def test_lost_settings_are_written_anew_and_that_is_said(tmp_path):
    said: list[str] = []

    def run(config: Config, *seeds: str) -> None:
        asyncio.run(crawl(tmp_path, config, seeds, Limits(seconds=0.0), lambda now: said.append(now.message)))

    run(Config(delay_s=7.0), "http://example.org/")
    assert {*said} == {"the policy is price", ""}
    (tmp_path / "crawl.toml").unlink()
    run(Config(delay_s=3.0))
    assert any("crawl.toml was lost" in message for message in said)
    assert load(tmp_path / "crawl.toml").delay_s == 3.0


def test_a_crawl_that_lost_its_journal_keeps_its_archive(filled):
    filled.stop()
    archived = {file.name: file.read_bytes() for file in (filled.directory / "archive").iterdir()}
    for journal in filled.directory.glob("journal-*"):
        journal.unlink()
    with pytest.raises(StoreError, match="restore the journal-\\* files from a copy"):
        Partition(filled.directory, os.urandom, now=2.0)
    assert {file.name: file.read_bytes() for file in (filled.directory / "archive").iterdir()} == archived


@pytest.mark.parametrize("part", ["pages/meta.json", "anchors/meta.json", "index.json", "of before"])
def test_a_damaged_search_index_or_one_of_before_is_made_anew_and_that_is_said(tmp_path, part):
    said: list[str] = []

    def run(*seeds: str) -> None:
        config = Config(workers="0", sitemaps=False)
        asyncio.run(crawl(tmp_path, config, seeds, Limits(seconds=0.0), lambda now: said.append(now.message)))

    run("http://example.org/")
    file = tmp_path / "search" / ("index.json" if part == "of before" else part)
    assert file.is_file(), sorted(tmp_path.rglob("search/*"))
    held = file.read_bytes()
    file.write_bytes(held.replace(b'"version":2', b'"version":1') if part == "of before" else held[:-9])
    assert file.read_bytes() != held
    run()
    assert any("the search index is rebuilt from the archive" in message for message in said), said
    before = len(said)
    run()
    assert {*said[before:]} == {"the policy is price", ""}
