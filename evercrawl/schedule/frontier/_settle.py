"""The second half of a choice, compiled: the best page of each host, and the return of all others to their places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from evercrawl.kernels.build import compiled
from evercrawl.schedule.frontier._changes import offered, pop_short, stand, withdraw
from evercrawl.schedule.frontier._heaps import (
    enter,
    key_at,
    leave,
    place_of,
    rekey,
    slot_at,
    whole,
)
from evercrawl.schedule.frontier._layout import ADDED, AGAIN, AWAKE, DONE, RANKED, SHORT, STAMP, WOKEN
from evercrawl.schedule.frontier._memory import (
    asleep,
    awake,
    bag_in,
    drop_awake,
    first_key,
    push_awake,
    push_short,
    replace_worst,
    short,
    turn_short,
)  # fmt: skip
from evercrawl.schedule.shared._price_layout import BEYOND

if TYPE_CHECKING:
    from evercrawl.schedule.frontier._blocks import Store
    from evercrawl.schedule.frontier._rows import CandidateRows

_STEP: Final = 0.1  # learning rate of a host's price per visit
_SURPRISE: Final = 3.0  # maximum deviation of one visit that counts, in logarithms
_FAR: Final = 20.0  # maximum distance of a host's price from the crawl's, in logarithms: some pages are worth nothing
_LEAST: Final = 1e-300
FEW: Final = 32  # number of new pages of a host up to which all are in the short list
SHORT_MOST: Final = 1 << 13


@compiled
def rank(s: Store, r: CandidateRows, values: Any) -> None:
    """Find the best row of each host, its value, and that of the second best."""
    for i in range(len(values)):
        lot = s.lots[r.of[i]]
        if lot.stamp != s.control[STAMP]:
            continue
        if values[i] > r.best[lot.spot]:
            r.next[lot.spot] = r.best[lot.spot]
            r.best[lot.spot], r.row[lot.spot] = values[i], i
        elif values[i] > r.next[lot.spot]:
            r.next[lot.spot] = values[i]


@compiled
def price_hosts(s: Store, r: CandidateRows, chosen: Any, busy: Any, values: Any, price: float) -> None:
    """Update the prices of the hosts of chosen rows by the values of the chosen pages and of those that had to wait.

    The price at which a host's pages demand as many visits as it allows lies between the two; of all such prices the
    one closest to the crawl's is used. A host that is not `busy` allows more visits than it gets: its pages wait for
    the crawl's budget, and its price is the crawl's.
    """
    for k in range(len(chosen)):
        i = chosen[k]
        lot = s.lots[whole(r.of[i])]
        if values[i] > BEYOND or r.next[lot.spot] > BEYOND:  # values of owed pages do not show the worth of visits
            continue
        waits, made, goal = r.next[lot.spot] / price, values[i] / price, 0.0
        if busy[k] and waits > 1.0:
            goal = math.log(waits)
        elif busy[k] and made < 1.0:
            goal = math.log(max(made, _LEAST))
        goal = min(max(goal, -_FAR), _FAR)
        lot.dear += _STEP * min(max(goal - lot.dear, -_SURPRISE), _SURPRISE)


@compiled
def line_up_rows(s: Store, r: CandidateRows, values: Any, least: float, keys: Any, spots: Any, lined: Any) -> int:
    """Write all rows of the hosts that take part with values of at least `least`, as `line_up` does; return the number.

    -1 means that there is not enough room.
    """
    n = 0
    for i in range(len(values)):
        if values[i] >= least and values[i] > -math.inf and s.lots[whole(r.of[i])].stamp == s.control[STAMP]:
            if n == len(keys):
                return -1
            keys[n], spots[n] = values[i], i
            n += 1
    _sort(keys, spots, n)
    for k in range(n):
        i = whole(spots[k])
        lined[0, k], lined[1, k], lined[2, k] = r.of[i], i, r.slots[i]
        lined[3, k] = r.kinds[i] in (SHORT, ADDED, RANKED)
    return n


@compiled
def line_up(r: CandidateRows, least: float, keys: Any, spots: Any, lined: Any) -> int:
    """Write the hosts whose best value is at least `least`, the best first; return their number.

    For each are written its number, the row, its slot, and 1 if it is a new page.
    """
    n = 0
    for spot in range(r.counts[0]):
        if r.row[spot] >= 0 and r.best[spot] >= least:
            keys[n], spots[n] = r.best[spot], spot
            n += 1
    _sort(keys, spots, n)
    for i in range(n):
        spot = whole(spots[i])
        row = r.row[spot]
        lined[0, i], lined[1, i], lined[2, i] = r.hosts[spot], row, r.slots[row]
        lined[3, i] = r.kinds[row] in (SHORT, ADDED, RANKED)
    return n


@compiled
def _sort(keys: Any, spots: Any, n: int) -> None:
    """Sort by keys, the largest first, and equal ones by spots, the smallest first (Shell 1959)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key, spot, j = keys[i], spots[i], i
            while j >= gap and (keys[j - gap] < key or (keys[j - gap] == key and spots[j - gap] > spot)):
                keys[j], spots[j] = keys[j - gap], spots[j - gap]
                j -= gap
            keys[j], spots[j] = key, spot
        gap //= 3


