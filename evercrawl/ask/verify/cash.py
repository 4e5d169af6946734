"""Checks that the cash of a crawl adds up: in total, by site, and by page along the links last read."""

from typing import Any, Final

import numpy as np

from evercrawl.ask.verify.findings import Findings
from evercrawl.importance.base import Importance, Links
from evercrawl.importance.push import Push
from evercrawl.model.error_bound import error_bound
from evercrawl.model.policy.schemes import scheme_of
from evercrawl.model.stored.reader import events
from evercrawl.store.cash.accounts import Accounts
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, Visit
from evercrawl.store.journal.post_events import LetterReceived, LetterSent
from evercrawl.store.partition import Partition
from evercrawl.store.records.records import MEMBER
from evercrawl.store.state import State
from evercrawl.store.table.table import NO_RECORD, ROOT
from evercrawl.types import NO_SLOT, Floats, Slots

WORST: Final = 1e-6
"""Tolerance: of a sum, as a share of all cash; of a page, as a share of its importance and its site's source."""
_KIND: Final = "cash"
_COUNTED: Final = (
    "members", "date_true", "date_false", "listed_true", "listed_false", "announced", "unannounced",
    "listened", "looked",
)  # fmt: skip


def check_cash(partition: Partition, folded: State, upto: int, found: Findings) -> None:
    """Check the laws of cash in a state folded from the whole journal.

    Parameters
    ----------
    partition
        The crawl; its journal is read once more for the links.
    folded, upto
        The fold of its first `upto` events.
    """
    accounts = folded.accounts
    there, owed = max(accounts.sources(), 1.0), folded.cashbook.owed()
    if not abs(owed) <= WORST * there:
        found.blame(f"cash: the total is off by {owed:.3g} of {there:g} (negative: cash is missing)")
    found.measure("cash in all", abs(owed) / there)
    bound = error_bound(folded, scheme_of(folded.scheme, folded))
    if bound.total is not None:
        found.measure("importance in sum, at most", bound.total)
    _members(folded, found)
    scheme = scheme_of(folded.scheme, folded)
    if isinstance(scheme, Push):
        _pages(partition, folded, upto, scheme, found)
    elif accounts.handout:
        _no_debts(folded, found)


def compare_cash(state: State, folded: State, found: Findings) -> None:
    """Compare the cash that a resumed crawl would have with the fold of all events."""
    count = min(state.known.count, folded.known.count)
    held, true = state.table.cash[:count], folded.table.cash[:count]
    # a cell gets the same amounts in the same order; only the reduction for a newcomer may be rounded differently
    off = ~np.isclose(held, true, rtol=1e-6, atol=1e-12) if folded.accounts.handout else held != true
    if off.any():
        slot = int(np.argmax(off))
        found.blame(
            f"the snapshot's cash: slot {slot} has {held[slot]}, but by the journal {true[slot]}; "
            f"{np.count_nonzero(off)} slots differ"
        )
    _accounts(state.accounts, folded.accounts, found)


def _accounts(held: Accounts, true: Accounts, found: Findings) -> None:
    for name, one, other in (
        ("virtual page", held.virtual, true.virtual),
        ("clock", held.total, true.total),
        ("cash in no cell", held.held(), true.held()),
    ):
        if not np.isclose(one, other, rtol=WORST, atol=WORST * max(true.sources(), 1.0)):
            found.blame(f"the snapshot's {name} is {one}, but by the journal {other}")
    if held.count != true.count:
        found.blame(f"the snapshot has {held.count} sites, but by the journal there are {true.count}")
        return
    mine, theirs = held.sites[: held.count], true.sites[: true.count]
    for column in _COUNTED:
        other_sites = np.flatnonzero(mine[column] != theirs[column])
        if len(other_sites):
            site = int(other_sites[0])
            found.blame(
                f"the snapshot's {column} of site {site} is {mine[column][site]}, but by the journal "
                f"{theirs[column][site]}; {len(other_sites)} sites differ"
            )


def _members(folded: State, found: Findings) -> None:
    """Check that the number of members of each site agrees with its records and unread roots."""
    count = folded.accounts.count
    counted = np.bincount(members(folded)[1], minlength=count)
    said = folded.accounts.sites["members"][:count]
    found.count("sites", count)
    for site in np.flatnonzero(counted != said).tolist():
        found.blame(
            f"cash: site {folded.sites[site]} has {said[site]} members, but {counted[site]} pages are marked so",
            _KIND,
        )


