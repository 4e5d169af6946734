"""Orders to a running crawl: each is obeyed soon, once, whatever ends the crawl in between."""

import asyncio
import random
from functools import partial
from itertools import pairwise

import pytest

from evercrawl.config import Config, load, save
from evercrawl.config.written import amend_by
from evercrawl.progress import Limits
from evercrawl.store.journal.events import Obeyed
from evercrawl.store.orders import FILE, CrawlOrder, OrderFile, append, line_of, named, vouch_for_all

A = "http://a.example"
PAGES = [f"{A}/kept/{i}" for i in range(4)] + [f"{A}/out/{i}" for i in range(4)]
OUT = PAGES[4:]
SETTINGS = {"refresh_after_s": 50.0, "probe_share": 0.0, "sitemaps": False}


def web(run):
    world = run.World()
    world.pages[f"{A}/"] = run.html(*PAGES)
    for url in PAGES:
        world.pages[url] = run.html(text=url)
    world.pages[f"{A}/more"] = run.html()
    return world


class Told:
    """Gives orders at instants of a crawl, and knows them by what they do."""

    def __init__(self, run, *orders: tuple[float, CrawlOrder]) -> None:
        self.run, self.orders, self.ids = run, orders, {}
        run.directory.mkdir(exist_ok=True)

    async def __call__(self, one) -> None:
        begun = asyncio.get_running_loop().time()
        for after_s, order in self.orders:
            await asyncio.sleep(begun + after_s - asyncio.get_running_loop().time())
            given = named(order, 1.0, "ann")
            self.ids[given.id] = (asyncio.get_running_loop().time(), given)
            append(self.run.directory, [given])

    def crawl(self, world, seconds=600.0, seeds=(f"{A}/",), **more: object):
        settings = {**SETTINGS, **more}
        return self.run(
            world, list(seeds), Limits(seconds=seconds), during=self, orders=OrderFile(self.run.directory), **settings
        )

    def obeyed(self, ran):
        return [event for event in ran.events if isinstance(event, Obeyed)]


def kept(run):
    partition = run.restored()
    try:
        return partition.state.steered
    finally:
        partition.close()


def test_every_order_is_obeyed_within_a_little_more_than_a_second_and_says_what_came_of_it(run):
    told = Told(
        run,
        (60.3, CrawlOrder("seed", urls=(f"{A}/more", f"{A}/", "nonsense"))),
        (100.0, CrawlOrder("exclude", pattern="/out/")),
        (150.7, CrawlOrder("boost", pattern="/kept/0", factor=4.0, lasts_s=100.0)),
        (200.1, CrawlOrder("set", name="rate_per_s", values=("2",))),
        (250.0, CrawlOrder("check", urls=(PAGES[1],))),
        (300.0, CrawlOrder("exclude", pattern="/out/", lift=True)),
        (330.0, CrawlOrder("forget", pattern="/out/")),
        (331.0, CrawlOrder("set", name="delay", values=("2",))),
        (332.0, CrawlOrder("exclude", pattern="(")),
        (333.0, CrawlOrder("check", urls=("http://b.example/",))),
    )
    ran = told.crawl(web(run))
    obeyed = told.obeyed(ran)
    first = {event.id: event for event in reversed(obeyed)}
    assert first.keys() == told.ids.keys()
    for name, (at, order) in told.ids.items():
        assert 0.0 <= first[name].at - at < 1.3, order.do
        assert first[name].by == "ann"
    results = [(event.do, event.state, event.result) for event in obeyed]
    assert results[:4] == [
        ("seed", "done", "1 added; 1 known already; 'nonsense' is not an http or https URL"),
        ("exclude", "done", "exclude = '/out/' applies from now on, to known pages too"),
        ("boost", "done", "pages that match '/kept/0' count 4 times as much; the policy does not ask what pages are "
         "worth, so nothing changes"),
        ("set", "done", "rate_per_s = 2 from now on"),
    ]  # fmt: skip
    assert [state for do, state, _ in results if do == "check"] == ["begun", "done", "refused"]
    assert "unchanged: status 200" in next(text for do, state, text in results if (do, state) == ("check", "done"))
    refusals = [text for _, state, text in results if state == "refused"]
    assert "does not know the order 'forget'" in refusals[0]
    assert "did you mean 'delay_s'" in refusals[1]
    assert "is not known to the crawl" in refusals[3]
    assert ran.pages[f"{A}/more"] > 0
    began, ended = (event.at for event in obeyed if event.do == "exclude" and event.state == "done")
    assert not [each for url in OUT for each in ran.asked(url) if began < each.at < ended]
    assert [each for url in OUT for each in ran.asked(url) if each.at > ended]
    run.same()


