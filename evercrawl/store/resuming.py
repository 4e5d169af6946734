"""What a start resumes: hosts that must still be left alone, and pages to be fetched or refreshed."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.store.records.retired import retired
from evercrawl.store.state import IN_VAIN, RETRIED, RETRIES, State
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import Outcome, Slots

_NONE: Final = np.zeros(0, np.uint32)
_RETRIED: Final = np.array(sorted(RETRIED))
_PIECE: Final = 1 << 14  # records processed together, so that they fit the processor's cache


def unanswered(state: State, hosts: list[int]) -> list[int]:
    """Return those of `hosts` that did not answer the last request."""
    rows = state.records.rows[: state.records.count]
    if not len(rows):  # else numpy would load its masked arrays for an empty search
        return []
    rows = rows[rows["host"] == hosts[0]] if len(hosts) == 1 else rows[np.isin(rows["host"], hosts)]
    rows = rows[(rows["outcome"] != 0) & (rows["outcome"] != Outcome.REFUSED)]
    rows = rows[np.argsort(rows["visited"], kind="stable")]
    last = dict(zip(rows["host"].tolist(), rows["status"].tolist(), strict=True))
    return [host for host in hosts if last.get(host) == 0]


def left_alone(state: State, now: float) -> dict[int, float]:
    """Return the hosts that a start must leave alone, and until when; silent hosts get another chance.

    A rest that a host asked for before it fell silent is still observed.
    """
    away = [host for host, until in state.away.items() if until > now]
    until = dict(state.away.items()) | {host: state.wished.get(host, 0.0) for host in unanswered(state, away)}
    return {host: until[host] for host in away if until[host] > now}


def to_try(state: State, named: Slots = _NONE) -> tuple[Slots, Slots]:
    """Return the slots to be fetched now, and the visited ones in order of last visit, for their refresh.

    To be fetched are those of `named` whose visits failed, those never visited in order of discovery, and those whose
    last visit may end differently today: no request was made, no answer came, or the host was in trouble.
    """
    count = state.known.count
    fresh = np.flatnonzero(state.table.record[:count] & np.uint32(NO_RECORD)).astype(np.uint32)
    fresh = fresh[~state.forgotten.mask(fresh)]
    records = state.records
    starts = range(0, records.count, _PIECE)
    return _sorted(fresh, (records.rows[start : min(start + _PIECE, records.count)] for start in starts), named)


def to_try_of(state: State, slots: Slots) -> tuple[Slots, Slots]:
    """Return the same for some known pages only."""
    slots = slots[~state.forgotten.mask(slots)]
    cells = state.table.record[slots]
    unread = (cells & np.uint32(NO_RECORD)) != 0
    return _sorted(slots[unread], [state.records.rows[cells[~unread]]], _NONE)


def _sorted(fresh: Slots, pieces: Iterable[NDArray[Any]], named: Slots) -> tuple[Slots, Slots]:
    """Return the slots to be fetched now, including those of `fresh`, and those to be refreshed."""
    first, again, seen, visited = [_NONE], [_NONE], [_NONE], [_NONE]
    for rows in pieces:
        outcome, slots = rows["outcome"], rows["slot"]
        there = outcome != 0
        wanted = there & np.isin(slots, named) & np.isin(outcome, IN_VAIN)
        given_up = ~wanted & retired(rows)
        error, refused = outcome == Outcome.ERROR, outcome == Outcome.REFUSED
        trouble = error & np.isin(rows["status"], _RETRIED) & (rows["visits"] <= RETRIES)
        unsettled = there & (refused | error & (rows["status"] == 0) | trouble) & ~wanted
        settled = there & ~(wanted | unsettled | given_up)
        first.append(slots[wanted])
        again.append(slots[unsettled])
        seen.append(slots[settled])
        visited.append(rows["visited"][settled])
    order = np.argsort(np.concatenate(visited), kind="stable")
    return np.concatenate([*first, fresh, *again]), np.concatenate(seen)[order]
