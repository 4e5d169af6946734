"""A round of choosing, compiled: collect the candidates, find the best of each host, and put everything in its place.

Between the steps a policy values the rows that were collected; nothing else happens in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.schedule._heap_kernels import enter, key_at, leave, place_of, rekey, remove, slot_at
from evercrawl.schedule._lot_layout import (
    ADDED, AGAIN, AWAKE, CREDIT, CURSOR, DONE, DUES, HOSTS, NEWS, PLACE, RANKED, RESTING, REVIEW, SHORT, STAMP, WOKEN,
)  # fmt: skip
from evercrawl.schedule._lot_memory import (
    Store, asleep, awake, bag_in, bag_out, first_key, push_asleep, push_awake, push_short, replace_worst, short,
    turn_short,
)  # fmt: skip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.types import Floats, Ints, Slots

POOL: Final = 31  # at most so many pages of a host are compared
FEW: Final = 32  # new pages a host that all stand in the short list
WINDOW: Final = 1 << 15  # pages of a bag that are ranked at once: 5 to 10 ms
RANK_ROWS: Final = 1 << 16  # rows a choice after which no other host is ranked
SHORT_MOST: Final = 1 << 13
REFILL: Final = 32  # pages that move from the bag to the short list at once where the order is that of discovery


class Rows(NamedTuple):
    """The candidates of one choice, and the hosts that they are of, each with its best row and that row's page."""

    slots: Slots
    of: Slots
    places: Slots
    kinds: NDArray[Any]
    hosts: Slots
    best: Floats
    row: Ints
    pages: Ints  # 2 * slot, + 1 for a new one
    counts: NDArray[Any]  # hosts, rows to be valued, woken ones among them; at the far end of `hosts`, those whose time came


@compiled
def _offered(s: Store, h: int) -> bool:
    return s.lots[h].due > 0 or s.lots[h].new > 0


@compiled
def withdraw(s: Store, h: int) -> None:
    """Let a host offer nothing."""
    leave(s.resting, h)
    leave(s.dues, h)
    leave(s.news, h)
    s.lots[h].out = 1


@compiled
def stand(s: Store, h: int) -> None:
    """Stand a host where it is looked at as soon as it has rested and has something to offer."""
    lot = s.lots[h]
    if lot.out:
        return
    if np.int64(lot.awake) + np.int64(lot.short) + np.int64(lot.bag) > 0:
        enter(s.resting, h, lot.rest_at)
    elif lot.asleep > 0:
        enter(s.resting, h, max(lot.rest_at, key_at(asleep(s, h), 0)))
    else:
        leave(s.resting, h)


@compiled
def rest(s: Store, h: int, ready_at: float) -> None:
    """Let a host offer its pages again from `ready_at` on."""
    leave(s.dues, h)
    leave(s.news, h)
    s.lots[h].out, s.lots[h].rest_at = 0, ready_at
    stand(s, h)


@compiled
def sleep(s: Store, h: int, slot: int, until: float) -> None:
    """Add a page that is not to be visited before `until`."""
    push_asleep(s, h, until, slot)
    if not _offered(s, h):
        stand(s, h)
    elif s.lots[h].rest == 0 or until < s.resting.keys[place_of(s.resting, h)]:
        enter(s.resting, h, until)


@compiled
def append(s: Store, h: int, slot: int) -> None:
    """Add a new page behind all others."""
    bag_in(s, h, slot)
    s.lots[h].added += 1
    if s.lots[h].out == 0 and s.lots[h].new == 0:
        enter(s.resting, h, s.lots[h].rest_at)


@compiled
def put_back(s: Store, h: int, slot: int, new: int) -> None:
    """Put a page in front of all others of its host."""
    if new:
        push_short(s, h, -np.inf, slot)
    else:
        push_awake(s, h, -np.inf, slot)
    if not _offered(s, h):
        stand(s, h)


@compiled
def _pop_awake(s: Store, h: int, place: int) -> None:
    remove(awake(s, h), np.int64(s.lots[h].awake), place)
    s.lots[h].awake -= 1


@compiled
def _pop_asleep(s: Store, h: int) -> int:
    slot = slot_at(asleep(s, h), 0)
    remove(asleep(s, h), np.int64(s.lots[h].asleep), 0)
    s.lots[h].asleep -= 1
    return slot