def test_a_paused_crawl_requests_nothing_answers_orders_and_stays_paused_across_a_restart(run):
    told = Told(run, (50.0, CrawlOrder("pause")), (100.0, CrawlOrder("boost", pattern="x", factor=2.0)))
    ran = told.crawl(web(run), 300.0)
    paused_at = told.obeyed(ran)[0].at
    assert [event.do for event in told.obeyed(ran)] == ["pause", "boost"]
    assert max(asked.at for asked in ran.network.log) <= paused_at
    assert "paused since" in ran.progress[-1].message
    told = Told(run, (100.0, CrawlOrder("resume")))
    ran = told.crawl(web(run), 300.0, seeds=())
    assert min(asked.at for asked in ran.network.log) >= told.obeyed(ran)[-1].at
    assert ran.pages
    assert kept(run).paused_at == 0.0


def test_a_check_is_one_request_as_soon_as_its_host_has_rested(run):
    page = PAGES[2]
    told = Told(run, (100.2, CrawlOrder("check", urls=(page,))), (100.3, CrawlOrder("check", urls=(page,))))
    ran = told.crawl(web(run), 140.0, delay_s=3.0, refresh_after_s=5000.0)
    begun = [event for event in told.obeyed(ran) if event.state == "begun"]
    done = [event for event in told.obeyed(ran) if event.state == "done"]
    assert [event.id for event in begun] == [event.id for event in done] == list(told.ids)
    visits = [asked for asked in ran.asked(page) if asked.at >= begun[0].at]
    assert len(visits) == 1
    assert visits[0].at - begun[0].at < 1.0
    assert not kept(run).checks


def test_an_unread_page_is_checked_too_and_one_whose_host_rests_says_how_long(run):
    world = web(run)
    told = Told(run, (20.2, CrawlOrder("check", urls=(PAGES[-1],))))
    ran = told.crawl(world, 60.0, delay_s=12.0)
    (begun, done) = told.obeyed(ran)
    assert begun.result.startswith("it is requested in ")
    assert ran.asked(PAGES[-1])[0].at < done.at < begun.at + 13.0
    assert ran.pages[PAGES[-1]] == 1


def test_a_site_with_large_pages_does_not_rest_any_more_once_the_ceiling_on_bytes_has_gone(run):
    world, large = run.World(), "http://large.example"
    for origin, words in ((A, 10), (large, 15_000)):
        world.pages[f"{origin}/"] = run.html(*(f"/{i}" for i in range(60)))
        world.pages |= {f"{origin}/{i}": run.html(text=f"{i} of {origin} " * words) for i in range(60)}
    told = Told(run, (45.0, CrawlOrder("set", name="rate_bytes_per_s", values=("0",))))
    ran = told.crawl(
        world, 60.0, (f"{A}/", f"{large}/"), names={"a.example": ["8.8.4.1"], "large.example": ["8.8.4.2"]},
        delay_s=0.5, rate_bytes_per_s=25_000, refresh_after_s=1e6,
    )  # fmt: skip
    (done,) = told.obeyed(ran)
    asked = [one.at for one in ran.network.log if one.url.startswith(large)]
    assert max(later - earlier for earlier, later in pairwise(at for at in asked if at < done.at)) > 20.0
    assert sum(done.at < at < done.at + 5.0 for at in asked) > 3


