# ruff: noqa: ANN202, ANN002, ANN003, SIM105  (the worlds of a test are nested functions)
"""Look-ups on a virtual clock: how many at once, whose fault silence is, and what is kept."""

import asyncio
import os
from collections import Counter

import pytest

from evercrawl.fetch.names import LookUps, NameAnswer, NameCache, ResolveError
from evercrawl.fetch.names.lookups import A_DOMAIN
from evercrawl.parse.sites import site
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual

TIMEOUT_S = 5.0


class Server:
    """Answers, as far as `silent` (a test of names) lets it, after `takes_s`; counts who is under way."""

    def __init__(self, clock, *, silent=lambda _: False, takes_s=0.02, ttl_s=600.0, label="one") -> None:
        self.clock, self.silent, self.takes_s, self.ttl_s, self.label = clock, silent, takes_s, ttl_s, label
        self.asked, self.under_way, self.most = [], 0, 0
        self.of_domain, self.most_of_domain = Counter(), Counter()

    async def resolve(self, host) -> NameAnswer:
        self.asked.append(host)
        domain = site(host)
        self.under_way += 1
        self.of_domain[domain] += 1
        self.most = max(self.most, self.under_way)
        self.most_of_domain[domain] = max(self.most_of_domain[domain], self.of_domain[domain])
        try:
            await self.clock.sleep(TIMEOUT_S if self.silent(host) else self.takes_s)
        finally:
            self.under_way -= 1
            self.of_domain[domain] -= 1
        if self.silent(host):
            raise ResolveError("time-out")
        if host.startswith("no"):
            raise ResolveError("no such name")
        return NameAnswer(("192.0.2.1",), self.ttl_s)


def look_ups(clock, *servers, cache=None, **settings) -> LookUps:
    return LookUps(servers, NameCache() if cache is None else cache, clock, site, **settings)


async def one_after_another(names, hosts, clock, until_s=600.0) -> Counter:
    """Look hosts up as a crawl does: who is put off comes back then; return what came of it."""
    came = Counter()

    async def one(host) -> None:
        while clock.now() < until_s:
            until, _ = names.put_off(host, clock.now())
            if until > clock.now() and names.known(host, clock.now()) is None:
                came["put off"] += 1
                await clock.sleep(until - clock.now())
                continue
            try:
                await names.resolve(host)
                came["found"] += 1
            except ResolveError as error:
                came["gave way" if error.put_off else error.reason] += 1
                if error.put_off:
                    await clock.sleep(error.until - clock.now())
                    continue
            return

    await asyncio.gather(*(one(host) for host in hosts))
    return came


def virtual(work):
    async def run():
        return await work(VirtualClock())

    return run_virtual(run())


@pytest.mark.parametrize("at_once", [1, 8, 64])
def test_no_more_run_at_once_than_the_setting_says_and_all_are_found(at_once):
    async def work(clock):
        server = Server(clock)
        names = look_ups(clock, server, at_once=at_once)
        began = clock.now()
        came = await one_after_another(names, [f"h{i}.d{i}.example" for i in range(1000)], clock, clock.now() + 3600)
        names.close()
        return server, came, clock.now() - began

    server, came, took_s = virtual(work)
    assert server.most == at_once
    assert came["found"] == 1000
    assert len(server.asked) == 1000
    assert took_s < 3 * 1000 * 0.02 / at_once + 5


def test_a_domain_has_few_and_its_silence_is_its_own():
    async def work(clock):
        server = Server(clock, silent=lambda host: host.endswith(".evil.example"))
        names = look_ups(clock, server)
        evil = [f"h{i}.evil.example" for i in range(1000)]
        good = [f"good{i}.com" for i in range(200)]
        began = clock.now()
        bad = asyncio.ensure_future(one_after_another(names, evil, clock, began + 50))
        came = await one_after_another(names, good, clock, began + 50)
        took_s = clock.now() - began
        await bad
        names.close()
        return server, came, took_s

    server, came, took_s = virtual(work)
    assert came["found"] == 200
    assert took_s < 5
    assert server.most_of_domain["evil.example"] <= A_DOMAIN
    assert len([host for host in server.asked if "evil" in host]) <= A_DOMAIN


