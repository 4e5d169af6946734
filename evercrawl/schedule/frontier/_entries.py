"""Entry points of the kernels: a round of choosing, and single changes. The first argument holds all addresses."""

from typing import Any, Final

import numpy as np

from evercrawl.kernels.addresses import floats_at, ints_at, pointer_at
from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.schedule.frontier import _ahead as ahead
from evercrawl.schedule.frontier import _changes as changes
from evercrawl.schedule.frontier import _collect as collecting
from evercrawl.schedule.frontier import _drop as dropping
from evercrawl.schedule.frontier import _layout as layout
from evercrawl.schedule.frontier import _settle as settling
from evercrawl.schedule.frontier._blocks import Store
from evercrawl.schedule.frontier._heaps import HostHeap, whole
from evercrawl.schedule.frontier._layout import ADDED, CONTROL, DUES, MOST_HOSTS, MOST_ROWS, NEWS, PLACES, RESTING
from evercrawl.schedule.frontier._rows import CandidateRows

_FLOATS, _INTS, _SLOTS, _BYTES = (pointer(kind) for kind in (np.float64, np.int64, np.uint32, np.uint8))
_lots_at: Final = pointer_at(layout.LOT)
_entries_at: Final = pointer_at(layout.ENTRY)
_slots_at: Final = pointer_at(np.uint32)
_bytes_at: Final = pointer_at(np.uint8)


@compiled
def _store(memory: Any) -> Store:
    at = view(memory, layout.MEMORY)
    n = at[layout.SIZE]
    hosts, orders = view(_lots_at(at[layout.AT_LOTS]), n), view(_entries_at(at[layout.AT_LINES]), 3 * n)
    entries, sizes = view(_entries_at(at[layout.AT_ENTRIES]), PLACES * n), view(ints_at(at[layout.AT_CONTROL]), CONTROL)
    first, second, third = orders[:n], orders[n : 2 * n], orders[2 * n :]
    return Store(
        hosts,
        HostHeap(first["key"], first["slot"], hosts["rest"], sizes, RESTING),
        HostHeap(second["key"], second["slot"], hosts["due"], sizes, DUES),
        HostHeap(third["key"], third["slot"], hosts["new"], sizes, NEWS),
        entries["key"], entries["slot"], view(_slots_at(at[layout.AT_TABLES]), layout.WORDS_OF_TABLES * n),
        view(_slots_at(at[layout.AT_ENTRIES]), 3 * PLACES * n), sizes,
    )  # fmt: skip


@compiled
def _rows(memory: Any) -> CandidateRows:
    at, n, m = view(memory, layout.MEMORY), MOST_ROWS, MOST_HOSTS
    return CandidateRows(
        view(_slots_at(at[layout.AT_SLOTS]), n), view(_slots_at(at[layout.AT_OF]), n),
        view(_slots_at(at[layout.AT_PLACES]), n), view(_bytes_at(at[layout.AT_KINDS]), n),
        view(_slots_at(at[layout.AT_HOSTS]), m), view(floats_at(at[layout.AT_BEST]), m),
        view(ints_at(at[layout.AT_ROW]), m), view(floats_at(at[layout.AT_NEXT]), m),
        view(floats_at(at[layout.AT_DEAR]), n), view(ints_at(at[layout.AT_COUNTS]), 4),
    )  # fmt: skip


@entry(i64, _INTS, _SLOTS, _FLOATS, i64)
def rest(memory: Any, hosts: Any, until: Any, n: int) -> int:
    """Let hosts offer their pages again from the given instants on."""
    s = _store(memory)
    numbers, instants = view(hosts, n), view(until, n)
    for i in range(n):
        changes.rest(s, whole(numbers[i]), instants[i])
    return 0


@entry(i64, _INTS, _SLOTS, _SLOTS, _FLOATS, i64)
def sleep(memory: Any, hosts: Any, slots: Any, until: Any, n: int) -> int:
    """Add pages that are not to be visited before the given instants."""
    s = _store(memory)
    numbers, pages, instants = view(hosts, n), view(slots, n), view(until, n)
    for i in range(n):
        ahead.see_bed(s, whole(numbers[i]))
    for i in range(n):
        changes.sleep(s, whole(numbers[i]), whole(pages[i]), instants[i])
    return 0


@entry(i64, _INTS, _SLOTS, _SLOTS, i64)
def append(memory: Any, hosts: Any, slots: Any, n: int) -> int:
    """Append new pages to the queues of their hosts."""
    s = _store(memory)
    numbers, pages = view(hosts, n), view(slots, n)
    for i in range(n):
        changes.append(s, whole(numbers[i]), whole(pages[i]))
    return 0


@entry(i64, _INTS, i64, i64, i64)
def put_back(memory: Any, host: int, slot: int, new: int) -> int:
    """Put a page at the front of its host's queue."""
    changes.put_back(_store(memory), host, slot, new)
    return 0


@entry(i64, _INTS, i64)
def take(memory: Any, host: int) -> int:
    """Take a host's first page: 2 * slot, + 1 if it was new; -1 without pages."""
    return int(changes.take(_store(memory), host))


@entry(i64, _INTS, i64, i64)
def remove_page(memory: Any, host: int, slot: int) -> int:
    """Remove a visited page from its host: 1 if it waited there, else 0. Takes linear time."""
    return int(changes.remove_page(_store(memory), host, slot))


