"""How much memory operations of the loop touch, on crawls of two sizes: what is linear in hosts or pages touches all.

Run as a program of its own, which has the kernel give small pages only; prints JSON: operation -> KiB by size.
"""

import asyncio
import ctypes
import gc
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from evercrawl.arrays.hasher import Hasher
from evercrawl.arrays.names import NumberedNames
from evercrawl.change.prior import SitePriors
from evercrawl.model.policy.lessons_log import LessonsLog
from evercrawl.model.rates import Refitting
from evercrawl.schedule import Pages, Price, Visits
from evercrawl.schedule.base import Context
from evercrawl.schedule.clocks._layout import NONE, PAGE
from evercrawl.schedule.clocks.cohorts import Cohorts
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.schedule.shared.prospects import Prospects
from evercrawl.store.cash.accounts import Accounts
from evercrawl.store.cash.audit import CashAudit
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.table.table import KeyMap, Table
from evercrawl.types import Slots

VISITS = 32
"""At a time."""
DAY, BEGAN = 86_400.0, 1.8e9
_PR_SET_THP_DISABLE = 41


def referenced_kib() -> int:
    """Return how much memory was touched since the marks were cleared."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Referenced:")).split()[1])


def touched(operations: Iterator[Callable[[], Any]]) -> int:
    """Return the least KiB that one of some operations of a kind touches, beyond what doing nothing does."""

    def measured(operation: Callable[[], Any]) -> int:
        Path("/proc/self/clear_refs").write_text("1")
        operation()
        return referenced_kib()

    gc.collect()
    gc.disable()
    nothing = min(measured(lambda: None) for _ in range(3))
    least = min(measured(operation) for operation in operations)
    gc.enable()
    return least - nothing


def columns(slots: Slots) -> Pages:
    """Return pages that were never read."""
    one, none = np.ones(len(slots)), np.zeros(len(slots))
    return Pages(slots, np.nan * one, one + slots % 97, none, one, 9 * one, one, none, none)


def visits(slots: Any, at: float, seen_at: float = np.nan) -> Visits:
    """Return visits of pages, 32 of which share a site, and 8 a folder."""
    slots = np.asarray(slots, np.uint32)
    one, none, no = np.ones(len(slots)), np.zeros(len(slots)), np.zeros(len(slots), bool)
    return Visits(
        slots, slots // 32, at * one, (at - seen_at) * one, ~no, no, slots % 3 == 0, np.nan * one, none, none,
        none.astype(int), no, none.astype(int), (slots // 8 + 1).astype(np.uint64), slots.astype(np.uint64) + 1,
    )  # fmt: skip


def taught(pages: int) -> Price:
    """Return a policy that was told of as many pages, of all folders twice."""
    policy = Price()
    for first in range(0, pages, 4096):
        policy.learn(visits(np.arange(first, min(first + 4096, pages)), BEGAN))
    for first in range(0, pages, 4096):
        policy.learn(visits(np.arange(first, min(first + 4096, pages), 8), BEGAN + DAY, BEGAN))
    return policy


def some(size: int) -> Iterator[Slots]:
    """Yield pages drawn at random, a few times."""
    draw = np.random.default_rng(size)
    for _ in range(8):
        yield np.sort(draw.choice(size, VISITS, replace=False)).astype(np.uint32)


def learning(size: int) -> Iterator[Callable[[], Any]]:
    """Have the clocks learn from visits."""
    policy = taught(size)
    for number, slots in enumerate(some(size)):
        yield partial(policy.learn, visits(slots, BEGAN + (number + 2) * DAY, BEGAN))


def valuing(size: int) -> Iterator[Callable[[], Any]]:
    """Ask the price of pages that were read, and when they fall due."""
    policy = taught(size)
    policy.chosen(np.ones(200), Context(BEGAN + 2 * DAY, size))
    for slots in some(size):
        one, none = np.ones(VISITS), np.zeros(VISITS)
        pages = Pages(slots, BEGAN * one, one, none, one, DAY * one, one, none, none)
        yield lambda pages=pages: policy.assess(pages, Context(BEGAN + 3 * DAY, size), VISITS, 0)


def foretelling(size: int) -> Iterator[Callable[[], Any]]:
    """Learn what unread pages turn out to be, and say what to expect of others."""
    prospects = Prospects()
    for page in range(size // 4):
        prospects.read(page // 8, page // 8, page % 8, 2, visits=9, own=True, found=page % 3)

    def learn(pages: list[int]) -> None:
        for page in pages:
            prospects.read(page // 8, page // 8, page % 8, 2, visits=9, own=True, found=1)
        hosts = np.array(pages, np.uint32) // 8
        prospects.of(hosts, hosts, hosts % 8, np.full(len(pages), 3, np.uint32))

    for slots in some(size // 4):
        yield partial(learn, slots.tolist())


def auditing(size: int) -> Iterator[Callable[[], Any]]:
    """Hold all cash to its law after some was paid; of more pages, for their cells are small."""
    size *= 8
    table, accounts, known = Table(), Accounts(handout=False), SimpleNamespace(count=size)
    table.intern(np.random.default_rng(1).integers(1, 1 << 63, size).astype(np.uint64))
    table.cash[:size] = 1.0
    audit = CashAudit(table, accounts, known)  # type: ignore[arg-type]
    while audit.owed() is None:
        pass

    def pay(slots: Slots) -> None:
        table.pay_slots(slots, np.ones(len(slots)))
        assert audit.owed() is not None

    for slots in some(size):
        yield lambda slots=slots: pay(slots)


def saving(size: int) -> Iterator[Callable[[], Any]]:
    """Save what the policy learned of some visits."""
    policy, hasher = taught(size), Hasher(bytes(16))
    sites = NumberedNames(KeyMap(1000), hasher)
    with tempfile.TemporaryDirectory() as folder:
        journal, state = SimpleNamespace(sequence=0, position=0), SimpleNamespace(epoch=0.0, sites=sites, hasher=hasher)
        partition: Any = SimpleNamespace(disk=RealDisk(Path(folder)), journal=journal, state=state)
        log = LessonsLog(partition, policy, policy.saved_rows(), ())

        async def settle() -> None:
            journal.sequence += 1

        async def offload(function: Callable[..., Any], *arguments: Any) -> Any:
            return function(*arguments)

        def save() -> None:
            asyncio.run(log.write(policy.rest, settle, offload))

        save()
        for number, slots in enumerate(some(size)):
            policy.learn(visits(slots, BEGAN + (number + 2) * DAY, BEGAN))
            yield save


def choosing(size: int) -> Iterator[Callable[[], Any]]:
    """Choose pages, begin and end their visits, and put them back."""
    frontier = Frontier(Price(), columns, lambda slot: BEGAN, delay_s=1.0, names=range(size))  # type: ignore[arg-type]
    frontier.add_hosts(range(size))  # type: ignore[arg-type]
    hosts = np.arange(size, dtype=np.uint32)
    frontier.fill(hosts, hosts, new=True)

    def visit(now: float) -> None:
        chosen: list[tuple[Host, int, bool]] = frontier.choose(now, VISITS)
        assert len(chosen) == VISITS
        for host, slot, _ in chosen:
            frontier.began(host, now)
            frontier.ended(host, now + 0.1)
            frontier.add_seen(host.number, slot, visited_at=now)
        frontier.next_at()

    for number in range(100):
        visit(BEGAN + number)
    for number in range(100, 108):
        yield lambda now=BEGAN + number: visit(now)


def parting(size: int) -> Iterator[Callable[[], Any]]:
    """Let pages that changed together change again, apart from each other, and forget the cohorts that they left."""
    cohorts, rows = Cohorts(), np.zeros(size, PAGE)
    rows["cohort"] = NONE

    def join(slots: Slots, at: float) -> None:
        cohorts.join(replace(visits(slots, at), age_s=np.zeros(len(slots)) + slots % 7 * 3600.0), rows, 3600.0)
        cohorts.forget_empty()

    for first in range(0, size, 4096):
        join(np.arange(first, min(first + 4096, size), dtype=np.uint32), BEGAN)
    for number, slots in enumerate(some(size)):
        yield partial(join, slots, BEGAN + (number + 2) * DAY)


def pacing(size: int) -> Iterator[Callable[[], Any]]:
    """Say that a cycle of the crawl takes twice as long."""
    policy = Price()
    for first in range(0, size, 4096):
        policy.learn(visits(np.arange(first, min(first + 4096, size)), BEGAN))
    for number in range(1, 9):
        yield partial(policy.clocks.set_cycle, DAY * 2.0**number)


def fitting(size: int) -> Iterator[Callable[[], Any]]:
    """Begin to fit the priors of sites anew, and learn from visits meanwhile."""
    rows = np.zeros(2 * size, [("host", "u4"), ("rate_shape", "f4"), ("rate_scale_s", "f4"), ("more", "u1", 84)])
    rows["host"], rows["rate_scale_s"] = np.arange(2 * size) // 2, DAY
    records, sites = SimpleNamespace(rows=rows, count=2 * size), range(size)
    state: Any = SimpleNamespace(records=records, site_of=np.arange(size, dtype=np.uint32), sites=sites)
    priors = SitePriors(size)
    refitting = Refitting(priors, state)
    refitting.begin()

    def learn(slots: Slots) -> None:
        refitting.begin()
        refitting.learn(int(slots[0]) // 2, int(slots[0]), (0.0, DAY), (1.0, DAY))

    for slots in some(size):
        yield partial(learn, slots)


OPERATIONS = (learning, valuing, foretelling, auditing, saving, choosing, parting, pacing, fitting)


def main() -> None:
    """Measure all of them at the sizes that are named."""
    ctypes.CDLL(None).prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)
    found = {each.__name__: {size: touched(each(int(size))) for size in sys.argv[1:]} for each in OPERATIONS}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
