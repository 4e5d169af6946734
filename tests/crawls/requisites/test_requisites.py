# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""What pages need to be shown, where disks are full or damaged, and where older versions are not kept."""

import asyncio
import errno
import os
import shutil
import sqlite3
from collections import Counter

import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.crawl import parts
from evercrawl.crawl.removing.keeping import keep_less
from evercrawl.crawl.visit.access import Access
from evercrawl.parse.sites import found_site
from evercrawl.progress import Limits
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.disk.tables import see_tables
from evercrawl.store.journal.requisite_events import LOST_REQUISITE, RequisiteFetched
from evercrawl.store.partition import Partition
from evercrawl.store.requisites.book import REQUISITES_FILE, RequisiteBook, read_book

A = "http://a.example"
NAMES = {"a.example": ["8.8.0.1"]}
PICTURES = [f"{A}/{number}.png" for number in range(3)]
DAY_S = 86_400.0


def crawled(run, pictures=lambda url, at: url.encode(), **more):  # noqa: ANN003
    """Crawl a page with three pictures, which are what `pictures` says."""
    world = run.World()
    text = "".join(f"<img src={url}>" for url in PICTURES)
    world.pages = {f"{A}/": lambda _, at: world.html(text=f"{text} {at}")}
    for url in PICTURES:
        world.pages[url] = lambda _, at, url=url: run.Answer(200, {"Content-Type": "image/png"}, pictures(url, at))
    return run(world, [f"{A}/"], names=NAMES, requisites=True, sitemaps=False, probe_share=0.0, **more)


def known(run):
    with read_book(run.directory) as book:
        return {one.url: one for one in book.of(range(book.count))}


def bodies(run, url):
    """Return each version of something that is in the archive."""
    partition, found = run.folded(), []
    number = known(run)[url].number
    gone = {
        event.archive for _, _, event in partition.journal.replay() if getattr(event, "error", "") == LOST_REQUISITE
    }
    for _, _, event in partition.journal.replay():
        if isinstance(event, RequisiteFetched) and event.number == number and event.archive and not event.unchanged:
            found += [partition.archive.read(Pointer(*event.archive)).wire] if event.archive not in gone else []
    partition.close()
    return found


def asked(ran):
    return Counter(url for url in ran.pages.elements() if url in PICTURES)


def test_where_nobody_is_at_an_address_a_requisite_comes_from_the_next_one(run):
    other = "http://other.example"
    world = run.World()
    world.pages = {f"{A}/": world.html(text=f"<img src={other}/a.png>")}
    world.pages[f"{other}/a.png"] = run.Answer(200, {"Content-Type": "image/png"}, b"a")
    names = NAMES | {"other.example": ["8.8.0.2", "8.8.0.3"]}
    ran = run(world, [f"{A}/"], names=names, requisites=True,
              vacant=lambda address: "connect" if address == "8.8.0.2" else "")  # fmt: skip
    assert known(run)[f"{other}/a.png"].archive is not None
    assert [asked.address for asked in ran.network.log if other in asked.url] == ["8.8.0.2", "8.8.0.3", "8.8.0.3"]


def test_who_has_no_leave_asks_for_nothing_that_pages_need_until_it_has(run, monkeypatch):
    """One of several partitions, whose leave ends while the first of three pictures is awaited."""
    begun_at = list[float]()

    class Leased(Access):
        def __init__(self, *given, **more) -> None:  # noqa: ANN002, ANN003
            super().__init__(*given, **more)
            self.may_fetch = lambda: not begun_at or asyncio.get_running_loop().time() > begun_at[0] + 100.0

    def picture(url: str, at: float) -> bytes:
        begun_at[:] = begun_at or [asyncio.get_running_loop().time()]
        return url.encode()

    monkeypatch.setattr(parts, "Access", Leased)
    ran = crawled(run, picture, limits=Limits(seconds=200.0), delay_s=3.0)
    first, second = sorted(one.at for one in ran.network.log if one.url in PICTURES)[:2]
    assert 100.0 <= second - first < 110.0


@pytest.mark.parametrize("part", ["archive", "journal"])
def test_on_a_full_disk_nothing_is_lost_and_nothing_asked_for_twice(run, part):
    refused = []

    def hook(operation, name):
        passed_s = asyncio.get_running_loop().time() - 1.7e9
        if operation == "write" and part in name and 2.5 <= passed_s < 60.0:
            refused.append(passed_s)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    ran = crawled(run, hook=hook, disk_wait_s=600.0)
    assert refused
    assert asked(ran) == Counter(PICTURES)
    assert Counter(run.archived()) == Counter([f"{A}/", *PICTURES])
    assert all(one.archive and not one.owed for one in known(run).values())
    assert verify(run.directory).fine


def test_where_the_table_has_no_room_it_is_made_again_from_the_journal(run):
    def cramped(path):
        RequisiteBook.opened(path).close()
        file = sqlite3.connect(path, isolation_level=None)
        (pages,) = file.execute("PRAGMA page_count").fetchone()
        file.execute(f"PRAGMA max_page_count = {pages}")
        return RequisiteBook(file)

    long = "x" * 6000  # of which the table has no place for one
    PICTURES.append(f"{A}/{long}.png")
    try:
        assert asked(crawled(run, book=cramped)) == Counter(PICTURES)
        again = crawled(run)
        assert not asked(again)
        assert set(known(run)) == set(PICTURES)
    finally:
        PICTURES.pop()