def test_many_silent_domains_keep_few_places_from_others():
    async def work(clock):
        server = Server(clock, silent=lambda host: host.startswith("silent"))
        names = look_ups(clock, server)
        began = clock.now()
        bad = [asyncio.ensure_future(names.resolve(f"silent{i}.com")) for i in range(1000)]
        await clock.sleep(0.0)
        came = await one_after_another(names, [f"good{i}.com" for i in range(100)], clock, began + 3600)
        took_s = clock.now() - began
        said = await asyncio.gather(*bad, return_exceptions=True)
        names.close()
        return server, came, took_s, said

    server, came, took_s, said = virtual(work)
    assert came["found"] == 100
    assert server.most <= 64
    assert took_s < 45  # a thousand names of 5 s in 64 places would take 78
    assert sum(error.put_off for error in said) > 500


def test_while_no_server_answers_nobody_is_to_blame_and_the_crawl_waits():
    async def work(clock):
        down = []
        server = Server(clock, silent=lambda _: bool(down))
        heard = []
        names = look_ups(clock, server, changed=lambda: heard.append(names.trouble))
        for i in range(5):
            await names.resolve(f"before{i}.com")
        await clock.sleep(60.0)
        down.append(1)
        began, asked = clock.now(), len(server.asked)
        waiting = asyncio.ensure_future(
            one_after_another(names, [f"new{i}.com" for i in range(100)], clock, began + 9e4)
        )
        await clock.sleep(3000.0)
        trouble, under_way, of_down = names.trouble, waiting.done(), len(server.asked) - asked
        down.clear()
        came = await waiting
        took_s = clock.now() - began - 3000.0
        names.close()
        return trouble, under_way, of_down, came, took_s, names.trouble, heard

    trouble, done, of_down, came, took_s, after, heard = virtual(work)
    assert trouble.startswith("one answers for no name; the crawl waits, and tries again in ")
    assert not done
    assert of_down < 64 + 3 + 3 * (3000 / 60 + 10)
    assert (came["found"], came["time-out"], came["gave way"]) == (100, 0, 0)
    assert took_s < 160  # the longest back-off, and those who were told to come back
    assert after == ""
    assert heard[0]
    assert heard[-1] == ""


def test_another_server_is_asked_where_one_is_down():
    async def work(clock):
        down = []
        first, second = Server(clock, silent=lambda _: bool(down)), Server(clock, label="two")
        names = look_ups(clock, first, second)
        for i in range(5):
            await names.resolve(f"before{i}.com")
        assert not second.asked
        await clock.sleep(60.0)
        down.append(1)
        came = await one_after_another(names, [f"new{i}.com" for i in range(200)], clock, clock.now() + 600)
        first_asked = len([host for host in first.asked if host.startswith("new")])
        trouble = names.trouble
        names.close()
        return came, first_asked, trouble

    came, first_asked, trouble = virtual(work)
    assert (came["found"], came["time-out"]) == (200, 0)
    assert first_asked <= 64
    assert trouble == ""


def test_domains_that_fall_silent_together_do_not_put_a_server_down():
    """Its first answers are remembered, so nobody can crowd them out and then stay silent."""

    async def work(clock):
        silent = []
        server = Server(clock, silent=lambda host: host.startswith("farm") and bool(silent))
        names = look_ups(clock, server)
        await names.resolve("seed.com")
        for i in range(500):
            await names.resolve(f"farm{i}.com")
        await clock.sleep(700.0)
        silent.append(1)
        came = await one_after_another(names, [f"farm{i}.com" for i in range(64)], clock, clock.now() + 30)
        trouble = names.trouble
        found = await names.resolve("other.com")
        names.close()
        return came, trouble, found

    came, trouble, found = virtual(work)
    assert trouble == ""
    assert came["time-out"] == 64
    assert found.addresses


def test_answers_hold_by_their_ttl_within_a_minute_and_a_day():
    async def work(clock):
        asked = []
        for ttl_s, held_s in ((1.0, 60.0), (600.0, 600.0), (1e9, 86_400.0), (None, 300.0)):
            server = Server(clock, ttl_s=ttl_s)
            names = look_ups(clock, server)
            began = clock.now()
            entry = await names.resolve("a.example")
            await clock.sleep(entry.until - clock.now() - 1.0)
            await names.resolve("a.example")
            asked.append((len(server.asked), round(entry.until - began)))
            await clock.sleep(2.0)
            await names.resolve("a.example")
            assert asked[-1] == (1, held_s)
            assert len(server.asked) == 2
            names.close()

    virtual(work)