@compiled
def take_rows(s: Store, r: CandidateRows, chosen: Any) -> None:
    """Remove the pages of rows from the queues, and their hosts from the orders."""
    for i in chosen:
        h = whole(r.of[i])
        if r.kinds[i] == AWAKE:
            drop_awake(s, h, _place_now(awake(s, h), whole(s.lots[h].awake), whole(r.places[i]), r.slots[i]))
        elif r.kinds[i] == SHORT:
            pop_short(s, h, _place_now(short(s, h), whole(s.lots[h].short), whole(r.places[i]), r.slots[i]))
        r.kinds[i] = DONE
        withdraw(s, h)


@compiled
def _place_now(heap: Any, n: int, place: int, slot: int) -> int:
    """Return the new place, near the top, of a page that was at `place` before others of its host were taken."""
    if place < n and slot_at(heap, place) == slot:
        return place
    place = 0
    while slot_at(heap, place) != slot:
        place += 1
    return place


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
def _rank_anew(s: Store, r: CandidateRows, values: Any, i: int) -> int:
    """Fill the short list of a host with the best quarter of its rows from `i` on; return where they end."""
    h, end = whole(r.of[i]), i
    while end < len(values) and r.of[end] == h and (r.kinds[end] == RANKED or r.kinds[end] == DONE):
        end += 1
    keep = max(FEW, (end - i) // 4)
    lot = s.lots[h]
    for j in range(i, end):
        if r.kinds[j] == DONE:
            continue
        if lot.short < keep:
            push_short(s, h, values[j], whole(r.slots[j]))
        elif values[j] > key_at(short(s, h), 0):
            bag_in(s, h, replace_worst(s, h, values[j], whole(r.slots[j])))
        else:
            bag_in(s, h, whole(r.slots[j]))
    lot.bar = -first_key(short(s, h), whole(lot.short))
    turn_short(s, h)
    return end


@compiled
def place_ranked(s: Store, r: CandidateRows, values: Any) -> None:
    """Fill the short lists that were ranked again."""
    i = 0
    while i < len(values):
        i = _rank_anew(s, r, values, i) if r.kinds[i] == RANKED else i + 1


@compiled
def place_new(s: Store, r: CandidateRows, values: Any) -> None:
    """Place new pages by their values, and update the order of ready hosts."""
    for i in range(len(values)):
        h, slot, key = whole(r.of[i]), whole(r.slots[i]), -values[i]
        if r.kinds[i] == ADDED:
            _add(s, h, key, slot)
            if s.lots[h].out == 0 and s.lots[h].stamp != s.control[STAMP]:
                if not offered(s, h):
                    stand(s, h)
                elif s.lots[h].new == 0 or key < s.news.keys[place_of(s.news, h)]:
                    enter(s.news, h, key)
        elif r.kinds[i] == SHORT:
            place = whole(r.places[i])
            if place < whole(s.lots[h].short) and slot_at(short(s, h), place) == slot:
                rekey(short(s, h), whole(s.lots[h].short), place, key)


@compiled
def place_seen(s: Store, r: CandidateRows, first: int, last: int, keys: Any) -> None:
    """Place the pages of rows `first` to `last` by due time."""
    for i in range(first, last):
        h, key = whole(r.of[i]), keys[i - first]
        if r.kinds[i] == WOKEN:
            push_awake(s, h, key, whole(r.slots[i]))
        elif r.kinds[i] == AGAIN:
            place = whole(r.places[i])
            if place < whole(s.lots[h].awake) and slot_at(awake(s, h), place) == r.slots[i]:
                rekey(awake(s, h), whole(s.lots[h].awake), place, key)
        if s.lots[h].out == 0 and s.lots[h].awake and (offered(s, h) or s.lots[h].rest == 0):
            enter(s.dues, h, key_at(awake(s, h), 0))


@compiled
def stand_hosts(s: Store, r: CandidateRows, in_order: int) -> None:
    """Reinsert the hosts that took part and were not chosen into the orders."""
    for spot in range(r.counts[0]):
        h = whole(r.hosts[spot])
        lot = s.lots[h]
        if lot.out:
            continue
        seen, new = lot.awake > 0, whole(lot.short) + whole(lot.bag) > 0
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
            enter(s.news, h, -r.best[spot] if in_order else first_key(short(s, h), whole(lot.short)))
        else:
            leave(s.news, h)
        if lot.asleep:
            enter(s.resting, h, max(lot.rest_at, key_at(asleep(s, h), 0)))
        else:
            leave(s.resting, h)
    for i in range(1, r.counts[3] + 1):
        h = whole(r.hosts[len(r.hosts) - i])
        if s.lots[h].out == 0 and s.lots[h].stamp != s.control[STAMP] and s.lots[h].asleep:
            enter(s.resting, h, max(s.lots[h].rest_at, key_at(asleep(s, h), 0)))