def test_settings_orders_are_written_to_the_file_with_its_comments(run):
    world = web(run)
    run.directory.mkdir()
    file = save(Config(**SETTINGS), run.directory)
    file.write_text(file.read_text().replace("exclude = []", 'exclude = [  # why\n  "/a/",  # a note\n]'))
    told = Told(
        run, (20.0, CrawlOrder("exclude", pattern="/out/")), (30.0, CrawlOrder("set", name="delay_s", values=("2",))),
        (40.0, CrawlOrder("set", name="workers", values=("3",))),
        (41.0, CrawlOrder("set", name="delay_s", values=("soon",))),
    )  # fmt: skip
    ran = told.run(
        world, [f"{A}/"], Limits(seconds=120.0), during=told, orders=OrderFile(run.directory),
        amend=partial(amend_by, run.directory), exclude=("/a/",), polite=False, **SETTINGS,
    )  # fmt: skip
    assert [event.state for event in told.obeyed(ran)] == ["done", "done", "done", "refused"]
    assert told.obeyed(ran)[2].result == "workers = 3 is in crawl.toml, and is used from the next start on"
    written = load(file)
    assert (written.exclude, written.delay_s, written.workers) == (("/a/", "/out/"), 2.0, "3")
    assert "# a note" in file.read_text()
    later = [asked.at for asked in ran.network.log if asked.at > told.obeyed(ran)[1].at]
    assert min(b - a for a, b in pairwise(later)) > 1.9
    file.write_text("[scope\n")
    told = Told(run, (20.0, CrawlOrder("exclude", pattern="/b/")))
    ran = told.run(
        world, [], Limits(seconds=60.0), during=told, orders=OrderFile(run.directory),
        amend=partial(amend_by, run.directory), polite=False, **SETTINGS,
    )  # fmt: skip
    assert told.obeyed(ran)[-1].state == "refused"
    assert "crawl.toml" in told.obeyed(ran)[-1].result


def test_a_rule_that_stood_from_the_start_is_not_dated_by_the_first_order(run):
    config = {"scope": "hosts", "exclude": ("/never/",)}
    orders = Told(
        run,
        (300.0, CrawlOrder("exclude", pattern="/out/")),
        (400.0, CrawlOrder("set", name="max_depth", values=("9",))),
    )
    first, second = orders.obeyed(orders.crawl(web(run), **config))
    began = run.restored().state.epoch
    assert first.rules == {"scope = 'hosts'": began, "exclude = '/never/'": began, "exclude = '/out/'": first.at}
    assert second.rules == first.rules | {"max_depth = 9": second.at}


def test_bad_lines_are_refused_where_they_stand_and_the_others_obeyed(run):
    told = Told(run)
    orders = [named(CrawlOrder("pause"), 1.0, "ann"), named(CrawlOrder("resume"), 1.0, "ann")]
    lines = [
        b"nonsense\n", line_of(orders[0]), b'{"do": "pause"}\n', b"\xff\xfe\n", b"\n", b"[" * 5000 + b"\n",
        b"x" * 300_000 + b"\n", line_of(orders[0]), line_of(orders[1]), b'{"do": "pause", "id": "unfinished"',
    ]  # fmt: skip
    (run.directory / FILE).write_bytes(b"".join(lines))
    (run.directory / FILE).chmod(0o600)
    vouch_for_all(run.directory)
    ran = told.crawl(web(run), 60.0)
    true = [event for event in told.obeyed(ran) if event.do]
    assert [(event.id, event.state) for event in true] == [(orders[0].id, "done"), (orders[1].id, "done")]
    others = [event.result for event in told.obeyed(ran) if not event.do]
    assert all(event.state == "refused" for event in told.obeyed(ran) if not event.do)
    assert len(others) >= 5
    assert any("without an id" in text for text in others)
    assert any("a line of more than" in text for text in others)
    later = named(CrawlOrder("pause"), 1.0, "ann")
    append(run.directory, [later])  # on a line of its own, though a crash had left a part of one
    ran = Told(run).crawl(web(run), 60.0, seeds=())
    assert told.obeyed(ran)[-1].id == later.id
    run.same()


def test_a_file_that_was_replaced_is_read_anew_and_nothing_is_done_twice(run):
    told = Told(run, (10.0, CrawlOrder("pause")), (20.0, CrawlOrder("resume")))
    told.crawl(web(run), 60.0)
    file = run.directory / FILE
    old = file.read_bytes()
    file.unlink()
    others = [named(CrawlOrder("boost", pattern=str(i), factor=2.0), 1.0, "ann") for i in range(9)]
    append(run.directory, others)
    assert file.stat().st_size > len(old)
    ran = Told(run).crawl(web(run), 60.0, seeds=())
    assert [event.id for event in told.obeyed(ran)][2:] == [order.id for order in others]
    file.write_bytes(old + file.read_bytes())
    file.chmod(0o600)
    ran = Told(run).crawl(web(run), 60.0, seeds=())
    assert len(told.obeyed(ran)) == 2 + len(others)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_to_is_not_read_until_that_is_mended(run, mode):
    told = Told(run)
    append(run.directory, [named(CrawlOrder("pause"), 1.0, "ann")])
    file = run.directory / FILE
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(mode)

    async def mend(one) -> None:
        await asyncio.sleep(50.0)
        assert "can be written by others" in one.obeying.trouble
        assert not one.obeying.paused
        file.chmod(0o600)

    ran = run(web(run), [f"{A}/"], Limits(seconds=100.0), during=mend, orders=OrderFile(run.directory), **SETTINGS)
    assert [event.do for event in told.obeyed(ran)] == ["pause"]
    file.unlink()
    file.symlink_to("elsewhere")
    assert "not a regular file" in OrderFile(run.directory).distrusted()