def test_a_name_that_does_not_exist_is_no_silence():
    async def work(clock):
        server = Server(clock)
        names = look_ups(clock, server)
        for _ in range(3):
            with pytest.raises(ResolveError, match="no such name") as caught:
                await names.resolve("no.example")
            assert caught.value.until == pytest.approx(clock.now() + 60.0, abs=1.0)
            assert not caught.value.put_off
        assert names.put_off("other.example", clock.now()) == (0.0, False)
        names.close()
        return server.asked

    assert virtual(work) == ["no.example"]


def test_all_who_want_a_name_share_one_look_up():
    async def work(clock):
        server = Server(clock)
        names = look_ups(clock, server)
        waiting = [asyncio.ensure_future(names.resolve("a.example")) for _ in range(5)]
        await clock.sleep(0.001)
        waiting.pop(0).cancel()
        found = await asyncio.gather(*waiting)
        names.close()
        return server.asked, {entry.addresses for entry in found}

    assert virtual(work) == (["a.example"], {("192.0.2.1",)})


def test_what_was_said_survives_a_restart(tmp_path):
    path = tmp_path / "names.cache"

    async def life(clock, silent=False, asked=0):
        cache = NameCache(path)
        server = Server(clock, silent=lambda host: silent or host.endswith("dumb.org"))
        names = look_ups(clock, server, cache=cache)
        for host in ("a.example", "b.com", "no.com", "x.dumb.org"):
            try:
                await names.resolve(host)
            except ResolveError:
                pass
        assert len(server.asked) == asked
        names.close()
        cache.close()
        return names.put_off("y.dumb.org", clock.now())

    async def work(clock):
        await life(clock, asked=4 + 1)  # and for one more, to see who is silent
        until, silent = await life(clock, silent=True)
        assert silent
        assert until > clock.now()

    virtual(work)


def test_nobody_else_may_write_the_file_whatever_the_umask(tmp_path):
    """It says to which addresses the crawl connects."""
    before = os.umask(0)
    try:
        NameCache(tmp_path / "names.cache").close()
    finally:
        os.umask(before)
    assert (tmp_path / "names.cache").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "gone"])
def test_a_damaged_file_counts_as_lost(tmp_path, harm):
    path = tmp_path / "names.cache"
    cache = NameCache(path)
    from evercrawl.fetch.names.cache import NameEntry

    for i in range(100):
        cache.put(f"h{i}.example", NameEntry(("192.0.2.1",), 1000.0))
    cache.close()
    assert len(NameCache(path)) == 100
    data = path.read_bytes()
    match harm:
        case "cut":
            path.write_bytes(data[:-1])
        case "changed":
            path.write_bytes(data[:200] + bytes([data[200] ^ 1]) + data[201:])
        case "empty":
            path.write_bytes(b"")
        case _:
            path.unlink()
    assert len(NameCache(path)) == 0


def test_a_cache_is_bounded_and_the_oldest_goes():
    from evercrawl.fetch.names.cache import NameEntry

    cache = NameCache(most_names=3)
    for i in range(5):
        cache.put(f"h{i}", NameEntry((), 1000.0, "no such name"))
    assert [cache.get(f"h{i}", 950.0) is not None for i in range(5)] == [False, False, True, True, True]
    assert cache.get("h4", 950.0) == ((), 1000.0, "no such name", False)
    assert cache.get("h4", 1000.0) is None
    assert cache.get("h4", -1e6) is None  # the clock was set back


def test_names_take_no_object_each():
    import tracemalloc

    from evercrawl.fetch.names.cache import NameEntry

    most = 1 << 13
    cache, entry = NameCache(most_names=most), NameEntry(("192.0.2.1",), 1000.0)
    tracemalloc.start()
    try:
        for i in range(most):
            cache.put(f"host{i}.example", entry)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(cache) > most * 3 / 4  # names that share a piece of text with many make room sooner
    assert taken / len(cache) < 64  # 168 as a dict of two objects each
    assert cache.get(f"host{most - 1}.example", 950.0) == entry
