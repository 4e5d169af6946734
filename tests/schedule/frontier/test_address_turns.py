"""At an address that many names share, the share of a host follows its pages, not the number of names."""

import random
from collections import Counter
from itertools import pairwise

import numpy as np

from evercrawl.schedule.frontier.address_line import AddressLine
from evercrawl.schedule.frontier.frontier import ESTABLISHED, Frontier
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.greedy import Greedy

ANSWER_S = 0.1
PLACES = 1000


class Shared:
    """Hosts at one address, each with pages of one worth; slot // PLACES is the host."""

    def __init__(self, worths: list[float], pages: list[int], *, per_ip: int = 2) -> None:
        self.worths = np.array(worths)
        self.frontier = Frontier(
            Greedy(), self.columns, lambda _: 0.0, delay_s=1.0, connections_per_ip=per_ip, ip_delay_s=1.0 / per_ip,
            refresh_after_s=1e6,
        )  # fmt: skip
        self.starts: list[tuple[float, int]] = []
        self.robots = set[int]()  # hosts that were asked for robots.txt
        for number, count in enumerate(pages):
            host = self.frontier.add_host(f"h{number}")
            self.frontier.locate(host, ("10.0.0.1",), 1e9)
            self.frontier.add_new(number, range(number * PLACES, number * PLACES + count))

    def columns(self, slots) -> Pages:
        one, none = np.ones(len(slots)), np.zeros(len(slots))
        cash = self.worths[slots // PLACES]
        return Pages(slots, np.full(len(slots), np.nan), cash, cash, one, 1000 * one, one, none, none)

    def know(self, number: int) -> None:
        """Have so many pages of a host been read already that it is known."""
        self.robots.add(number)
        self.read(number, ESTABLISHED)

    def read(self, number: int, pages: int) -> None:
        """Have pages of a host been read already."""
        for page in range(pages):
            self.frontier.add_seen(number, number * PLACES + PLACES - 1 - page, visited_at=0.0)

    def run(self, seconds: float, beside=lambda now: None, answer_s=lambda: ANSWER_S) -> Counter[int]:
        """Crawl for a while, with a request for robots.txt first; return the starts of each host."""
        now, ends = 0.0, list[tuple[float, object, int]]()
        while now < seconds:
            for end in [end for end in ends if end[0] <= now]:
                ends.remove(end)
                self.frontier.ended(end[1], now)
                if end[2] >= 0:
                    self.frontier.add_seen(end[1].number, end[2], visited_at=now)
            beside(now)
            for host, slot, new in self.frontier.choose(now, 100):
                self.starts.append((now, host.number))
                self.frontier.began(host, now)
                asked = host.number in self.robots
                self.robots.add(host.number)
                if not asked:
                    self.frontier.put_first(host, slot, new=new)
                ends.append((now + answer_s(), host, slot if asked else -1))
            now = min([self.frontier.next_at(), *(end[0] for end in ends), now + 1.0])
        return Counter(number for _, number in self.starts)


def test_names_that_lead_to_the_address_of_a_host_leave_it_its_turns():
    """Sixty newcomers, each worth more than its pages; earlier they all came first."""
    alone, beside = Shared([1.0], [200]), Shared([1.0, *[9.0] * 60], [200, *[1] * 60])
    beside.know(0)
    alone.know(0)
    of = beside.run(60.0)
    assert of[0] >= 0.95 * alone.run(60.0)[0]
    assert sum(of.values()) - of[0] > 50, "and they are asked with what it leaves"


def test_a_host_that_is_known_is_not_kept_waiting_by_names_of_little_worth_that_are_known_too():
    shared = Shared([2.0, *[1.0] * 200], [100] * 201)
    for number in range(201):
        shared.know(number)
    of = shared.run(60.0)
    assert of[0] >= 0.95 * 60 / 1.5, "its rest ends after every second turn"
    assert sum(count for number, count in of.items() if number) > 40


def names_with_some_pages_read(pages: int, *, named: bool) -> float:
    """Return what names whose pages are worth more, some of which were read, leave a host of its turns."""
    alone, beside = Shared([1.0], [200]), Shared([1.0, *[9.0] * 60], [200, *[100] * 60])
    for shared in (alone, beside):
        shared.robots.add(0)
        shared.read(0, 1)
        shared.frontier.note_seeds([0] if named else [])
    for number in range(1, 61):
        beside.robots.add(number)
        beside.read(number, pages)
    return beside.run(30.0)[0] / alone.run(30.0)[0]


def test_names_of_which_a_few_pages_were_read_leave_a_host_that_a_seed_names_its_turns():
    """Sixty domains with endless pages, each expected to be worth more until it is judged, left it 17 %."""
    assert names_with_some_pages_read(1, named=True) >= 0.95
    assert names_with_some_pages_read(1, named=False) < 0.5, "it is a newcomer as they are"


def test_a_seed_of_which_no_page_was_read_is_a_newcomer():
    """Sixty seeds with a page each, all at the address of a host."""
    beside = Shared([1.0, *[9.0] * 60], [200, *[1] * 60])
    beside.know(0)
    beside.frontier.note_seeds(range(61))
    assert beside.run(60.0)[0] >= 50


def test_nobody_starves_and_no_turn_is_lost():
    """Of sixty honest hosts those that are worth least are asked too; a request begins in each interval."""
    hosts = 60
    shared = Shared([1.0 / (1 + number) for number in range(hosts)], [PLACES - 1] * hosts, per_ip=4)
    of = shared.run(hosts * 4 * 0.25 + 60)
    assert set(of) == set(range(hosts))
    assert max(late - soon for (soon, _), (late, _) in pairwise(shared.starts)) <= 0.26
    assert of[0] > 3 * of[hosts - 1]


def test_an_address_that_is_busy_is_asked_again_as_soon_as_it_is_free():
    """Earlier, a check that was due a second later took the place of one at the end of the rest."""
    shared, draw = Shared([1.0] * 40, [100] * 40), random.Random(1)
    of = shared.run(60.0, answer_s=lambda: draw.uniform(0.3, 0.6))
    assert sum(of.values()) >= 118, "two a second"


def test_requests_for_files_get_one_turn_of_four_while_hosts_wait():
    """Files of hosts without pages, such as a robots.txt to which others are redirected; places are kept for them."""
    shared = Shared([1.0] * 30, [100] * 30)
    for number in range(30):
        shared.know(number)
    others = [shared.frontier.pageless_host(f"s{number}", ("10.0.0.1",)) for number in range(30)]
    kept, files = [], list[float]()

    def beside(now: float) -> None:
        while others and shared.frontier.may_keep(others[0], now):
            kept.append((others[0], shared.frontier.keep_place(others.pop(0))))
        for host, address in list(kept):
            if shared.frontier.rested(host, now):
                kept.remove((host, address))
                shared.frontier.give_place(address)
                shared.frontier.began(host, now)
                shared.frontier.ended(host, now)
                files.append(now)

    of = shared.run(40.0, beside)
    pages = sum(of.values())
    assert 15 <= len(files) <= 22
    assert pages >= 2.8 * len(files)


def test_sitemaps_of_hosts_at_an_address_get_one_turn_of_four_while_hosts_wait():
    shared, asked = Shared([1.0] * 30, [100] * 30), list[float]()
    for number in range(30):
        shared.know(number)

    def beside(now: float) -> None:
        for host in shared.frontier.hosts:
            if shared.frontier.wait_s(host, now) == 0.0:
                shared.frontier.began(host, now)
                shared.frontier.ended(host, now)
                asked.append(now)

    of = shared.run(40.0, beside)
    assert len(asked) > 10
    assert sum(of.values()) >= 2.8 * len(asked)


def test_a_file_is_asked_for_where_hosts_wait_and_none_is_asked():
    shared = Shared([1.0] * 9, [9] * 9)
    shared.run(3.0)
    stranger = shared.frontier.pageless_host("s", ("10.0.0.1",))
    assert shared.frontier.may_keep(stranger, 60.0)


def test_a_line_holds_no_more_than_who_waits():
    line = AddressLine()
    for turn in range(5000):
        line.add(turn % 50, 1.0, known=turn % 3 > 0)
        if turn % 5 == 0:
            for host in line.offer()[:1]:
                line.serve(host, known=True)
    assert len(line) <= 50
    assert line.size() < 3 * (2 * 50 + 64 + 50)


def test_a_newcomer_of_little_worth_has_its_turn_where_nobody_is_known():
    line = AddressLine()
    line.add(0, 0.0, known=False)
    offered = list[int]()
    for host in range(1, 500):
        line.add(host, 9.0, known=False)
        if host > 400:
            offered += line.offer()
    assert 0 in offered
