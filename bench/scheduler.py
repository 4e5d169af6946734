"""What choosing costs: CPU a fetch at a million known pages, against its goal.

    python bench/scheduler.py

A crawl without network and disk: pages are chosen, asked for, answered and put back, half of them new ones, while time
passes. Columns are gathered from arrays, as a crawl does. Exits 1 when a goal is missed.

The goal is about choosing, among pages that were never learned from; where the policy keeps clocks of folders, what
it takes to learn from a visit, and to choose with what was learned, is told at the end.

Memory is that of what is kept to choose by: of a page that was visited, its place in the queues of its host, measured,
and the fields of its record that `price` has its columns from; of a site, all that grows with each, measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import tracemalloc
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import Figure

from evercrawl import catalog, schedule
from evercrawl.change.prior import SitePriors
from evercrawl.schedule import Pages, Policy
from evercrawl.schedule.abilities import Learns
from evercrawl.schedule.clocks._layout import KNOWN, ODDS
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.pages import Visits
from evercrawl.store.cash.accounts import SITE
from evercrawl.store.records.records import RECORD

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evercrawl.types import Floats, Slots

DAY = 86400.0
TOLD = 4096  # visits at once, when a crawl begins
COLUMNS = np.dtype(
    [("visited_at", "f8"), ("importance", "f8"), ("spare", "f8"), ("shape", "f8"), ("scale_s", "f8"), ("cost", "f8"),
     ("cost_changed", "f8"), ("neg_log_unchanged", "f8"), ("host", "u4"), ("filled", "u4")]
)  # fmt: skip

OF_A_PAGE = (
    "host", "visited", "seen", "misses",  # where it waits, since when, and how long it is left alone
    "importance", "rate_shape", "rate_scale_s", "wire_bytes", "flags",  # w; a and b, without the site's prior; costs
)  # fmt: skip
"""Fields of a page's record that choosing needs. Of which kind its importance is (`alias`, `mark`) is the scheme's."""

_RECORD_BYTES = sum(RECORD[name].itemsize for name in OF_A_PAGE)


def waiting(policy: Policy, on: Slots) -> Frontier:
    """Return a frontier on which visited pages wait, all alike, on hosts of these numbers with an address each."""
    one = np.ones(1)
    none = np.zeros(1)
    page = Pages(np.zeros(1, np.uint32), none, one, one, one, DAY * one, one, none, none)

    def columns(slots: Slots) -> Pages:
        return page.take(np.zeros(len(slots), np.int64))

    frontier = Frontier(policy, columns, lambda slot: 0.0, delay_s=1.0, refresh_after_s=3600.0)
    for number in range(int(on.max()) + 1):
        host = frontier.add_host(f"www.example{number}.org")
        frontier.locate(host, (f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",), 0.0)
    frontier.fill(on, np.arange(len(on), dtype=np.uint32), new=False)
    return frontier


def queued_bytes(frontier: Frontier) -> int:
    """Return what the queues of all hosts take."""
    return frontier._queues.size_bytes()  # pyright: ignore[reportPrivateUsage]


def page_bytes(policy: Policy, pages: int = 200_000) -> float:
    """Return what is kept of a page that was visited: in the queues, of hosts as in `World`, and in its record."""
    on = (pages / 1000 * np.random.default_rng(1).random(pages) ** 2).astype(np.uint32)
    return queued_bytes(waiting(policy, on)) / pages + _RECORD_BYTES


def churned_bytes(policy: Policy, pages: int = 100_000) -> float:
    """Return the same after every page was visited some times, fell asleep, awoke and fell due."""
    world = World(policy, pages, pages // 1000, 16, 0, 20 * DAY)
    world.fetches_s(3 * pages)
    assert world.frontier.new_count == 0, "all pages were visited"
    return queued_bytes(world.frontier) / pages + _RECORD_BYTES


def site_bytes(policy: Policy, sites: int = 10_000) -> float:
    """Return what is kept of a site of one host and one page: host, address, queues, prior, account."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    frontier, priors = waiting(policy, np.arange(sites, dtype=np.uint32)), SitePriors(sites)
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(priors.scales_s) == sites
    return (used + queued_bytes(frontier)) / sites + SITE.itemsize