@compiled
def _pop_short(s: Store, h: int, place: int) -> None:
    remove(short(s, h), np.int64(s.lots[h].short), place)
    s.lots[h].short -= 1
    s.lots[h].taken += 1


@compiled
def take(s: Store, h: int) -> int:
    """Take a host's first page, a new one if there is one: return 2 * slot, + 1 if it was new; -1 where none is."""
    lot = s.lots[h]
    if lot.short:
        slot = slot_at(short(s, h), 0)
        _pop_short(s, h, 0)
        return 2 * np.int64(slot) + 1
    if lot.bag:
        return 2 * np.int64(bag_out(s, h)) + 1
    if lot.awake:
        slot = slot_at(awake(s, h), 0)
        _pop_awake(s, h, 0)
        return 2 * np.int64(slot)
    return 2 * np.int64(_pop_asleep(s, h)) if lot.asleep else -1


# Collecting


@compiled
def consider(s: Store, r: Rows, h: int) -> None:
    """Let a host take part in this choice."""
    lot = s.lots[h]
    if lot.stamp == s.control[STAMP] or lot.out:
        return
    n = r.counts[0]
    lot.stamp, lot.spot = s.control[STAMP], n
    r.hosts[n], r.best[n], r.row[n] = h, -np.inf, -1
    r.counts[0] = n + 1


@compiled
def _row(r: Rows, n: int, h: int, slot: int, kind: int, place: int) -> int:
    r.slots[n], r.of[n], r.kinds[n], r.places[n] = slot, h, kind, place
    return n + 1


@compiled
def _arrive(s: Store, h: int) -> None:
    """Stand a host that has rested in the orders of these, by the keys its first pages have."""
    lot = s.lots[h]
    if lot.awake:
        enter(s.dues, h, key_at(awake(s, h), 0))
    if lot.short:
        enter(s.news, h, key_at(short(s, h), 0))
    elif lot.bag:
        enter(s.news, h, -np.inf)  # it comes first, and is ranked


@compiled
def gather_hosts(s: Store, r: Rows, now: float, most: int, wide: int, in_order: int) -> None:
    """See which hosts have rested, at most `most` at once, and choose whose pages to look at: `wide` of each order.

    Where new pages come as they were found their keys cannot be compared, so all hosts are looked at that come to rest.
    """
    s.control[STAMP] = (s.control[STAMP] + 1) & 0xFFFFFFFF
    r.counts[:] = 0
    while s.control[RESTING] and r.counts[3] < most and s.resting.keys[0] <= now:
        h = np.int64(s.resting.hosts[0])
        leave(s.resting, h)
        r.counts[3] += 1
        r.hosts[len(r.hosts) - r.counts[3]] = h
        if in_order:
            consider(s, r, h)
        else:
            _arrive(s, h)
    for i in range(min(wide, s.control[DUES])):
        consider(s, r, np.int64(s.dues.hosts[i]))
    for i in range(min(wide, s.control[NEWS])):
        consider(s, r, np.int64(s.news.hosts[i]))


@compiled
def _stale(s: Store, h: int) -> bool:
    """Tell whether so many new pages were taken or added that they are to be ranked anew."""
    lot = s.lots[h]
    if lot.short == 0:
        return lot.bag > 0
    n = np.int64(lot.short) + np.int64(lot.bag)
    return np.int64(lot.taken) + np.int64(lot.added) // 8 >= max(16, n // 4)


@compiled
def _unrank(s: Store, r: Rows, n: int, h: int) -> int:
    """Make rows of a host's short list, and of what was longest in its bag."""
    lot = s.lots[h]
    heap = short(s, h)
    for i in range(np.int64(lot.short)):
        n = _row(r, n, h, slot_at(heap, i), RANKED, 0)
    lot.short, lot.taken, lot.added, lot.ranked = 0, 0, 0, s.control[STAMP]
    for _ in range(min(np.int64(lot.bag), WINDOW)):
        n = _row(r, n, h, bag_out(s, h), RANKED, 0)
    return n


