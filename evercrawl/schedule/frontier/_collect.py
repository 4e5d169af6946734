"""The first half of a choice, compiled: which hosts, and which of their pages, are compared."""

import math
from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.schedule.frontier._ahead import see_asleep, see_firsts
from evercrawl.schedule.frontier._blocks import Store
from evercrawl.schedule.frontier._changes import pop_asleep
from evercrawl.schedule.frontier._heaps import HostHeap, enter, key_at, leave, slot_at, whole
from evercrawl.schedule.frontier._layout import (
    AGAIN,
    AWAKE,
    CREDIT,
    CURSOR,
    DUES,
    HOSTS,
    NEWS,
    PLACE,
    RANKED,
    RESTING,
    REVIEW,
    SHORT,
    STAMP,
    WOKEN,
)  # fmt: skip
from evercrawl.schedule.frontier._memory import asleep, awake, bag_out, empty_short, push_short, short
from evercrawl.schedule.frontier._rows import CandidateRows

BELOW: Final = 2  # number of entries directly below the first in a heap, one of which is the second
POOL: Final = 15  # maximum number of pages of a host that are compared
POOL_LEAST: Final = 64  # approximate minimum number of rows compared, if there are few hosts
WINDOW: Final = 1 << 15  # number of pages of a bag that are ranked at once: 5 to 10 ms
RANK_ROWS: Final = 1 << 16  # number of rows per choice after which no other host is ranked
REFILL: Final = 32  # number of pages moved from the bag to the short list at once in the order of discovery


@compiled
def consider(s: Store, r: CandidateRows, h: int) -> None:
    """Add a host to this choice."""
    lot = s.lots[h]
    if lot.stamp == s.control[STAMP] or lot.out:
        return
    n = r.counts[0]
    see_firsts(s, h)
    lot.stamp, lot.spot = s.control[STAMP], n
    r.hosts[n], r.best[n], r.next[n], r.row[n] = h, -np.inf, -np.inf, -1
    r.counts[0] = n + 1


@compiled
def _row(r: CandidateRows, n: int, h: int, slot: int, kind: int, place: int) -> int:
    r.slots[n], r.of[n], r.kinds[n], r.places[n] = slot, h, kind, place
    return n + 1


@compiled
def _arrive(s: Store, h: int) -> None:
    """Insert a host that became ready into the orders of ready hosts, by the keys of its first pages."""
    lot = s.lots[h]
    if lot.awake:
        enter(s.dues, h, key_at(awake(s, h), 0))
    if lot.short:
        enter(s.news, h, key_at(short(s, h), 0))
    elif lot.bag:
        enter(s.news, h, -np.inf)  # it comes first, and is ranked


@compiled
def gather_hosts(s: Store, r: CandidateRows, now: float, most: int, wide: int, in_order: int) -> None:
    """Find the hosts that became ready, at most `most` at once, and choose `wide` hosts of each order to examine.

    If new pages come in the order of discovery, their keys cannot be compared, so all hosts that become ready are
    examined.
    """
    s.control[STAMP] = (s.control[STAMP] + 1) & 0xFFFFFFFF
    r.counts[:] = 0
    while s.control[RESTING] and r.counts[3] < most and s.resting.keys[0] <= now:
        h = whole(s.resting.hosts[0])
        leave(s.resting, h)
        r.counts[3] += 1
        r.hosts[len(r.hosts) - r.counts[3]] = h
        see_firsts(s, h)
        see_asleep(s, h)
    for i in range(1, r.counts[3] + 1):
        h = whole(r.hosts[len(r.hosts) - i])
        if in_order:
            consider(s, r, h)
        else:
            _arrive(s, h)
    for i in range(min(wide, s.control[DUES])):
        consider(s, r, whole(s.dues.hosts[i]))
    for i in range(min(wide, s.control[NEWS])):
        consider(s, r, whole(s.news.hosts[i]))


@compiled
def _stale(s: Store, h: int) -> Any:
    """Return whether the short list is empty, or so many pages were added that all must be ranked again."""
    lot = s.lots[h]
    if lot.short == 0:
        return lot.bag > 0
    n = whole(lot.short) + whole(lot.bag)
    return whole(lot.taken) + whole(lot.added) // 8 >= max(16, n // 2)


@compiled
def _unrank(s: Store, r: CandidateRows, n: int, h: int) -> int:
    """Make rows of a host's short list, and of the oldest pages in its bag."""
    lot = s.lots[h]
    heap = short(s, h)
    for i in range(whole(lot.short)):
        n = _row(r, n, h, slot_at(heap, i), RANKED, 0)
    empty_short(s, h)
    lot.taken, lot.added, lot.ranked = 0, 0, s.control[STAMP]
    for _ in range(min(whole(lot.bag), WINDOW)):
        n = _row(r, n, h, bag_out(s, h), RANKED, 0)
    return n