@entry(i64, _INTS, i64, i64, _BYTES, _BYTES, i64, i64, _INTS)
def drop(memory: Any, first: int, last: int, unwanted: Any, dropped: Any, size: int, most: int, gone: Any) -> int:
    """Remove pages whose bits are set in `unwanted`, of hosts from `first` to before `last`, and set them in `dropped`.

    In each bag `most` pages are examined. `gone` counts new pages, and visited ones.
    """
    s = _store(memory)
    bits, noted, counts = view(unwanted, size), view(dropped, size), view(gone, 2)
    for h in range(first, last):
        dropping.drop(s, h, bits, noted, most, counts)
    return 0


@entry(i64, _INTS, i64, _BYTES, i64, _SLOTS, i64)
def take_new(memory: Any, host: int, wanted: Any, size: int, taken: Any, room: int) -> int:
    """Remove the new pages of a host whose bits are set in `wanted`; return how many, with their slots in `taken`."""
    return int(dropping.take_new(_store(memory), host, view(wanted, size), view(taken, room)))


@entry(i64, _INTS, f64, i64, i64, i64, i64, i64, i64, _SLOTS, _SLOTS, i64)
def collect(
    memory: Any, now: float, most: int, wide: int, pool: int, again: int, in_order: int, several: int,
    added_hosts: Any, added: Any, n_added: int,
) -> int:  # fmt: skip
    """Gather the candidates, and the pages to value `again`; return the number of rows.

    There are about `pool` rows of candidates, or fewer if there are few hosts; one per host is chosen unless `several`
    may be.
    """
    s = _store(memory)
    r = _rows(memory)
    collecting.gather_hosts(s, r, now, most, wide, in_order)
    numbers, news = view(added_hosts, n_added), view(added, n_added)
    n = 0
    for i in range(n_added):
        h = whole(numbers[i])
        r.slots[n], r.of[n], r.kinds[n], r.places[n] = news[i], h, ADDED, 0
        n += 1
        idle = s.lots[h].rest == 0 and s.lots[h].due == 0 and s.lots[h].new == 0
        if idle and s.lots[h].rest_at <= now and r.counts[0] < most:
            collecting.consider(s, r, h)
    if not in_order:
        n = collecting.review(s, r, n, again)
    depth = 1 if in_order else collecting.depth_of(pool if several else min(pool, 3 * r.counts[0]), r.counts[0])
    n = collecting.gather_pages(s, r, n, now, depth, in_order)
    r.counts[1] = collecting.wake(s, r, n, now)
    r.counts[2] = r.counts[1] - n
    n = collecting.gather_again(s, r, r.counts[1], 0 if in_order else (again + 1) // 2)
    collecting.price_rows(s, r, n)
    return n


@entry(i64, _INTS, f64, i64, _SLOTS)
def near(memory: Any, until: float, most: int, out: Any) -> int:
    """Write hosts whose turn is near, up to `most` of each order, to `out`; return their number, with duplicates."""
    s = _store(memory)
    hosts = view(out, 3 * most)
    n = collecting.first_of(s.news, np.inf, most, hosts, 0)
    n = collecting.first_of(s.dues, np.inf, most, hosts, n)
    return int(collecting.first_of(s.resting, until, most, hosts, n))


@entry(i64, _INTS, _FLOATS, i64, f64, i64)
def rank(memory: Any, values: Any, n: int, least: float, several: int) -> int:
    """Find the best row of each host, given the rows' values, and sort the hosts; return their number.

    If `several` pages of a host may be chosen, all rows are sorted instead.
    """
    s = _store(memory)
    r = _rows(memory)
    settling.rank(s, r, view(values, n))
    at, m = view(memory, layout.MEMORY), MOST_HOSTS
    keys, spots = view(floats_at(at[layout.AT_KEYS]), m), view(_slots_at(at[layout.AT_SPOTS]), m)
    lined = view(ints_at(at[layout.AT_LINED]), (4, m))
    rows = settling.line_up_rows(s, r, view(values, n), least, keys, spots, lined) if several else -1
    return int(rows if rows >= 0 else settling.line_up(r, least, keys, spots, lined))


@entry(i64, _INTS, _FLOATS, i64, _FLOATS, i64, _INTS, _BYTES, i64, _SLOTS, i64, f64, i64)
def settle(
    memory: Any, values: Any, n_values: int, keys: Any, n_keys: int, chosen: Any, busy: Any, n_chosen: int,
    out: Any, n_out: int, price: float, in_order: int,
) -> int:  # fmt: skip
    """Remove the chosen rows, and put all others in their places; hosts in `out` offer nothing until they rest again.

    The hosts' prices are updated relative to `price`, that of the crawl (nan if there is none); `busy` is 1 for chosen
    rows with busy hosts, else 0.
    """
    s = _store(memory)
    r = _rows(memory)
    ahead.see_rows(s, r, view(chosen, n_chosen), n_values - r.counts[2] + n_keys)
    if price > 0.0:
        settling.price_hosts(s, r, view(chosen, n_chosen), view(busy, n_chosen), view(values, n_values), price)
    settling.take_rows(s, r, view(chosen, n_chosen))
    blocked = view(out, n_out)
    for i in range(n_out):
        changes.withdraw(s, whole(blocked[i]))
    if not in_order:
        settling.place_ranked(s, r, view(values, n_values))
        settling.place_new(s, r, view(values, n_values))
    first = n_values - r.counts[2]
    settling.place_seen(s, r, first, first + n_keys, view(keys, n_keys))
    settling.stand_hosts(s, r, in_order)
    return 0
