"""Files of a crawl directory that somebody damaged or took away: a start says so, or makes them anew."""

import asyncio
import contextlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from evercrawl.ask.orders.give import give
from evercrawl.ask.orders.listing import listed
from evercrawl.ask.status import calibration
from evercrawl.ask.verify.verify import verify
from evercrawl.cli.main import main
from evercrawl.config import Config
from evercrawl.crawl.session import crawl
from evercrawl.errors import ConfigError, StoreError
from evercrawl.lab.histories import history_of_crawl
from evercrawl.model.rules.robots import RobotsKeeper
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import found_site
from evercrawl.progress import Limits
from evercrawl.store.backups.backup import backup
from evercrawl.store.birth import is_crawl
from evercrawl.store.journal.events import Bounded
from evercrawl.store.orders import CrawlOrder, OrderFile, lines_from, unread_in_words, vouch_for_all
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


def run_of(directory: Path, config: Config, *seeds: str, seconds: float = 0.0) -> list[str]:
    """Run a crawl for a moment; return what it says."""
    said = list[str]()
    asyncio.run(crawl(directory, config, seeds, Limits(seconds=seconds), lambda now: said.append(now.message)))
    return [message for message in said if message]


@pytest.mark.parametrize("left", [None, b"", b"\n \n", b"\0" * 100], ids=["gone", "empty", "blank", "zeros"])
def test_no_crawl_goes_on_without_its_settings(tmp_path, left, capsys):
    """Among them may be rules that kept no known page out, of which the journal knows nothing."""
    assert run_of(tmp_path, Config(exclude=("/private/",), workers="0"), "http://example.org/") == [
        "the policy is price"
    ]
    file = tmp_path / "crawl.toml"
    file.unlink() if left is None else file.write_bytes(left)
    assert main(["crawl", "--dir", str(tmp_path), "--seconds", "0", "--workers", "0"]) == 2
    assert "crawl.toml is missing or empty, and with it the settings and rules" in capsys.readouterr().err
    assert (file.read_bytes() if file.is_file() else None) == left
    file.write_text("# no rules\n")
    assert run_of(tmp_path, Config(workers="0")) == ["the policy is price"]


def test_an_import_does_not_write_default_settings_where_those_of_the_crawl_were_lost(tmp_path, capsys):
    """With them, the next run would go on without its rules."""
    (tmp_path / "pages.csv").write_text("url\nhttp://example.org/a\n")
    importing = ["import", str(tmp_path / "pages.csv"), "--dir", str(tmp_path / "crawl")]
    assert main(importing) == 0
    file = tmp_path / "crawl" / "crawl.toml"
    assert file.is_file()
    file.unlink()
    (tmp_path / "pages.csv").write_text("url\nhttp://example.org/a\nhttp://example.org/b\n")
    assert main(importing) == 2
    assert "crawl.toml is missing or empty, and with it the settings and rules" in capsys.readouterr().err
    assert not file.exists()


def test_rules_that_no_longer_hold_are_named_once(tmp_path):
    """A file of settings may have been cut short."""
    config = Config(workers="0", sitemaps=False, index=False, scope="any", allow_net=("127.0.0.0/8",))
    other, rule = "http://127.0.0.2:9/", "exclude = '127.0.0.2'"
    run_of(tmp_path, replace(config, exclude=("127.0.0.2",)), "http://127.0.0.1:9/", other, seconds=0.2)
    with contextlib.closing(opened(tmp_path)) as read:
        assert read.state.steered.bounds.keys() == {rule}
    said = f"these rules of the last run do not apply to this one: {rule}"
    assert said in run_of(tmp_path, config, seconds=0.2)
    assert said not in run_of(tmp_path, config)


@pytest.mark.parametrize("left", [None, b""], ids=["gone", "empty"])
def test_verify_misses_the_settings_of_a_crawl_that_had_rules_and_a_backup_has_them(made, tmp_path, left):
    made.seed("http://example.org/")
    made.partition.remember(Bounded(2.0, {"exclude = '/b'": 1.0}))
    made.save()
    made.stop()
    file = made.directory / "crawl.toml"
    file.write_text("[scope]\nexclude = ['/b']\n")
    assert verify(made.directory).fine
    backup(made.directory, tmp_path / "backup", 3.0)
    whole = file.read_bytes()
    file.unlink() if left is None else file.write_bytes(left)
    [wrong] = verify(made.directory).wrong
    assert wrong.startswith("crawl.toml is missing or empty, and the crawl had rules (exclude = '/b')")
    assert main(["verify", "--repair", "--yes", "--dir", str(made.directory)]) == 1
    assert main(["verify", "--repair", "--yes", "--dir", str(made.directory), "--from", str(tmp_path / "backup")]) == 0
    assert file.read_bytes() == whole


def test_an_order_that_was_damaged_before_it_was_read_is_not_lost_without_a_word(tmp_path):
    config = Config(workers="0", sitemaps=False, index=False)
    run_of(tmp_path, config, "http://example.org/")
    for pattern in ("/one/", "/two/"):
        give(tmp_path, CrawlOrder("exclude", pattern=pattern))
    file = tmp_path / "orders.jsonl"
    file.write_bytes(file.read_bytes().replace(b"/one/", b"/\xffne/"))
    said = "1 line of orders.jsonl cannot be read (not an order: "
    assert any(mend.startswith(said) for mend in verify(tmp_path).mends)
    with contextlib.closing(opened(tmp_path)) as read:
        assert listed(read, 10).trouble.startswith(said)
    vouch_for_all(tmp_path)
    assert any(message.startswith(said) for message in run_of(tmp_path, config, seconds=0.3))
    assert not any(message.startswith(said) for message in run_of(tmp_path, config)), "it is said once"
    assert verify(tmp_path).mends == []
    with contextlib.closing(opened(tmp_path)) as read:
        assert listed(read, 10).trouble.startswith(said)
        assert [order.state for order in listed(read, 10).orders] == ["done"]


def test_orders_of_which_the_latest_are_listed_are_not_called_damaged(tmp_path, monkeypatch):
    run_of(tmp_path, Config(workers="0", sitemaps=False, index=False), "http://example.org/")
    for number in range(4):
        give(tmp_path, CrawlOrder("exclude", pattern=f"/{number}/"))
    monkeypatch.setattr("evercrawl.ask.orders.listing.MOST_BYTES", (tmp_path / "orders.jsonl").stat().st_size - 10)
    with contextlib.closing(opened(tmp_path)) as read:
        found = listed(read, 10)
    assert (len(found.orders), found.trouble) == (3, "")


def test_a_file_of_orders_that_was_replaced_is_looked_at_from_its_beginning(tmp_path):
    run_of(tmp_path, Config(workers="0", sitemaps=False, index=False), "http://example.org/")
    file = tmp_path / "orders.jsonl"
    for number in range(2):
        give(tmp_path, CrawlOrder("exclude", pattern=f"/{number}/"))
    first, second = file.read_bytes().splitlines(keepends=True)
    read = [line for line in lines_from(OrderFile(tmp_path), 0) if line.order is not None]
    upto, last = read[0].upto, read[0].order.id
    assert unread_in_words(OrderFile(tmp_path), upto, last) == ""
    file.write_bytes(b"#" * (len(first) - 1) + b"\n" + second)
    assert unread_in_words(OrderFile(tmp_path), upto, last).startswith("1 line of orders.jsonl cannot be read")
    file.write_bytes(5 * b"\n" + second + first)
    assert unread_in_words(OrderFile(tmp_path), upto, last) == ""


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