@compiled
def review(s: Store, r: Rows, n: int, chosen: int) -> int:
    """Rank the next hosts anew, round all, a row for each page `chosen` of late; return where the rows end."""
    hosts, tries = s.control[HOSTS], 16
    s.control[CREDIT] = min(s.control[CREDIT] + chosen, WINDOW)
    while tries and hosts and n < RANK_ROWS:
        tries -= 1
        h = s.control[REVIEW] if s.control[REVIEW] < hosts else 0
        size = min(np.int64(s.lots[h].short) + np.int64(s.lots[h].bag), WINDOW)
        if size > s.control[CREDIT]:
            break
        if size > 1 and s.lots[h].ranked != s.control[STAMP]:
            s.control[CREDIT] -= size
            n = _unrank(s, r, n, h)
        s.control[REVIEW] = h + 1
    return n


@compiled
def _refill(s: Store, h: int) -> None:
    """Move new pages from the bag to the short list in the order in which they were found."""
    if s.lots[h].short == 0:
        for i in range(min(np.int64(s.lots[h].bag), REFILL)):
            push_short(s, h, float(i), bag_out(s, h))


@compiled
def gather_pages(s: Store, r: Rows, n: int, depth: int, in_order: int) -> int:
    """Make rows of the pages that the hosts offer, up to `depth` of each kind; return where they end."""
    for spot in range(r.counts[0]):
        h = np.int64(r.hosts[spot])
        lot = s.lots[h]
        heap = awake(s, h)
        for i in range(min(np.int64(lot.awake), depth)):
            n = _row(r, n, h, slot_at(heap, i), AWAKE, i)
        if in_order:
            _refill(s, h)
        elif lot.ranked == s.control[STAMP]:
            continue
        elif n < RANK_ROWS and _stale(s, h):
            n = _unrank(s, r, n, h)
            continue
        heap = short(s, h)
        for i in range(min(np.int64(lot.short), depth)):
            n = _row(r, n, h, slot_at(heap, i), SHORT, i)
    return n


@compiled
def wake(s: Store, r: Rows, n: int, now: float) -> int:
    """Make rows of the pages that may be refreshed from now on; return where they end."""
    for i in range(1, r.counts[3] + 1):
        h = np.int64(r.hosts[len(r.hosts) - i])
        while s.lots[h].asleep and n < len(r.slots) - 4096 and key_at(asleep(s, h), 0) <= now:
            n = _row(r, n, h, _pop_asleep(s, h), WOKEN, 0)
    return n


@compiled
def gather_again(s: Store, r: Rows, n: int, most: int) -> int:
    """Make rows of the next `most` pages whose keys are to be made anew, round all hosts; return where they end."""
    hosts, until, tries = s.control[HOSTS], n + most, 4 * most + 16
    while n < until and tries and hosts:
        tries -= 1
        h = s.control[CURSOR]
        if h >= hosts or s.control[PLACE] >= np.int64(s.lots[h].awake):
            s.control[CURSOR] = h + 1 if h + 1 < hosts else 0
            s.control[PLACE] = 0
            continue
        place = s.control[PLACE]
        n = _row(r, n, h, slot_at(awake(s, h), place), AGAIN, place)
        s.control[PLACE] = place + 1
    return n


# Choosing


@compiled
def rank(s: Store, r: Rows, values: Floats) -> None:
    """Find the best row of each host, its value and its page."""
    for i in range(len(values)):
        lot = s.lots[r.of[i]]
        if lot.stamp == s.control[STAMP] and values[i] > r.best[lot.spot]:
            r.best[lot.spot], r.row[lot.spot] = values[i], i
    for spot in range(r.counts[0]):
        if r.row[spot] >= 0:
            kind = r.kinds[r.row[spot]]
            r.pages[spot] = 2 * np.int64(r.slots[r.row[spot]]) + (kind == SHORT or kind == ADDED or kind == RANKED)


# Settling


@compiled
def take_rows(s: Store, r: Rows, chosen: Ints) -> None:
    """Take the pages of rows away, each of another host, and the hosts with them."""
    for i in chosen:
        h = np.int64(r.of[i])
        if r.kinds[i] == AWAKE:
            _pop_awake(s, h, np.int64(r.places[i]))
        elif r.kinds[i] == SHORT:
            _pop_short(s, h, np.int64(r.places[i]))
        r.kinds[i] = DONE
        withdraw(s, h)


@compiled
def _add(s: Store, h: int, key: float, slot: int) -> None:
    """Add a new page of known value to the short list, or to the bag if it is not among the best."""
    lot = s.lots[h]
    lot.added += 1
    if (lot.bag == 0 and lot.short < FEW) or (key < lot.bar and lot.short < SHORT_MOST):
        push_short(s, h, key, slot)
    else:
        bag_in(s, h, slot)