@compiled
def review(s: Store, r: CandidateRows, n: int, chosen: int) -> int:
    """Rank the next hosts in a rotation, one row per recently `chosen` page; return where the rows end."""
    hosts, tries = s.control[HOSTS], 16
    s.control[CREDIT] = min(s.control[CREDIT] + chosen, WINDOW)
    while tries and hosts and n < RANK_ROWS:
        tries -= 1
        h = s.control[REVIEW] if s.control[REVIEW] < hosts else 0
        size = min(whole(s.lots[h].short) + whole(s.lots[h].bag), WINDOW)
        if size > s.control[CREDIT]:
            break
        if size > 1 and s.lots[h].ranked != s.control[STAMP]:
            s.control[CREDIT] -= size
            n = _unrank(s, r, n, h)
        s.control[REVIEW] = h + 1
    return n


@compiled
def first_of(order: HostHeap, until: float, most: int, hosts: Any, n: int) -> int:
    """Write hosts from the top of an order with keys of `until` or less, level by level; return where they end.

    At most `most` hosts are examined: the first ones of the heap that have only such hosts above them.
    """
    start, size = n, order.size[order.at]
    for root in range(min(1, size, most)):
        if order.keys[root] <= until:
            hosts[n] = root  # places, replaced by hosts at the end
            n += 1
    i = start
    while i < n:
        for child in range(2 * whole(hosts[i]) + 1, min(2 * whole(hosts[i]) + 3, size)):
            if n - start < most and order.keys[child] <= until:
                hosts[n] = child
                n += 1
        i += 1
    for i in range(start, n):
        hosts[i] = order.hosts[whole(hosts[i])]
    return n


@compiled
def depth_of(pool: int, hosts: int) -> int:
    """Return the number of pages of each kind that a host may offer, if `pool` pages are compared in total."""
    return min(max(max(pool, POOL_LEAST) // max(2 * hosts, 1), 1), POOL)


@compiled
def _refill(s: Store, h: int) -> None:
    """Move new pages from the bag to the short list in the order of discovery."""
    if s.lots[h].short == 0:
        for i in range(min(whole(s.lots[h].bag), REFILL)):
            push_short(s, h, float(i), bag_out(s, h))


@compiled
def gather_pages(s: Store, r: CandidateRows, n: int, now: float, depth: int, in_order: int) -> int:
    """Make rows of the pages that the hosts offer, up to `depth` of each kind; return where they end.

    If more are overdue, one more row is made: the value of a page that had to wait determines the host's price.
    """
    for spot in range(r.counts[0]):
        h = whole(r.hosts[spot])
        lot = s.lots[h]
        heap = awake(s, h)
        for i in range(min(whole(lot.awake), depth)):
            n = _row(r, n, h, slot_at(heap, i), AWAKE, i)
        for i in range(depth, 0 if in_order else min(whole(lot.awake), depth + BELOW)):
            if key_at(heap, i) <= now:
                n = _row(r, n, h, slot_at(heap, i), AWAKE, i)
                break
        if in_order:
            _refill(s, h)
        elif lot.ranked == s.control[STAMP]:
            continue
        elif n < RANK_ROWS and _stale(s, h):
            n = _unrank(s, r, n, h)
            continue
        heap = short(s, h)
        for i in range(min(whole(lot.short), depth)):
            n = _row(r, n, h, slot_at(heap, i), SHORT, i)
    return n


@compiled
def wake(s: Store, r: CandidateRows, n: int, now: float) -> int:
    """Make rows of the pages that may be refreshed from now on; return where they end."""
    for i in range(1, r.counts[3] + 1):
        h = whole(r.hosts[len(r.hosts) - i])
        while s.lots[h].asleep and n < len(r.slots) - 4096 and key_at(asleep(s, h), 0) <= now:
            n = _row(r, n, h, pop_asleep(s, h), WOKEN, 0)
    return n


@compiled
def price_rows(s: Store, r: CandidateRows, n: int) -> None:
    """Write the relative prices of visits to the hosts of the first `n` rows."""
    for i in range(n):
        dear = s.lots[whole(r.of[i])].dear
        r.dear[i] = math.exp(dear) if dear != 0.0 else 1.0


@compiled
def gather_again(s: Store, r: CandidateRows, n: int, most: int) -> int:
    """Make rows of the next `most` pages with keys to recompute, in a rotation over hosts; return where they end."""
    hosts, until, tries = s.control[HOSTS], n + most, 4 * most + 16
    while n < until and tries and hosts:
        tries -= 1
        h = s.control[CURSOR]
        if h >= hosts or s.control[PLACE] >= whole(s.lots[h].awake):
            s.control[CURSOR] = h + 1 if h + 1 < hosts else 0
            s.control[PLACE] = 0
            continue
        place = s.control[PLACE]
        n = _row(r, n, h, slot_at(awake(s, h), place), AGAIN, place)
        s.control[PLACE] = place + 1
    return n
