"""The start of a run: the crawl's time, the known hosts and the pages that wait.

The crawl's time continues from its last event, even if the machine's clock was set back meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.model.rules.waits import again_at
from evercrawl.store.resuming import left_alone, to_try
from evercrawl.store.table.known import TICKS_PER_S
from evercrawl.types import NO_SLOT, Slots

if TYPE_CHECKING:
    from evercrawl.clock import SteadyClock
    from evercrawl.model.rules.scope import Scope
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.store.partition import Partition
    from evercrawl.store.state import State


def resume(partition: Partition, frontier: Frontier, scope: Scope, now: float, delay_s: float) -> None:
    """Add the known hosts; each rests once first, because exchanges may have been under way at the end of the last run.

    Hosts found meanwhile rest too: they may have been visited before their discovery was stored.
    """
    state = partition.state
    if not partition.new:
        frontier.rests_until = now + delay_s
    frontier.add_hosts(state.hosts, state.known.pages_of_hosts(len(state.hosts)).astype(np.int64))
    for number, until in left_alone(state, now).items():
        frontier.hosts[number].stay_away(until, "back-off")
    known = state.known.columns()
    roots: list[int] = np.unique(known.host[known.depth == 0]).tolist()
    frontier.note_seeds(roots)
    for number in roots:
        scope.add_root(state.hosts[number])
    for name in state.steered.roots:
        scope.add_root(name)


def fill(state: State, frontier: Frontier, seeds: Sequence[str], only: Sequence[str], refresh_after_s: float) -> Slots:
    """Queue the known pages; seeds among them whose visits failed are due now. Return the named pages.

    If `only` names known pages, these are due now, and no others are queued.
    """
    found = state.find(only) if only else state.table.find(state.hasher.keys(seeds))
    named: Slots = found[found != NO_SLOT]
    new, seen = to_try(state, named) if not only else (named, named[:0])
    hosts = state.known.columns().host
    if state.post is not None:
        new, seen = new[state.post.owned(hosts[new])], seen[state.post.owned(hosts[seen])]
    frontier.fill(hosts[new], new, new=True)
    records, rows = state.table.record[seen], state.records.rows
    not_before = again_at(state, rows["visited"][records], rows["misses"][records], refresh_after_s)
    frontier.fill(hosts[seen], seen, new=False, not_before=not_before)
    return named


TOLD_S: Final = 60.0  # a clock correction below this is not reported
REACH_S: Final = 0xFFFFFFFF / TICKS_PER_S
"""The longest time from a crawl's beginning that records can represent: eight and a half years."""
_DAY_S: Final = 86_400.0


def go_on(clock: SteadyClock, state: State) -> str:
    """Continue a crawl's time from its last event; return a warning for people, "" if nothing is wrong.

    Raises
    ------
    ConfigError
        The clock is so far ahead that no record can represent its time.
    """
    if clock.now() - state.epoch > REACH_S:
        raise ConfigError(
            f"this machine's clock says {_date(clock.now())} and the crawl began on {_date(state.epoch)}: no crawl "
            f"reaches further than {REACH_S / 365.25 / _DAY_S:.1f} years; set the clock right, or begin another crawl"
        )
    behind_s = clock.go_on_from(state.last_at() + 1.0 / TICKS_PER_S)
    if behind_s < TOLD_S:
        return ""
    return (
        f"this machine's clock is {_length(behind_s)} behind this crawl's last visit; the crawl's time continues from "
        "that visit, so its dates stay ahead until the clock has caught up"
    )


def _date(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return f"{at:.0f} s since 1970"


def _length(duration_s: float) -> str:
    for unit, size_s in (("days", _DAY_S), ("hours", 3600.0), ("minutes", 60.0)):
        if duration_s >= 2 * size_s:
            return f"{duration_s / size_s:.0f} {unit}"
    return f"{duration_s:.0f} seconds"