@compiled
def _rank_anew(s: Store, r: Rows, values: Floats, i: int) -> int:
    """Fill the short list of a host with the best quarter of its rows from `i` on; return where they end."""
    h, end = np.int64(r.of[i]), i
    while end < len(values) and r.of[end] == h and (r.kinds[end] == RANKED or r.kinds[end] == DONE):
        end += 1
    keep = max(FEW, (end - i) // 4)
    lot = s.lots[h]
    for j in range(i, end):
        if r.kinds[j] == DONE:
            continue
        if lot.short < keep:
            push_short(s, h, values[j], np.int64(r.slots[j]))
        elif values[j] > key_at(short(s, h), 0):
            bag_in(s, h, replace_worst(s, h, values[j], np.int64(r.slots[j])))
        else:
            bag_in(s, h, np.int64(r.slots[j]))
    lot.bar = -first_key(short(s, h), np.int64(lot.short))
    turn_short(s, h)
    return end


@compiled
def place_ranked(s: Store, r: Rows, values: Floats) -> None:
    """Fill the short lists that were ranked anew."""
    i = 0
    while i < len(values):
        i = _rank_anew(s, r, values, i) if r.kinds[i] == RANKED else i + 1


@compiled
def place_new(s: Store, r: Rows, values: Floats) -> None:
    """Place new pages by their values, and tell the order of rested hosts of it."""
    for i in range(len(values)):
        h, slot, key = np.int64(r.of[i]), np.int64(r.slots[i]), -values[i]
        if r.kinds[i] == ADDED:
            _add(s, h, key, slot)
            if s.lots[h].out == 0 and s.lots[h].stamp != s.control[STAMP]:
                if not _offered(s, h):
                    stand(s, h)
                elif s.lots[h].new == 0 or key < s.news.keys[place_of(s.news, h)]:
                    enter(s.news, h, key)
        elif r.kinds[i] == SHORT:
            place = np.int64(r.places[i])
            if place < np.int64(s.lots[h].short) and slot_at(short(s, h), place) == slot:
                rekey(short(s, h), np.int64(s.lots[h].short), place, key)


@compiled
def place_seen(s: Store, r: Rows, first: int, last: int, keys: Floats) -> None:
    """Place the pages of rows `first` to `last` by when they fall due."""
    for i in range(first, last):
        h, key = np.int64(r.of[i]), keys[i - first]
        if r.kinds[i] == WOKEN:
            push_awake(s, h, key, np.int64(r.slots[i]))
        elif r.kinds[i] == AGAIN:
            place = np.int64(r.places[i])
            if place < np.int64(s.lots[h].awake) and slot_at(awake(s, h), place) == r.slots[i]:
                rekey(awake(s, h), np.int64(s.lots[h].awake), place, key)
        if s.lots[h].out == 0 and s.lots[h].awake and (_offered(s, h) or s.lots[h].rest == 0):
            enter(s.dues, h, key_at(awake(s, h), 0))


@compiled
def stand_hosts(s: Store, r: Rows, in_order: int) -> None:
    """Stand the hosts that took part, and were not chosen, where they belong."""
    for spot in range(r.counts[0]):
        h = np.int64(r.hosts[spot])
        lot = s.lots[h]
        if lot.out:
            continue
        seen, new = lot.awake > 0, np.int64(lot.short) + np.int64(lot.bag) > 0
        if r.row[spot] < 0 or not (seen or new):
            leave(s.dues, h)
            leave(s.news, h)
            stand(s, h)
            continue
        if seen:
            enter(s.dues, h, key_at(awake(s, h), 0))
        else:
            leave(s.dues, h)
        if new:
            enter(s.news, h, -r.best[spot] if in_order else first_key(short(s, h), np.int64(lot.short)))
        else:
            leave(s.news, h)
        if lot.asleep:
            enter(s.resting, h, max(lot.rest_at, key_at(asleep(s, h), 0)))
        else:
            leave(s.resting, h)
    for i in range(1, r.counts[3] + 1):
        h = np.int64(r.hosts[len(r.hosts) - i])
        if s.lots[h].out == 0 and s.lots[h].stamp != s.control[STAMP] and s.lots[h].asleep:
            enter(s.resting, h, max(s.lots[h].rest_at, key_at(asleep(s, h), 0)))
