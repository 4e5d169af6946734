"""Orders to forget: the crawl stops for them, goes on, and each is obeyed once, wherever it is killed."""

import asyncio
import json
import shutil

import msgspec
import pytest

from evercrawl.ask.orders.give import give
from evercrawl.ask.orders.listing import listed
from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.crawl.orders import forgets
from evercrawl.crawl.orders.forgets import obey_forgets
from evercrawl.crawl.removing.keeping import STAMP
from evercrawl.crawl.session import crawl
from evercrawl.model.stored.follow import Follower
from evercrawl.model.stored.reader import opened
from evercrawl.progress import Limits
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback
from evercrawl.store import forgetting
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.events import Obeyed, Visit
from evercrawl.store.journal.journal import Journal
from evercrawl.store.orders import FILE, FORGET, CrawlOrder, is_masked

CONFIG = Config(delay_s=0.0, allow_net=(NETWORK,), refresh_after_s=0.1)
PAGE = "/p/3"


class KilledError(Exception):
    """The process ends here."""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    directory = tmp_path_factory.mktemp("forgetting") / "crawl"

    async def go() -> None:
        async with Loopback(hosts=2, pages=6, changing=0) as server:
            await crawl(directory, CONFIG, server.seeds, Limits(until_idle=True, seconds=600))

    asyncio.run(go())
    return directory


@pytest.fixture
def copy(crawled, tmp_path):
    return shutil.copytree(crawled, tmp_path / "crawl")


def obeyed(directory) -> list[Obeyed]:
    disk = RealDisk(directory, read_only=True)
    try:
        events = Journal.open(disk, writable=False).replay()
        return [event for _, _, event in events if isinstance(event, Obeyed) and event.do]
    finally:
        disk.close()


def visited_after_forgetting(directory) -> list[str]:
    crawled = opened(directory)
    try:
        found = [event for _, _, event in crawled.journal.replay()]
        (forgot,) = (place for place, event in enumerate(found) if isinstance(event, Obeyed) and event.do == FORGET)
        return [crawled.state.urls.get(event.slot) for event in found[forgot:] if isinstance(event, Visit)]
    finally:
        crawled.close()


def orders(directory) -> list[CrawlOrder]:
    return [msgspec.json.decode(line, type=CrawlOrder) for line in (directory / FILE).read_bytes().splitlines()]


def forgotten(directory) -> int:
    crawl = opened(directory)
    try:
        return len(crawl.state.forgotten.slots)
    finally:
        crawl.close()


def test_an_order_is_obeyed_once_and_says_what_it_does_not_reach(copy):
    given = give(copy, CrawlOrder(FORGET, urls=(PAGE, "/p/4")))
    assert obey_forgets(copy) == 1
    assert obey_forgets(copy) == 0
    (event,) = obeyed(copy)
    assert (event.id, event.state) == (given.id, "done")
    assert "forgot 4 pages" in event.result
    assert "not reached: " in event.result
    (order,) = orders(copy)
    assert is_masked(order)
    assert verify(copy).fine


def test_orders_around_it_keep_their_turn(copy):
    give(copy, CrawlOrder("pause"))
    give(copy, CrawlOrder(FORGET, urls=(PAGE,)))
    assert obey_forgets(copy) == 0  # the one before it is the crawl's
    give(copy, CrawlOrder("resume"))

    async def go() -> None:
        said = list[str]()
        limits = Limits(until_idle=True, seconds=600)
        await crawl(copy, CONFIG, (), limits, lambda progress: said.append(progress.message))
        assert any("pauses to forget" in one for one in said)

    asyncio.run(go())
    assert [(event.do, event.state) for event in obeyed(copy)] == [
        ("pause", "done"), (FORGET, "done"), ("resume", "done")
    ]  # fmt: skip


def test_what_orders_set_before_it_holds_after_it(tmp_path):
    """The crawl is opened anew by the settings that it has by then, not by those that it was started with."""
    directory = tmp_path / "crawl"

    async def go() -> None:
        async with Loopback(hosts=2, pages=6, changing=0) as server:
            await crawl(directory, CONFIG, server.seeds, Limits(until_idle=True, seconds=600))
            given = (
                CrawlOrder("exclude", pattern="/p/4"),
                CrawlOrder("set", name="keep_versions", values=("1",)),
                CrawlOrder(FORGET, urls=(PAGE,)),
            )
            for order in given:
                give(directory, order)
            await crawl(directory, CONFIG, (), Limits(pages=120, seconds=60))

    asyncio.run(go())
    visited = visited_after_forgetting(directory)
    assert len(visited) > 20
    assert any("/p/" in url for url in visited)
    assert not any("/p/4" in url for url in visited)
    assert b'"keep_versions":1' in (directory / STAMP).read_bytes()


@pytest.mark.parametrize("where", ["before the plan", "before it is carried out", "behind it", "once it is said"])
def test_a_kill_neither_loses_nor_repeats_it(copy, monkeypatch, where):
    given = give(copy, CrawlOrder(FORGET, urls=(PAGE, f"{PAGE}$")))
    wanted, name = {
        "before the plan": (forgetting, "write_plan"),
        "before it is carried out": (forgetting, "carry_out"),
        "behind it": (forgets, "_note"),
        "once it is said": (forgets, "_told"),
    }[where]

    def killed(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(wanted, name, killed)
        with pytest.raises(KilledError):
            obey_forgets(copy)
    assert not obeyed(copy)
    assert obey_forgets(copy) == 1
    (event,) = obeyed(copy)
    assert (event.id, event.state) == (given.id, "done")
    assert forgotten(copy) == 2
    assert verify(copy).fine


@pytest.mark.parametrize(("words", "why"), [((), "from 1 to"), (("/never/there",), "no known URL"), (("(",), "(")])
def test_what_means_nothing_is_refused(copy, words, why):
    give(copy, CrawlOrder(FORGET, urls=words))
    assert obey_forgets(copy) == 1
    (event,) = obeyed(copy)
    assert event.state == "refused"
    assert why in event.result
    assert orders(copy)[0].urls == words


def test_who_follows_the_crawl_forgets_too(copy):
    follower = Follower(copy)
    follower.turn()
    before = set(follower.partition.state.urls.get_many(range(follower.partition.state.known.count)))
    give(copy, CrawlOrder(FORGET, urls=(PAGE,)))
    obey_forgets(copy)
    follower.turn()
    after = set(follower.partition.state.urls.get_many(range(follower.partition.state.known.count)))
    follower.close()
    assert any(PAGE in url for url in before)
    assert not any(PAGE in url for url in after)


def test_a_listing_shows_no_word_of_it(copy):
    give(copy, CrawlOrder(FORGET, urls=(PAGE,)))
    obey_forgets(copy)
    crawl = opened(copy)
    (one,) = listed(crawl, 10).orders
    crawl.close()
    assert PAGE not in json.dumps([one.what, one.result])
