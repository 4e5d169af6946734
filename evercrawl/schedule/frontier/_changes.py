"""Changes to a host and its pages between two choices, compiled."""

from typing import Any

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.schedule.frontier._blocks import Store
from evercrawl.schedule.frontier._heaps import enter, key_at, leave, place_of, slot_at, whole
from evercrawl.schedule.frontier._memory import (
    asleep,
    awake,
    bag_in,
    bag_out,
    drop_asleep,
    drop_awake,
    drop_short,
    push_asleep,
    push_awake,
    push_short,
    short,
)


@compiled
def offered(s: Store, h: int) -> Any:
    return s.lots[h].due > 0 or s.lots[h].new > 0


@compiled
def withdraw(s: Store, h: int) -> None:
    """Remove a host from the orders, so that it offers nothing."""
    leave(s.resting, h)
    leave(s.dues, h)
    leave(s.news, h)
    s.lots[h].out = 1


@compiled
def stand(s: Store, h: int) -> None:
    """Insert a host into the orders, so that it is considered once it is ready and has something to offer."""
    lot = s.lots[h]
    if lot.out:
        return
    if whole(lot.awake) + whole(lot.short) + whole(lot.bag) > 0:
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
    if not offered(s, h):
        stand(s, h)
    elif s.lots[h].rest == 0 or until < s.resting.keys[place_of(s.resting, h)]:
        enter(s.resting, h, until)


@compiled
def append(s: Store, h: int, slot: int) -> None:
    """Append a new page to the queue."""
    bag_in(s, h, slot)
    s.lots[h].added += 1
    if s.lots[h].out == 0 and s.lots[h].new == 0:
        enter(s.resting, h, s.lots[h].rest_at)


@compiled
def put_back(s: Store, h: int, slot: int, new: int) -> None:
    """Put a page at the front of its host's queue."""
    if new:
        push_short(s, h, -np.inf, slot)
    else:
        push_awake(s, h, -np.inf, slot)
    if not offered(s, h):
        stand(s, h)


@compiled
def pop_asleep(s: Store, h: int) -> Any:
    slot = slot_at(asleep(s, h), 0)
    drop_asleep(s, h, 0)
    return slot


@compiled
def remove_page(s: Store, h: int, slot: int) -> Any:
    """Remove a visited page, wherever it waits, and reinsert its host; return whether it waited."""
    lot = s.lots[h]
    for i in range(whole(lot.awake)):
        if slot_at(awake(s, h), i) == slot:
            drop_awake(s, h, i)
            _stand_again(s, h)
            return 1
    for i in range(whole(lot.asleep)):
        if slot_at(asleep(s, h), i) == slot:
            drop_asleep(s, h, i)
            _stand_again(s, h)
            return 1
    return 0


@compiled
def _stand_again(s: Store, h: int) -> None:
    """Reinsert a host from which a visited page was removed out of order."""
    lot = s.lots[h]
    if lot.due > 0 and lot.awake > 0:
        enter(s.dues, h, key_at(awake(s, h), 0))
    else:
        leave(s.dues, h)
    if not offered(s, h):
        stand(s, h)
    elif lot.asleep > 0:
        enter(s.resting, h, max(lot.rest_at, key_at(asleep(s, h), 0)))
    else:
        leave(s.resting, h)


@compiled
def pop_short(s: Store, h: int, place: int) -> None:
    drop_short(s, h, place)
    s.lots[h].taken += 1


@compiled
def take(s: Store, h: int) -> Any:
    """Take a host's first page, a new one if there is one: return 2 * slot, + 1 if it was new; -1 without pages."""
    lot = s.lots[h]
    if lot.short:
        slot = slot_at(short(s, h), 0)
        pop_short(s, h, 0)
        return 2 * whole(slot) + 1
    if lot.bag:
        return 2 * whole(bag_out(s, h)) + 1
    if lot.awake:
        slot = slot_at(awake(s, h), 0)
        drop_awake(s, h, 0)
        return 2 * whole(slot)
    return 2 * whole(pop_asleep(s, h)) if lot.asleep else -1