def test_a_huge_file_is_read_from_where_it_had_got_to(run):
    told = Told(run, (10.0, CrawlOrder("pause")))
    told.crawl(web(run), 20.0)
    with (run.directory / FILE).open("r+b") as file:
        file.seek(0, 2)
        size = 4 << 20
        file.write(b"\n" * size)
    last = named(CrawlOrder("resume"), 1.0, "ann")
    append(run.directory, [last])
    source, reads = OrderFile(run.directory), []

    class Counted:
        distrusted, size, given_since = source.distrusted, source.size, source.given_since

        @staticmethod
        def read(offset: int, size: int) -> bytes:
            reads.append(size)
            return source.read(offset, size)

    ran = run(web(run), [], Limits(seconds=20.0), orders=Counted(), **SETTINGS)
    assert told.obeyed(ran)[-1].id == last.id
    assert sum(reads) < 2 * size
    assert max(reads) <= 1 << 18


def test_a_clock_that_jumps_moves_no_end_of_a_boost_by_more_than_itself(run):
    """What counts is the crawl's own time; the instant that the giver wrote is for people."""
    told = Told(run, (10.0, CrawlOrder("boost", pattern="/kept/", factor=3.0, lasts_s=30.0)))
    given = told.orders[0][1]
    assert given.at == 0.0
    ran = told.crawl(web(run), 100.0)
    (event,) = told.obeyed(ran)
    assert event.boosts[0].until == event.at + 30.0


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_each_order_is_obeyed_once_or_not_yet_wherever_the_disk_dies(run, first):
    """A crash at the n-th operation on the disk, for some n: what the next start finds, and does, is exactly once."""
    given = []
    run.directory.mkdir(exist_ok=True)
    kinds = ["seed", "boost", "pause", "resume", "exclude", "check"]
    draw = random.Random(first)
    for _ in range(8):
        disk = run.DyingDisk(run.directory, first + draw.randrange(8, 60))

        async def tell(one) -> None:
            for _ in range(6):
                await asyncio.sleep(1.7)
                kind = kinds[len(given) % len(kinds)]
                order = {
                    "seed": CrawlOrder("seed", urls=(f"{A}/new/{len(given)}",)),
                    "boost": CrawlOrder("boost", pattern=f"/{len(given)}$", factor=2.0),
                    "exclude": CrawlOrder("exclude", pattern=f"/never/{len(given)}"),
                    "check": CrawlOrder("check", urls=(PAGES[0],)),
                }.get(kind, CrawlOrder(kind))
                given.append(named(order, 1.0, "ann"))
                append(run.directory, [given[-1]])

        try:
            run(web(run), [f"{A}/"], Limits(seconds=25.0), disk=disk, during=tell, orders=OrderFile(run.directory),
                raises=True, **SETTINGS)  # fmt: skip
        except run.Crash:
            run.now += 5.0
    ran = Told(run).crawl(web(run), 120.0, seeds=(f"{A}/",))
    ended = [event.id for event in ran.events if isinstance(event, Obeyed) and event.state != "begun"]
    assert sorted(ended) == sorted(order.id for order in given)
    begun = [event.id for event in ran.events if isinstance(event, Obeyed) and event.state == "begun"]
    assert len(begun) == len(set(begun))
    orders = [event.id for event in ran.events if isinstance(event, Obeyed) and event.upto >= 0]
    assert orders == [order.id for order in given], "in the order in which they were given"
    assert run.outcomes().keys() >= {url for order in given if order.do == "seed" for url in order.urls}
    run.same()
