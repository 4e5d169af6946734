# ruff: noqa: ANN202  (the worlds of a test are nested functions)
"""Turns of names on a virtual clock: nobody waits for a look-up while there is room for it, and no host rests less."""

import asyncio

import numpy as np
import pytest

from evercrawl.crawl.visit.name_turns import PUT_OFF, NameTurns
from evercrawl.fetch.names import LookUps, NameAnswer, NameCache
from evercrawl.parse.sites import site
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual

HOSTS = 2000
SLOW_S = 0.9


class Server:
    """Answers for a while as slowly as where the crawl has no time to listen, then quickly."""

    label = "one"

    def __init__(self, clock, slow: int) -> None:
        self.clock, self.slow, self.asked = clock, slow, list[float]()

    async def resolve(self, host) -> NameAnswer:
        self.asked.append(self.clock.now())
        await self.clock.sleep(SLOW_S if len(self.asked) <= self.slow else 0.02)
        return NameAnswer(("192.0.2.1",), 3600.0)


def columns(slots) -> Pages:
    count, one = len(slots), np.ones(len(slots))
    return Pages(slots, np.full(count, np.nan), one, one, one, one, one, one, one)


class Crawl:
    """Chooses pages of many hosts as the loop does, each of which has to be looked up; notes when each was located."""

    def __init__(self, clock, *, slow: int = 64, hosts: int = HOSTS) -> None:
        self.clock, self.server = clock, Server(clock, slow)
        self.names = LookUps([self.server], NameCache(), clock, site)
        self.frontier = Frontier(BreadthFirst(), columns, lambda _: np.nan, connections_per_ip=hosts)
        self.turns = self.frontier.locator = NameTurns(self.frontier, self.names, proxied=False)
        self.located, self.offered = dict[int, float](), 0
        self.tasks = list[asyncio.Task[None]]()
        self.frontier.add_hosts([f"h{i}.d{i}.example" for i in range(hosts)])
        self.frontier.fill(np.arange(hosts), np.arange(hosts), new=True)

    async def _look_up(self, host) -> None:
        known = await self.names.resolve(host.name)
        host.held = ""
        self.located[host.number] = self.clock.now()
        self.frontier.locate(host, known.addresses, known.until)

    def turn(self, now: float) -> None:
        self.turns.call(now)
        chosen = self.frontier.choose(now, 1000)
        self.offered += len(chosen)
        for host, _, _ in chosen:
            if host.number in self.located:
                continue
            assert not self.turns.put_off(host, now), "the choice has seen to that"
            host.held = "name look-up"
            self.tasks.append(asyncio.ensure_future(self._look_up(host)))

    async def run(self, until_s: float = 300.0, step_s: float = 0.05) -> None:
        began = self.clock.now()
        while len(self.located) < len(self.frontier.hosts) and self.clock.now() < began + until_s:
            self.turn(self.clock.now())
            await self.clock.sleep(step_s)
        self.names.close()


def virtual(work):
    async def run():
        return await work(VirtualClock())

    return run_virtual(run())


@pytest.mark.parametrize("slow", [0, 320])
def test_hosts_are_called_as_soon_as_there_is_room_however_long_a_wait_was_guessed(slow):
    async def work(clock):
        began, crawl = clock.now(), Crawl(clock, slow=slow)
        await crawl.run()
        return crawl, clock.now() - began

    crawl, took_s = virtual(work)
    assert len(crawl.server.asked) == len(crawl.located) == HOSTS
    assert took_s < slow / 64 * SLOW_S + 2 * HOSTS / 64 * 0.05 + 1  # some turns of the loop for those that are answered


def test_a_host_that_is_put_off_takes_no_place_of_one_that_is_not():
    async def work(clock):
        crawl = Crawl(clock, slow=HOSTS)
        for number in range(HOSTS - 500, HOSTS):
            crawl.located[number] = clock.now()
            crawl.frontier.locate(crawl.frontier.hosts[number], (f"8.8.1.{number}",), clock.now() + 3600.0)
        offered = []
        for _ in range(-(-HOSTS // PUT_OFF) + 1):
            crawl.turn(clock.now())
            offered.append(crawl.offered)
            await clock.sleep(0.001)
        crawl.names.close()
        return offered, len(crawl.server.asked)

    offered, asked = virtual(work)
    assert asked == 64
    assert offered[-1] >= 500 + 64 * 5  # those that are known, and as many as may wait to be looked up


def test_who_was_asked_in_this_run_is_not_called_before_its_rest_is_over():
    async def work(clock):
        crawl = Crawl(clock, slow=HOSTS, hosts=600)
        asked, now = crawl.frontier.hosts[599], clock.now()
        crawl.frontier.locate(asked, ("192.0.2.1",), now - 1.0)  # it was located, and that holds no more
        crawl.turn(now)
        assert asked.ready_at > now
        ready_at = asked.ready_at
        await clock.sleep(0.01)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await clock.sleep(0.01)
        for _ in range(3):
            crawl.turns.call(clock.now())
        crawl.names.close()
        return asked.ready_at == ready_at, crawl.names.room, crawl.frontier.hosts[598].ready_at <= clock.now()

    assert virtual(work) == (True, 320, True)


class OneDomain(Crawl):
    """The same with many names of one domain, of which none is answered for long; counts who is told to come back."""

    def __init__(self, clock, hosts: int) -> None:
        super().__init__(clock, hosts=0)
        self.told, put_off = 0, self.names.put_off

        def counted(host: str, now: float, others: int = 0):
            self.told += 1
            return put_off(host, now, others)

        self.names.put_off = counted
        self.frontier.add_hosts([f"h{i}.evil.example" for i in range(hosts)])
        self.frontier.fill(np.arange(hosts), np.arange(hosts), new=True)

    def turn(self, now: float) -> None:
        self.turns.call(now)
        for host, _, _ in self.frontier.choose(now, 1000):
            if self.turns.put_off(host, now):
                self.frontier.release(host)
            else:
                host.held = "name look-up"
                self.tasks.append(self.names.begin(host.name))


def test_names_of_one_domain_are_not_called_while_there_is_room_for_others_alone():
    """They were, all of them at each turn, which took what the crawl has of a processor."""

    async def work(clock):
        crawl = OneDomain(clock, 1000)
        crawl.server.slow, crawl.server.resolve = 0, lambda _: clock.sleep(1e6)
        await crawl.run(until_s=20.0)
        for task in crawl.tasks:
            task.cancel()
        return crawl.told

    assert virtual(work) < 10_000  # else at each of 400 turns


def test_who_stands_in_the_line_is_not_put_off_again_while_it_moves_slowly():
    """A busy crawl has a turn in two seconds, and look-ups are quick: it is the turns that the line waits for."""

    async def work(clock):
        crawl = Crawl(clock, slow=0, hosts=6000)
        told, put_off = [0], crawl.names.put_off

        def counted(host: str, now: float, others: int = 0):
            until, silent = put_off(host, now, others)
            told[0] += until > now
            return until, silent

        crawl.names.put_off = counted
        await crawl.run(step_s=2.0)
        return len(crawl.located), told[0]

    located, told = virtual(work)
    assert located == 6000
    assert told < 1.2 * 6000