def members(folded: State) -> tuple[Slots, Slots]:
    """Return the slot and the site of each member; a page whose content was lost still has its record."""
    rows: Any = folded.records.rows[: folded.records.count]
    cells = folded.table.record[: folded.known.count]
    unread = (cells & np.uint32(NO_RECORD | ROOT)) == np.uint32(NO_RECORD | ROOT)
    unread[rows["slot"]] = False
    roots = np.flatnonzero(unread).astype(np.uint32)
    read = rows[(rows["flags"] & MEMBER) != 0]
    hosts = np.concatenate([read["host"], folded.known.hosts_of(roots)])
    return np.concatenate([read["slot"], roots]), folded.site_of[hosts]


def _no_debts(folded: State, found: Findings) -> None:
    """Check that no page has negative cash."""
    cash = folded.table.cash[: folded.known.count].astype(np.float64)
    slots, sites = members(folded)
    cash[slots] += folded.accounts.shares(sites)
    found.count("pages with cash", int(np.count_nonzero(cash)))
    for slot in np.flatnonzero(cash < -WORST).tolist():
        found.blame(f"cash: {folded.urls.get(slot)} has {cash[slot]:.3g}, which is negative", _KIND)


def _pages(partition: Partition, folded: State, upto: int, scheme: Importance, found: Findings) -> None:
    """Check that what each page has passed on and holds is what its in-links bring: x + r - src = xM."""
    rows: Any = folded.records.rows[: folded.records.count]
    value = np.zeros(folded.known.count)
    value[rows["slot"]] = rows["importance"]
    brought = _brought(partition, folded, upto, scheme, value)
    cells = folded.table.cash[: folded.known.count].astype(np.float64)
    off = np.abs(value + cells - brought)
    found.count("pages with cash", int(np.count_nonzero((value != 0) | (cells != 0))))
    found.measure("cash of a page", float(np.max(off / (1.0 + np.abs(value)), initial=0.0)))
    borne = WORST * (1.0 + np.abs(value))
    for slot in np.flatnonzero(~(off <= borne)).tolist():
        found.blame(
            f"cash: {folded.urls.get(slot)} has passed on {value[slot]:.9g} and holds {cells[slot]:.9g}, but its "
            f"in-links bring {brought[slot]:.9g}",
            _KIND,
        )


def _brought(partition: Partition, folded: State, upto: int, scheme: Importance, value: Floats) -> Floats:
    """Return the cash that the last read links of all pages bring to each page, shape (known,)."""
    rows: Any = folded.records.rows[: folded.records.count]
    last = np.zeros(len(value), np.uint64)
    last[rows["slot"]] = rows["event"]
    brought = np.zeros(len(value))
    for pointer, _, event in events(partition, upto):
        if isinstance(event, Visit) and event.flags & HAS_LINKS and last[event.slot] == pointer:
            slots, amounts = _gifts(event, scheme, float(value[event.slot]))
            known = slots < len(value)
            brought[slots[known]] += amounts[known]
        elif isinstance(event, (LetterSent, LetterReceived)):
            sign = -1.0 if isinstance(event, LetterSent) else 1.0
            brought[decode_slots(event.slots)] += sign * np.frombuffer(event.amounts)
            if isinstance(event, LetterReceived) and event.keys:
                slots = folded.table.find(np.frombuffer(event.keys, np.uint64))
                known = slots < len(value)
                np.add.at(brought, slots[known], np.frombuffer(event.left)[known])
    return brought


def _gifts(event: Visit, scheme: Importance, value: float) -> tuple[Slots, Floats]:
    """Return the targets of a page's links, and the share of its value that each gets."""
    through = event.alias != NO_SLOT
    inside, outside = scheme.each(value, Links(out=event.out, through=through))
    if through:
        return np.array([event.alias], np.uint32), np.array([outside])
    slots = decode_slots(event.targets)
    bits = np.frombuffer(event.external.ljust(-(-len(slots) // 8), b"\0"), np.uint8)
    return slots, np.where(np.unpackbits(bits, count=len(slots), bitorder="little"), outside, inside)