class World:
    """A frontier over made-up pages, half of them visited, and a clock."""

    def __init__(self, policy: Policy, pages: int, hosts: int, batch: int, new: int, budget_s: float) -> None:
        draw = np.random.default_rng(1)
        room = pages * 2
        self.rows = np.zeros(room, COLUMNS)
        self.rows["importance"] = draw.pareto(1.1, room) + 1
        self.cash = draw.random(room)
        self.rows["shape"] = 0.4 + draw.integers(0, 5, room)
        self.rows["scale_s"] = np.exp(draw.normal(1.5, 2.0, room)) * DAY
        self.rows["cost"] = 1.0
        self.rows["host"] = (hosts * draw.random(room) ** 2).astype(np.uint32)  # some hosts are large
        self.rows["visited_at"] = np.nan
        self.now = 100 * DAY
        self.known, self.batch, self.new, self.step_s = pages, batch, new, batch * budget_s / pages
        self.rows["visited_at"][: pages // 2] = self.now - draw.exponential(10 * DAY, pages // 2)
        self.policy, self.slots_asked = policy, 0
        rest_s = hosts * budget_s / pages / 4  # so that about three quarters of the hosts have rested
        self.frontier = Frontier(policy, self.columns, self._visited_at, delay_s=rest_s, refresh_after_s=3600.0)
        for number in range(hosts):
            host = self.frontier.add_host(f"h{number}")
            self.frontier.locate(host, (f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",), 0.0)
        slots = np.arange(pages, dtype=np.uint32)
        self.frontier.fill(self.rows["host"][: pages // 2], slots[: pages // 2], new=False)
        self.frontier.fill(self.rows["host"][pages // 2 : pages], slots[pages // 2 :], new=True)
        self.underway: list[Any] = []
        self.found: list[tuple[list[int], int]] = []
        self.before_at = np.zeros(0)  # when the pages underway were visited before
        self.draw = draw

    def columns(self, slots: Slots) -> Pages:
        """Gather what the policy is told."""
        self.slots_asked += len(slots)
        rows = self.rows.take(slots)
        return Pages(
            slots, rows["visited_at"], rows["importance"], self.cash.take(slots), rows["shape"], rows["scale_s"],
            rows["cost"], rows["cost_changed"], rows["neg_log_unchanged"],
        )  # fmt: skip

    def _visited_at(self, slot: int) -> float:
        return float(self.rows["visited_at"][slot])

    def turn(self) -> int:
        """Let a batch of visits end, as the loop does, and begin another; return how many were chosen."""
        frontier, now = self.frontier, self.now
        for host, _, _ in self.underway:
            frontier.ended(host, now)
        for host, slot, _ in self.underway:
            frontier.add_seen(host.number, slot, visited_at=now)
        for numbers, first in self.found:
            frontier.add_found(numbers, first)
        chosen = frontier.choose(now, self.batch)
        for host, _, _ in chosen:
            frontier.began(host, now)
        self.underway = chosen
        return len(chosen)

    def pass_time(self) -> None:
        """Let the world go on: what is not the scheduler's work."""
        slots = [slot for _, slot, _ in self.underway]
        for slot in slots:
            self.frontier.predicted_fresh.pop(slot, None)  # whoever makes the visit takes it away
        self.before_at = self.rows["visited_at"][slots]
        self.rows["visited_at"][slots] = self.now
        self.now += self.step_s

    def find(self) -> None:
        """Find new pages, so many on each page that ends."""
        visits = len(self.underway)
        last = min(self.known + self.new * visits, len(self.rows))
        hosts = self.rows["host"][self.known : last].tolist()
        self.found = [(hosts[i : i + self.new], self.known + i) for i in range(0, len(hosts), self.new or 1)]
        self.known = last

    def visits(self, slots: Slots, interval_s: Floats) -> Visits:
        """Return visits that were just made, of pages in sixteen folders a host; they change as is believed."""
        row, yes, none = self.rows[slots], np.ones(len(slots), bool), np.zeros(len(slots))
        with np.errstate(invalid="ignore"):
            changed = self.draw.random(len(slots)) < -np.expm1(-row["shape"] / row["scale_s"] * interval_s)
        folder = row["host"].astype(np.uint64) * np.uint64(16) + slots % np.uint64(16) + np.uint64(1)
        return Visits(
            slots, row["host"], row["visited_at"], interval_s, yes, ~yes, changed, none * np.nan, none, none,
            none.astype(int), ~yes, none.astype(int), folder, np.zeros(len(slots), np.uint64),
        )  # fmt: skip

    def teach(self) -> None:
        """Tell the policy of all visits before, in order."""
        visited_at = self.rows["visited_at"]
        slots = np.flatnonzero(~np.isnan(visited_at)).astype(np.uint32)
        slots = slots[visited_at[slots].argsort()]
        for first in range(0, len(slots), TOLD):
            some = slots[first : first + TOLD]
            self.policy.learn(self.visits(some, np.full(len(some), np.nan)))

    def learning_s(self, fetches: int) -> tuple[float, float]:
        """Return the CPU time of so many fetches, and that of learning from them, a batch at a time."""
        choosing, learning, done = 0.0, 0.0, 0
        while done < fetches:
            slots = np.array([slot for _, slot, _ in self.underway], np.uint32)
            visits = self.visits(slots, self.rows["visited_at"][slots] - self.before_at)
            start = time.process_time()
            self.policy.learn(visits)
            learning += time.process_time() - start
            choosing += self.fetches_s(len(slots)) * len(slots)
            done += len(slots)
        return choosing / done, learning / done

    def fetches_s(self, fetches: int, batch: int = 0) -> float:
        """Return the CPU time of so many fetches, a batch at a time."""
        done, spent = 0, 0.0
        usual, self.batch = self.batch, batch or self.batch
        self.step_s *= self.batch / usual
        while done < fetches:
            self.find()
            start = time.process_time()
            done += self.turn()
            spent += time.process_time() - start
            self.pass_time()
        self.step_s *= usual / self.batch
        self.batch = usual
        return spent / done


def part_s(owner: Any, names: list[str], run: Callable[[], object]) -> dict[str, float]:
    """Return the CPU time spent in methods of `owner` during `run`, each without what it calls of the others."""
    spent, stack = dict.fromkeys(names, 0.0), [0.0]

    def timed(name: str, method: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            stack.append(0.0)
            start = time.perf_counter()
            try:
                return method(*arguments, **named)
            finally:
                took = time.perf_counter() - start
                spent[name] += took - stack.pop()
                stack[-1] += took

        return call

    before = {name: getattr(owner, name) for name in names}
    for name, method in before.items():
        setattr(owner, name, timed(name, method))
    run()
    for name, method in before.items():
        setattr(owner, name, method)
    return spent


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", type=int, default=1_000_000, help="known pages (default 1 million)")
    parser.add_argument("--hosts", type=int, default=1_000)
    parser.add_argument("--batch", type=int, default=64, help="pages chosen at once (default 64, of 256 connections)")
    parser.add_argument("--new", type=int, default=1, help="new pages found a fetch")
    parser.add_argument("--policy", default="price")
    parser.add_argument("--fetches", type=int, default=20_000, help="a run")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cycle-days", type=float, default=20.0, help="the budget: days to visit every page once")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    o = parser.parse_args()
    picked: type[Any] = catalog.pick(schedule.policies, Policy, o.policy)
    policy = picked()
    start = time.process_time()
    world = World(policy, o.pages, o.hosts, o.batch, o.new, o.cycle_days * DAY)
    filled = time.process_time() - start
    world.fetches_s(o.fetches)
    world.slots_asked = 0
    runs = [world.fetches_s(o.fetches) * 1e6 for _ in range(o.runs)]
    asked = world.slots_asked / o.fetches / o.runs
    figures = [
        Figure(f"CPU a fetch, {o.batch} chosen at once", statistics.median(runs), "us", at_most=5),
        Figure("quickest run", min(runs), "us"),
        Figure("slowest run", max(runs), "us"),
        *(Figure(f"CPU a fetch, {few} at once", world.fetches_s(o.fetches, few) * 1e6, "us") for few in (32, 8, 1)),
        Figure("pages looked at, a fetch", asked, ""),
        Figure("memory a known page, in the queues alone", queued_bytes(world.frontier) / world.known, "B"),
        Figure("memory a visited page", page_bytes(policy), "B", at_most=48),
        Figure("the same, three cycles later", churned_bytes(picked()), "B", at_most=48),
        Figure("memory a site, of one host", site_bytes(policy), "B", at_most=4096),
        Figure("filling at the start", filled / o.pages * 1e6, "us a page"),
    ]
    for figure in figures:
        print(figure)
    if not o.json:
        split(world, o.fetches)
    if isinstance(policy, Learns) and policy.learns_places:
        learned = told(world, o.fetches)
        figures += learned
        for figure in learned:
            print(figure)
    if o.json:
        print(json.dumps([asdict(figure) for figure in figures]))
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


def told(world: World, fetches: int) -> list[Figure]:
    """Return what it takes to learn, and to choose by what was learned of pages and believed of their folders."""
    world.teach()
    choosing, learning = world.learning_s(fetches)
    memory = {name: rows.copy() for name, rows in world.policy.state().items()}
    memory["sites"][:, ODDS] = 1e6
    world.policy.restore(memory)
    believed, _ = world.learning_s(fetches)
    of_page, of_folder = learned_bytes(memory)
    return [
        Figure("memory of what was learned of a page", of_page, "B"),
        Figure("memory of what was learned of a folder", of_folder, "B", at_most=4096),
        Figure("CPU of learning, a visit", learning * 1e6, "us"),
        Figure("CPU a fetch, the policy having learned", choosing * 1e6, "us"),
        Figure("the same, clocks believed everywhere", believed * 1e6, "us"),
    ]


def learned_bytes(memory: dict[str, NDArray[Any]]) -> tuple[float, float]:
    """Return what the policy keeps of a visited page, its name and cohort; and of a folder, with all rings."""
    rings = ("heads", "done", "at", "changes", "expected", "clock")
    of_pages = sum(memory[name].nbytes for name in ("pages", "names", "by_name", "cohorts", "by_cohort"))
    of_folders = sum(memory[name].nbytes for name in ("folders", "by_folder", *rings))
    return of_pages / int((memory["pages"]["known"] == KNOWN).sum()), of_folders / len(memory["folders"])


def split(world: World, fetches: int) -> None:
    """Print where the time goes, by the clock on the wall, with what measuring adds."""
    parts: dict[str, float] = {}
    frontier: Any = world.frontier  # its parts are its own business, but for whoever times them
    names = {
        "politeness": (world.frontier, ["began", "ended", "add_seen", "add_found", "_flush", "_pick", "_open_gates"]),
        "choice": (world.frontier, ["_round"]),
        "kernels": (frontier._queues, ["collect", "best", "settle"]),
        "values": (frontier, ["_assess"]),
        "policy": (world.policy, ["fresh", "chosen"]),
    }
    for name, (owner, methods) in names.items():
        for method, spent in part_s(owner, methods, lambda: world.fetches_s(fetches)).items():
            parts[f"  {name}: {method.strip('_')}"] = spent / fetches * 1e6
    gather: Callable[[Slots], Pages] = frontier._columns
    spent = 0.0

    def timed(slots: Slots) -> Pages:
        nonlocal spent
        start = time.perf_counter()
        pages = gather(slots)
        spent += time.perf_counter() - start
        return pages

    frontier._columns = timed
    world.fetches_s(fetches)
    frontier._columns = gather
    parts["  columns"] = spent / fetches * 1e6
    for name, us in parts.items():
        print(f"{name:<44}{us:>10.2f} us")


if __name__ == "__main__":
    sys.exit(main())