def test_a_lost_record_is_fetched_again_and_no_other(run):
    crawled(run)
    where = known(run)[PICTURES[1]].archive
    partition = run.folded()
    name = partition.archive.name(where.segment)
    partition.close()
    with (run.directory / name).open("r+b") as file:
        file.seek(where.offset)
        file.write(bytes(where.length))
    partition = Partition(run.directory, os.urandom, now=run.now, site=found_site)
    partition.give_up({where}, run.now, "it is damaged")
    partition.close()
    assert asked(crawled(run)) == Counter([PICTURES[1]])
    assert bodies(run, PICTURES[1]) == [PICTURES[1].encode()]


def test_older_versions_go_and_the_newest_stays(run):
    def pictures(url, at):
        return url.encode() if url == PICTURES[0] else f"{url} {at // DAY_S}".encode() * (1 + (url == PICTURES[2]))

    for _ in range(4):
        crawled(run, pictures, limits=Limits(pages=1))
        run.now += DAY_S * 1.5
    assert [len(bodies(run, url)) for url in PICTURES] == [1, 4, 4]
    newest = known(run)
    for settings, versions in (({"keep_versions": 3}, 3), ({"keep_days": 4.0}, 2), ({"keep_bytes": 1}, 1)):
        keep_less(run.directory, Config(**settings), run.now)
        assert [len(bodies(run, url)) for url in PICTURES] == [1, versions, versions]
    assert verify(run.directory).fine
    crawled(run, pictures, limits=Limits(seconds=1))
    assert {url: one._replace(owed=False) for url, one in known(run).items()} == newest


def test_pages_of_another_site_take_few_turns_of_a_host_whose_pages_wait(run):
    """An attacker's pages could name any number of pictures there, and its own pages would go unread."""
    victim, attacker = "http://victim.example", "http://attacker.example"
    names = {"victim.example": ["8.8.1.1"], "attacker.example": ["8.8.2.1"]}

    def pages(attacked: bool) -> int:
        world = run.World()
        world.pages = {f"{victim}/": world.html(*[f"{victim}/{i}" for i in range(60)])}
        world.pages |= {f"{victim}/{i}": world.html(text=f"{i}") for i in range(60)}
        for i in range(6):
            text = "".join(f"<img src={victim}/{i}-{j}.png>" for j in range(50)) if attacked else "words"
            world.pages[f"{attacker}/{i}"] = world.html(f"{attacker}/{i + 1}", text=text)
        settings = {"requisites": True, "requisites_from": "any", "sitemaps": False, "probe_share": 0.0, "delay_s": 1.0}
        ran = run(world, [f"{attacker}/0", f"{victim}/"], Limits(seconds=60.0), names=names, **settings)
        shutil.rmtree(run.directory)
        return sum(count for url, count in ran.pages.items() if url.startswith(victim) and "png" not in url)

    assert pages(attacked=True) >= 0.9 * pages(attacked=False) > 20


def test_robots_files_of_hosts_with_pictures_that_are_moved_to_one_host_share_a_budget(run):
    """A page can name pictures on any number of hosts, each of which has a file of the victim's requested."""
    victim, hosts = "http://victim.example", [f"h{i}.example" for i in range(40)]
    names = {"victim.example": ["8.8.1.1"], "a.example": ["8.8.0.1"]}
    names |= {host: [f"8.8.2.{i}"] for i, host in enumerate(hosts, 1)}
    world = run.World()
    pictures = "".join(f"<img src=http://{host}/x.png>" for host in hosts)
    world.pages = {f"{A}/": world.html(f"{A}/1"), f"{A}/1": world.html(text=pictures), f"{victim}/": world.html()}
    for i, host in enumerate(hosts):
        world.pages[f"http://{host}/robots.txt"] = run.Answer(301, {"location": f"{victim}/{i}"})
    settings = {"requisites": True, "requisites_from": "any", "sitemaps": False, "robots": ":memory:"}
    ran = run(world, [f"{A}/", f"{victim}/"], Limits(seconds=60.0), names=names, **settings)
    moved = {f"{victim}/{i}" for i in range(len(hosts))}
    assert 1 <= sum(asked.url in moved for asked in ran.network.log) <= 12


@pytest.mark.parametrize("what", ["views", "damage"])
def test_a_table_that_cannot_be_trusted_is_not_read(tmp_path, what):
    path = tmp_path / REQUISITES_FILE
    if what == "damage":
        path.write_bytes(b"no database" * 100)
    else:
        file = sqlite3.connect(path)
        file.execute("CREATE VIEW folded AS SELECT 1 AS one")
        file.execute("CREATE VIEW requisites AS SELECT 1 AS number")
        file.close()
    with read_book(tmp_path) as book:
        assert book is None


def test_a_table_of_an_earlier_version_holds_nothing_that_computes():
    file = sqlite3.connect(":memory:")
    file.execute("CREATE TABLE folded (one INTEGER PRIMARY KEY CHECK (one = 1), pointer INTEGER)")
    see_tables(file)
    file.execute("CREATE TABLE other (one INTEGER PRIMARY KEY CHECK (one = 1))")
    with pytest.raises(sqlite3.DatabaseError, match="computes"):
        see_tables(file)
    file.close()
