"""How a run begins: the hosts that are known, and the pages that wait on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evercrawl.model.rules.waits import again_at
from evercrawl.parse.digest import keys as keys_of
from evercrawl.store.resuming import left_alone, to_try
from evercrawl.types import NO_SLOT, Slots

if TYPE_CHECKING:
    from evercrawl.model.rules.scope import Scope
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.store.partition import Partition
    from evercrawl.store.state import State


def resume(partition: Partition, frontier: Frontier, scope: Scope, now: float, delay_s: float) -> None:
    """Add the known hosts; each rests once first, for nobody knows what was under way.

    So do those that become known meanwhile: they may have been asked before it was stored that they are there.
    """
    state = partition.state
    if not partition.new:
        frontier.rests_until = now + delay_s
    rows = state.known.rows()
    pages = np.bincount(rows["host"], minlength=len(state.hosts)).tolist()
    for number, name in enumerate(state.hosts):
        host = frontier.add_host(name)
        host.pages = pages[number]
    for number, until in left_alone(state, now).items():
        frontier.hosts[number].stay_away(until, "back-off")
    roots: list[int] = np.unique(rows["host"][rows["depth"] == 0]).tolist()
    for number in roots:
        scope.add_root(state.hosts[number])


def fill(state: State, frontier: Frontier, seeds: Sequence[str], only: Sequence[str], refresh_after_s: float) -> Slots:
    """Queue the known pages; seeds among them that were visited in vain are due now. Return those that were named.

    Where `only` names known pages, these are due now, and no others are queued.
    """
    found = state.table.find(keys_of(list(only or seeds)))
    named: Slots = found[found != NO_SLOT]
    new, seen = to_try(state, named) if not only else (named, named[:0])
    hosts = state.known.rows()["host"]
    frontier.fill(hosts[new], new, new=True)
    rows = state.records.rows[state.table.record[seen]]
    frontier.fill(hosts[seen], seen, new=False, not_before=again_at(state, rows, refresh_after_s))
    return named
