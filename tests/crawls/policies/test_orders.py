"""Crawls in the orders of the survey: what promises most comes first, and an interruption changes nothing."""

from collections import Counter
from pathlib import Path

import pytest

from evercrawl import catalog, schedule
from evercrawl.model.policy.schemes import stored
from evercrawl.progress import Limits
from evercrawl.simulate.graphs import power_law
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import Visit

HOST = "http://a.example"
FAST = {"delay_s": 0.01, "sitemaps": False, "connections": 1, "refresh_after_s": 1e6}
ORDERS = ("in_degree", "larger_sites", "opic", "pagerank")
PAGES = 80


@pytest.fixture(scope="module")
def web():
    """Links by page; fewer wait at a time than are ranked at each visit, so that orders are exact."""
    made = power_law(PAGES, 5)
    return [
        sorted({*made.target[made.start[i] : made.start[i + 1]].tolist(), (i + 2) % PAGES, 7 * i % PAGES} - {i})
        for i in range(PAGES)
    ]


class Orders:
    """Crawls that web in a folder of its own each time."""

    def __init__(self, run, directory: Path, web: list[list[int]]) -> None:
        self.make, self.directory, self.runs = type(run), directory, 0
        self.world = run.World()
        for number, links in enumerate(web):
            self.world.pages[f"{HOST}/{number}"] = run.html(*(f"/{link}" for link in links), text=f"{number} " * 9)

    def __call__(self, name: str, *stops: int) -> list[int]:
        """Return the pages in order; the crawl is interrupted after as many visits."""
        self.runs += 1
        run, visits = self.make(self.directory / str(self.runs)), []
        policy = catalog.pick(schedule.policies, schedule.Policy, name)  # type: ignore[type-abstract]
        for stop in stops:
            ran = run(
                self.world, [f"{HOST}/0"], Limits(pages=stop - len(visits), seconds=9e9), policy=policy(),
                polite=False, scheme=stored("aopic", 1.0, "unbounded"), **FAST,
            )  # fmt: skip
            events = [event for event in ran.events if isinstance(event, Visit)]
            visits = [event.slot for event in events]
        self.events = events
        return visits


@pytest.fixture
def orders(run, tmp_path, web):
    return Orders(run, tmp_path, web)


@pytest.mark.parametrize("name", ORDERS)
def test_an_interruption_changes_nothing(orders, name):
    assert orders(name, 60) == orders(name, 12, 33, 60)


def test_the_page_with_most_links_is_next_and_of_equal_ones_the_first(orders):
    count, visited = Counter({0: 0}), list[int]()
    for slot in orders("in_degree", 60):
        waiting = count.keys() - set(visited)
        assert slot == min(waiting, key=lambda page: (-count[page], page))
        count.update(decode_slots(orders.events[len(visited)].targets).tolist())
        visited.append(slot)
    assert max(count[slot] for slot in visited[:10]) > 5
